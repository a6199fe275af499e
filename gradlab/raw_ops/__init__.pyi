# Written by `python -m tests.raw_ops.stub` from the operations themselves.  # ruff: noqa: E501
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._asynchrony.accumulators import Receipt, SparseGradient
from .._base.types import Array
from .accumulators import Handle
from .tpu_op import Config, Tensor, Tensors, Variant
from .tpu_parameters import AllParameters

__all__: list[str]

class _RetrieveTPUEmbeddingADAMParameters(NamedTuple):
    parameters: np.ndarray
    momenta: np.ndarray
    velocities: np.ndarray

class _RetrieveTPUEmbeddingAdadeltaParameters(NamedTuple):
    parameters: np.ndarray
    accumulators: np.ndarray
    updates: np.ndarray

class _RetrieveTPUEmbeddingAdagradParameters(NamedTuple):
    parameters: np.ndarray
    accumulators: np.ndarray

class _RetrieveTPUEmbeddingAdagradMomentumParameters(NamedTuple):
    parameters: np.ndarray
    accumulators: np.ndarray
    momenta: np.ndarray

class _RetrieveTPUEmbeddingCenteredRMSPropParameters(NamedTuple):
    parameters: np.ndarray
    ms: np.ndarray
    mom: np.ndarray
    mg: np.ndarray

class _RetrieveTPUEmbeddingFTRLParameters(NamedTuple):
    parameters: np.ndarray
    accumulators: np.ndarray
    linears: np.ndarray

class _RetrieveTPUEmbeddingFrequencyEstimatorParameters(NamedTuple):
    parameters: np.ndarray
    last_hit_step: np.ndarray

class _RetrieveTPUEmbeddingMDLAdagradLightParameters(NamedTuple):
    parameters: np.ndarray
    accumulators: np.ndarray
    weights: np.ndarray
    benefits: np.ndarray

class _RetrieveTPUEmbeddingMomentumParameters(NamedTuple):
    parameters: np.ndarray
    momenta: np.ndarray

class _RetrieveTPUEmbeddingProximalAdagradParameters(NamedTuple):
    parameters: np.ndarray
    accumulators: np.ndarray

class _RetrieveTPUEmbeddingProximalYogiParameters(NamedTuple):
    parameters: np.ndarray
    v: np.ndarray
    m: np.ndarray

class _RetrieveTPUEmbeddingRMSPropParameters(NamedTuple):
    parameters: np.ndarray
    ms: np.ndarray
    mom: np.ndarray

def AccumulatorApplyGradient(*, handle: Any, local_step: Any, gradient: Any, name: str | None = None) -> Receipt:
    """`ResourceAccumulatorApplyGradient` for a "string_ref" handle."""

def AccumulatorNumAccumulated(*, handle: Any, name: str | None = None) -> np.int32:
    """`ResourceAccumulatorNumAccumulated` for a "string_ref" handle, dense or sparse."""

def AccumulatorSetGlobalStep(*, handle: Any, new_global_step: Any, name: str | None = None) -> None:
    """`ResourceAccumulatorSetGlobalStep` for a "string_ref" handle, dense or sparse."""

def AccumulatorTakeGradient(*, handle: Any, num_required: Any, dtype: Any, name: str | None = None) -> Array:
    """`ResourceAccumulatorTakeGradient` for a "string_ref" handle."""

def CollateTPUEmbeddingMemory(*, memory_configs: Tensors, name: str | None = None) -> bytes:
    """Merge the data that the hosts need."""

def ComputeDedupDataSize(*, config: Config, name: str | None = None) -> np.int32:
    """The number of entries in the deduplication data of the step in progress."""

def ComputeDedupDataSizeV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> np.int32:
    """`ComputeDedupDataSize` compiled elsewhere: the three attributes more are not needed here."""

def ComputeDedupDataTupleMask(*, config: Config, name: str | None = None) -> np.ndarray:
    """The mask of the deduplication data of the step in progress: int32 rows (0 integer or 1 float, length)."""

def ComputeDedupDataTupleMaskV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> np.ndarray:
    """`ComputeDedupDataTupleMask` compiled elsewhere: the three attributes more are not needed here."""

def ConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """`ResourceConditionalAccumulator` of older graphs; the handle is a "string_ref"."""

def ConfigureTPUEmbedding(*, config: Config, name: str | None = None) -> None:
    """Start the system with `gl.tpu.initialize_system(config)`, where none is running."""

def ConfigureTPUEmbeddingHost(
    *, common_config: Tensor, memory_config: Tensor, config: Config, name: str | None = None
) -> bytes:
    """Return the data that the other hosts need to reach one host."""

def ConfigureTPUEmbeddingMemory(*, common_config: Tensor, name: str | None = None) -> bytes:
    """Return the data that one host needs for its rows: here the same for all."""

def ConnectTPUEmbeddingHosts(*, network_configs: Tensors, name: str | None = None) -> None:
    """Let the hosts know each other; there is one process, so nothing is left to do."""

def DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(
    *,
    sample_indices_or_row_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: Tensor,
    combiners: Sequence[Any] = (),
    name: str | None = None,
) -> None:
    """`EnqueueTPUEmbeddingArbitraryTensorBatch` whose device_ordinal is an input."""

def DynamicEnqueueTPUEmbeddingRaggedTensorBatch(
    *,
    sample_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: Tensor,
    table_ids: Sequence[int],
    combiners: Sequence[Any] = (),
    max_sequence_lengths: Sequence[int] = (),
    num_features: Sequence[int] = (),
    name: str | None = None,
) -> None:
    """`EnqueueTPUEmbeddingRaggedTensorBatch` whose device_ordinal is an input."""

def EnqueueTPUEmbeddingArbitraryTensorBatch(
    *,
    sample_indices_or_row_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    name: str | None = None,
) -> None:
    """Sparse, ragged or dense ids for each feature; the operation of TensorFlow 2."""

def EnqueueTPUEmbeddingIntegerBatch(
    *, batch: Tensors, mode_override: Any, device_ordinal: int = -1, name: str | None = None
) -> None:
    """A vector of ids for each table or feature, each id its own sample."""

def EnqueueTPUEmbeddingRaggedTensorBatch(
    *,
    sample_splits: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    table_ids: Sequence[int],
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    max_sequence_lengths: Sequence[int] = (),
    num_features: Sequence[int] = (),
    name: str | None = None,
) -> None:
    """Row splits, values and weights of a ragged tensor for each input, several of which may read one table."""

def EnqueueTPUEmbeddingSparseBatch(
    *,
    sample_indices: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    name: str | None = None,
) -> None:
    """Vectors of samples, ids and weights for each table."""

def EnqueueTPUEmbeddingSparseTensorBatch(
    *,
    sample_indices: Tensors,
    embedding_indices: Tensors,
    aggregation_weights: Tensors,
    mode_override: Any,
    table_ids: Sequence[int],
    device_ordinal: int = -1,
    combiners: Sequence[Any] = (),
    max_sequence_lengths: Sequence[int] = (),
    num_features: Sequence[int] = (),
    name: str | None = None,
) -> None:
    """Indices, values and weights of a sparse tensor for each input, several of which may read one table."""

def ExecuteTPUEmbeddingPartitioner(*, config: Config, name: str | None = None) -> bytes:
    """Return the data that all hosts need: here the checked configuration itself."""

def FinalizeTPUEmbedding(*, common_config: Tensor, memory_config: Tensor, name: str | None = None) -> None:
    """Start the system; the last of the parts of `ConfigureTPUEmbedding`."""

def FinalizeTPUEmbeddingV2(
    *, common_config: Tensor, memory_config: Tensor, name: str | None = None
) -> tuple[bytes, bytes]:
    """`FinalizeTPUEmbedding`, and what the V2 operations take as `embedding_partitions` and `hbm_buffers_config`."""

def IsTPUEmbeddingInitialized(*, config: Config = "", name: str | None = None) -> np.bool_:
    """Tell whether a system is running, and with this configuration if one is given."""

def LoadAllTPUEmbeddingParameters(
    *,
    parameters: Tensors,
    auxiliary1: Tensors,
    auxiliary2: Tensors,
    auxiliary3: Tensors,
    auxiliary4: Tensors,
    auxiliary5: Tensors,
    auxiliary6: Tensors,
    auxiliary7: Tensors,
    config: Config,
    num_shards: int,
    shard_id: int,
    name: str | None = None,
) -> None:
    """Load rows of all tables and their slots: each list has an array for each table."""

def LoadTPUEmbeddingADAMParameters(
    *,
    parameters: Tensor,
    momenta: Tensor,
    velocities: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by adam, and their slots: parameters, momenta, velocities."""

def LoadTPUEmbeddingAdadeltaParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    updates: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by adadelta, and their slots: parameters, accumulators, updates."""

def LoadTPUEmbeddingAdagradMomentumParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    momenta: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by adagrad_momentum, and their slots: parameters, accumulators, momenta."""

def LoadTPUEmbeddingAdagradParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by adagrad, and their slots: parameters, accumulators."""

def LoadTPUEmbeddingCenteredRMSPropParameters(
    *,
    parameters: Tensor,
    ms: Tensor,
    mom: Tensor,
    mg: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by centered_rms_prop, and their slots: parameters, ms, mom, mg."""

def LoadTPUEmbeddingFTRLParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    linears: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by ftrl, and their slots: parameters, accumulators, linears."""

def LoadTPUEmbeddingFrequencyEstimatorParameters(
    *,
    parameters: Tensor,
    last_hit_step: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by frequency_estimator, and their slots: parameters, last_hit_step."""

def LoadTPUEmbeddingMDLAdagradLightParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    weights: Tensor,
    benefits: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by mdl_adagrad_light, and their slots: parameters, accumulators, weights, benefits."""

def LoadTPUEmbeddingMomentumParameters(
    *,
    parameters: Tensor,
    momenta: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by momentum, and their slots: parameters, momenta."""

def LoadTPUEmbeddingProximalAdagradParameters(
    *,
    parameters: Tensor,
    accumulators: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by proximal_adagrad, and their slots: parameters, accumulators."""

def LoadTPUEmbeddingProximalYogiParameters(
    *,
    parameters: Tensor,
    v: Tensor,
    m: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by proximal_yogi, and their slots: parameters, v, m."""

def LoadTPUEmbeddingRMSPropParameters(
    *,
    parameters: Tensor,
    ms: Tensor,
    mom: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by rms_prop, and their slots: parameters, ms, mom."""

def LoadTPUEmbeddingStochasticGradientDescentParameters(
    *,
    parameters: Tensor,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> None:
    """Load rows of a table trained by stochastic_gradient_descent, and their slots: parameters."""

def MergeDedupData(
    *,
    integer_tensor: Tensor,
    float_tensor: Tensor,
    tuple_mask: bytes,
    integer_type: Any = None,
    float_type: Any = None,
    config: Config = "",
    name: str | None = None,
) -> Any:
    """The deduplication data that were split, as they are received: a tuple with one tuple of vectors."""

def RecvTPUEmbeddingActivations(*, num_outputs: int, config: Config, name: str | None = None) -> list[Array]:
    """`XlaRecvTPUEmbeddingActivations` with the deduplication data of this step, received here if they were not yet."""

def ResourceAccumulatorApplyGradient(
    *, handle: Any, local_step: Any, gradient: Any, name: str | None = None
) -> Receipt:
    """sum = sum + gradient, count + 1, if local_step >= global step; else nothing."""

def ResourceAccumulatorNumAccumulated(*, handle: Any, name: str | None = None) -> np.int32:
    """The number of gradients counted since the last take."""

def ResourceAccumulatorSetGlobalStep(*, handle: Any, new_global_step: Any, name: str | None = None) -> None:
    """global step = new_global_step, lower ones too; what is counted stays."""

def ResourceAccumulatorTakeGradient(*, handle: Any, num_required: Any, dtype: Any, name: str | None = None) -> Array:
    """Wait for `num_required` gradients, return their mean (or sum), start a new round: global step + 1."""

def ResourceConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """A dense accumulator, as `gl.ConditionalAccumulator`; the handle is a "resource"."""

def RetrieveAllTPUEmbeddingParameters(
    *, NumTables: int, config: Config, num_shards: int, shard_id: int, name: str | None = None
) -> AllParameters:
    """Copies of the rows of all tables and their slots; arrays of shape (0, 0) stand for what a table lacks."""

def RetrieveTPUEmbeddingADAMParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingADAMParameters:
    """Copies of the rows of a table trained by adam, and of their slots: parameters, momenta, velocities."""

def RetrieveTPUEmbeddingAdadeltaParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingAdadeltaParameters:
    """Copies of the rows of a table trained by adadelta, and of their slots: parameters, accumulators, updates."""

def RetrieveTPUEmbeddingAdagradMomentumParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingAdagradMomentumParameters:
    """Copies of the rows of a table trained by adagrad_momentum, and of their slots: parameters, accumulators, momenta."""

def RetrieveTPUEmbeddingAdagradParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingAdagradParameters:
    """Copies of the rows of a table trained by adagrad, and of their slots: parameters, accumulators."""

def RetrieveTPUEmbeddingCenteredRMSPropParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingCenteredRMSPropParameters:
    """Copies of the rows of a table trained by centered_rms_prop, and of their slots: parameters, ms, mom, mg."""

def RetrieveTPUEmbeddingFTRLParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingFTRLParameters:
    """Copies of the rows of a table trained by ftrl, and of their slots: parameters, accumulators, linears."""

def RetrieveTPUEmbeddingFrequencyEstimatorParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingFrequencyEstimatorParameters:
    """Copies of the rows of a table trained by frequency_estimator, and of their slots: parameters, last_hit_step."""

def RetrieveTPUEmbeddingMDLAdagradLightParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingMDLAdagradLightParameters:
    """Copies of the rows of a table trained by mdl_adagrad_light, and of their slots: parameters, accumulators, weights, benefits."""

def RetrieveTPUEmbeddingMomentumParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingMomentumParameters:
    """Copies of the rows of a table trained by momentum, and of their slots: parameters, momenta."""

def RetrieveTPUEmbeddingProximalAdagradParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingProximalAdagradParameters:
    """Copies of the rows of a table trained by proximal_adagrad, and of their slots: parameters, accumulators."""

def RetrieveTPUEmbeddingProximalYogiParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingProximalYogiParameters:
    """Copies of the rows of a table trained by proximal_yogi, and of their slots: parameters, v, m."""

def RetrieveTPUEmbeddingRMSPropParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> _RetrieveTPUEmbeddingRMSPropParameters:
    """Copies of the rows of a table trained by rms_prop, and of their slots: parameters, ms, mom."""

def RetrieveTPUEmbeddingStochasticGradientDescentParameters(
    *,
    num_shards: int,
    shard_id: int,
    table_id: int = -1,
    table_name: str | bytes = "",
    config: Config = "",
    name: str | None = None,
) -> np.ndarray:
    """Copies of the rows of a table trained by stochastic_gradient_descent, and of their slots: parameters."""

def SendTPUEmbeddingGradients(
    *, inputs: Tensors, learning_rates: Tensors, config: Config, name: str | None = None
) -> None:
    """`XlaSendTPUEmbeddingGradients` with the deduplication data of this step."""

def SparseAccumulatorApplyGradient(
    *,
    handle: Any,
    local_step: Any,
    gradient_indices: Any,
    gradient_values: Any,
    gradient_shape: Any,
    has_known_shape: bool,
    name: str | None = None,
) -> Receipt:
    """Add rows if local_step >= global step; `gradient_shape` counts only if `has_known_shape`."""

def SparseAccumulatorTakeGradient(
    *, handle: Any, num_required: Any, dtype: Any, name: str | None = None
) -> SparseGradient:
    """Like `AccumulatorTakeGradient`; returns (indices, values, shape), each row divided by its own count."""

def SparseConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """An accumulator of rows, as `gl.SparseConditionalAccumulator`; the handle is a "string_ref"."""

def SplitDedupData(
    *,
    input: Variant,
    integer_type: Any,
    float_type: Any,
    tuple_mask: bytes,
    config: Config = "",
    name: str | None = None,
) -> tuple[Array, Array]:
    """All integer vectors of deduplication data joined in order, and all float vectors."""

def TPUEmbeddingActivations(
    *, embedding_variable: Tensor, sliced_activations: Tensor, table_id: int, lookup_id: int, name: str | None = None
) -> Array:
    """The activations as they are; TensorFlow 1 hung the gradient of `embedding_variable` on it."""

def XlaRecvTPUEmbeddingActivations(
    *, deduplication_data: Variant, num_tables: int, config: Config, name: str | None = None
) -> list[Array]:
    """The activations of the current replica: float32, one for each feature, or for each table without features."""

def XlaRecvTPUEmbeddingActivationsV2(
    *,
    deduplication_data: Variant,
    num_tables: int,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> list[Array]:
    """`XlaRecvTPUEmbeddingActivations` compiled elsewhere: the three attributes more are not needed here."""

def XlaRecvTPUEmbeddingDeduplicationData(*, config: Config, name: str | None = None) -> Any:
    """Which rows the current replica looks up, and how: a tuple with one tuple of vectors."""

def XlaRecvTPUEmbeddingDeduplicationDataV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> Any:
    """`XlaRecvTPUEmbeddingDeduplicationData` compiled elsewhere: the three attributes more are not needed here."""

def XlaSendTPUEmbeddingGradients(
    *, gradients: Tensors, learning_rates: Tensors, deduplication_data: Variant, config: Config, name: str | None = None
) -> None:
    """Give the gradients of the activations; the tables move when every replica has."""

def XlaSendTPUEmbeddingGradientsV2(
    *,
    gradients: Tensors,
    learning_rates: Tensors,
    deduplication_data: Variant,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> None:
    """`XlaSendTPUEmbeddingGradients` compiled elsewhere: the three attributes more are not needed here."""

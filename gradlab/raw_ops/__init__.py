"""TensorFlow's ops of conditional accumulators and TPU embeddings, by its names and keywords.

Each op is one function, in the module of its family. A handle is what a constructor here returns, or the
`accumulator_ref` of an accumulator object. As in TensorFlow there are two types: `Resource...` ops take dense
accumulators by "resource" handles, all others take "string_ref" handles, and one of the wrong type is a TypeError. The
ops skip what TensorFlow's Python checks, so shapes are looked at only in gradients that are accepted. What kills
TensorFlow's process raises and changes nothing: a `local_step` or `num_required` that isn't a scalar, a gradient or a
take of another dtype, one shared_name with two dtypes.

Differs from TensorFlow: everything happens at once, ref ops too, which need a graph there; accumulators without a
shared_name are distinct; an apply returns its `Receipt`.

The ops of TPU embeddings are about the running system of `gl.tpu.initialize_system`, on any machine. They run at once,
and not inside `jax.jit`; `gl.raw_ops.<name>.shapes(...)` is TensorFlow's shape function of each. Source: `tf.raw_ops`,
TensorFlow 2.21 (2026), run.
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .accumulators import (
    AccumulatorApplyGradient,
    AccumulatorNumAccumulated,
    AccumulatorSetGlobalStep,
    AccumulatorTakeGradient,
    ConditionalAccumulator,
    ResourceAccumulatorApplyGradient,
    ResourceAccumulatorNumAccumulated,
    ResourceAccumulatorSetGlobalStep,
    ResourceAccumulatorTakeGradient,
    ResourceConditionalAccumulator,
    SparseAccumulatorApplyGradient,
    SparseAccumulatorTakeGradient,
    SparseConditionalAccumulator,
)
from .tpu_configure import (
    CollateTPUEmbeddingMemory,
    ConfigureTPUEmbedding,
    ConfigureTPUEmbeddingHost,
    ConfigureTPUEmbeddingMemory,
    ConnectTPUEmbeddingHosts,
    ExecuteTPUEmbeddingPartitioner,
    FinalizeTPUEmbedding,
    FinalizeTPUEmbeddingV2,
    IsTPUEmbeddingInitialized,
)
from .tpu_dedup import (
    ComputeDedupDataSize,
    ComputeDedupDataSizeV2,
    ComputeDedupDataTupleMask,
    ComputeDedupDataTupleMaskV2,
    MergeDedupData,
    SplitDedupData,
)
from .tpu_enqueue import (
    DynamicEnqueueTPUEmbeddingArbitraryTensorBatch,
    DynamicEnqueueTPUEmbeddingRaggedTensorBatch,
    EnqueueTPUEmbeddingArbitraryTensorBatch,
    EnqueueTPUEmbeddingIntegerBatch,
    EnqueueTPUEmbeddingRaggedTensorBatch,
    EnqueueTPUEmbeddingSparseBatch,
    EnqueueTPUEmbeddingSparseTensorBatch,
)
from .tpu_parameters import (
    LoadAllTPUEmbeddingParameters,
    LoadTPUEmbeddingAdadeltaParameters,
    LoadTPUEmbeddingAdagradMomentumParameters,
    LoadTPUEmbeddingAdagradParameters,
    LoadTPUEmbeddingADAMParameters,
    LoadTPUEmbeddingCenteredRMSPropParameters,
    LoadTPUEmbeddingFrequencyEstimatorParameters,
    LoadTPUEmbeddingFTRLParameters,
    LoadTPUEmbeddingMDLAdagradLightParameters,
    LoadTPUEmbeddingMomentumParameters,
    LoadTPUEmbeddingProximalAdagradParameters,
    LoadTPUEmbeddingProximalYogiParameters,
    LoadTPUEmbeddingRMSPropParameters,
    LoadTPUEmbeddingStochasticGradientDescentParameters,
    RetrieveAllTPUEmbeddingParameters,
    RetrieveTPUEmbeddingAdadeltaParameters,
    RetrieveTPUEmbeddingAdagradMomentumParameters,
    RetrieveTPUEmbeddingAdagradParameters,
    RetrieveTPUEmbeddingADAMParameters,
    RetrieveTPUEmbeddingCenteredRMSPropParameters,
    RetrieveTPUEmbeddingFrequencyEstimatorParameters,
    RetrieveTPUEmbeddingFTRLParameters,
    RetrieveTPUEmbeddingMDLAdagradLightParameters,
    RetrieveTPUEmbeddingMomentumParameters,
    RetrieveTPUEmbeddingProximalAdagradParameters,
    RetrieveTPUEmbeddingProximalYogiParameters,
    RetrieveTPUEmbeddingRMSPropParameters,
    RetrieveTPUEmbeddingStochasticGradientDescentParameters,
)
from .tpu_step import (
    RecvTPUEmbeddingActivations,
    SendTPUEmbeddingGradients,
    TPUEmbeddingActivations,
    XlaRecvTPUEmbeddingActivations,
    XlaRecvTPUEmbeddingActivationsV2,
    XlaRecvTPUEmbeddingDeduplicationData,
    XlaRecvTPUEmbeddingDeduplicationDataV2,
    XlaSendTPUEmbeddingGradients,
    XlaSendTPUEmbeddingGradientsV2,
)

__all__ = [
    "AccumulatorApplyGradient",
    "AccumulatorNumAccumulated",
    "AccumulatorSetGlobalStep",
    "AccumulatorTakeGradient",
    "CollateTPUEmbeddingMemory",
    "ComputeDedupDataSize",
    "ComputeDedupDataSizeV2",
    "ComputeDedupDataTupleMask",
    "ComputeDedupDataTupleMaskV2",
    "ConditionalAccumulator",
    "ConfigureTPUEmbedding",
    "ConfigureTPUEmbeddingHost",
    "ConfigureTPUEmbeddingMemory",
    "ConnectTPUEmbeddingHosts",
    "DynamicEnqueueTPUEmbeddingArbitraryTensorBatch",
    "DynamicEnqueueTPUEmbeddingRaggedTensorBatch",
    "EnqueueTPUEmbeddingArbitraryTensorBatch",
    "EnqueueTPUEmbeddingIntegerBatch",
    "EnqueueTPUEmbeddingRaggedTensorBatch",
    "EnqueueTPUEmbeddingSparseBatch",
    "EnqueueTPUEmbeddingSparseTensorBatch",
    "ExecuteTPUEmbeddingPartitioner",
    "FinalizeTPUEmbedding",
    "FinalizeTPUEmbeddingV2",
    "IsTPUEmbeddingInitialized",
    "LoadAllTPUEmbeddingParameters",
    "LoadTPUEmbeddingADAMParameters",
    "LoadTPUEmbeddingAdadeltaParameters",
    "LoadTPUEmbeddingAdagradMomentumParameters",
    "LoadTPUEmbeddingAdagradParameters",
    "LoadTPUEmbeddingCenteredRMSPropParameters",
    "LoadTPUEmbeddingFTRLParameters",
    "LoadTPUEmbeddingFrequencyEstimatorParameters",
    "LoadTPUEmbeddingMDLAdagradLightParameters",
    "LoadTPUEmbeddingMomentumParameters",
    "LoadTPUEmbeddingProximalAdagradParameters",
    "LoadTPUEmbeddingProximalYogiParameters",
    "LoadTPUEmbeddingRMSPropParameters",
    "LoadTPUEmbeddingStochasticGradientDescentParameters",
    "MergeDedupData",
    "RecvTPUEmbeddingActivations",
    "ResourceAccumulatorApplyGradient",
    "ResourceAccumulatorNumAccumulated",
    "ResourceAccumulatorSetGlobalStep",
    "ResourceAccumulatorTakeGradient",
    "ResourceConditionalAccumulator",
    "RetrieveAllTPUEmbeddingParameters",
    "RetrieveTPUEmbeddingADAMParameters",
    "RetrieveTPUEmbeddingAdadeltaParameters",
    "RetrieveTPUEmbeddingAdagradMomentumParameters",
    "RetrieveTPUEmbeddingAdagradParameters",
    "RetrieveTPUEmbeddingCenteredRMSPropParameters",
    "RetrieveTPUEmbeddingFTRLParameters",
    "RetrieveTPUEmbeddingFrequencyEstimatorParameters",
    "RetrieveTPUEmbeddingMDLAdagradLightParameters",
    "RetrieveTPUEmbeddingMomentumParameters",
    "RetrieveTPUEmbeddingProximalAdagradParameters",
    "RetrieveTPUEmbeddingProximalYogiParameters",
    "RetrieveTPUEmbeddingRMSPropParameters",
    "RetrieveTPUEmbeddingStochasticGradientDescentParameters",
    "SendTPUEmbeddingGradients",
    "SparseAccumulatorApplyGradient",
    "SparseAccumulatorTakeGradient",
    "SparseConditionalAccumulator",
    "SplitDedupData",
    "TPUEmbeddingActivations",
    "XlaRecvTPUEmbeddingActivations",
    "XlaRecvTPUEmbeddingActivationsV2",
    "XlaRecvTPUEmbeddingDeduplicationData",
    "XlaRecvTPUEmbeddingDeduplicationDataV2",
    "XlaSendTPUEmbeddingGradients",
    "XlaSendTPUEmbeddingGradientsV2",
]

# `help` and tracebacks name the public path.
for _name in __all__:
    globals()[_name].__module__ = __name__

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)

"""What type checkers know of the raw operations, one of each family: checked by mypy and pyright."""

from typing import assert_type

import numpy as np

from gradlab import raw_ops
from gradlab._base.types import Array
from gradlab.raw_ops.accumulators import Handle
from gradlab.raw_ops.sparsecore_update import AdamTables
from gradlab.raw_ops.tpu_parameters import AllParameters
from gradlab.train.accumulators import Receipt, SparseGradient


def calls(config: bytes) -> None:
    """What each gives."""
    handle = raw_ops.ResourceConditionalAccumulator(dtype="float32", shape=[2])
    assert_type(handle, Handle)
    assert_type(
        raw_ops.AccumulatorApplyGradient(handle=handle, local_step=0, gradient=[1.0]), Receipt
    )
    assert_type(
        raw_ops.SparseAccumulatorTakeGradient(handle=handle, num_required=1, dtype="float32"),
        SparseGradient,
    )
    assert_type(
        raw_ops.ResourceAccumulatorTakeGradient(handle=handle, num_required=1, dtype="float32"),
        Array,
    )

    assert_type(raw_ops.IsTPUEmbeddingInitialized(config=config), np.bool_)
    assert_type(
        raw_ops.FinalizeTPUEmbeddingV2(common_config=config, memory_config=config),
        tuple[bytes, bytes],
    )
    raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3]], mode_override="", device_ordinal=0)
    raw_ops.DynamicEnqueueTPUEmbeddingRaggedTensorBatch(
        sample_splits=[[0]],
        embedding_indices=[[3]],
        aggregation_weights=[[]],
        mode_override="",
        device_ordinal=np.int32(0),
        table_ids=[0],
    )
    assert_type(
        raw_ops.SplitDedupData(input=(), integer_type="", float_type="", tuple_mask=b""),
        tuple[Array, Array],
    )
    assert_type(raw_ops.RecvTPUEmbeddingActivations(num_outputs=1, config=config), list[Array])
    assert_type(raw_ops.ComputeDedupDataSize(config=config), np.int32)
    assert_type(
        raw_ops.ComputeDedupDataSizeV2(
            config=config, embedding_partitions=b"", hbm_buffers_config=b"", tpu_topology=b""
        ),
        np.int32,
    )

    raw_ops.LoadTPUEmbeddingAdagradParameters(
        parameters=[], accumulators=[], num_shards=1, shard_id=0, table_id=0
    )
    adam = raw_ops.RetrieveTPUEmbeddingADAMParameters(num_shards=1, shard_id=0, table_name="t")
    assert_type(adam.momenta, np.ndarray)
    sgd = raw_ops.RetrieveTPUEmbeddingStochasticGradientDescentParameters(
        num_shards=1, shard_id=0, table_id=0
    )
    assert_type(sgd, np.ndarray)
    assert_type(
        raw_ops.RetrieveAllTPUEmbeddingParameters(
            NumTables=1, config=config, num_shards=1, shard_id=0
        ),
        AllParameters,
    )
    debug = raw_ops.RetrieveTPUEmbeddingFTRLParametersGradAccumDebug(
        num_shards=1, shard_id=0, table_id=0
    )
    assert_type(debug.gradient_accumulators, np.ndarray)
    raw_ops.EnqueueTPUEmbeddingBatch(batch=[[b""]], mode_override="", device_ordinal=0)

    coo = raw_ops.ConvertToCooTensor(
        indices_or_row_splits=[0, 1], values=[3], weights=1.0, sample_count=1, combiner="sum"
    )
    assert_type(coo.gains, np.ndarray)
    table = [[1.0]]
    assert_type(
        raw_ops.XlaSparseCoreSgd(
            indices=[0],
            gradient=table,
            learning_rate=0.1,
            embedding_table=table,
            feature_width=1,
        ),
        np.ndarray,
    )
    assert_type(
        raw_ops.XlaSparseCoreAdam(
            embedding_table=table,
            indices=[0],
            gradient=table,
            learning_rate=0.1,
            momentum=table,
            velocity=table,
            beta_1=0.9,
            beta_2=0.99,
            epsilon=1e-8,
            feature_width=1,
            use_sum_inside_sqrt=True,
        ),
        AdamTables,
    )
    assert_type(
        raw_ops.XlaSparseActivationsUnstack(
            stacked_activations=table,
            num_tables=1,
            sample_counts=[1],
            features=[1],
            interleaved=False,
        ),
        list[np.ndarray],
    )
    raw_ops.LoadTPUEmbeddingAdagradParameters(parameters=[], num_shards=1, shard_id=0)  # type: ignore[call-arg]  # pyright: ignore
    raw_ops.nonsense  # type: ignore[attr-defined]  # noqa: B018 # pyright: ignore

"""Ops that take deduplication data apart and put them together, or say what is in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array
from . import tpu_shapes as shapes
from .tpu_op import Config, Tensor, Variant, op, running_system, tpu_module


@op(shapes.split)
def SplitDedupData(
    *,
    input: Variant,
    integer_type: Any,
    float_type: Any,
    tuple_mask: bytes,
    config: Config = "",
    name: str | None = None,
) -> tuple[Array, Array]:
    """Return all integer vectors of deduplication data joined in order, and all float vectors.

    Args:
        input: the tuple of vectors, or a tuple with it as its one entry, as it was received.
        integer_type: int32, int64, uint32 or uint64.
        float_type: float16, bfloat16 or float32.
        tuple_mask: what `gl.tpu.write_tuple_mask` makes of the mask.

    Raises:
        InvalidArgumentError: not a mask, or a mask that does not fit the vectors.
        TypeError: another dtype.

    Source: op `SplitDedupData`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> data, mask = ([1, 2], [0.5], [3]), tpu.write_tuple_mask([[0, 2], [1, 1], [0, 1]])
    >>> [x.tolist() for x in SplitDedupData(input=data, integer_type="uint32", float_type="float32", tuple_mask=mask)]
    [[1, 2, 3], [0.5]]
    """
    shapes.split(
        tuple_mask=tuple_mask, integer_type=integer_type, float_type=float_type, config=config
    )
    dedup = tpu_module("dedup")
    vectors = input
    if len(input) == 1 and isinstance(input[0], tuple | list) and all(np.ndim(x) for x in input[0]):
        vectors = input[0]
    integers, floats = dedup.split_dedup(
        vectors,
        dedup.parse_tuple_mask(tuple_mask),
        shapes.numpy_dtype(integer_type),
        shapes.numpy_dtype(float_type),
    )
    return integers, floats


@op(shapes.fixed(shapes.SCALAR))
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
    """Return the deduplication data that were split, as they are received: a tuple with one tuple of vectors.

    Args:
        integer_type, float_type: dtypes of the vectors; None keeps those that come.
        config: with SPMD sharding the mask has the lengths of all cores of a replica, and each
            holds its share.

    Raises:
        InvalidArgumentError: bytes that aren't a mask, vectors that are too short or too long for
            it.

    Source: op `MergeDedupData`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> mask = tpu.write_tuple_mask([[0, 2], [1, 1], [0, 1]])
    >>> data = MergeDedupData(integer_tensor=[1, 2, 3], float_tensor=[0.5], tuple_mask=mask)
    >>> [x.tolist() for x in data[0]]
    [[1, 2], [0.5], [3]]
    """
    dedup = tpu_module("dedup")
    mask = dedup.parse_tuple_mask(tuple_mask)
    message = tpu_module("engine.parse").parse(config)
    cores = tpu_module("engine.shapes").cores_per_output(message)
    integers = _cast(integer_tensor, integer_type)
    floats = _cast(float_tensor, float_type)
    return (tuple(dedup.merge_dedup(integers, floats, mask, cores)),)


@op(shapes.fixed(shapes.SCALAR))
def ComputeDedupDataSize(*, config: Config, name: str | None = None) -> np.int32:
    """Return the number of entries in the deduplication data of the step in progress.

    Raises:
        FailedPreconditionError: not all cores have enqueued.

    Differs from TensorFlow, where it is known from the configuration alone; here vectors are as
    long as the batch asks.

    Source: op `ComputeDedupDataSize`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> int(ComputeDedupDataSize(config=tpu.example_config()))
    7
    >>> tpu.shutdown_system()
    """
    mask = ComputeDedupDataTupleMask(config=config)
    return np.int32(tpu_module("dedup").dedup_size(mask))


@op(shapes.fixed(shapes.SCALAR))
def ComputeDedupDataSizeV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> np.int32:
    """Do the same as `ComputeDedupDataSize`, for a program that is compiled elsewhere.

    Args:
        config: the configuration of the running system.
        embedding_partitions: ignored, as are `hbm_buffers_config` and `tpu_topology`.

    Source: op `ComputeDedupDataSizeV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> size = ComputeDedupDataSizeV2(
    ...     config=config, embedding_partitions=b"", hbm_buffers_config=b"", tpu_topology=b""
    ... )
    >>> int(size)
    7
    >>> tpu.shutdown_system()
    """
    return ComputeDedupDataSize(config=config)


@op(shapes.fixed((None, None)))
def ComputeDedupDataTupleMask(*, config: Config, name: str | None = None) -> np.ndarray:
    """Return the mask of the deduplication data of this step: int32 rows (0 integer or 1 float, length).

    `gl.tpu.write_tuple_mask` makes the attribute `tuple_mask` of it.

    Raises:
        FailedPreconditionError: not all cores have enqueued.

    Source: op `ComputeDedupDataTupleMask`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> ComputeDedupDataTupleMask(config=tpu.example_config()).tolist()
    [[0, 1], [0, 2], [0, 2], [1, 2]]
    >>> tpu.shutdown_system()
    """
    vectors = running_system(config).deduplication_data()[0]
    mask: np.ndarray = tpu_module("dedup").dedup_mask(vectors)
    return mask


@op(shapes.fixed((None, None)))
def ComputeDedupDataTupleMaskV2(
    *,
    config: Config,
    embedding_partitions: bytes,
    hbm_buffers_config: bytes,
    tpu_topology: bytes,
    name: str | None = None,
) -> np.ndarray:
    """Do the same as `ComputeDedupDataTupleMask`, for a program that is compiled elsewhere.

    Args:
        config: the configuration of the running system.
        embedding_partitions: ignored, as are `hbm_buffers_config` and `tpu_topology`.

    Source: op `ComputeDedupDataTupleMaskV2`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> config = tpu.example_config()
    >>> system = tpu.initialize_system(config)
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> mask = ComputeDedupDataTupleMaskV2(
    ...     config=config, embedding_partitions=b"", hbm_buffers_config=b"", tpu_topology=b""
    ... )
    >>> mask.shape
    (4, 2)
    >>> tpu.shutdown_system()
    """
    return ComputeDedupDataTupleMask(config=config)


def _cast(vector: Any, dtype: Any) -> Any:
    if dtype is None:
        return vector
    return np.asarray(vector).astype(shapes.numpy_dtype(dtype))

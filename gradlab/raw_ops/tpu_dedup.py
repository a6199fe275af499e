"""Operations that take deduplication data apart and put them together, or say what is in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array
from .tpu_op import Config, Tensor, Variant, op, part, system
from .tpu_shapes import SCALAR, dtype_of, fixed, split


@op(split)
def SplitDedupData(
    *,
    input: Variant,
    integer_type: Any,
    float_type: Any,
    tuple_mask: bytes,
    config: Config = "",
    name: str | None = None,
) -> tuple[Array, Array]:
    """All integer vectors of deduplication data joined in order, and all float vectors.

    Args:
        input: the tuple of vectors, or a tuple with it as its one entry, as it was received.
        integer_type: int32, int64, uint32 or uint64. float_type: float16, bfloat16 or float32.
        tuple_mask: what `gl.tpu.write_tuple_mask` makes of the mask.

    Raises:
        InvalidArgumentError: not a mask, or a mask that does not fit the vectors. TypeError: another dtype.

    Source: op `SplitDedupData`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> data, mask = ([1, 2], [0.5], [3]), tpu.write_tuple_mask([[0, 2], [1, 1], [0, 1]])
    >>> [x.tolist() for x in SplitDedupData(input=data, integer_type="uint32", float_type="float32", tuple_mask=mask)]
    [[1, 2, 3], [0.5]]
    """
    elements = input[0] if len(input) == 1 and isinstance(input[0], tuple | list) and _is_nested(input[0]) else input
    mask = part("dedup").parse_tuple_mask(tuple_mask)
    integers, floats = part("dedup").split_dedup(elements, mask, dtype_of(integer_type), dtype_of(float_type))
    return integers, floats


@op(fixed(SCALAR))
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
    """The deduplication data that were split, as they are received: a tuple with one tuple of vectors.

    Args:
        integer_type, float_type: dtypes of the vectors; None keeps those that come.
        config: with SPMD sharding the mask has the lengths of all cores of a replica, and each holds its share.

    Raises:
        InvalidArgumentError: bytes that aren't a mask, vectors that are too short or too long for it.

    Source: op `MergeDedupData`, TensorFlow 2.21 (2026).

    >>> from gradlab import tpu
    >>> mask = tpu.write_tuple_mask([[0, 2], [1, 1], [0, 1]])
    >>> data = MergeDedupData(integer_tensor=[1, 2, 3], float_tensor=[0.5], tuple_mask=mask)
    >>> [x.tolist() for x in data[0]]
    [[1, 2], [0.5], [3]]
    """
    mask = part("dedup").parse_tuple_mask(tuple_mask)
    cores = part("engine.shapes").cores_per_output(part("engine.parse").parse(config))
    vectors = [_typed(integer_tensor, integer_type), _typed(float_tensor, float_type)]
    return (tuple(part("dedup").merge_dedup(*vectors, mask, cores)),)


@op(fixed(SCALAR))
def ComputeDedupDataSize(*, config: Config, name: str | None = None) -> np.int32:
    """The number of entries in the deduplication data of the step in progress.

    Raises:
        FailedPreconditionError: not all cores have enqueued.

    Differs from TensorFlow, where it is known from the configuration alone; here vectors are as long as the batch asks.
    Source: op `ComputeDedupDataSize`, TensorFlow 2.21 (2026).

    >>> from gradlab import raw_ops, tpu
    >>> system = tpu.initialize_system(tpu.example_config())
    >>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
    >>> int(ComputeDedupDataSize(config=tpu.example_config()))
    7
    >>> tpu.shutdown_system()
    """
    return np.int32(part("dedup").dedup_size(ComputeDedupDataTupleMask(config=config)))


@op(fixed((None, None)))
def ComputeDedupDataTupleMask(*, config: Config, name: str | None = None) -> np.ndarray:
    """The mask of the deduplication data of the step in progress: int32 rows (0 integer or 1 float, length).

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
    mask: np.ndarray = part("dedup").dedup_mask(system(config).deduplication_data()[0])
    return mask


def _is_nested(elements: Any) -> bool:
    return all(np.ndim(x) for x in elements)


def _typed(x: Any, dtype: Any) -> Any:
    return x if dtype is None else np.asarray(x).astype(dtype_of(dtype))

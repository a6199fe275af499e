"""Deduplication data: a tuple of vectors, some of integers (where to gather) and some of floats (how to scale).

A mask describes the tuple: one row (kind, length) for each vector, kind 0 for integers and 1 for
floats. Splitting joins all integer vectors into one and all float vectors into another, so that
both can be shipped as plain tensors; merging is the inverse. An attribute of an operation carries a
mask as a constant tensor in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, namespace
from ..errors import InternalError, InvalidArgumentError
from .engine.proto import TensorProto
from .engine.wire import read

INTEGER = 0
FLOAT = 1


def dedup_mask(elements: Sequence[Any]) -> np.ndarray:
    """Return the mask that describes these vectors, of shape (number of vectors, 2) and dtype int32.

    Raises:
        InvalidArgumentError: an element is not a vector.

    Source: op `ComputeDedupDataTupleMask`, TensorFlow 2.21 (2026).

    >>> dedup_mask([np.array([1, 2]), np.array([0.1])]).tolist()
    [[0, 2], [1, 1]]
    """
    rows = [
        (INTEGER if np.issubdtype(x.dtype, np.integer) else FLOAT, x.shape[0])
        for x in _check_vectors(elements)
    ]
    return np.array(rows, np.int32).reshape(-1, 2)


def dedup_size(mask: Any) -> int:
    """Return the number of entries in all vectors that a mask describes.

    Raises:
        InvalidArgumentError: the mask is not a list of (0 or 1, length) rows.

    Source: op `ComputeDedupDataSize`, TensorFlow 2.21 (2026).

    >>> dedup_size([[0, 2], [1, 1], [0, 1]])
    4
    """
    return int(_check_mask(mask)[:, 1].sum())


def split_dedup(
    elements: Sequence[Any], mask: Any, integer_type: Any = np.uint32, float_type: Any = np.float32
) -> tuple[Array, Array]:
    """Return all integer vectors joined in order, and all float vectors joined in order.

    Args:
        elements: vectors, NumPy or JAX.
        mask: their description, as `dedup_mask` gives it.
        integer_type, float_type: dtypes of the results, which matter where a kind has no vector at
            all.

    Raises:
        InvalidArgumentError: elements and mask differ in number or in a length, or the mask is
            malformed.

    Source: op `SplitDedupData`, TensorFlow 2.21 (2026).

    >>> ints, floats = split_dedup([np.array([1, 2]), np.array([0.5]), np.array([3])], [[0, 2], [1, 1], [0, 1]])
    >>> ints.tolist(), floats.tolist()
    ([1, 2, 3], [0.5])
    """
    vectors = _check_vectors(elements)
    rows = _check_mask(mask)
    lengths = [x.shape[0] for x in vectors]
    if lengths != rows[:, 1].tolist():
        raise InvalidArgumentError(
            f"the mask says lengths {rows[:, 1].tolist()}, the vectors have {lengths}"
        )

    def join(kind: int, dtype: Any) -> Array:
        parts = [x.astype(dtype) for x, k in zip(vectors, rows[:, 0], strict=True) if k == kind]
        return namespace(*parts).concatenate(parts) if parts else np.zeros(0, dtype)

    return join(INTEGER, integer_type), join(FLOAT, float_type)


def merge_dedup(
    integers: Any, floats: Any, mask: Any, num_cores_per_replica: int = 1
) -> list[Array]:
    """Return the vectors that were split: each is cut from the front of what is left of its kind.

    Args:
        integers, floats: vectors, NumPy or JAX.
        mask: what they are to be cut into.
        num_cores_per_replica: with more than one, lengths in the mask are those of all cores
            together and each core holds its share.

    Raises:
        InvalidArgumentError: an input is not a vector, is too short or has entries left over, a
            length is not divisible by the number of cores, or the mask is malformed.

    Source: op `MergeDedupData`, TensorFlow 2.21 (2026).

    >>> [x.tolist() for x in merge_dedup(np.array([1, 2, 3]), np.array([0.5]), [[0, 2], [1, 1], [0, 1]])]
    [[1, 2], [0.5], [3]]
    """
    left = dict(zip((INTEGER, FLOAT), _check_vectors([integers, floats]), strict=True))
    elements = []
    for kind, length in _check_mask(mask).tolist():
        if length % num_cores_per_replica:
            raise InvalidArgumentError(
                f"a vector of {length} entries cannot be shared by {num_cores_per_replica} cores"
            )
        n = length // num_cores_per_replica
        if left[kind].shape[0] < n:
            raise InvalidArgumentError(
                f"the mask asks for {n} more {_NAMES[kind]}, but only "
                f"{left[kind].shape[0]} are left"
            )
        elements.append(left[kind][:n])
        left[kind] = left[kind][n:]
    if unused := [f"{x.shape[0]} {_NAMES[kind]}" for kind, x in left.items() if x.shape[0]]:
        raise InvalidArgumentError(f"the mask leaves {' and '.join(unused)} over")
    return elements


_NAMES = {INTEGER: "integers", FLOAT: "floats"}


def _check_vectors(elements: Sequence[Any]) -> list[Array]:
    arrays = [as_array(x, "an element") for x in elements]
    for x in arrays:
        if x.ndim != 1:
            raise InvalidArgumentError(
                f"deduplication data are vectors, got an array of shape {tuple(x.shape)}"
            )
    return arrays


def _check_mask(mask: Any) -> np.ndarray:
    rows = np.asarray(mask)
    if rows.size == 0:
        return np.zeros((0, 2), np.int32)
    if rows.ndim != 2 or rows.shape[1] != 2 or not np.issubdtype(rows.dtype, np.integer):
        raise InvalidArgumentError(
            f"a mask has integer rows (kind, length), got {rows.dtype} of shape {rows.shape}"
        )
    if not np.isin(rows[:, 0], (INTEGER, FLOAT)).all() or (rows[:, 1] < 0).any():
        raise InvalidArgumentError(f"a mask has rows (0 or 1, length >= 0), got {rows.tolist()}")
    return rows


_INT32 = 3


def parse_tuple_mask(tuple_mask: bytes | str) -> np.ndarray:
    """Return the mask that an attribute carries: int32 of shape (vectors, 2), each row (0 integer or 1 float, length).

    Raises:
        ValueError: not a tensor.
        InvalidArgumentError: a tensor of another rank, another kind than 0 and 1, or a length below
            0.
        InternalError: another number of entries in `int_val` than two for each vector; TensorFlow
            reads no other field.

    Source: shape function of `SplitDedupData`, TensorFlow 2.21 (2026), which ends the process on a
    tensor of rank 0.

    >>> parse_tuple_mask(write_tuple_mask([[0, 2], [1, 1]])).tolist()
    [[0, 2], [1, 1]]
    """
    tensor = read(
        TensorProto, tuple_mask.encode() if isinstance(tuple_mask, str) else bytes(tuple_mask)
    )
    shape = [d.size for d in tensor.tensor_shape.dim]
    if shape and shape[0] == 0:
        return np.zeros((0, 2), np.int32)
    if len(shape) != 2:
        raise InvalidArgumentError(f"tuple_mask must have rank 2, got shape {shape}")
    if len(tensor.int_val) != 2 * shape[0]:
        raise InternalError(
            f"tuple_mask of shape {shape} must have {2 * shape[0]} entries in int_val, got "
            f"{len(tensor.int_val)}; write_tuple_mask writes them there"
        )
    rows = np.array(tensor.int_val, np.int32).reshape(-1, 2)
    if not np.isin(rows[:, 0], (INTEGER, FLOAT)).all() or (rows[:, 1] < 0).any():
        raise InvalidArgumentError(
            f"tuple_mask must have rows (0 or 1, length >= 0), got {rows.tolist()}"
        )
    return rows


def write_tuple_mask(mask: object) -> bytes:
    """Return the bytes of a mask, as `parse_tuple_mask` reads them.

    Source: attribute of `SplitDedupData`, TensorFlow 2.21 (2026).

    >>> write_tuple_mask([[0, 2]]).hex()
    '0803120812020801120208023a020002'
    """
    rows = np.asarray(mask, np.int32).reshape(-1, 2)
    tensor = TensorProto(dtype=_INT32, int_val=rows.ravel().tolist())
    for n in rows.shape:
        tensor.tensor_shape.dim.add(size=n)
    written: bytes = tensor.SerializeToString()
    return written

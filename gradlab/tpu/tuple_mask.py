"""Masks of deduplication data as attributes carry them: a constant tensor in bytes."""

from __future__ import annotations

import math

import numpy as np
from google.protobuf.message import DecodeError

from ..errors import InvalidArgumentError
from .dedup import FLOAT, INTEGER
from .proto import TensorProto

_INT32 = 3


def parse_tuple_mask(tuple_mask: bytes | str) -> np.ndarray:
    """The mask that an attribute carries: int32 of shape (vectors, 2), each row (0 integer or 1 float, length).

    Raises:
        InvalidArgumentError: bytes that are no tensor, a tensor of another type or shape, another kind than 0 and 1, or
            a length below 0.

    Source: shape function of `SplitDedupData`, TensorFlow 2.21 (2026).

    >>> parse_tuple_mask(write_tuple_mask([[0, 2], [1, 1]])).tolist()
    [[0, 2], [1, 1]]
    """
    try:
        tensor = TensorProto.FromString(tuple_mask.encode() if isinstance(tuple_mask, str) else bytes(tuple_mask))
    except DecodeError as error:
        raise InvalidArgumentError(f"tuple_mask is no serialized tensor: {error}") from None
    shape = [d.size for d in tensor.tensor_shape.dim]
    if tensor.dtype != _INT32 or tensor.tensor_shape.unknown_rank or len(shape) != 2 or shape[1] != 2 or shape[0] < 0:
        raise InvalidArgumentError(
            f"tuple_mask must be int32 of shape (vectors, 2), got type {tensor.dtype} of {shape}"
        )
    rows = _entries(tensor, math.prod(shape)).reshape(shape)
    if not np.isin(rows[:, 0], (INTEGER, FLOAT)).all() or (rows[:, 1] < 0).any():
        raise InvalidArgumentError(f"tuple_mask must have rows (0 or 1, length >= 0), got {rows.tolist()}")
    return rows


def write_tuple_mask(mask: object) -> bytes:
    """The bytes of a mask, as `parse_tuple_mask` reads them.

    Source: attribute of `SplitDedupData`, TensorFlow 2.21 (2026).

    >>> write_tuple_mask([[0, 2]]).hex()
    '0803120812020801120208023a020002'
    """
    rows = np.asarray(mask, np.int32).reshape(-1, 2)
    tensor = TensorProto(dtype=_INT32, int_val=rows.ravel().tolist())
    for n in rows.shape:
        tensor.tensor_shape.dim.add(size=n)
    return tensor.SerializeToString()


def _entries(tensor: TensorProto, count: int) -> np.ndarray:
    """All entries of a tensor; written one by one, the last stands for all that are left."""
    given = np.array(tensor.int_val, np.int32)
    if tensor.tensor_content:
        given = np.frombuffer(tensor.tensor_content[: len(tensor.tensor_content) // 4 * 4], "<i4")
    if given.size > count or (given.size < count and (tensor.tensor_content or not given.size)):
        raise InvalidArgumentError(f"tuple_mask must have {count} entries, got {given.size}")
    return np.pad(given, (0, count - given.size), mode="edge") if count else given

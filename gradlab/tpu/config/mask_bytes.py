"""Masks of deduplication data as attributes carry them: a constant tensor in bytes."""

from __future__ import annotations

import numpy as np

from ..._base.errors import InternalError, InvalidArgumentError
from ..dedup import FLOAT, INTEGER
from ..proto import TensorProto
from .wire import read

_INT32 = 3


def parse_tuple_mask(tuple_mask: bytes | str) -> np.ndarray:
    """The mask that an attribute carries: int32 of shape (vectors, 2), each row (0 integer or 1 float, length).

    Raises:
        ValueError: bytes that are no tensor. InvalidArgumentError: a tensor of another rank, another kind than 0 and 1,
            or a length below 0. InternalError: another number of entries in `int_val` than two for each vector;
            TensorFlow reads no other field.

    Source: shape function of `SplitDedupData`, TensorFlow 2.21 (2026), which ends the process on a tensor of rank 0.

    >>> parse_tuple_mask(write_tuple_mask([[0, 2], [1, 1]])).tolist()
    [[0, 2], [1, 1]]
    """
    tensor = read(TensorProto, tuple_mask.encode() if isinstance(tuple_mask, str) else bytes(tuple_mask))
    shape = [d.size for d in tensor.tensor_shape.dim]
    if shape and shape[0] == 0:
        return np.zeros((0, 2), np.int32)
    if len(shape) != 2:
        raise InvalidArgumentError(f"tuple_mask must have rank 2, got shape {shape}")
    if len(tensor.int_val) != 2 * shape[0]:
        raise InternalError(
            f"tuple_mask of shape {shape} must have {2 * shape[0]} entries in int_val, got {len(tensor.int_val)}; "
            "write_tuple_mask writes them there"
        )
    rows = np.array(tensor.int_val, np.int32).reshape(-1, 2)
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

"""A recording piece by piece: the first is all of it, each later one what has changed.

A piece is a record of a log: plain values, and arrays by name. What has changed of a column are runs of numbers: where
each begins in the order of its entries now, how long it is, and the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._base.checked_files import check_kind
from .._base.log import Record
from .merge import Columns

KIND = "recording"
VERSION = 1  # of the pieces; their head has the version of a recording
_PARTS = ("start", "length", "value")


def first(head: Mapping[str, Any], columns: Columns) -> tuple[dict[str, Any], Columns]:
    """The piece that is all."""
    return {"kind": KIND, "version": VERSION, "head": dict(head)}, columns


def later(
    old: tuple[Mapping[str, Any], Columns], new: tuple[Mapping[str, Any], Columns]
) -> tuple[dict[str, Any], Columns]:
    """The piece that makes `new` of `old`; each is the head and the columns of a recording."""
    head = {name: x for name, x in new[0].items() if name not in old[0] or old[0][name] != x}
    like: dict[str, Any] = {}
    arrays: Columns = {}
    for name, x in new[1].items():
        before = _reshaped(old[1].get(name), x.dtype, x.shape)
        start, length = _runs(_bits(before) != _bits(x))
        like[name] = [x.dtype.str, list(x.shape)]
        value = x.ravel()[_places(start, length)]
        arrays |= {f"{name} {part}": y for part, y in zip(_PARTS, (start, length, value), strict=True)}
    return {"head": head, "columns": like}, arrays


def together(pieces: Iterable[Record], max_bytes: int) -> tuple[dict[str, Any], Columns] | None:
    """The head and the columns that some pieces make; None of no piece. ValueError unless each follows the last."""
    head: dict[str, Any] | None = None
    columns: Columns = {}
    for fields, arrays in pieces:
        if "kind" in fields:
            check_kind(fields, KIND, (VERSION,))
            _check_memory((x.nbytes for x in arrays.values()), max_bytes)
            head, columns = dict(fields["head"]), {name: np.array(x) for name, x in arrays.items()}
        elif head is None:
            raise ValueError("its first piece is missing")
        else:
            head |= fields["head"]
            columns = _changed(columns, fields["columns"], arrays, max_bytes)
    return None if head is None else (head, columns)


def _changed(old: Columns, like: Mapping[str, Any], arrays: Mapping[str, Any], max_bytes: int) -> Columns:
    sizes = {name: math.prod(_checked_shape(shape)) for name, (_, shape) in like.items()}
    _check_memory((np.dtype(dtype).itemsize * sizes[name] for name, (dtype, _) in like.items()), max_bytes)
    found = {}
    for name, (dtype, shape) in like.items():
        start, length, value = (arrays[f"{name} {part}"] for part in _PARTS)
        _check_runs(start, length, value, sizes[name])
        x = _reshaped(old.get(name), np.dtype(dtype), tuple(shape))
        x.reshape(-1)[_places(start, length)] = value
        found[name] = x
    return found


def _check_memory(nbytes: Iterable[int], max_bytes: int) -> None:
    """Refuse more than is allowed before it is taken."""
    needed = sum(nbytes)
    if needed > max_bytes:
        raise ValueError(f"its arrays take {needed:,} bytes, max_bytes allows {max_bytes:,}")


def _checked_shape(shape: Any) -> list[int]:
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"{shape!r} is not a shape")
    return shape


def _check_runs(start: np.ndarray, length: np.ndarray, value: np.ndarray, size: int) -> None:
    """Refuse runs that overlap, or that are of other numbers than there are: their places take memory."""
    if start.dtype.kind != "i" or length.dtype.kind != "i" or start.ndim != 1 or start.shape != length.shape:
        raise ValueError("it does not say where its changes are")
    # Each bound by itself first, so that no sum of theirs can overflow.
    inside = ((start >= 0) & (length > 0) & (start <= size) & (length <= size)).all()
    ends = start + length
    if not inside or (ends > size).any() or (start[1:] < ends[:-1]).any() or int(length.sum()) != value.size:
        raise ValueError("its changes are not where its numbers are")


def _reshaped(x: np.ndarray | None, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """A copy of another dtype and shape, zeros where there was nothing."""
    found = np.zeros(shape, dtype)
    if x is not None and x.ndim == found.ndim:
        both = tuple(slice(min(n, m)) for n, m in zip(x.shape, shape, strict=True))
        found[both] = x[both].astype(dtype)
    return found


def _bits(x: np.ndarray) -> np.ndarray:
    """Flat, and as integers: NaN is like itself, and -0 is not like 0."""
    return np.ascontiguousarray(x).reshape(-1).view(f"u{x.dtype.itemsize}")


def _runs(flags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each run of True begins, and how long it is."""
    ends = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return ends[::2], ends[1::2] - ends[::2]


def _places(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """All that are in runs."""
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(int(length.sum()))

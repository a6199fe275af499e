"""Row indices: the distinct ones, runs of equal ones, and the sizes to which batches of them are filled up."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidArgumentError


def distinct(ids: np.ndarray, rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids, and for each entry which of them it is: in order, faster than `np.unique`.

    With the size of the table, `rows`, they come about as they stand in `ids`, so that who adds up entry by entry walks
    through memory; a table too large for a list of its rows is none. Without it ids are from 0 to 2**32 - 1.

    >>> [x.tolist() for x in distinct(np.array([7, 3, 7]))], [x.tolist() for x in distinct(np.array([7, 3, 7]), 10)]
    ([[3, 7], [1, 0, 1]], [[3, 7], [1, 0, 1]])
    """
    if rows is not None and rows <= 64 * ids.size:
        position, last = np.arange(ids.size, dtype=np.int32), np.empty(rows, np.int32)
        last[ids] = position  # of equal ids one wins, no matter which
        winner = last[ids]
        wins = winner == position
        return ids[wins], (np.cumsum(wins, dtype=np.int32) - 1)[winner]
    if rows is not None and rows > 2**32:
        return np.unique(ids, return_inverse=True)
    order = sorting(ids)
    ordered = ids[order].astype(np.uint32, copy=False)
    first = changes(ordered)
    inverse = np.empty(ids.size, np.uint32)
    inverse[order] = np.cumsum(first, dtype=np.uint32) - np.uint32(1)
    return ordered[first], inverse


def integers(x: Any, name: str) -> np.ndarray:
    """The array behind `x` if its entries are integers, whichever; an empty one may be of any dtype.

    Raises:
        InvalidArgumentError: they are something else.

    >>> integers([1, 2], "the ids").tolist(), integers([], "the ids").dtype
    ([1, 2], dtype('int64'))
    """
    array = np.asarray(x)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{name} must be integers, got {array.dtype}")
    return array if array.size else array.astype(np.int64)


def sorting(ids: np.ndarray) -> np.ndarray:
    """The order that sorts ids from 0 to 2**32 - 1, equal ones as they come.

    NumPy sorts 16 bits by counting, in time that is linear: the lower half first, then the upper.

    >>> sorting(np.array([7, 3, 70000, 3])).tolist()
    [1, 3, 0, 2]
    """
    order = np.argsort(ids.astype(np.uint16), kind="stable")
    if ids.size and ids.max() > np.iinfo(np.uint16).max:
        order = order[np.argsort((ids >> 16).astype(np.uint16)[order], kind="stable")]
    return order


def changes(x: np.ndarray) -> np.ndarray:
    """Mark each entry that differs from the one before it; the first entry counts as different.

    >>> changes(np.array([3, 3, 5])).tolist()
    [True, False, True]
    """
    first = np.ones(x.size, bool)
    np.not_equal(x[1:], x[:-1], out=first[1:])
    return first


def ranks(groups: np.ndarray) -> np.ndarray:
    """The number of entries of its group before each entry; groups don't decrease.

    >>> ranks(np.array([3, 3, 5])).tolist()
    [0, 1, 0]
    """
    return np.arange(groups.size) - np.searchsorted(groups, groups)


def roomy(size: int, fine: int = 8192) -> int:
    """The next 2**k or 3 * 2**k, above `fine` the next eighth of a power of two.

    Batches of about one size then share one compiled program, and large ones are not filled up by much.

    >>> [roomy(n) for n in (0, 5, 8, 9, 65, 100, 20_000)], roomy(65, fine=32)
    ([1, 6, 8, 12, 96, 128, 20480], 72)
    """
    k = max(size - 1, 0).bit_length()
    if size > fine:
        step = 1 << (k - 4)
        return -(-size // step) * step
    return 1 << k if k < 2 or size > 3 << (k - 2) else 3 << (k - 2)


def filled(x: np.ndarray, size: int, value: Any) -> np.ndarray:
    """x and then `value` until there are `size` entries."""
    out = np.full(size, value, x.dtype)
    out[: x.size] = x
    return out

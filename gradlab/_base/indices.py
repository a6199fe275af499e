"""Row indices: the distinct ones, runs of equal ones, and the sizes to which batches of them are filled up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError


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
    order, ordered = in_order(ids)
    ordered = ordered.astype(np.uint32)
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


def in_order(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order that sorts keys from 0 to 2**64 - 1, equal ones as they come; and the keys in it, as uint64.

    NumPy sorts numbers several times as fast as it finds their order, so each carries its place in its lower bits.

    >>> [x.tolist() for x in in_order(np.array([7, 3, 70000, 3]))]
    [[1, 3, 0, 2], [3, 3, 7, 70000]]
    """
    bits = np.uint64(keys.size.bit_length())
    wide = keys.astype(np.uint64)
    if int(wide.max(initial=0)) >> (64 - int(bits)):  # no room for a place
        order = np.argsort(wide, kind="stable")
        return order, wide[order]
    wide <<= bits
    wide |= np.arange(keys.size, dtype=np.uint64)
    wide.sort()
    places = wide & ((np.uint64(1) << bits) - np.uint64(1))
    wide >>= bits
    return places.view(np.int64), wide


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
    return since(np.arange(groups.size), changes(groups))


def since(count: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The count less what it was where the group began; `starts` marks the first entry of each group.

    >>> since(np.array([1, 2, 4, 7]), np.array([True, False, True, False])).tolist()
    [0, 1, 0, 3]
    """
    first = np.flatnonzero(starts)
    left: np.ndarray = count - np.repeat(count[first], np.diff(first, append=count.size))
    return left


def divided(x: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Quotient, cut toward minus infinity, and remainder of integers, several times as fast as `np.divmod`.

    >>> [x.tolist() for x in divided(np.array([7, -1]), 4)]
    [[1, -1], [3, 3]]
    """
    quotient = x // n  # NumPy multiplies by the inverse of a scalar; for remainders it divides
    return quotient, x - quotient * n


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

"""NumPy row indices: distinct ones, runs of equal ones, and the sizes to which batches are padded.

The rows of equal indices are summed by `sum_duplicates` in `arrays.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError


def find_distinct(ids: np.ndarray, rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct ids, and for each entry its place among them; faster than `np.unique`.

    Args:
        ids: from 0, below `rows` or below 2**32.
        rows: the size of the table, if known. Then the distinct ids are about in the order of
            `ids`, so that a sum over entries walks through memory. Otherwise, and if the table is
            much larger than the batch, they are sorted.

    >>> [x.tolist() for x in find_distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    >>> [x.tolist() for x in find_distinct(np.array([7, 3, 7]), 10)]
    [[3, 7], [1, 0, 1]]
    """
    if rows is not None and rows <= 64 * ids.size:
        position = np.arange(ids.size, dtype=np.int32)
        # A table of the position of each id; of equal ids one position stays, no matter which.
        position_of_id = np.empty(rows, np.int32)
        position_of_id[ids] = position
        representative = position_of_id[ids]
        is_representative = representative == position
        place = np.cumsum(is_representative, dtype=np.int32) - 1
        return ids[is_representative], place[representative]
    if rows is not None and rows > 2**32:
        return np.unique(ids, return_inverse=True)
    order, ordered = sort_with_order(ids)
    ordered = ordered.astype(np.uint32)
    first = mark_changes(ordered)
    inverse = np.empty(ids.size, np.uint32)
    inverse[order] = np.cumsum(first, dtype=np.uint32) - np.uint32(1)
    return ordered[first], inverse


def as_integers(x: Any, name: str) -> np.ndarray:
    """Return `x` as an array of integers of any width; an empty one may have any dtype.

    Raises:
        InvalidArgumentError: entries are something else.

    >>> as_integers([1, 2], "the ids").tolist(), as_integers([], "the ids").dtype
    ([1, 2], dtype('int64'))
    """
    array = np.asarray(x)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{name} must be integers, got {array.dtype}")
    return array if array.size else array.astype(np.int64)


def sort_with_order(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the stable order that sorts keys from 0 to 2**64 - 1, and the sorted keys as uint64.

    NumPy's sort is several times as fast as its argsort, so each key carries its place in its lower
    bits.

    >>> [x.tolist() for x in sort_with_order(np.array([7, 3, 70000, 3]))]
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


def mark_changes(x: np.ndarray) -> np.ndarray:
    """Mark each entry that differs from the one before it; the first entry counts as different.

    >>> mark_changes(np.array([3, 3, 5])).tolist()
    [True, False, True]
    """
    first = np.ones(x.size, bool)
    np.not_equal(x[1:], x[:-1], out=first[1:])
    return first


def rank_in_groups(groups: np.ndarray) -> np.ndarray:
    """Return for each entry how many entries of its group precede it; groups don't decrease.

    >>> rank_in_groups(np.array([3, 3, 5])).tolist()
    [0, 1, 0]
    """
    return count_since_start(np.arange(groups.size), mark_changes(groups))


def count_since_start(count: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return each count minus the count at the start of its group.

    `starts` marks the first entry of each group.

    >>> count_since_start(np.array([1, 2, 4, 7]), np.array([True, False, True, False])).tolist()
    [0, 1, 0, 3]
    """
    first = np.flatnonzero(starts)
    since: np.ndarray = count - np.repeat(count[first], np.diff(first, append=count.size))
    return since


def divide(x: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return floor quotient and remainder of integers, several times as fast as `np.divmod`.

    >>> [x.tolist() for x in divide(np.array([7, -1]), 4)]
    [[1, -1], [3, 3]]
    """
    quotient = x // n  # NumPy multiplies by the inverse of a scalar; for remainders it divides
    return quotient, x - quotient * n


def padded_size(size: int, fine: int = 8192) -> int:
    """Return the next 2**k or 3 * 2**k, or above `fine` the next eighth of a power of two.

    Batches of about one size then share a compiled program, and large ones get little padding.

    >>> [padded_size(n) for n in (0, 5, 8, 9, 65, 100, 20_000)], padded_size(65, fine=32)
    ([1, 6, 8, 12, 96, 128, 20480], 72)
    """
    k = max(size - 1, 0).bit_length()
    if size > fine:
        step = 1 << (k - 4)
        return -(-size // step) * step
    if k < 2 or size > 3 << (k - 2):
        return 1 << k
    return 3 << (k - 2)


def pad_to(x: np.ndarray, size: int, value: Any) -> np.ndarray:
    """Return x, filled up with `value` to `size` entries."""
    out = np.full(size, value, x.dtype)
    out[: x.size] = x
    return out

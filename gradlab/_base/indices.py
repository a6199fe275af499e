"""Row indices: the distinct ones, runs of equal ones, and the sizes to which batches of them are filled up."""

from __future__ import annotations

from typing import Any

import numpy as np


def distinct(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids in order, and for each entry which of them it is; faster than `np.unique`.

    >>> [x.tolist() for x in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    order = sorting(ids)
    ordered = ids[order].astype(np.uint32, copy=False)
    first = changes(ordered)
    inverse = np.empty(ids.size, np.uint32)
    inverse[order] = np.cumsum(first, dtype=np.uint32) - np.uint32(1)
    return ordered[first], inverse


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
    """Whether each entry differs from the one before it; the first does.

    >>> changes(np.array([3, 3, 5])).tolist()
    [True, False, True]
    """
    first = np.ones(x.size, bool)
    np.not_equal(x[1:], x[:-1], out=first[1:])
    return first


def ranks(groups: np.ndarray) -> np.ndarray:
    """How many entries of its group stand before each; groups do not decrease.

    >>> ranks(np.array([3, 3, 5])).tolist()
    [0, 1, 0]
    """
    return np.arange(groups.size) - np.searchsorted(groups, groups)


def roomy(size: int) -> int:
    """The next 2**k or 3 * 2**k, above 8192 the next eighth of a power of two.

    Batches of about one size then share one compiled program, and large ones are not filled up by much.

    >>> [roomy(n) for n in (0, 5, 8, 9, 65, 100, 20_000)]
    [1, 6, 8, 12, 96, 128, 20480]
    """
    k = max(size - 1, 0).bit_length()
    if size > 8192:
        step = 1 << (k - 4)
        return -(-size // step) * step
    return 1 << k if k < 2 or size > 3 << (k - 2) else 3 << (k - 2)


def filled(x: np.ndarray, size: int, value: Any) -> np.ndarray:
    """x and then `value` until there are `size` entries."""
    out = np.full(size, value, x.dtype)
    out[: x.size] = x
    return out

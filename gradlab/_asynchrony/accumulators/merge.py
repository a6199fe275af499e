"""Two lists of row indices become one: where each row of either goes."""

from __future__ import annotations

import numpy as np

Places = tuple[np.ndarray, np.ndarray, np.ndarray]  # the indices of the result, and where the rows of a and of b go


def union(a: np.ndarray, b: np.ndarray) -> Places:
    """For sorted indices without duplicates.

    >>> [x.tolist() for x in union(np.array([1, 3]), np.array([2, 3]))]
    [[1, 2, 3], [0, 2], [1, 2]]
    """
    place = np.searchsorted(a, b)
    known = place < a.size
    known[known] = a[place[known]] == b[known]
    new = b[~known]
    to_a = np.arange(a.size) + np.searchsorted(new, a)
    return np.insert(a, place[~known], new), to_a, place + np.cumsum(~known) - ~known


def walk(a: np.ndarray, b: np.ndarray) -> Places:
    """TensorFlow's walk with two pointers: the same for such lists. It believes that they are, and makes of others

    >>> [x.tolist() for x in walk(np.array([2, 0]), np.array([0, 2]))]
    [[0, 2, 0], [1, 2], [0, 1]]
    """
    if is_sorted(a) and is_sorted(b):
        return union(a, b)
    left, right = a.tolist(), b.tolist()
    indices: list[int] = []
    to_a, to_b, i, j = [], [], 0, 0
    while i < len(left) and j < len(right):
        lower = min(left[i], right[j])
        both = left[i] == right[j]
        if both or left[i] == lower:
            to_a.append(len(indices))
            i += 1
        if both or right[j] == lower:
            to_b.append(len(indices))
            j += 1
        indices.append(lower)
    rest = len(indices)
    to_a += range(rest, rest + len(left) - i)
    to_b += range(rest, rest + len(right) - j)  # of the two rests one is empty
    return tuple(np.array(x, np.int64) for x in (indices + left[i:] + right[j:], to_a, to_b))  # type: ignore[return-value]


def is_sorted(indices: np.ndarray) -> bool:
    """Whether they grow from each to the next."""
    return bool(np.all(indices[1:] > indices[:-1]))

"""How many entries of a gradient are above a limit, from histograms of some of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .measure import BINS, LOWEST

if TYPE_CHECKING:
    from .recording import Recording

_SIZE = np.exp2(np.arange(BINS) + LOWEST) * np.sqrt(3 / (2 * np.log(2)))  # root mean square, evenly on a log scale


def above(rec: Recording, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the entries above the limit, by row and tensor: how many, the sum of their sizes, their share of all squares.

    A row whose own entries were not counted has those of the counted steps around it, scaled to its norm.
    """
    counts, norms = _counts_of_a_step(rec), rec["norm"].astype(np.float64)
    squares = counts * _SIZE**2
    estimate = np.sqrt(squares.sum(axis=-1))  # of the counted step's norm
    group = np.arange(len(rec)) // rec.histogram_every
    counted = norms[:: rec.histogram_every] if rec.stride == 1 else estimate
    place = np.log2(limit / _ratio(norms, counted[group])) - LOWEST  # of the limit, in bins of the counted steps
    many, size, square = (_tail(x, group, place) for x in (counts, counts * _SIZE, squares))
    total = estimate[group]
    return many, size * _ratio(norms, total), np.divide(square, total**2, out=np.zeros_like(square), where=total > 0)


def _counts_of_a_step(rec: Recording) -> np.ndarray:
    """(groups, tensors, 64) counts of each group of rows, as for one step."""
    counts, every = rec["histogram"].astype(np.float64), rec.histogram_every
    start = np.arange(len(counts)) * every * rec.stride
    steps = np.minimum(rec.seen - start, every * rec.stride)
    return counts / (-(-steps // every))[:, None, None]


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b where that is a number above 0, else 1."""
    found = np.divide(a, b, out=np.ones_like(a), where=b > 0)
    return np.where(np.isfinite(found) & (found > 0), found, 1.0)


def _tail(x: np.ndarray, group: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(rows, tensors) sum of x, (groups, tensors, 64), from `place` on, a bin split evenly by the place inside it."""
    sums = np.concatenate([np.cumsum(x[..., ::-1], axis=-1)[..., ::-1], np.zeros((*x.shape[:-1], 1))], axis=-1)
    place = np.clip(place, 0, BINS)
    k = np.minimum(place.astype(int), BINS - 1)
    row, tensor = group[:, None], np.arange(x.shape[1])
    return sums[row, tensor, k] * (1 - (place - k)) + sums[row, tensor, k + 1] * (place - k)

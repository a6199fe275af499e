"""How often each norm came, over all steps of a run, however many steps share a row."""

from __future__ import annotations

import numpy as np

from .._base.arrays import Array

BINS = 2048  # eight to each power of two; those from the 2040th on hold Inf and NaN
_INFINITE = 2040
_KEPT = 20  # of a float32's 32 bits the last 20 are dropped: what is left is sign, exponent, and eighths


def bin_of(x: Array) -> Array:
    """The bin of each x >= 0, float32: its leading 12 bits, so that order is kept and edges are exact."""
    return (x.view(np.int32) >> _KEPT) & (BINS - 1)  # NaN may have a sign


def edges() -> np.ndarray:
    """(2041,) float64 lower edges of the finite bins, and the upper edge of the last of them."""
    low = (np.arange(_INFINITE, dtype=np.int32) << _KEPT).view(np.float32).astype(np.float64)
    return np.append(low, 2.0**128)


def count_above(counts: np.ndarray, limit: float) -> np.ndarray:
    """(...,) how many of (..., 2048) counted numbers are not <= limit, those of its own bin shared out evenly."""
    at = edges()
    k = int(np.clip(np.searchsorted(at, limit, side="right") - 1, 0, _INFINITE - 1))
    share = np.clip((at[k + 1] - limit) / (at[k + 1] - at[k]), 0, 1)
    return counts[..., k + 1 :].sum(-1) + share * counts[..., k]


def percentile(counts: np.ndarray, percent: float) -> float:
    """The number that `percent` % of the counted finite numbers above 0 do not exceed, to an eighth of an octave.

    The numbers of a bin are taken to be spread evenly over it; 0 if none is counted.
    """
    counts = counts[1:_INFINITE].astype(np.float64)
    there = np.flatnonzero(counts)
    if not there.size:
        return 0.0
    passed, low, high = np.cumsum(counts[there]), edges()[1:-1][there], edges()[2:][there]
    wanted = percent / 100 * passed[-1]
    k = min(int(np.searchsorted(passed, wanted)), there.size - 1)
    share = 1 - (passed[k] - wanted) / counts[there][k]
    return float(low[k] + share * (high[k] - low[k]))


def infinite(counts: np.ndarray) -> np.ndarray:
    """(...,) how many of (..., 2048) counted numbers are Inf or NaN."""
    return counts[..., _INFINITE:].sum(-1)

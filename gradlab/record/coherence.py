"""Coherence: agreement of a run's gradients with earlier ones, which bounds what a stale gradient is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._base.arrays import quiet
from .._base.errors import InvalidArgumentError
from .._base.numbers import signed
from .buckets import Buckets

LAGS = 16  # by default so many strides, and 0


@dataclass(frozen=True, eq=False)
class Coherence:
    """Cosine between the gradients of a run some steps apart, estimated on its sampled entries.

    Attributes:
        lags: (lags,) int, steps apart. cosine: (lags,) median over the run. low, high: (lags,) its quartiles.
        pairs: (lags,) how many pairs of steps each is the median of; where there are none the others are NaN.
        stride, entries: steps of a bucket of the recording; sampled entries.
    """

    lags: np.ndarray
    cosine: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pairs: np.ndarray
    stride: int
    entries: int

    def __str__(self) -> str:
        each = ", ".join(f"{signed(f'{c:.2f}')} at {lag:,}" for lag, c in zip(self.lags, self.cosine, strict=True))
        buckets = f"; buckets of {self.stride:,} steps, of each its first" if self.stride > 1 else ""
        return f"median cosine of gradients so many steps apart: {each} (on {self.entries:,} sampled entries{buckets})"


def coherence(rec: Buckets, lags: Sequence[int] | None) -> Coherence:
    """See `Recorder.coherence`."""
    entry, stride = rec["entry"], rec.stride
    wanted = np.arange(0, (LAGS + 1) * stride, stride) if lags is None else np.asarray(lags)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or (wanted < 0).any():
        raise InvalidArgumentError(f"lags must be whole numbers of steps from 0 up, got {lags!r}")
    if (wanted % stride).any():
        raise InvalidArgumentError(
            f"buckets of this recording are {stride} steps apart, and of each the first step's entries are kept: lags "
            f"must be multiples of {stride}, got {wanted.tolist()}. A gl.Recorder with more buckets keeps every step"
        )
    tensor = rec.sampled[0]
    weight = np.array(rec.sizes, float)[tensor] / np.bincount(tensor, minlength=len(rec.sizes))[tensor]
    unit = directions(entry, weight)
    found = [_quartiles(unit, lag // stride) for lag in wanted.tolist()]
    low, middle, high, pairs = (np.array(column) for column in zip(*found, strict=True))
    return Coherence(wanted, middle, low, high, pairs.astype(int), stride, len(tensor))


@quiet
def directions(entry: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(buckets, entries) gradients as unit vectors, NaN where one is 0 or not finite.

    Each entry counts for `weight` entries of its tensor, of which only some were sampled: sums of products are then
    unbiased estimates of those over all entries.
    """
    g = entry * np.sqrt(weight)
    g = g / np.abs(g).max(axis=1, keepdims=True)
    unit: np.ndarray = g / np.sqrt((g * g).sum(axis=1, keepdims=True))
    return unit


def _quartiles(unit: np.ndarray, apart: int) -> tuple[float, float, float, int]:
    """25%, 50% and 75% of the cosines of buckets so far apart, and how many there are."""
    cosines = (unit[apart:] * unit[: len(unit) - apart]).sum(axis=1) if apart < len(unit) else np.empty(0)
    cosines = cosines[np.isfinite(cosines)]
    if not cosines.size:
        return np.nan, np.nan, np.nan, 0
    low, middle, high = np.percentile(cosines, [25, 50, 75])
    return float(low), float(middle), float(high), cosines.size

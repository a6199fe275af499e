"""What a limit would have done to recorded gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._base.arrays import quiet
from .._base.numbers import counted, listed, number, percent
from ..clip.report import turn_angle
from .buckets import EMPTY, SHOWN, Buckets
from .measure import BINS, LOWEST, count_above

OVERFLOW = float(np.sqrt(np.finfo(np.float32).max))  # from here on the squares that float32 clips sum are infinite

_EXACT = "exact for float32 clips of the recorded gradients; with another limit later ones would have differed"
_BY_SIZE = (
    "which steps fire is exact; norm, angle and share of entries are estimated from histograms, and NaN for steps that "
    "hold NaN or Inf"
)
_MERGED = "a bucket stands for several steps and answers for the largest of them; shares are counted over all steps"
_SIZE = np.exp2(np.arange(BINS) + LOWEST) * np.sqrt(3 / (2 * np.log(2)))  # root mean square, evenly on a log scale


@dataclass(frozen=True)
class WhatIf:
    """One limit over one recording. A bucket is a step, or the largest of the `stride` steps that were merged into it.

    Attributes:
        kind: "clip_norm", "clip_value" or "clip_global_norm". limit: the limit.
        steps: how many were recorded. stride: steps of a bucket.
        fraction_fired: share of all steps on which the limit fires, 0 to 1. share_by_tensor: (tensors,) of each alone.
            Counted step by step; of merged steps from a histogram of all norms, good to an eighth of an octave.
        fired: (buckets,) bool. fired_by_tensor: (buckets, tensors) bool.
        norm_before, norm_after, factor: (buckets,); factor = norm_after / norm_before.
        angle: (buckets,) degrees by which the step would have turned.
        fraction_hit: (buckets,) share of entries changed.
        exact: False where histograms had to be read or steps were merged, as `note` says.
        names: of the tensors.
    """

    kind: str
    limit: float
    steps: int
    stride: int
    fraction_fired: float
    share_by_tensor: np.ndarray
    fired: np.ndarray
    fired_by_tensor: np.ndarray
    norm_before: np.ndarray
    norm_after: np.ndarray
    factor: np.ndarray
    angle: np.ndarray
    fraction_hit: np.ndarray
    exact: bool
    note: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        turned = float(np.nanmedian(self.angle)) if np.isfinite(self.angle).any() else float("nan")
        factor = float(np.nanmedian(self.factor)) if np.isfinite(self.factor).any() else float("nan")
        of = f" of the largest in every {self.stride} steps" if self.stride > 1 else ""
        kind = "exact" if self.exact else "estimate"
        return (
            f"{self.kind}={self.limit:g} fires on {percent(self.fraction_fired, 1)} of {counted(self.steps, 'step')} "
            f"({self._by_tensor()}); median factor {number(factor)}, median turn {turned:.1f} deg{of} ({kind})"
        )

    def _by_tensor(self) -> str:
        """All tensors, or of many the ones it fires on most."""
        shares = list(zip(self.names, self.share_by_tensor, strict=True))
        if len(shares) > SHOWN:
            shares = sorted(shares, key=lambda pair: -pair[1])
        return listed([f"{name} {percent(share)}" for name, share in shares], SHOWN)


def what_if(rec: Buckets, limits: Mapping[str, float]) -> WhatIf:
    """The answer for the one limit given."""
    if len(limits) != 1:
        raise ValueError(
            f"give exactly one of clip_norm, clip_value, clip_global_norm; got {', '.join(limits) or 'none'}"
        )
    if len(rec) == 0:
        raise ValueError(EMPTY)
    ((kind, limit),) = limits.items()
    if not limit > 0 or not np.isfinite(limit):
        raise ValueError(f"{kind} must be positive and finite, got {limit!r}")
    return {"clip_norm": _norm, "clip_value": _value, "clip_global_norm": _global}[kind](rec, float(limit))


@quiet
def _global(rec: Buckets, limit: float) -> WhatIf:
    before = rec.global_norm.astype(np.float64)
    fired = ~(before <= limit)
    after = np.where(before < OVERFLOW, np.minimum(before, limit), np.nan)
    by_tensor = np.repeat(fired[:, None], len(rec.names), axis=1)
    angle = np.where(before < OVERFLOW, 0.0, np.nan)
    share = _share(rec, "norm", limit)[-2]
    shares = np.full(len(rec.names), share)
    return _made(rec, "clip_global_norm", limit, share, shares, by_tensor, before, after, angle, fired.astype(float))


@quiet
def _norm(rec: Buckets, limit: float) -> WhatIf:
    norms = rec["norm"].astype(np.float64)
    by_tensor = ~(norms <= limit)
    fired = np.any(by_tensor, axis=1)
    clipped = np.where(norms < OVERFLOW, np.minimum(norms, limit), np.where(np.isfinite(norms), 0.0, np.nan))
    before, after = (np.sqrt((x * x).sum(axis=1)) for x in (norms, clipped))
    angle = np.where(fired, turn_angle((norms * clipped).sum(axis=1), before, after), 0.0)
    sizes = np.array(rec.sizes, float)
    hit = (by_tensor * sizes).sum(axis=1) / sizes.sum()
    *shares, _, share = _share(rec, "norm", limit)
    return _made(rec, "clip_norm", limit, share, np.array(shares), by_tensor, before, after, angle, hit)


@quiet
def _value(rec: Buckets, limit: float) -> WhatIf:
    """Entries above the limit are counted by bin; the bin that holds the limit is split evenly on a log scale."""
    norms = rec["norm"].astype(np.float64)
    by_tensor = ~(rec["largest"] <= limit) | (rec["nonfinite"] > 0)
    many, size, square = (np.where(by_tensor, x, 0) for x in _above(rec, limit))
    total = np.sqrt((norms**2).sum(axis=1))
    kept = norms**2 * (1 - square)
    after = (kept + many * limit**2).sum(axis=1)
    dot = (kept + size * limit).sum(axis=1)
    fired = np.any(by_tensor, axis=1)
    after_norm = np.where(fired, np.sqrt(after), total)
    angle = np.where(fired, turn_angle(dot, total, after_norm), 0.0)
    hit = np.where(fired, many.sum(axis=1) / sum(rec.sizes), 0.0)
    *shares, share = _share(rec, "largest", limit)
    return _made(
        rec, "clip_value", limit, share, np.array(shares), by_tensor, total, np.minimum(after_norm, total), angle, hit,
        exact=False, note=_BY_SIZE,
    )  # fmt: skip


def _share(rec: Buckets, column: str, limit: float) -> np.ndarray:
    """Share of steps above the limit: of each tensor's, then of what holds for all together.

    Buckets that are above or below as a whole are counted as they are, the others by the histogram of all steps.
    """
    low, high, counts = rec.ranges(column)
    steps = rec.bucket_steps[:, None]
    least = (steps * ~(low <= limit)).sum(axis=0)
    most = (steps * ~(high <= limit)).sum(axis=0)
    share: np.ndarray = np.clip(count_above(counts, limit), least, most) / rec.seen
    return share


def _made(
    rec: Buckets,
    kind: str,
    limit: float,
    share: float,
    shares: np.ndarray,
    by_tensor: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    angle: np.ndarray,
    hit: np.ndarray,
    exact: bool = True,
    note: str = _EXACT,
) -> WhatIf:
    factor = np.divide(after, before, out=np.ones_like(before), where=before > 0)
    if rec.stride > 1:
        exact, note = False, f"{note}; {_MERGED}"
    return WhatIf(
        kind, limit, rec.seen, rec.stride, float(share), shares, np.any(by_tensor, axis=1), by_tensor, before, after,
        factor, angle, hit, exact, note, rec.names,
    )  # fmt: skip


def _above(rec: Buckets, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the entries above the limit, by bucket and tensor: how many, their sizes summed, their share of all squares.

    A bucket whose own entries were not counted has those of the counted steps around it, scaled to its norm.
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


def _counts_of_a_step(rec: Buckets) -> np.ndarray:
    """(groups, tensors, 64) counts of each group of buckets, as for one step."""
    counts, every = rec["histogram"].astype(np.float64), rec.histogram_every
    start = np.arange(len(counts)) * every * rec.stride
    steps = np.minimum(rec.seen - start, every * rec.stride)
    found: np.ndarray = counts / (-(-steps // every))[:, None, None]
    return found


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b where that is a number above 0, else 1."""
    found = np.divide(a, b, out=np.ones_like(a), where=b > 0)
    return np.where(np.isfinite(found) & (found > 0), found, 1.0)


def _tail(x: np.ndarray, group: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(buckets, tensors) sum of x, (groups, tensors, 64), from `place` on, a bin split evenly by the place in it."""
    sums = np.concatenate([np.cumsum(x[..., ::-1], axis=-1)[..., ::-1], np.zeros((*x.shape[:-1], 1))], axis=-1)
    place = np.clip(place, 0, BINS)
    k = np.minimum(place.astype(int), BINS - 1)
    at, tensor = group[:, None], np.arange(x.shape[1])
    found: np.ndarray = sums[at, tensor, k] * (1 - (place - k)) + sums[at, tensor, k + 1] * (place - k)
    return found

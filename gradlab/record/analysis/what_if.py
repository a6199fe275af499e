"""The effect of a limit on recorded gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.arrays import quiet
from ..._base.numbers import counted, listed, number, percent_within
from ...clip.report import turn_angle
from .. import sketch
from ..buckets import EMPTY, SHOWN, Buckets
from ..measure import BINS, LOWEST
from .shares import Share, of_all, of_tensors

# From here on the squares that float32 clips sum are infinite.
OVERFLOW = float(np.sqrt(np.finfo(np.float32).max))

_OTHERS = "of the recorded gradients: with another limit later ones would have differed"
_EXACT = f"exact for float32 clips {_OTHERS}"
# What is limited.
OF_A_STEP = {
    "clip_global_norm": "global_norm",
    "clip_norm": "leading_norm",
    "clip_value": "largest",
}
_BY_SIZE = (
    "norm, angle and share of entries are estimated from histograms of {}, and NaN for steps that "
    "hold NaN or Inf"
)
_MERGED = (
    "a bucket stands for several steps and answers for the largest of them; "
    "shares are of all steps taken"
)
_BOUNDED = (
    "shares that are not known exactly are estimates, between the bounds that stand beside them"
)
# Root mean square, evenly on a log scale.
_SIZE = np.exp2(np.arange(BINS) + LOWEST) * np.sqrt(3 / (2 * np.log(2)))


@dataclass(frozen=True)
class WhatIf:
    """One limit over one recording.

    A bucket is a step, or the largest of the `stride` steps that were merged into it.

    Attributes:
        kind: "clip_norm", "clip_value" or "clip_global_norm".
        limit: the limit.
        steps: how many were taken.
        skipped: how many more a loss scaler skipped; no limit had a part in them.
        nonfinite: how many of the steps taken had a NaN or Inf in what is limited, norms or
            entries, in some tensor. A limit fires on them and doesn't mend them.
        nonfinite_by_tensor: (tensors,) how many had one in each.
        stride: steps of a bucket.
        fraction_fired: share of the steps taken on which the limit fires, 0 to 1. Counted step by
            step. Those that aren't finite count as fired: `of_finite` is the share without them.
        bounds: what it is at least and at most; the same, unless a traced run had more steps than
            its ring.
        share_by_tensor: (tensors,) of each alone. Of merged steps an estimate from a sketch of its
            norms.
        bounds_by_tensor: (2, tensors) what they are at least and at most.
        fired: (buckets,) bool.
        fired_by_tensor: (buckets, tensors) bool.
        norm_before, norm_after, factor: (buckets,); factor = norm_after / norm_before.
        angle: (buckets,) degrees by which the step would have turned.
        fraction_hit: (buckets,) share of entries changed.
        median_factor, median_angle: over the steps taken; of merged steps, but for
            clip_global_norm, over buckets.
        exact: False where numbers that `str` shows are estimates: from histograms, sketches or
            buckets, as `note` says.
        names: of the tensors.
        norms_only: whether the recording is of a log, without tensors.
    """

    kind: str
    limit: float
    steps: int
    skipped: int
    nonfinite: int
    nonfinite_by_tensor: np.ndarray
    stride: int
    fraction_fired: float
    bounds: tuple[float, float]
    share_by_tensor: np.ndarray
    bounds_by_tensor: np.ndarray
    fired: np.ndarray
    fired_by_tensor: np.ndarray
    norm_before: np.ndarray
    norm_after: np.ndarray
    factor: np.ndarray
    angle: np.ndarray
    fraction_hit: np.ndarray
    median_factor: float
    median_angle: float
    exact: bool
    note: str
    names: tuple[str, ...]
    norms_only: bool = False

    def __str__(self) -> str:
        every = self.stride == 1 or self.kind == "clip_global_norm"
        of = "" if every else f" of the largest in every {self.stride} steps"
        kind = "exact" if self.exact else "estimate"
        more = f"; {counted(self.skipped, 'step')} more skipped" if self.skipped else ""
        return (
            f"{self.kind}={self.limit:g} fires on {self.percent_of_finite()} of "
            f"{self.steps_in_words()} ({self._by_tensor()}); median factor "
            f"{number(self.median_factor)}, median turn "
            f"{self.median_angle:.1f} deg{of}{more} ({kind})"
        )

    def percent(self, digits: int = 1) -> str:
        """`fraction_fired` in words, with its bounds where it is an estimate."""
        return percent_within(self.fraction_fired, *self.bounds, digits)

    @property
    def of_finite(self) -> float:
        """Share of the steps taken that are finite on which the limit fires; 0 where none is finite.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for norm in (1.0, 2.0, 4.0, np.nan):
        ...     rec.record([np.array([norm])])
        >>> answer = rec.what_if(clip_global_norm=3.0)
        >>> answer.fraction_fired, round(answer.of_finite, 4), answer.nonfinite
        (0.5, 0.3333, 1)
        """
        return float(_without(self.fraction_fired, self.steps, self.nonfinite))

    @property
    def of_finite_by_tensor(self) -> np.ndarray:
        """(tensors,) share of the steps taken in which a tensor is finite on which the limit fires on it alone."""
        share: np.ndarray = _without(self.share_by_tensor, self.steps, self.nonfinite_by_tensor)
        return share

    @property
    def bounds_of_finite(self) -> tuple[float, float]:
        """What `of_finite` is at least and at most."""
        low, high = (float(_without(share, self.steps, self.nonfinite)) for share in self.bounds)
        return low, high

    @property
    def bounds_of_finite_by_tensor(self) -> np.ndarray:
        """(2, tensors) what `of_finite_by_tensor` is at least and at most."""
        bounds: np.ndarray = _without(self.bounds_by_tensor, self.steps, self.nonfinite_by_tensor)
        return bounds

    def percent_of_finite(self, digits: int = 1) -> str:
        """`of_finite` in words, with its bounds where it is an estimate."""
        return percent_within(self.of_finite, *self.bounds_of_finite, digits)

    def steps_in_words(self) -> str:
        """Return the steps that `of_finite` is a share of, with those that aren't finite named beside them."""
        if not self.nonfinite:
            return counted(self.steps, "step")
        return (
            f"{counted(self.steps - self.nonfinite, 'finite step')}, {self.nonfinite:,} more "
            "held NaN or Inf"
        )

    def percent_of(self, tensor: int, digits: int = 1) -> str:
        """`share_by_tensor` of one tensor in words, with its bounds where it is an estimate."""
        low, high = self.bounds_by_tensor[:, tensor]
        return percent_within(self.share_by_tensor[tensor], low, high, digits)

    def _by_tensor(self) -> str:
        """All tensors, or of many the ones it fires on most."""
        if self.kind == "clip_global_norm" and (len(self.names) > 1 or self.norms_only):
            return "on all tensors alike"
        shares, bounds = self.of_finite_by_tensor, self.bounds_of_finite_by_tensor
        order = range(len(self.names))
        if len(order) > SHOWN:
            order = np.argsort(-shares, kind="stable").tolist()
        words = [
            percent_within(share, low, high, 0)
            for share, (low, high) in zip(shares, bounds.T, strict=True)
        ]
        return listed([f"{self.names[k]} {words[k]}" for k in order], SHOWN)


def _without(share: Any, steps: int, nonfinite: Any) -> Any:
    """Turn a share of all steps, in which those that aren't finite count as fired, into one of the
    finite steps.
    """
    finite = np.maximum(steps - np.asarray(nonfinite), 0)
    fired = np.asarray(share) * max(steps, 1) - nonfinite
    return np.clip(np.where(finite > 0, fired / np.maximum(finite, 1), 0.0), 0.0, 1.0)


def what_if(rec: Buckets, limits: Mapping[str, float]) -> WhatIf:
    """The answer for the one limit given."""
    if len(limits) != 1:
        raise ValueError(
            "give exactly one of clip_norm, clip_value, clip_global_norm; got "
            f"{', '.join(limits) or 'none'}"
        )
    if len(rec) == 0:
        raise ValueError(EMPTY)
    ((kind, limit),) = limits.items()
    if kind != "clip_global_norm":
        rec.require_tensors(kind)
    if not limit > 0 or not np.isfinite(limit):
        raise ValueError(f"{kind} must be positive and finite, got {limit!r}")
    return {"clip_norm": _norm, "clip_value": _value, "clip_global_norm": _global}[kind](
        rec, float(limit)
    )


@quiet
def _global(rec: Buckets, limit: float) -> WhatIf:
    before = rec.global_norm.astype(np.float64)
    after, angle = _clipped_as_one(before, limit)
    by_tensor = np.repeat(~(before <= limit)[:, None], len(rec.names), axis=1)
    share = of_all(rec, OF_A_STEP["clip_global_norm"], limit)
    shares = Share(*(np.full(len(rec.names), x) for x in share))
    norms = rec.every_step("global_norm")[rec.known & (rec.every_step("skipped") != 1)].astype(
        np.float64
    )
    factor = _quotient(_clipped_as_one(norms, limit)[0], norms)
    middle = _median(factor), _median(np.where(np.isnan(factor), np.nan, 0.0))
    hit = by_tensor[:, 0].astype(float)
    return _made(
        rec,
        "clip_global_norm",
        limit,
        (share, shares),
        by_tensor,
        before,
        after,
        angle,
        hit,
        middle=middle,
    )


def _clipped_as_one(norms: np.ndarray, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """Norms after a clip by global norm, and the turn: none, or NaN where the clip itself
    overflows.
    """
    fine = norms < OVERFLOW
    return np.where(fine, np.minimum(norms, limit), np.nan), np.where(fine, 0.0, np.nan)


@quiet
def _norm(rec: Buckets, limit: float) -> WhatIf:
    norms = rec["norm"].astype(np.float64)
    by_tensor = ~(norms <= limit)
    fired = np.any(by_tensor, axis=1)
    clipped = np.where(
        norms < OVERFLOW, np.minimum(norms, limit), np.where(np.isfinite(norms), 0.0, np.nan)
    )
    before, after = (np.sqrt((x * x).sum(axis=1)) for x in (norms, clipped))
    angle = np.where(fired, turn_angle((norms * clipped).sum(axis=1), before, after), 0.0)
    sizes = np.array(rec.sizes, float)
    hit = (by_tensor * sizes).sum(axis=1) / sizes.sum()
    shares = of_all(rec, OF_A_STEP["clip_norm"], limit), of_tensors(rec, "norm", limit)
    return _made(rec, "clip_norm", limit, shares, by_tensor, before, after, angle, hit)


@quiet
def _value(rec: Buckets, limit: float) -> WhatIf:
    """Entries above the limit are counted by bin; the bin that holds the limit is split evenly on a
    log scale.
    """
    norms = rec["norm"].astype(np.float64)
    by_tensor = ~(rec["largest"].astype(np.float64) <= limit) | (rec["nonfinite"] > 0)
    many, size, square = (np.where(by_tensor, x, 0) for x in _above(rec, limit))
    total = np.sqrt((norms**2).sum(axis=1))
    kept = norms**2 * (1 - square)
    after = (kept + many * limit**2).sum(axis=1)
    dot = (kept + size * limit).sum(axis=1)
    fired = np.any(by_tensor, axis=1)
    after_norm = np.where(fired, np.sqrt(after), total)
    angle = np.where(fired, turn_angle(dot, total, after_norm), 0.0)
    hit = np.where(fired, many.sum(axis=1) / sum(rec.sizes), 0.0)
    shares = of_all(rec, OF_A_STEP["clip_value"], limit), of_tensors(rec, "largest", limit)
    return _made(
        rec,
        "clip_value",
        limit,
        shares,
        by_tensor,
        total,
        np.minimum(after_norm, total),
        angle,
        hit,
        note=_BY_SIZE.format(rec.counted_in),
    )


def _made(
    rec: Buckets,
    kind: str,
    limit: float,
    shares: tuple[Share, Share],
    by_tensor: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    angle: np.ndarray,
    hit: np.ndarray,
    middle: tuple[float, float] | None = None,
    note: str = "",
) -> WhatIf:
    """The answer; `middle` are medians over all steps, where they are known, and `note` says what
    is estimated.
    """
    nothing = rec.taken == 0  # buckets whose steps were all skipped
    by_tensor = by_tensor & ~nothing[:, None]
    factor = np.where(nothing, np.nan, _quotient(after, before))
    # The largest norms of its tensors may be of different steps, so that together they are too
    # large.
    if rec.stride > 1:
        before = rec.global_norm.astype(np.float64)
        after = before * factor
    after, angle, hit = (
        np.where(nothing, x, y) for x, y in ((np.nan, after), (np.nan, angle), (0.0, hit))
    )
    share, by = shares
    known = bool((share.low == share.high).all() and (by.low == by.high).all())
    exact = known and not note and (rec.stride == 1 or middle is not None)
    notes = [
        "which steps fire is exact" * (known and bool(note)),
        note or (_EXACT if exact else _OTHERS),
        _MERGED * (rec.stride > 1),
        _BOUNDED * (not known),
    ]
    factors, angles = middle or (_median(factor), _median(angle))
    bad, bad_by_tensor = _nonfinite(rec, kind)
    return WhatIf(
        kind,
        limit,
        rec.seen - rec.skipped_steps,
        rec.skipped_steps,
        bad,
        bad_by_tensor,
        rec.stride,
        float(share.share),
        (float(share.low), float(share.high)),
        by.share,
        np.stack([by.low, by.high]),
        np.any(by_tensor, axis=1),
        by_tensor,
        before,
        after,
        factor,
        angle,
        hit,
        factors,
        angles,
        exact,
        "; ".join(filter(None, notes)),
        rec.names,
        rec.norms_only,
    )


def _nonfinite(rec: Buckets, kind: str) -> tuple[int, np.ndarray]:
    """Return on how many of the steps taken what is limited wasn't finite: in some tensor, and
    (tensors,) in each.
    """
    # Rows of the sketch: the norm of each tensor, the global norm, the largest norm of a tensor,
    # the largest entry of each tensor, and the largest of all entries.
    counts = sketch.nonfinite(rec.flush().columns["sketch"])
    tensors = len(rec.names)
    if kind == "clip_value":
        return int(counts[-1]), counts[tensors + 2 : -1]
    if kind == "clip_norm":
        return int(counts[tensors + 1]), counts[:tensors]
    return int(counts[tensors]), np.full(tensors, counts[tensors])


def _quotient(after: np.ndarray, before: np.ndarray) -> np.ndarray:
    return np.where(before == 0, 1.0, after / before)


def _median(values: np.ndarray) -> float:
    """Of those that are finite; NaN if none is."""
    values = values[np.isfinite(values)]
    return float(np.median(values)) if values.size else float("nan")


def _above(rec: Buckets, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the entries above the limit, by bucket and tensor: how many, their sizes summed, their
    share of all squares.

    A bucket whose own entries were not counted has those of the counted steps around it, scaled to
    its norm.
    """
    counts, norms = _counts_of_a_step(rec), rec["norm"].astype(np.float64)
    squares = counts * _SIZE**2
    estimate = np.sqrt(squares.sum(axis=-1))  # of the counted step's norm
    group = np.arange(len(rec)) // rec.layout.histogram_every
    counted = norms[:: rec.layout.histogram_every] if rec.stride == 1 else estimate
    # Of the limit, in bins of the counted steps.
    place = np.log2(limit / _ratio(norms, counted[group])) - LOWEST
    many, size, square = (_tail(x, group, place) for x in (counts, counts * _SIZE, squares))
    total = estimate[group]
    return (
        many,
        size * _ratio(norms, total),
        np.divide(square, total**2, out=np.zeros_like(square), where=total > 0),
    )


def _counts_of_a_step(rec: Buckets) -> np.ndarray:
    """(groups, tensors, 64) counts of each group of buckets, as for one step."""
    counts, every = rec["histogram"].astype(np.float64), rec.layout.histogram_every
    start = np.arange(len(counts)) * every * rec.stride
    steps = np.minimum(rec.seen - start, every * rec.stride)
    found: np.ndarray = counts / (-(-steps // every))[:, None, None]
    return found


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b where that is a number above 0, else 1."""
    found = np.divide(a, b, out=np.ones_like(a), where=b > 0)
    return np.where(np.isfinite(found) & (found > 0), found, 1.0)


def _tail(x: np.ndarray, group: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(buckets, tensors) sum of x, (groups, tensors, 64), from `place` on, a bin split evenly by
    the place in it.
    """
    sums = np.concatenate(
        [np.cumsum(x[..., ::-1], axis=-1)[..., ::-1], np.zeros((*x.shape[:-1], 1))], axis=-1
    )
    place = np.clip(place, 0, BINS)
    k = np.minimum(place.astype(int), BINS - 1)
    at, tensor = group[:, None], np.arange(x.shape[1])
    found: np.ndarray = sums[at, tensor, k] * (1 - (place - k)) + sums[at, tensor, k + 1] * (
        place - k
    )
    return found

"""What a limit would have done to recorded gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import quiet
from .clip.report import turn_angle
from .measure import LOWEST

OVERFLOW = float(np.sqrt(np.finfo(np.float32).max))  # from here on the squares that float32 clips sum are infinite

EMPTY = (
    "nothing is recorded yet; call record(grads). After a traced run keep what absorb returns, a new recorder: "
    "rec = rec.absorb(state)"
)

if TYPE_CHECKING:
    from .record import Recorder


@dataclass(frozen=True)
class WhatIf:
    """One limit over one recording.

    Attributes:
        kind: "clip_norm", "clip_value" or "clip_global_norm". limit: the limit.
        fired: (steps,) bool. fired_by_tensor: (steps, tensors) bool.
        norm_before, norm_after, factor: (steps,); factor = norm_after / norm_before.
        angle: (steps,) degrees by which the step would have turned.
        fraction_hit: (steps,) share of entries changed.
        exact: False where histograms had to be read, as `note` says.
        names: of the tensors.
    """

    kind: str
    limit: float
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

    @property
    def fraction_fired(self) -> float:
        """Share of steps on which the limit fires, 0 to 1."""
        return float(self.fired.mean()) if self.fired.size else 0.0

    def __str__(self) -> str:
        by = ", ".join(f"{n} {f:.0%}" for n, f in zip(self.names, self.fired_by_tensor.mean(axis=0), strict=True))
        turned = float(np.nanmedian(self.angle)) if np.isfinite(self.angle).any() else float("nan")
        kind = "exact" if self.exact else "estimate"
        return (
            f"{self.kind}={self.limit:g} fires on {self.fraction_fired:.1%} of {self.fired.size} steps ({by}); "
            f"median factor {np.nanmedian(self.factor):.3g}, median turn {turned:.1f} deg ({kind})"
        )


def what_if(rec: Recorder, limits: Mapping[str, float]) -> WhatIf:
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
def _global(rec: Recorder, limit: float) -> WhatIf:
    before = rec.global_norm.astype(np.float64)
    fired = ~(before <= limit)
    after = np.where(before < OVERFLOW, np.minimum(before, limit), np.nan)
    by_tensor = np.repeat(fired[:, None], len(rec.names), axis=1)
    angle = np.where(before < OVERFLOW, 0.0, np.nan)
    return _made(rec, "clip_global_norm", limit, fired, by_tensor, before, after, angle, fired.astype(float))


@quiet
def _norm(rec: Recorder, limit: float) -> WhatIf:
    norms = rec["norm"].astype(np.float64)
    by_tensor = ~(norms <= limit)
    fired = np.any(by_tensor, axis=1)
    clipped = np.where(norms < OVERFLOW, np.minimum(norms, limit), np.where(np.isfinite(norms), 0.0, np.nan))
    before, after = (np.sqrt((x * x).sum(axis=1)) for x in (norms, clipped))
    angle = np.where(fired, turn_angle((norms * clipped).sum(axis=1), before, after), 0.0)
    sizes = np.array(rec.sizes, float)
    hit = (by_tensor * sizes).sum(axis=1) / sizes.sum()
    return _made(rec, "clip_norm", limit, fired, by_tensor, before, after, angle, hit)


@quiet
def _value(rec: Recorder, limit: float) -> WhatIf:
    """Entries above the limit are counted by bin; the bin that holds the limit is split evenly on a log scale."""
    counts, norms = rec["histogram"].astype(np.float64), rec["norm"].astype(np.float64)
    low = np.exp2(np.arange(counts.shape[-1]) + LOWEST)
    above = np.clip(1 - np.log2(limit / low), 0, 1)  # share of each bin above the limit
    squares = counts * low * low * (3 / (2 * np.log(2)))  # mean square over [low, 2 low), evenly on a log scale
    squares *= np.where(squares.sum(-1) > 0, norms**2 / squares.sum(-1), 0)[..., None]
    mean = np.sqrt(np.divide(squares, counts, out=np.zeros_like(squares), where=counts > 0))
    kept = squares * (1 - above)
    after = kept + counts * above * limit**2
    dot = kept + counts * above * limit * mean
    by_tensor = ~(rec["largest"] <= limit) | (rec["nonfinite"] > 0)
    fired = np.any(by_tensor, axis=1)
    total = np.sqrt((norms**2).sum(axis=1))
    after_norm = np.where(fired, np.sqrt(after.sum(axis=(1, 2))), total)
    angle = np.where(fired, turn_angle(dot.sum(axis=(1, 2)), total, after_norm), 0.0)
    hit = np.where(fired, (counts * above).sum(axis=(1, 2)) / sum(rec.sizes), 0.0)
    return _made(
        rec, "clip_value", limit, fired, by_tensor, total, np.minimum(after_norm, total), angle, hit,
        exact=False, note="which steps fire is exact; norm, angle and share of entries are estimated from histograms, "
        "and NaN for steps that hold NaN or Inf",
    )  # fmt: skip


def _made(
    rec: Recorder,
    kind: str,
    limit: float,
    fired: np.ndarray,
    by_tensor: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    angle: np.ndarray,
    hit: np.ndarray,
    exact: bool = True,
    note: str = "exact for float32 clips of the recorded gradients; with another limit later ones would have differed",
) -> WhatIf:
    factor = np.divide(after, before, out=np.ones_like(before), where=before > 0)
    return WhatIf(kind, limit, fired, by_tensor, before, after, factor, angle, hit, exact, note, rec.names)


@dataclass(frozen=True)
class Summary:
    """How often limits would have fired on a recording.

    Attributes:
        limits: global-norm limits, the percentiles 50, 75, 90, 95, 99 of the recorded norms.
        fired: share of steps on which each fires. fired_by_tensor: share of steps on which `clip_norm` at that limit
            would fire on each tensor, by name.
        suggested: the limit at the percentile asked for. reason: why, in words.
        nonfinite_steps: how many steps held NaN or Inf.
    """

    limits: tuple[float, ...]
    fired: tuple[float, ...]
    fired_by_tensor: dict[str, tuple[float, ...]]
    suggested: float
    reason: str
    nonfinite_steps: int

    def __str__(self) -> str:
        title = "share of steps on which a limit fires: by global norm, and by the norm of each tensor alone"
        head = f"{'limit':>14} " + " ".join(f"{limit:>9.3g}" for limit in self.limits)
        rows = [f"{'global norm':>14} " + " ".join(f"{f:>9.1%}" for f in self.fired)]
        rows += [f"{n[-14:]:>14} " + " ".join(f"{f:>9.1%}" for f in fs) for n, fs in self.fired_by_tensor.items()]
        return "\n".join([title, head, *rows, self.reason])


def summarise(rec: Recorder, percentile: float) -> Summary:
    """See `Recorder.summary`."""
    if not 0 < percentile < 100:
        raise ValueError(f"percentile must be between 0 and 100, got {percentile!r}")
    if len(rec) == 0:
        raise ValueError(EMPTY)
    norms = rec.global_norm.astype(np.float64)
    finite = norms[np.isfinite(norms) & (norms > 0)]
    if finite.size == 0:
        raise ValueError("no recorded step has a finite gradient that is not 0, so no limit can be suggested")
    limits = tuple(float(x) for x in np.percentile(finite, [50, 75, 90, 95, 99]))
    each: list[Any] = [rec.what_if(clip_norm=limit).fired_by_tensor.mean(axis=0) for limit in limits]
    suggested = float(np.percentile(finite, percentile))
    share = rec.what_if(clip_global_norm=suggested).fraction_fired
    bad = int((rec["nonfinite"].sum(axis=1) > 0).sum())
    reason = (
        f"suggested clip_by_global_norm limit {suggested:.3g}: the {percentile:g}th percentile of the recorded norms; "
        f"it fires on {share:.1%} of {len(rec)} steps and leaves the others alone"
        + (f"; {bad} steps held NaN or Inf" if bad else "")
        + (f"; {rec.seen - len(rec)} later steps were not kept" if rec.seen > len(rec) else "")
    )
    by_name = {n: tuple(float(e[k]) for e in each) for k, n in enumerate(rec.names)}
    fired = tuple(rec.what_if(clip_global_norm=limit).fraction_fired for limit in limits)
    return Summary(limits, fired, by_name, suggested, reason, bad)

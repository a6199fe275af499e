"""What a limit would have done to recorded gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._base.arrays import quiet
from .._base.numbers import percent
from ..clip.report import turn_angle
from .sizes import above
from .spectrum import count_above
from .words import SHOWN

OVERFLOW = float(np.sqrt(np.finfo(np.float32).max))  # from here on the squares that float32 clips sum are infinite

EMPTY = (
    "nothing is recorded yet; call record(grads). After a traced run keep what absorb returns, a new recorder: "
    "rec = rec.absorb(state)"
)
_EXACT = "exact for float32 clips of the recorded gradients; with another limit later ones would have differed"
_BY_SIZE = (
    "which steps fire is exact; norm, angle and share of entries are estimated from histograms, and NaN for steps that "
    "hold NaN or Inf"
)
_MERGED = "a row stands for several steps and answers for the largest of them; shares are counted over all steps"

if TYPE_CHECKING:
    from .recording import Recording


@dataclass(frozen=True)
class WhatIf:
    """One limit over one recording. A row is a step, or the largest of the `stride` steps that were merged into it.

    Attributes:
        kind: "clip_norm", "clip_value" or "clip_global_norm". limit: the limit.
        steps: how many were recorded. stride: steps of a row.
        fraction_fired: share of all steps on which the limit fires, 0 to 1. share_by_tensor: (tensors,) of each alone.
            Counted step by step; of merged rows from a histogram of all norms, good to an eighth of an octave.
        fired: (rows,) bool. fired_by_tensor: (rows, tensors) bool.
        norm_before, norm_after, factor: (rows,); factor = norm_after / norm_before.
        angle: (rows,) degrees by which the step would have turned.
        fraction_hit: (rows,) share of entries changed.
        exact: False where histograms had to be read or rows were merged, as `note` says.
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
            f"{self.kind}={self.limit:g} fires on {percent(self.fraction_fired, 1)} of {self.steps} steps "
            f"({self._by_tensor()}); median factor {factor:.3g}, median turn {turned:.1f} deg{of} ({kind})"
        )

    def _by_tensor(self) -> str:
        """All tensors, or of many the ones it fires on most."""
        shares = list(zip(self.names, self.share_by_tensor, strict=True))
        if more := len(shares) - SHOWN if len(shares) > SHOWN else 0:
            shares = sorted(shares, key=lambda pair: -pair[1])[:SHOWN]
        return ", ".join(f"{name} {percent(share)}" for name, share in shares) + (f" and {more} more" if more else "")


def what_if(rec: Recording, limits: Mapping[str, float]) -> WhatIf:
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
def _global(rec: Recording, limit: float) -> WhatIf:
    before = rec.global_norm.astype(np.float64)
    fired = ~(before <= limit)
    after = np.where(before < OVERFLOW, np.minimum(before, limit), np.nan)
    by_tensor = np.repeat(fired[:, None], len(rec.names), axis=1)
    angle = np.where(before < OVERFLOW, 0.0, np.nan)
    share = _share(rec, "norm", limit)[-2]
    shares = np.full(len(rec.names), share)
    return _made(rec, "clip_global_norm", limit, share, shares, by_tensor, before, after, angle, fired.astype(float))


@quiet
def _norm(rec: Recording, limit: float) -> WhatIf:
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
def _value(rec: Recording, limit: float) -> WhatIf:
    """Entries above the limit are counted by bin; the bin that holds the limit is split evenly on a log scale."""
    norms = rec["norm"].astype(np.float64)
    by_tensor = ~(rec["largest"] <= limit) | (rec["nonfinite"] > 0)
    many, size, square = (np.where(by_tensor, x, 0) for x in above(rec, limit))
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


def _share(rec: Recording, column: str, limit: float) -> np.ndarray:
    """Share of steps above the limit: of each tensor's, then of what holds for all together.

    Rows that are above or below as a whole are counted as they are, the others by the histogram of all steps.
    """
    low, high, counts = rec.ranges(column)
    steps = rec.row_steps[:, None]
    least = (steps * ~(low <= limit)).sum(axis=0)
    most = (steps * ~(high <= limit)).sum(axis=0)
    return np.clip(count_above(counts, limit), least, most) / rec.seen


def _made(
    rec: Recording,
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

"""How often limits would have fired on a recording, and which one to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._base.numbers import percent
from . import spectrum
from .what_if import EMPTY
from .words import SHOWN, rounded_up

if TYPE_CHECKING:
    from .recording import Recording


@dataclass(frozen=True)
class Summary:
    """How often limits would have fired on a recording.

    Attributes:
        limits: global-norm limits, the percentiles 50, 75, 90, 95, 99 of the recorded norms, up to three digits.
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
        rows = [_line("global norm", self.fired)]
        by_tensor = list(self.fired_by_tensor.items())
        more = []
        if len(by_tensor) > SHOWN:
            more = [f"and {len(by_tensor) - SHOWN} more tensors, on which they fire less"]
            by_tensor = sorted(by_tensor, key=lambda pair: -sum(pair[1]))[:SHOWN]
        rows += [_line(name, shares) for name, shares in by_tensor]
        return "\n".join([title, head, *rows, *more, self.reason])


def _line(name: str, shares: tuple[float, ...]) -> str:
    return f"{name[-14:]:>14} " + " ".join(f"{percent(share, 1):>9}" for share in shares)


def summarise(rec: Recording, percentile: float) -> Summary:
    """See `Recorder.summary`."""
    if not 0 < percentile < 100:
        raise ValueError(f"percentile must be between 0 and 100, got {percentile!r}")
    if len(rec) == 0:
        raise ValueError(EMPTY)
    if not np.isfinite(rec["global_norm_low"]).any() or not (rec.global_norm != 0).any():
        raise ValueError("no recorded step has a finite gradient that is not 0, so no limit can be suggested")
    # As they are printed, so that what is said of a limit holds for whoever types it.
    limits = tuple(rounded_up(norm_at(rec, percent)) for percent in (50, 75, 90, 95, 99))
    each = [rec.what_if(clip_norm=limit).share_by_tensor for limit in limits]
    suggested = rounded_up(norm_at(rec, percentile))
    share = rec.what_if(clip_global_norm=suggested).fraction_fired
    bad = rec.nonfinite_steps
    reason = (
        f"suggested clip_by_global_norm limit {suggested:.3g}: the {percentile:g}th percentile of the recorded norms; "
        f"it fires on {percent(share, 1)} of {rec.seen} steps and leaves the others alone"
        + (f"; {bad} steps held NaN or Inf" if bad else "")
        + (f"; each of the {len(rec)} rows kept stands for {rec.stride} steps" if rec.stride > 1 else "")
    )
    by_name = {n: tuple(float(e[k]) for e in each) for k, n in enumerate(rec.names)}
    fired = tuple(rec.what_if(clip_global_norm=limit).fraction_fired for limit in limits)
    return Summary(limits, fired, by_name, suggested, reason, bad)


def norm_at(rec: Recording, percent: float) -> float:
    """A percentile of the finite global norms above 0 of all steps: exact, or of merged rows from their histogram."""
    if rec.stride > 1:
        return spectrum.percentile(rec.norm_counts[-2], percent)
    norms = rec.global_norm.astype(np.float64)
    return float(np.percentile(norms[np.isfinite(norms) & (norms > 0)], percent))

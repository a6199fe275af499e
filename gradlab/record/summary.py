"""How large the norms of a run are, whose they are, how often limits would have fired, and which one to try."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._base.arrays import quiet
from .._base.numbers import counted, number, percent
from . import measure
from .buckets import EMPTY, SHOWN, Buckets
from .what_if import what_if


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
        head = f"{'limit':>14} " + " ".join(f"{number(limit):>9}" for limit in self.limits)
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


def summarize(rec: Buckets, percentile: float) -> Summary:
    """See `Recorder.summary`."""
    if not 0 < percentile < 100:
        raise ValueError(f"percentile must be between 0 and 100, got {percentile!r}")
    if len(rec) == 0:
        raise ValueError(EMPTY)
    if not np.isfinite(rec["global_norm_low"]).any() or not (rec.global_norm != 0).any():
        raise ValueError("no recorded step has a finite gradient that is not 0, so no limit can be suggested")
    # As they are printed, so that what is said of a limit holds for whoever types it.
    limits = tuple(_rounded_up(norm_at(rec, percent)) for percent in (50, 75, 90, 95, 99))
    each = [what_if(rec, {"clip_norm": limit}).share_by_tensor for limit in limits]
    suggested = _rounded_up(norm_at(rec, percentile))
    share = what_if(rec, {"clip_global_norm": suggested}).fraction_fired
    bad, buckets = rec.nonfinite_steps, counted(len(rec), "bucket")
    reason = (
        f"suggested clip_by_global_norm limit {number(suggested)}: the {percentile:g}th percentile of the recorded "
        f"norms; it fires on {percent(share, 1)} of {counted(rec.seen, 'step')} and leaves the others alone"
        + (f"; {counted(bad, 'step')} held NaN or Inf" if bad else "")
        + (f"; each of the {buckets} kept stands for {rec.stride:,} steps" if rec.stride > 1 else "")
    )
    by_name = {n: tuple(float(e[k]) for e in each) for k, n in enumerate(rec.names)}
    fired = tuple(what_if(rec, {"clip_global_norm": limit}).fraction_fired for limit in limits)
    return Summary(limits, fired, by_name, suggested, reason, bad)


def norm_at(rec: Buckets, percent: float) -> float:
    """A percentile of the finite global norms above 0 of all steps: exact, or of merged steps from their histogram."""
    if rec.stride > 1:
        return measure.percentile(rec.norm_counts[-2], percent)
    norms = rec.global_norm.astype(np.float64)
    return float(np.percentile(norms[np.isfinite(norms) & (norms > 0)], percent))


def _rounded_up(x: float) -> float:
    """The next number of three digits: as a limit it fires no more often.

    >>> _rounded_up(25.249), _rounded_up(0.001), _rounded_up(98765.0)
    (25.3, 0.001, 98800.0)
    """
    nearest = float(f"{x:.2e}")
    return nearest if nearest >= x else float(f"{nearest + 10.0 ** (math.floor(math.log10(x)) - 2):.2e}")


def percentiles(rec: Buckets, percents: Sequence[float]) -> np.ndarray:
    """(percents, tensors) norms that so many percent of a tensor's steps do not exceed; 0 for one without any norm.

    Of finite norms above 0. Exact where each bucket is a step; of merged steps to an eighth of an octave.
    """
    if rec.stride > 1:
        return np.array([[measure.percentile(counts, p) for counts in rec.norm_counts[:-2]] for p in percents])
    norms = rec["norm"].astype(np.float64)
    norms = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)
    found = np.zeros((len(percents), norms.shape[1]))
    there = np.isfinite(norms).any(axis=0)
    found[:, there] = np.nanpercentile(norms[:, there], percents, axis=0)
    return found


@quiet
def parts(rec: Buckets, which: np.ndarray) -> np.ndarray:
    """(tensors,) each tensor's part of the squared global norm, in the mean over some buckets; 0 if there are none."""
    squares = rec["norm"][which].astype(np.float64) ** 2
    share = squares / squares.sum(axis=1, keepdims=True)
    share = share[np.isfinite(share).all(axis=1)]
    return share.mean(axis=0) if len(share) else np.zeros(len(rec.names))


def layer_of(name: str) -> str:
    """The layer a tensor is of: its name without the last part.

    >>> layer_of("encoder/3/w"), layer_of("layers.0.weight"), layer_of("embed")
    ('encoder/3', 'layers.0', 'embed')
    """
    cut = max(name.rfind("/"), name.rfind("."))
    return name[:cut] if cut > 0 else name

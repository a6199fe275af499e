"""Summary of a run: norms by tensor, how often limits would have fired, and a suggested limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._base.arrays import quiet
from ..._base.numbers import MOST_DIGITS, are, counted, in_full, percent, were
from .. import sketch
from ..buckets import EMPTY, SHOWN, Buckets
from ..updates import Updates, sampled_updates
from .diagnosis import first_nonfinite_step, why_no_limit
from .noise import NoiseScale, known_noise
from .what_if import WhatIf, what_if

_SEEN = 0.0005  # of a share in percent with one decimal
_ROUNDING = 0.005  # of the steps, that a limit may fire on less when it is rounded up


@dataclass(frozen=True)
class Summary:
    """Summary of how often limits would have fired on a recording.

    Attributes:
        limits: global-norm limits, the percentiles 50, 75, 90, 95, 99 of the recorded norms,
            rounded up to three digits, or to as many as it takes not to fire on fewer steps.
        fired: share of the finite steps taken on which each fires.
        fired_by_tensor: share of the steps in which a tensor is finite on which `clip_norm` at that
            limit would fire on it, by name.
        doubt, doubt_by_tensor: by how much these can be wrong at most; 0 where they were counted.
        suggested: the limit at the percentile asked for. None where the run is sick, so that its
            norms don't tell which limit a healthy run needs: most steps taken held NaN or Inf, or
            the norms explode (their median over some tenth of the run is 100 times that of an
            earlier tenth, and the loss, if it is known, isn't lower there).
        reason: why this limit, or why none, in words.
        nonfinite_steps: how many of the steps taken held NaN or Inf.
        skipped_steps: how many more a scaler skipped.
        missing_steps: how many more were not recorded, because their gradients held NaN or Inf.
        updates: what `Recorder.updates` says.
        noise: what `Recorder.noise_scale` says. None where it was not recorded.
        about: of a log that was read, what it holds, in sentences; then `fired_by_tensor` is empty.
    """

    limits: tuple[float, ...]
    fired: tuple[float, ...]
    fired_by_tensor: dict[str, tuple[float, ...]]
    doubt: float
    doubt_by_tensor: float
    suggested: float | None
    reason: str
    nonfinite_steps: int
    skipped_steps: int
    missing_steps: int
    updates: Updates | None = None
    noise: NoiseScale | None = None
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        title = (
            "share of finite steps on which a limit fires: by global norm, and by the norm of "
            "each tensor alone"
        )
        if self.about:
            title = "share of finite logged steps on which a limit on the global norm fires"
        by_tensor = list(self.fired_by_tensor.items())
        more = []
        if len(by_tensor) > SHOWN:
            more = [f"and {len(by_tensor) - SHOWN} more tensors, on which they fire less"]
            by_tensor = sorted(by_tensor, key=lambda pair: -sum(pair[1]))[:SHOWN]
        names = ["limit", "global norm", *distinct([name for name, _ in by_tensor])]
        columns = [[in_full(limit) for limit in self.limits]]
        columns += [
            [percent(share, 1) for share in shares]
            for shares in (self.fired, *(x for _, x in by_tensor))
        ]
        width = max(map(len, names))
        rows = [_line(name, column, width) for name, column in zip(names, columns, strict=True)]
        said = [
            ("the shares by global norm", self.doubt),
            ("the shares by tensor", self.doubt_by_tensor),
        ]
        doubts = [
            f"{what} are estimates, at most {points(x)} points from the true ones"
            for what, x in said
            if shows(x)
        ]
        also = [str(x) for x in (self.updates, self.noise) if x is not None]
        return "\n".join([title, *rows, *more, *doubts, self.reason, *also, *self.about])


def _line(name: str, column: Sequence[str], width: int) -> str:
    return f"{name:>{width}} " + " ".join(f"{word:>9}" for word in column)


def distinct(names: Sequence[str], most: int = 22) -> list[str]:
    """Keep the last `most` letters of each name, and more of them where two names would look the same.

    >>> distinct(["w", "encoder.layer.0.mlp.weight", "encoder.layer.1.mlp.weight"], 12)
    ['w', '..0.mlp.weight', '..1.mlp.weight']
    >>> distinct(["h.0.attn.out.kernel", "h.1.attn.out.kernel"], 12)
    ['h.0.attn.out.kernel', 'h.1.attn.out.kernel']
    """
    shortened = []
    for name in names:
        others = [other for other in names if other != name]
        length = most
        while length < len(name) and any(other.endswith(name[-length:]) for other in others):
            length += 1
        # ".." takes two letters itself.
        shortened.append(name if length + 2 >= len(name) else f"..{name[-length:]}")
    return shortened


def shows(doubt: float) -> bool:
    """Tell whether so much of a share is seen where it is printed.

    >>> shows(0.0), shows(0.0001), shows(0.002)
    (False, False, True)
    """
    return doubt >= _SEEN


def points(doubt: float) -> str:
    """A difference of shares in words, rounded up; 1 of 100 is a point.

    >>> points(0.0021), points(0.01)
    ('0.3', '1.0')
    """
    return f"{math.ceil(round(1000 * doubt, 6)) / 10:.1f}"


def summarize(rec: Buckets, percentile: float) -> Summary:
    """See `Recorder.summary`."""
    if not 0 < percentile < 100:
        raise ValueError(f"percentile must be between 0 and 100, got {percentile!r}")
    if len(rec) == 0:
        raise ValueError(EMPTY)
    if not norm_at(rec, 50):
        raise ValueError(
            "no recorded step has a finite gradient that is not 0, so no limit can be suggested"
        )
    limits = tuple(_limit_at(rec, percent) for percent in (50, 75, 90, 95, 99))
    each = []
    if not rec.norms_only:
        each = [what_if(rec, {"clip_norm": limit}) for limit in limits]
    overall = [what_if(rec, {"clip_global_norm": limit}) for limit in limits]
    trouble = why_no_limit(rec)
    suggested = None if trouble else _limit_at(rec, percentile)
    answers = list(overall)
    if suggested is None:
        reason = (
            f"no limit is suggested, because {trouble}; find out why "
            f"first{_not_counted(rec, is_sick=True)}"
        )
    else:
        answer = what_if(rec, {"clip_global_norm": suggested})
        answers.append(answer)
        reason = _reason(rec, suggested, percentile, answer) + _not_counted(rec)
    by_name = {
        n: tuple(float(e.of_finite_by_tensor[k]) for e in each)
        for k, n in enumerate(rec.names)
        if each
    }
    by_tensor = max(
        (_doubt(e.of_finite_by_tensor, e.bounds_of_finite_by_tensor) for e in each), default=0.0
    )
    doubt = max(_doubt(np.array(a.of_finite), np.array(a.bounds_of_finite)) for a in answers)
    fired = tuple(a.of_finite for a in overall)
    return Summary(
        limits,
        fired,
        by_name,
        doubt,
        by_tensor,
        suggested,
        reason,
        rec.nonfinite_steps,
        rec.skipped_steps,
        rec.missing_steps,
        sampled_updates(rec),
        known_noise(rec),
        rec.about,
    )


def _reason(rec: Buckets, suggested: float, percentile: float, answer: WhatIf) -> str:
    """Return the words on a suggested limit: what it is, and how often it fires."""
    about = "the" if rec.known.all() else "about the"
    finite = answer.steps - answer.nonfinite
    steps = counted(finite, "finite step" if answer.nonfinite else "step")
    return (
        f"suggested clip_by_global_norm limit {in_full(suggested)}: {about} {percentile:g}th "
        f"percentile of the recorded norms; it fires on {answer.percent_of_finite()} of {steps} "
        "and leaves the others alone"
    )


def _not_counted(rec: Buckets, is_sick: bool = False) -> str:
    """Name the steps that shares leave out, and say what a bucket is; `is_sick` if NaN and Inf are
    already named.
    """
    bad, skipped, missing = rec.nonfinite_steps, rec.skipped_steps, rec.missing_steps
    said = ""
    if bad and not is_sick:
        first = first_nonfinite_step(rec)
        said += f"; {counted(bad, 'step')} held NaN or Inf"
        if first is not None:
            said += f" (first: {rec.step_in_words(first)})"
    if skipped:
        said += f"; {counted(skipped, 'more step')} {were(skipped)} skipped"
    if missing:
        said += f"; {counted(missing, 'more step')} held NaN or Inf and {are(missing)} missing"
    if rec.stride > 1:
        said += f"; each of the {counted(len(rec), 'bucket')} kept stands for {rec.stride:,} steps"
    return said


def _doubt(share: np.ndarray, bounds: np.ndarray) -> float:
    """By how much shares can be wrong at most."""
    return float(np.abs(bounds - share).max(initial=0))


def norm_at(rec: Buckets, percent: float) -> float:
    """A percentile of the finite global norms above 0 of the steps taken; 0 if there is none.

    Exact, but for a traced run with more steps than its ring: then from a sketch, as `norm_error`
    says.
    """
    if not rec.known.all():
        return float(
            sketch.quantiles(rec.flush().columns["sketch"][len(rec.names)][None], (percent,))[0, 0]
        )
    norms = rec.every_step("global_norm")[rec.every_step("skipped") != 1].astype(np.float64)
    norms = norms[np.isfinite(norms) & (norms > 0)]
    return float(np.percentile(norms, percent)) if norms.size else 0.0


def norm_error(rec: Buckets) -> float:
    """Relative error of `norm_at` at most."""
    if rec.known.all():
        return 0.0
    return float(sketch.error(rec.flush().columns["sketch"][len(rec.names)][None])[0])


def _limit_at(rec: Buckets, percent: float) -> float:
    """A percentile of the norms, rounded up to as few digits as leave it one.

    As it is printed, so that what is said of a limit holds for the limit as typed.
    """
    x = norm_at(rec, percent)
    share = what_if(rec, {"clip_global_norm": x}).fraction_fired
    for digits in range(3, MOST_DIGITS):
        limit = _rounded_up(x, digits)
        if share - what_if(rec, {"clip_global_norm": limit}).fraction_fired <= _ROUNDING:
            return limit
    return _rounded_up(x, MOST_DIGITS)


def _rounded_up(x: float, digits: int = 3) -> float:
    """The next number of so many digits: as a limit it fires no more often.

    >>> _rounded_up(25.249), _rounded_up(0.001), _rounded_up(98765.0), _rounded_up(1.02587, 4)
    (25.3, 0.001, 98800.0, 1.026)
    """
    nearest = float(f"{x:.{digits - 1}e}")
    if nearest >= x:
        return nearest
    return float(f"{nearest + 10.0 ** (math.floor(math.log10(x)) + 1 - digits):.{digits - 1}e}")


def percentiles(rec: Buckets, percents: Sequence[float]) -> np.ndarray:
    """(percents, tensors) norms that so many percent of a tensor's steps do not exceed; 0 for one without any norm.

    Of finite norms above 0 of the steps taken. Exact where each bucket is a step; of merged steps
    to within `Recorder.quantile_error`, and the largest and smallest exactly.
    """
    if rec.stride > 1:
        found = sketch.quantiles(rec.flush().columns["sketch"][: len(rec.names)], percents)
        return _within_extremes(rec, found, percents)
    norms = rec["norm"][rec.taken > 0].astype(np.float64)
    norms = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)
    found = np.zeros((len(percents), norms.shape[1]))
    there = np.isfinite(norms).any(axis=0)
    found[:, there] = np.nanpercentile(norms[:, there], percents, axis=0)
    return found


def medians(rec: Buckets) -> np.ndarray:
    """(tensors,) median norm of each tensor over the steps taken where it is finite; as exact as `percentiles`."""
    if rec.stride > 1:
        middle: np.ndarray = sketch.quantiles(
            rec.flush().columns["sketch"][: len(rec.names)], (50,), True
        )[0]
        return middle
    norms = rec["norm"][rec.taken > 0].astype(np.float64)
    norms = np.where(np.isfinite(norms), norms, np.nan)
    found, there = np.zeros(norms.shape[1]), np.isfinite(norms).any(axis=0)
    found[there] = np.nanmedian(norms[:, there], axis=0)
    return found


@quiet
def _within_extremes(rec: Buckets, found: np.ndarray, percents: Sequence[float]) -> np.ndarray:
    """Narrow it by what buckets know: the largest and smallest, if none of their norms was 0 or not
    finite.
    """
    bins = rec.flush().columns["sketch"][: len(rec.names)]
    high, low = rec["norm"].astype(np.float64), rec["norm_low"].astype(np.float64)
    taken = rec.taken[:, None] > 0
    most = np.where(sketch.nonfinite(bins) == 0, np.where(taken, high, 0).max(axis=0), np.inf)
    least = np.where(bins[:, sketch.ZEROS] == 0, np.where(taken, low, np.inf).min(axis=0), 0)
    ends = np.array(percents)[:, None]
    found = np.where(
        (ends == 100) & np.isfinite(most), most, np.where((ends == 0) & (least > 0), least, found)
    )
    within: np.ndarray = np.clip(found, least, most)
    return within


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

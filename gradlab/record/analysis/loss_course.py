"""The course of a run's loss: where it is NaN or Inf, and whether it falls, rises, or falls and comes back.

Losses are read step by step. Where a traced run has lost single steps, they are read by bucket: the
mean of its losses, and from their count how many were NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._base.arrays import quiet
from ..._base.numbers import counted, number
from ..buckets import Buckets

_PARTS = 10  # of the run, compared by their medians
# A loss has come back if it rises again by more than this share of its fall; a convention.
_COMES_BACK = 0.25
_STANDARD_ERRORS = 2  # that a change must exceed, which noise does in about 5% of cases
# root(pi / 2), the standard error of a median over that of a mean, for normal noise.
_MEDIAN_ERROR = 1.25
# The standard deviation over the median absolute deviation, for normal noise.
_DEVIATION_OF_MAD = 1.4826


class Losses(NamedTuple):
    """Losses in the order of the steps, each of one step or of a bucket of several.

    Attributes:
        step, num_steps: (n,) the first step, and the number of steps.
        loss: (n,) their mean; NaN for none.
        infinite: (n,) whether the mean is Inf.
        nonfinite: (n,) how many of the losses are NaN or Inf.
        unknown: (n,) how many were either NaN or not recorded.
    """

    step: np.ndarray
    num_steps: np.ndarray
    loss: np.ndarray
    infinite: np.ndarray
    nonfinite: np.ndarray
    unknown: np.ndarray


@quiet
def losses(rec: Buckets) -> Losses | None:
    """Return the losses of a recording; None where it has none.

    A loss that was not recorded is stored as NaN, too. NaN counts as a loss that is NaN where the
    gradient of the step isn't finite either, in a run that has a loss in most of its other steps.
    """
    if "loss" not in rec.scalars:
        return None
    if rec.known.all():
        loss = rec.every_step("loss").astype(np.float64)
        step = np.arange(rec.seen)
        num_steps = np.ones(rec.seen, int)
        is_sick = ~np.isfinite(rec.every_step("largest")) | ~np.isfinite(
            rec.every_step("global_norm")
        )
        missing = np.isnan(loss).astype(int)
    else:
        loss = rec["loss"].astype(np.float64)
        step = rec.step
        num_steps = rec.bucket_steps
        is_sick = rec["nonfinite"].any(axis=1) | ~np.isfinite(rec.global_norm)
        column = 1 + rec.scalars.index("loss")  # the first column counts seconds
        missing = num_steps - rec.flush().columns["count"][: len(rec), column]
    is_infinite = np.isinf(loss)
    is_logged_seldom = missing[~is_sick].sum() > num_steps[~is_sick].sum() / 2
    # A loss that is logged now and then is more likely missing than NaN.
    is_nan = is_sick & ~is_logged_seldom
    nonfinite = np.where(is_nan, missing, 0) + is_infinite
    unknown = np.where(is_nan, 0, missing)
    finite = np.where(is_infinite, np.nan, loss)
    return Losses(step, num_steps, finite, is_infinite, nonfinite, unknown)


@dataclass(frozen=True)
class LossCourse:
    """How the loss of a run went.

    Attributes:
        steps: the number of steps.
        nonfinite: in how many of them the loss is NaN or Inf.
        kind: "NaN", "Inf", or "NaN or Inf", which of them it is.
        unknown: in how many more steps it was either NaN or not recorded.
        first_nonfinite: bounds (earliest, latest) of the first step whose loss is NaN or Inf, which
            are the same where single steps are known; None where there is none.
        to_the_end: whether it is NaN or Inf in every step from that one on.
        tenth: the number of losses in a tenth of the finite ones.
        start, end, lowest: medians of the first, the last and the lowest tenth; NaN where there are
            none. If the loss is NaN to the end, of the losses before.
        lowest_steps: the first and the last step of the lowest tenth.
        noise: by how much the medians of two tenths may differ by chance.
    """

    steps: int
    kind: str
    nonfinite: int
    unknown: int
    first_nonfinite: tuple[int, int] | None
    to_the_end: bool
    tenth: int
    start: float
    end: float
    lowest: float
    lowest_steps: tuple[int, int]
    noise: float

    @property
    def falls(self) -> bool:
        """Whether the end is below the start by more than noise."""
        return self.start - self.end > self.noise

    @property
    def rises(self) -> bool:
        """Whether the end is above the start by more than noise."""
        return self.end - self.start > self.noise

    @property
    def comes_back(self) -> bool:
        """Whether it fell, and then rose by more than a quarter of that fall; both by more than noise.

        The lowest of ten tenths is picked for being low, so fall and rise must exceed twice the
        noise of two tenths.
        """
        fall = self.start - self.lowest
        rise = self.end - self.lowest
        return fall > 2 * self.noise and rise > 2 * self.noise and rise > _COMES_BACK * fall

    def __str__(self) -> str:
        sentences = [self.in_words_nonfinite(), self.in_words_finite(), self._in_words_unknown()]
        return " ".join(sentence for sentence in sentences if sentence)

    def in_words_nonfinite(self) -> str:
        """Say where the loss is NaN or Inf; empty where it never is."""
        if self.first_nonfinite is None:
            return ""
        first, last = self.first_nonfinite
        where = f"step {first:,}" if first == last else f"one of the steps {first:,} to {last:,}"
        of = f"{self.nonfinite:,} of {counted(self.steps, 'step')}"
        if self.to_the_end:
            return f"The loss is {self.kind} from {where} on, in {of}."
        return f"The loss is {self.kind} in {of}, first in {where}."

    def in_words_finite(self) -> str:
        """Say how the finite losses went; empty where there are none."""
        if np.isnan(self.start):
            return ""
        loss = "The loss"
        if self.first_nonfinite is not None:
            loss = "Before that it" if self.to_the_end else "Elsewhere it"
        start = number(self.start)
        end = number(self.end)
        medians = (
            "(medians of the first and the last tenth)"
            if self.tenth > 1
            else "(the first and the last loss)"
        )
        if self.comes_back:
            first, last = self.lowest_steps
            at = f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"
            tenths = " (medians of tenths of the run)" if self.tenth > 1 else ""
            return (
                f"{loss} falls from {start} to {number(self.lowest)} ({at}) and then rises to "
                f"{end} at the end{tenths}."
            )
        if start == end:
            return f"{loss} stays at {end}."
        if self.falls:
            return f"{loss} falls from {start} to {end} {medians}."
        if self.rises:
            return f"{loss} rises from {start} to {end} {medians}."
        return (
            f"{loss} goes from {start} to {end} {medians}, which is no more than its noise from "
            "step to step."
        )

    def _in_words_unknown(self) -> str:
        if not self.unknown:
            return ""
        of = f"{self.unknown:,} of {counted(self.steps, 'step')}"
        return f"In {of} no loss is known: it was either NaN or not recorded."


def loss_course(rec: Buckets) -> LossCourse | None:
    """Return how the loss of a recording went; None where no loss was recorded."""
    every = losses(rec)
    if every is None:
        return None
    nonfinite = int(every.nonfinite.sum())
    is_finite = np.isfinite(every.loss)
    first = None
    to_the_end = False
    sick = np.flatnonzero(every.nonfinite)
    if sick.size:
        at = sick[0]
        # In a bucket of several steps it is any of them, but early enough for all of its NaN to
        # follow.
        first = int(every.step[at]), int(every.step[at] + every.num_steps[at] - every.nonfinite[at])
        to_the_end = nonfinite == rec.seen - first[1]
        if to_the_end and at:  # the mean of the bucket where it begins is of few losses
            is_finite = is_finite & (np.arange(len(is_finite)) < at)
    if not is_finite.any() and not nonfinite:
        return None
    loss = every.loss[is_finite]
    start, end, lowest, lowest_steps = _tenths(
        every.step[is_finite], loss, every.num_steps[is_finite]
    )
    kind = "NaN or Inf"
    if not every.infinite.any():
        kind = "NaN"
    elif every.infinite.sum() == nonfinite:
        kind = "Inf"
    return LossCourse(
        steps=rec.seen,
        kind=kind,
        nonfinite=nonfinite,
        unknown=int(every.unknown.sum()),
        first_nonfinite=first,
        to_the_end=to_the_end,
        tenth=_tenth(loss),
        start=start,
        end=end,
        lowest=lowest,
        lowest_steps=lowest_steps,
        noise=_noise(loss),
    )


def _tenth(loss: np.ndarray) -> int:
    """Return how many losses a tenth of them is, at least 1."""
    return max(1, len(loss) // _PARTS)


def _tenths(
    step: np.ndarray, loss: np.ndarray, num_steps: np.ndarray
) -> tuple[float, float, float, tuple[int, int]]:
    """Return the medians of the first, the last and the lowest tenth, and the steps of the lowest."""
    if not loss.size:
        return np.nan, np.nan, np.nan, (0, 0)
    tenth = _tenth(loss)
    starts = [*range(0, len(loss) - tenth, tenth), len(loss) - tenth]
    medians = [float(np.median(loss[start : start + tenth])) for start in starts]
    lowest = int(np.argmin(medians))
    first = starts[lowest]
    last = first + tenth - 1
    return (
        medians[0],
        medians[-1],
        medians[lowest],
        (int(step[first]), int(step[last] + num_steps[last] - 1)),
    )


def _noise(loss: np.ndarray) -> float:
    """Return by how much the medians of two tenths may differ by chance.

    The scatter is estimated from the change of the loss from each step to the next, because a trend
    hardly shows in it; the change of independent losses has root(2) times their deviation. Medians,
    so that single bad batches don't count.
    """
    if len(loss) < 3:
        return 0.0
    change = np.diff(loss)
    deviation = _DEVIATION_OF_MAD * float(np.median(np.abs(change - np.median(change))))
    scatter = deviation / np.sqrt(2)
    error_of_difference = _MEDIAN_ERROR * scatter * np.sqrt(2 / _tenth(loss))
    return float(_STANDARD_ERRORS * error_of_difference)

"""The course of a run's loss: where it is NaN or Inf, and whether it falls, rises, or falls and comes back.

Losses are read step by step. Where a traced run has lost single steps, they are read by bucket: its mean, and from the
count of the losses in it how many were NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._base.arrays import quiet
from .._base.numbers import counted, number
from .buckets import Buckets

_PARTS = 10  # of the run, compared by their medians
_BACK = 0.25  # of a fall: a loss that takes back more than this of it has come back
_NOISES = 2  # standard errors that a change must exceed
_OF_A_MEDIAN = 1.25  # its standard error, in standard errors of a mean, for normal noise
_OF_A_DEVIATION = 1.4826  # the standard deviation of normal noise, in median absolute deviations


class Losses(NamedTuple):
    """Losses in the order of the steps, each of one step or of a bucket of several.

    Attributes:
        step, many: (n,) the first step, and how many steps it is of. loss: (n,) their mean; NaN for none.
        infinite: (n,) whether it is Inf. nonfinite: (n,) how many of them are NaN or Inf.
        unknown: (n,) how many were NaN or not recorded.
    """

    step: np.ndarray
    many: np.ndarray
    loss: np.ndarray
    infinite: np.ndarray
    nonfinite: np.ndarray
    unknown: np.ndarray


@quiet
def losses(rec: Buckets) -> Losses | None:
    """Return the losses of a recording; None where it has none.

    NaN is also what stands for a loss that was not recorded. It counts as a loss that is NaN where the gradient of the
    step isn't finite either, in a run that otherwise has a loss in most of its steps.
    """
    if "loss" not in rec.scalars:
        return None
    if rec.known.all():
        loss = rec.every_step("loss").astype(np.float64)
        step, many = np.arange(rec.seen), np.ones(rec.seen, int)
        is_sick = ~np.isfinite(rec.every_step("largest")) | ~np.isfinite(rec.every_step("global_norm"))
        missing = np.isnan(loss).astype(int)
    else:
        loss = rec["loss"].astype(np.float64)
        step, many = rec.step, rec.bucket_steps
        is_sick = rec["nonfinite"].any(axis=1) | ~np.isfinite(rec.global_norm)
        column = 1 + rec.scalars.index("loss")  # behind the seconds
        missing = many - rec._data["count"][: len(rec), column]
    is_infinite = np.isinf(loss)
    is_sick = is_sick & (missing[~is_sick].sum() <= many[~is_sick].sum() / 2)  # else it is logged now and then
    nonfinite = np.where(is_sick, missing, 0) + is_infinite
    finite = np.where(is_infinite, np.nan, loss)
    return Losses(step, many, finite, is_infinite, nonfinite, np.where(is_sick, 0, missing))


@dataclass(frozen=True)
class LossCourse:
    """How the loss of a run went.

    Attributes:
        steps: of the run. kind: "NaN", "Inf", or "NaN or Inf", which the loss is in `nonfinite` of them.
        unknown: in how many more it was NaN, or not recorded.
        first_nonfinite: the first such step, and the last one that it may be; None where there is none.
        to_the_end: whether it is NaN or Inf in every step from that one on.
        tenth: how many losses a tenth of the finite ones is. start, end, lowest: medians of the first, the last and the
            lowest tenth; NaN where there are none. If the loss ends in NaN, of those before.
        lowest_steps: the first and the last step of the lowest tenth.
        noise: what two tenths may differ by, by chance.
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
        """Whether it was lower on the way by more than a quarter of its fall, and by more than noise.

        The lowest of ten tenths is low by chance, too, so it takes twice the noise of two.
        """
        fall, back = self.start - self.lowest, self.end - self.lowest
        return fall > 2 * self.noise and back > 2 * self.noise and back > _BACK * fall

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
        who = "The loss"
        if self.first_nonfinite is not None:
            who = "Before that it" if self.to_the_end else "Elsewhere it"
        start, end, lowest = number(self.start), number(self.end), number(self.lowest)
        medians = "(medians of the first and the last tenth)" if self.tenth > 1 else "(the first and the last one)"
        if self.comes_back:
            first, last = self.lowest_steps
            at = f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"
            back = f"falls from {start} to {lowest} ({at}) and then rises to {end} at the end"
            return f"{who} {back}" + (" (medians of tenths of the run)." if self.tenth > 1 else ".")
        if start == end:
            return f"{who} stays at {end}."
        if self.falls:
            return f"{who} falls from {start} to {end} {medians}."
        if self.rises:
            return f"{who} rises from {start} to {end} {medians}."
        return f"{who} goes from {start} to {end} {medians}, which is no more than its noise from step to step."

    def _in_words_unknown(self) -> str:
        if not self.unknown:
            return ""
        of = f"{self.unknown:,} of {counted(self.steps, 'step')}"
        return f"In {of} no loss is known: it was NaN, or not recorded."


def loss_course(rec: Buckets) -> LossCourse | None:
    """Return how the loss of a recording went; None where no loss was recorded."""
    every = losses(rec)
    if every is None:
        return None
    nonfinite, unknown = int(every.nonfinite.sum()), int(every.unknown.sum())
    is_finite = np.isfinite(every.loss)
    first, to_the_end = None, False
    sick = np.flatnonzero(every.nonfinite)
    if sick.size:
        at = sick[0]
        first = int(every.step[at]), int(every.step[at] + every.many[at] - every.nonfinite[at])
        to_the_end = nonfinite == rec.seen - first[1]
        if to_the_end and at:  # a single NaN loss that happens to be the last one is also an end
            is_finite = is_finite & (np.arange(len(is_finite)) < at)
    if not is_finite.any() and not nonfinite:
        return None
    step, loss = every.step[is_finite], every.loss[is_finite]
    start, end, lowest, lowest_steps = _tenths(step, loss, every.many[is_finite])
    kind = "NaN or Inf"
    if not every.infinite.any():
        kind = "NaN"
    elif every.infinite.sum() == nonfinite:
        kind = "Inf"
    return LossCourse(
        steps=rec.seen,
        kind=kind,
        nonfinite=nonfinite,
        unknown=unknown,
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
    return max(1, len(loss) // _PARTS)


def _tenths(step: np.ndarray, loss: np.ndarray, many: np.ndarray) -> tuple[float, float, float, tuple[int, int]]:
    """Return the medians of the first, the last and the lowest tenth, and the steps of the lowest."""
    if not loss.size:
        return np.nan, np.nan, np.nan, (0, 0)
    tenth = _tenth(loss)
    starts = [*range(0, len(loss) - tenth, tenth), len(loss) - tenth]
    medians = [float(np.median(loss[start : start + tenth])) for start in starts]
    lowest = int(np.argmin(medians))
    first, last = starts[lowest], starts[lowest] + tenth - 1
    return medians[0], medians[-1], medians[lowest], (int(step[first]), int(step[last] + many[last] - 1))


def _noise(loss: np.ndarray) -> float:
    """Return what the medians of two tenths may differ by, from the scatter of the loss from one step to the next."""
    if len(loss) < 3:
        return 0.0
    change = np.diff(loss)
    scatter = _OF_A_DEVIATION * float(np.median(np.abs(change - np.median(change)))) / np.sqrt(2)
    tenth = _tenth(loss)
    return float(_NOISES * _OF_A_MEDIAN * scatter * np.sqrt(2 / tenth))

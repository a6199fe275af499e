"""What is wrong with a recorded run, from its norms and losses, each finding with step, tensor and number.

Every rule compares norms of one run with each other, so that the unit of the loss doesn't matter:

- a run is not finite where most of its steps held NaN or Inf;
- its norms explode where the median over some tenth of its steps is 100 times that of an earlier
  tenth, and the loss, where there is one, isn't lower there. No recording that ships comes near: at
  most 5 times;
- a step stands out where its global norm is at least 5 times the median of the steps around it. If
  nearly every tensor rises with it, it isn't one layer; if the loss jumps there and comes back, it
  is the batch, or the step before;
- a tensor dominates where it has over 90% of the squared global norm;
- a tensor has no gradient where its norm is 0 in every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._base.arrays import quiet
from ..._base.numbers import counted, listed, number, percent, percent_of_many
from .. import sketch
from ..buckets import Buckets
from .loss_course import losses

# These thresholds are conventions, not tests of significance. A peak is no fault: of the recordings
# that ship, runs that train well have one of up to 19 times the steps around it. Only an explosion
# keeps a limit from being suggested.
EXPLODES = 100  # times as large as an earlier tenth
_PARTS = 10  # of a run, whose medians are compared
_FEWEST_STEPS = 3  # of a part, or around a peak, that a median needs
PEAK = 5  # times the median of the steps around it
_AROUND = 10  # steps on either side
_RISES = 3  # times its own median: a tensor that rises with a peak
_NEARLY_ALL = 0.9  # of the tensors
_FEW = 0.25  # of the tensors
DOMINATES = 0.9  # of the squared norm
_FEWEST_TENSORS = 3  # to say that one stands out from the others, or that they all rise


def nonfinite_norms(rec: Buckets) -> int:
    """Return in how many of the steps taken the global norm was NaN or Inf."""
    # The sketch has a row for each tensor, and the next one is that of the global norm.
    return int(sketch.nonfinite(rec.flush().columns["sketch"])[len(rec.names)])


def taken_steps(rec: Buckets) -> int:
    """Return how many steps were taken, that is not skipped."""
    return rec.seen - rec.skipped_steps


@quiet
def _finite_norms(rec: Buckets) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps taken with a finite global norm above 0, and these norms; by bucket where
    steps were lost.
    """
    if rec.known.all():
        norms = rec.every_step("global_norm").astype(np.float64)
        step = np.arange(rec.seen)
        is_taken = rec.every_step("skipped") != 1
    else:
        norms = rec.global_norm.astype(np.float64)
        step = rec.step
        is_taken = rec.taken > 0
    counts = is_taken & np.isfinite(norms) & (norms > 0)
    return step[counts], norms[counts]


@dataclass(frozen=True)
class Explosion:
    """Two stretches of a run, the later with a median global norm 100 times that of the earlier, or more.

    Attributes:
        before, after: median global norms.
        before_steps, after_steps: first and last step of each stretch.
    """

    before: float
    after: float
    before_steps: tuple[int, int]
    after_steps: tuple[int, int]

    @property
    def times(self) -> float:
        """How many times as large the later median is."""
        return self.after / self.before

    def __str__(self) -> str:
        before = (
            f"{number(self.before)} in steps {self.before_steps[0]:,} to {self.before_steps[1]:,}"
        )
        after = f"{number(self.after)} in steps {self.after_steps[0]:,} to {self.after_steps[1]:,}"
        factor = number(self.times)
        return (
            "the gradient norm explodes: its median grows by a factor of "
            f"{factor}, from {before} to {after}"
        )


def explosion(rec: Buckets) -> Explosion | None:
    """Return where the norms explode; None where they don't."""
    step, norms = _finite_norms(rec)
    parts = min(_PARTS, len(norms) // _FEWEST_STEPS)
    if parts < 2:
        return None
    stretches = np.array_split(np.arange(len(norms)), parts)
    medians = np.array([np.median(norms[stretch]) for stretch in stretches])
    lowest = np.minimum.accumulate(medians)
    growth = medians / lowest
    # From the largest growth down, because the loss may be lower where the norms grew most, and
    # higher elsewhere.
    for after in np.argsort(-growth, kind="stable"):
        if growth[after] < EXPLODES:
            return None
        before = int(np.argmin(medians[: after + 1]))
        before_steps, after_steps = (
            (int(step[s[0]]), int(step[s[-1]])) for s in (stretches[before], stretches[after])
        )
        if not _loss_is_lower(rec, before_steps, after_steps):
            return Explosion(
                float(medians[before]), float(medians[after]), before_steps, after_steps
            )
    return None


def _loss_is_lower(rec: Buckets, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Tell whether the loss of a later stretch of steps is known to be below that of an earlier
    one.
    """
    every = losses(rec)
    if every is None:
        return False
    medians = []
    for first, last in (before, after):
        inside = every.loss[(every.step + every.num_steps > first) & (every.step <= last)]
        inside = inside[np.isfinite(inside)]
        if not inside.size:
            return False
        medians.append(float(np.median(inside)))
    return medians[1] < medians[0]


def why_no_limit(rec: Buckets) -> str:
    """Say why no limit can be suggested for a run that is sick; empty where it isn't."""
    taken = taken_steps(rec)
    bad = nonfinite_norms(rec)
    found = explosion(rec)
    sentences = []
    if 2 * bad > taken:
        first = first_nonfinite_step(rec)
        since = "" if first is None else f" (first: {rec.step_in_words(first)})"
        sentences.append(
            f"{bad:,} of {counted(taken, 'step')} held NaN or Inf{since}, which no limit mends"
        )
    if found is not None:
        sentences.append(str(found))
    return "; ".join(sentences)


def first_nonfinite_step(rec: Buckets) -> int | None:
    """Return the first step taken that held NaN or Inf; None where there is none, or single steps are not known."""
    if not rec.known.all():
        return None
    is_bad = ~np.isfinite(rec.every_step("largest")) | ~np.isfinite(rec.every_step("global_norm"))
    steps = np.flatnonzero(is_bad & (rec.every_step("skipped") != 1))
    return int(steps[0]) if steps.size else None


def frontier(names: Sequence[str], is_bad: np.ndarray) -> str:
    """Say where NaN came into the gradients of a step; empty where too few tensors show it.

    The backward pass carries NaN from where it arises towards the input. So, in the order of the
    forward pass, the tensors up to the place where it arose have it, and those behind it don't.

    >>> frontier(["embed", "up", "down", "head"], np.array([True, True, False, False])).partition(": ")[2]
    'look at the output of up.'
    >>> frontier(["embed", "up", "down", "head"], np.array([True, False, True, False])).partition(":")[0]
    'Finite tensors stand between those with NaN or Inf'
    """
    if is_bad.sum() < 2 or len(names) < 3:
        return ""
    if is_bad.all():
        return "Every tensor has it: look at the loss, or at the operations after the last tensor."
    last = int(np.flatnonzero(is_bad)[-1])
    first_finite = int(np.flatnonzero(~is_bad)[0])
    if last > first_finite:
        return (
            "Finite tensors stand between those with NaN or Inf: either the tensors weren't "
            "recorded in the order of the forward pass, or NaN arose in several places. The last "
            f"tensor with NaN or Inf is {names[last]}."
        )
    said = (
        f"In recorded order, everything up to {names[last]} has NaN or Inf, and everything from "
        f"{names[first_finite]} on is finite"
    )
    look = f"look at the output of {names[last]}"
    if list(names) == sorted(names):
        # JAX sorts the keys of a dict, so this order may say nothing about the model.
        return (
            f"{said}. Names are in alphabetical order: if that is the order "
            f"of the forward pass, {look}."
        )
    return f"{said}: {look}."


def frontier_in(rec: Buckets, row: int) -> str:
    """Say where NaN came into the gradients of a bucket, leaving out tensors that no gradient reaches there."""
    is_bad = rec["nonfinite"][row] > 0
    counts = is_bad | (rec["norm"][row] != 0)  # a frozen tensor is finite wherever it stands
    return frontier([rec.names[k] for k in np.flatnonzero(counts)], is_bad[counts])


def without_gradient(rec: Buckets) -> tuple[str, ...]:
    """Return the names of tensors whose gradient is 0 in every step, whole layers under their common name.

    >>> from gradlab import Recorder
    >>> rec = Recorder()
    >>> for scale in (1.0, 2.0):
    ...     rec.record({"in": scale * np.ones(2), "block.w": np.zeros(2), "block.b": np.zeros(1)})
    >>> without_gradient(rec)
    ('block (2 tensors)',)
    """
    is_still = (rec["norm"] == 0).all(axis=0) & (rec["nonfinite"] == 0).all(axis=0)
    if not rec.taken.any() or is_still.all():
        return ()
    return names_by_layer(rec.names, is_still)


def names_by_layer(names: Sequence[str], chosen: np.ndarray) -> tuple[str, ...]:
    """Return the chosen names, with the common prefix in place of the tensors where all tensors under it are chosen.

    >>> names_by_layer(["in.w", "block.w", "block.b"], np.array([False, True, True]))
    ('block (2 tensors)',)
    """
    tensors_under: dict[str, int] = {}
    for name, is_chosen in zip(names, chosen, strict=True):
        if not is_chosen:
            continue
        cuts = [k for k, letter in enumerate(name) if letter in "./" and k]
        prefix = name
        for cut in cuts:  # the shortest prefix first, which is the largest group
            inside = np.array([other.startswith(name[: cut + 1]) for other in names])
            if chosen[inside].all() and inside.sum() > 1:
                prefix = name[:cut]
                break
        tensors_under[prefix] = tensors_under.get(prefix, 0) + 1
    return tuple(
        name if count == 1 else f"{name} ({count} tensors)" for name, count in tensors_under.items()
    )


@quiet
def dominant(rec: Buckets) -> tuple[str, float] | None:
    """Return the tensor that has over 90% of the squared norm in the median step, and its share; None without one."""
    squares = rec["norm"][rec.taken > 0].astype(np.float64) ** 2
    share = squares / squares.sum(axis=1, keepdims=True)
    share = share[np.isfinite(share).all(axis=1)]
    if len(rec.names) < _FEWEST_TENSORS or not len(share):
        return None
    medians = np.median(share, axis=0)
    most = int(medians.argmax())
    if medians[most] <= DOMINATES:
        return None
    return rec.names[most], float(medians[most])


@dataclass(frozen=True)
class Peak:
    """The step with the largest global norm, and what rose with it.

    Attributes:
        step: its number.
        norm: its global norm.
        usual: the median norm of up to 10 steps, or buckets, on either side.
        long: how many steps, or buckets, in a row are at least 5 times as large as usual.
        names, rises: (tensors,) norm of each over its own median around it; NaN where that is 0 or
            not known.
        share: (tensors,) each one's share of the squared global norm; of merged steps a lower
            bound.
        losses: before, at and after the peak; NaN where one is not known.
        jumps: whether the loss at the peak is above both others by more than 5 times its median
            change from step to step.
        after: "usual" where the next norm is small again, "nonfinite" where it is NaN or Inf, else
            "".
        stride: steps of a bucket.
    """

    step: int
    norm: float
    usual: float
    long: int
    names: tuple[str, ...]
    rises: np.ndarray
    share: np.ndarray
    losses: tuple[float, float, float]
    jumps: bool
    after: str
    stride: int

    @property
    def stands_out(self) -> bool:
        """Whether the global norm is at least 5 times that of the steps around it."""
        return self.norm >= PEAK * self.usual

    def tensors_in_words(self) -> str:
        """Say which tensors rise, and what that means; empty where the peak doesn't stand out."""
        rises = self.rises[np.isfinite(self.rises)]
        if not self.stands_out or not rises.size or len(self.names) == 1:
            return ""
        up = rises[rises >= _RISES]
        most = int(np.nan_to_num(self.share).argmax())
        least = "at least " if self.stride > 1 else ""
        top = f"{self.names[most]} has {least}{percent(self.share[most])} of the squared norm"
        if len(rises) < _FEWEST_TENSORS:
            return f"There, {top}."
        if self.rises_everywhere:
            which = "nearly all tensors"
            if len(up) == len(rises):
                which = f"all {counted(len(rises), 'tensor')}"
            factors = f"{number(up.min(), 2)} to {number(up.max(), 2)} times"
            return f"There, {which} have {factors} their usual norm, so it isn't one layer; {top}."
        if len(up) <= max(1, _FEW * len(rises)):
            order = np.argsort(-np.nan_to_num(self.rises))[: max(1, len(up))]
            risen = [
                f"{self.names[k]} ({number(self.rises[k], 2)} times its usual norm)" for k in order
            ]
            verb = "rises" if len(risen) == 1 else "rise"
            where = "that layer" if len(risen) == 1 else "those layers"
            return (
                f"There, only {listed(risen)} of {counted(len(rises), 'tensor')} {verb}: look at "
                f"{where}; {top}."
            )
        of = f"{len(up)} of {counted(len(rises), 'tensor')}"
        return f"There, {of} have at least {_RISES} times their usual norm; {top}."

    @property
    def rises_everywhere(self) -> bool:
        """Whether nearly every tensor rises 3 times or more."""
        rises = self.rises[np.isfinite(self.rises)]
        return len(rises) >= _FEWEST_TENSORS and (rises >= _RISES).sum() >= _NEARLY_ALL * len(rises)

    def loss_in_words(self) -> str:
        """Give the loss before, at and after the peak; empty where the peak doesn't stand out or no loss is known."""
        before, there, after = self.losses
        if not self.stands_out or np.isnan(there):
            return ""
        said = f"The loss there is {number(there)}"
        if np.isfinite(before):
            said += f", {number(before)} in the step before"
        if np.isfinite(after):
            said += f", {number(after)} in the step after"
        return said + "."

    def length_in_words(self) -> str:
        """Say how long norms stay that large, and what that points to."""
        if not self.stands_out:
            return ""
        if self.after == "nonfinite":
            return "After it the norm is NaN or Inf."
        if self.after != "usual":
            return ""
        unit = "step" if self.stride == 1 else "bucket"
        length = f"one {unit}" if self.long == 1 else f"{self.long:,} {unit}s"
        if self.stride > 1:
            length += (
                f" of {self.stride:,} steps"
                if self.long == 1
                else f" of {self.stride:,} steps each"
            )
        said = f"It lasts {length}, then the norm is back to its usual size"
        if self.jumps and self.rises_everywhere:
            return (
                f"{said}: look at the examples of that batch, or at the step before it, which may "
                "have gone too far."
            )
        return f"{said}."

    def __str__(self) -> str:
        sentences = [self.tensors_in_words(), self.loss_in_words(), self.length_in_words()]
        return " ".join(sentence for sentence in sentences if sentence)


@quiet
def peak(rec: Buckets) -> Peak | None:
    """Return the step with the largest finite global norm of those taken; None where there is none."""
    norms = np.where(rec.taken > 0, rec.global_norm.astype(np.float64), np.nan)
    norms = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)
    if np.isnan(norms).all():
        return None
    at = int(np.nanargmax(norms))
    around = np.r_[max(0, at - _AROUND) : at, at + 1 : min(len(norms), at + 1 + _AROUND)]
    around = around[np.isfinite(norms[around])]
    # With too few steps around it there is nothing to compare with, and no peak stands out.
    usual = float(np.median(norms[around])) if len(around) >= _FEWEST_STEPS else float(norms[at])
    first = at
    last = at
    while first and norms[first - 1] >= PEAK * usual:
        first -= 1
    while last + 1 < len(norms) and norms[last + 1] >= PEAK * usual:
        last += 1
    by_tensor = rec["norm"].astype(np.float64)
    medians = np.median(by_tensor[around], axis=0) if around.size else by_tensor[at]
    rises = np.where(medians > 0, by_tensor[at] / medians, np.nan)
    step = int(rec.peak[at])
    losses_around = _losses_around(rec, step)
    return Peak(
        step=step,
        norm=float(norms[at]),
        usual=usual,
        long=last - first + 1,
        names=rec.names,
        rises=rises,
        share=_lowest_shares(by_tensor[at], float(norms[at])),
        losses=losses_around,
        jumps=_jumps(rec, losses_around),
        after=_after(rec, last, usual),
        stride=rec.stride,
    )


def _after(rec: Buckets, last: int, usual: float) -> str:
    """Say what the norm is in the bucket after the last large one."""
    if last + 1 >= len(rec) or not rec.taken[last + 1]:
        return ""
    norm = float(rec.global_norm[last + 1])
    if not np.isfinite(norm):
        return "nonfinite"
    return "usual" if norm < PEAK * usual else ""


def _jumps(rec: Buckets, around: tuple[float, float, float]) -> bool:
    """Tell whether the loss of a step is above those before and after it by more than it usually
    changes.
    """
    before, there, after = around
    if not np.isfinite(around).all():
        return False
    change = np.abs(np.diff(rec.every_step("loss").astype(np.float64)))
    usual = float(np.median(change[np.isfinite(change)]))
    return there - max(before, after) > PEAK * usual


def _lowest_shares(norms: np.ndarray, global_norm: float) -> np.ndarray:
    """Return lower bounds of each tensor's share of the squared global norm; exact for a bucket of
    one step.

    A bucket has the largest norm of each tensor and the largest global norm, and these may be of
    different steps. So the other tensors have at most these norms in the step of the global norm,
    and the rest is this tensor's.
    """
    squares = (norms / global_norm) ** 2
    others = squares.sum() - squares
    lowest: np.ndarray = np.clip(1 - others, 0, 1)
    return lowest


def _losses_around(rec: Buckets, step: int) -> tuple[float, float, float]:
    """Return the losses before, at and after a step, NaN where they are not known."""
    if "loss" not in rec.scalars or not rec.known.all():
        return np.nan, np.nan, np.nan
    every = np.concatenate([[np.nan], rec.every_step("loss").astype(np.float64), [np.nan]])
    return float(every[step]), float(every[step + 1]), float(every[step + 2])


def trouble_in_tensors(rec: Buckets) -> str:
    """Say which tensors have no gradient in any step, and which one has nearly all of the norm; empty if none."""
    sentences = []
    still = without_gradient(rec)
    if still:
        sentences.append(
            f"The gradient of {listed(still)} is 0 in every step: is it frozen, unused, or cut "
            "off from the loss?"
        )
    most = dominant(rec)
    if most:
        name, share = most
        sentences.append(
            f"{name} has {percent_of_many(share)} of the squared norm in the median step."
        )
    return " ".join(sentences)

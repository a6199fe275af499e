"""Adagrad on a recorded run: which sampled entries are held back by their past.

Adagrad divides by the root of all squares so far, so an entry whose gradients were once large takes
small steps until they are large again. How small is measured against itself.

With a_t the sum of its squares up to step t, without the initial value,

    R = root(8 (a_T - a_{7T/8}) / a_T)

is 1 where gradients keep their size, and small where the last eighth of the run adds little to
the sum: the rate is R times what steady gradients of the present size would leave it. Any factor
on the loss, on a feature or on an entry drops out. (The share of the initial accumulator, a0 /
(a0 + a_T), depends on whether the loss is a mean or a sum. That is a different question:
`HeldBack.initial_share`.)

A small R alone isn't trouble: the embedding rows of words that are learned have one. So a verdict
is given by tensor, and only where at least 20 of its entries can be counted and most steps give
them a gradient.

`Past` sums a recording once; `Past.at` then gives a `HeldBack` at the end of any of its buckets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._base.arrays import quiet
from ..._base.numbers import counted, listed, number, percent
from ...errors import InvalidArgumentError
from ..buckets import SHOWN

if TYPE_CHECKING:
    from ..buckets import Buckets

BELOW = 0.1  # by default, the R below which an entry is held back; a convention
PART = 8  # the last 1/8 of a run stands for its present
FEWEST_LATE = 4  # gradients in the last eighth that R needs
FEWEST = 8  # gradients in all that R needs
JUDGED = 20  # countable entries that a verdict on a tensor needs
# The share of its countable entries that puts a tensor in trouble. In dense tensors of a small
# network it was 0 to 7% in healthy runs, and 46 to 93% after a planted gradient of 1,000 times the
# size. Other models may differ.
TROUBLE = 0.25
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class HeldBack:
    """The sampled entries of a recording that Adagrad would hold back because of their earlier gradients.

    Each entry is in one of five classes: countable (its `ratio` is known), `no_gradient`,
    `too_few`, `overflowed`, or `spoiled`. Countable entries with a small ratio are `held`. A
    gradient of 0 counts as none.

    Attributes:
        below: an entry is held back where its ratio is below this.
        step: the number of steps so far.
        stride: steps of a bucket of the recording. 1: exact; more: an estimate, because the last
            eighth is made of whole buckets, and a bucket counts as one gradient however many it
            has.
        ratio: (entries,) R, NaN where it can't be counted. It is at most root(8) = 2.8.
        held: (entries,) ratio below `below`.
        no_gradient: (entries,) none in the last eighth of the steps: a dead unit, or a word that no
            longer occurs.
        never: (entries,) those of them that never had one.
        too_few: (entries,) fewer than 4 gradients in the last eighth, or fewer than 8 in all.
        overflowed: (entries,) the accumulator is beyond float32, so the entry never moves again.
        spoiled: (entries,) a gradient was NaN.
        accumulator: (entries,) float64, sum of squares, without the initial value.
        tensor: (entries,) the index of its tensor.
        names, entries: names of the tensors and of the entries.
        countable_by_tensor, held_by_tensor: (tensors,) numbers of entries.
        is_dense: (tensors,) whether its median entry has a gradient in most steps, of the entries
            that ever have one.
    """

    below: float
    step: int
    stride: int
    ratio: np.ndarray
    held: np.ndarray
    no_gradient: np.ndarray
    never: np.ndarray
    too_few: np.ndarray
    overflowed: np.ndarray
    spoiled: np.ndarray
    accumulator: np.ndarray
    tensor: np.ndarray
    names: tuple[str, ...]
    entries: tuple[str, ...]
    countable_by_tensor: np.ndarray
    held_by_tensor: np.ndarray
    is_dense: np.ndarray

    @property
    def countable(self) -> int:
        """The number of entries whose ratio is known."""
        return int(self.countable_by_tensor.sum())

    @property
    def share_by_tensor(self) -> np.ndarray:
        """(tensors,) share of the countable entries that are held back, 0 to 1; NaN where none can be counted."""
        share = np.full(len(self.names), np.nan)
        np.divide(
            self.held_by_tensor,
            self.countable_by_tensor,
            out=share,
            where=self.countable_by_tensor > 0,
        )
        return share

    @property
    def is_judged(self) -> np.ndarray:
        """(tensors,) dense, with at least 20 countable entries."""
        return self.is_dense & (self.countable_by_tensor >= JUDGED)

    @property
    def in_trouble(self) -> np.ndarray:
        """(tensors,) judged, and a quarter or more of its countable entries are held back."""
        return self.is_judged & (self.held_by_tensor >= TROUBLE * self.countable_by_tensor)

    def verdict(self, k: int) -> str:
        """Return the verdict on tensor number k: "trouble" or "fine", or why there is none."""
        if self.in_trouble[k]:
            return "trouble"
        if self.is_judged[k]:
            return "fine"
        if self.countable_by_tensor[k] < JUDGED:
            return f"no verdict: fewer than {JUDGED} countable entries"
        return "no verdict: gradients in too few steps"

    def initial_share(self, initial: float = 0.1) -> np.ndarray:
        """Return (entries,) the share of an initial value in the accumulator, initial / (initial + accumulator).

        It depends on the unit of the loss: for the sum over a batch of 64 the accumulator is 4096
        times that of the mean.
        """
        return initial / (initial + self.accumulator)

    def named(self, mask: np.ndarray) -> tuple[str, ...]:
        """Return the names of the entries of a mask, such as `held`."""
        return tuple(self.entries[k] for k in np.flatnonzero(mask))

    def tensors(self, mask: np.ndarray) -> tuple[str, ...]:
        """Return the names of the tensors of a mask, such as `in_trouble`."""
        return tuple(self.names[k] for k in np.flatnonzero(mask))

    @property
    def count_in_words(self) -> str:
        """How many entries are held back, of how many.

        >>> from gradlab.models import reader_run
        >>> reader_run.shipped().held_back().count_in_words
        '12 of 99 countable entries are held back by their past'
        """
        held = int(self.held.sum())
        verb = "is" if held == 1 else "are"
        whose = "its" if held == 1 else "their"
        return (
            f"{held:,} of {counted(self.countable, 'countable entry')} {verb} held back by "
            f"{whose} past"
        )

    @property
    def verdict_in_words(self) -> str:
        """Which tensors are in trouble, of those that can be judged.

        >>> from gradlab.models import reader_run
        >>> reader_run.shipped().held_back().verdict_in_words
        'Neither of the 2 tensors that can be judged is in trouble'
        """
        judged = int(self.is_judged.sum())
        if not judged:
            return "No tensor can be judged"
        if self.in_trouble.any():
            return f"In trouble: {listed(self.tensors(self.in_trouble), SHOWN)}"
        if judged == 1:
            return (
                f"{self.tensors(self.is_judged)[0]}, the only tensor that can "
                "be judged, is not in trouble"
            )
        if judged == 2:
            return "Neither of the 2 tensors that can be judged is in trouble"
        return f"None of the {judged:,} tensors that can be judged is in trouble"

    def __str__(self) -> str:
        counts = zip(self.names, self.held_by_tensor, self.countable_by_tensor, strict=True)
        by_tensor = ", ".join(
            f"{name} {held:,} of {countable:,}" for name, held, countable in counts
        )
        parts = [
            f"Adagrad on these gradients, after step {self.step:,}: {self.count_in_words}, with a "
            f"rate below {number(self.below)} of what steady gradients of the present size would "
            f"leave them ({by_tensor})",
            self.verdict_in_words,
        ]
        for mask, words in (
            (self.no_gradient, "without a gradient in the last eighth of the steps"),
            (self.too_few, "with too few gradients to tell"),
            (self.overflowed, "with an accumulator beyond float32, which never move again"),
            (self.spoiled, "with a gradient that was NaN"),
        ):
            if mask.any():
                parts.append(f"{mask.sum():,} {words}: {listed(self.named(mask), SHOWN)}")
        if self.stride > 1:
            parts.append(f"an estimate, from buckets of {self.stride:,} steps")
        return "; ".join(parts)


class Past:
    """Running sums over a recording, from which `HeldBack` follows at the end of any of its buckets.

    Attributes:
        ends: (buckets + 1,) steps before the first bucket, which are 0, and up to the end of each.
        accumulator: (buckets + 1, entries) float64 sums of squares.
    """

    @quiet
    def __init__(self, rec: Buckets) -> None:
        square = rec["square"]
        self._rec = rec
        self.ends = np.append(rec.step, rec.seen)
        self.accumulator = _sums(square)
        self._gradients = _sums(square != 0)
        # "entry" is of one step in each bucket, "square" of all.
        self._sampled = _sums(rec["entry"] != 0)
        self._taken = _sums(rec.taken)
        self._names = tuple(rec.entry_name(k) for k in range(square.shape[1]))

    def bucket_at(self, step: int) -> int:
        """Return how many buckets are done by a step."""
        return int(np.searchsorted(self.ends, step, side="right")) - 1

    @quiet
    def ratios(self, done: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Return (n, entries) R of some entries after `done` (n,) buckets; NaN where it can't be counted."""
        start = done - done // PART
        total = self.accumulator[np.ix_(done, entries)]
        grown = total - self.accumulator[np.ix_(start, entries)]
        gradients = self._gradients[np.ix_(done, entries)]
        late = gradients - self._gradients[np.ix_(start, entries)]
        taken = self._taken[done][:, None]
        taken_late = taken - self._taken[start][:, None]
        # The mean square of the last eighth over that of all, by steps taken: some of either may
        # have been skipped.
        ratio = np.sqrt(grown / taken_late / (total / taken))
        is_countable = (late >= FEWEST_LATE) & (gradients >= FEWEST) & (total <= _LARGEST)
        return np.where(is_countable, ratio, np.nan)

    @quiet
    def at(self, done: int, below: float = BELOW) -> HeldBack:
        """Return what is held back after some buckets."""
        rec = self._rec
        tensor = rec.sampled[0]
        tensors = len(rec.names)
        start = done - done // PART
        total = self.accumulator[done]
        late = self._gradients[done] - self._gradients[start]
        spoiled = np.isnan(total)
        overflowed = ~spoiled & (total > _LARGEST)
        finite = ~spoiled & ~overflowed
        # Where the last eighth itself has too few steps, that an entry has no gradient in it says
        # nothing.
        is_short = self._taken[done] - self._taken[start] < FEWEST_LATE
        no_gradient = finite & (late == 0) & ~is_short
        few = (late < FEWEST_LATE) | (self._gradients[done] < FEWEST)
        too_few = finite & ~no_gradient & few
        ratio = self.ratios(np.array([done]), np.arange(len(tensor)))[0]
        held = ratio < below
        return HeldBack(
            below=below,
            step=int(self.ends[done]),
            stride=rec.stride,
            ratio=ratio,
            held=held,
            no_gradient=no_gradient,
            never=no_gradient & (self._gradients[done] == 0),
            too_few=too_few,
            overflowed=overflowed,
            spoiled=spoiled,
            accumulator=total,
            tensor=tensor,
            names=rec.names,
            entries=self._names,
            countable_by_tensor=np.bincount(tensor[np.isfinite(ratio)], minlength=tensors),
            held_by_tensor=np.bincount(tensor[held], minlength=tensors),
            is_dense=self._dense(done),
        )

    def _dense(self, done: int) -> np.ndarray:
        """Return (tensors,) whether the median entry has a gradient in most steps, of the entries
        that have any.
        """
        tensor = self._rec.sampled[0]
        share = self._sampled[done] / max(done, 1)
        has_any = self._gradients[done] > 0
        dense = np.zeros(len(self._rec.names), bool)
        for k in np.unique(tensor[has_any]):
            dense[k] = np.median(share[has_any & (tensor == k)]) > 0.5
        return dense


def _sums(x: np.ndarray) -> np.ndarray:
    """Return the sums of the first 0, 1, 2, ... along the first axis, in float64."""
    return np.concatenate([np.zeros((1, *x.shape[1:])), np.cumsum(x, axis=0, dtype=np.float64)])


def held_back(rec: Buckets, below: float, step: int | None) -> HeldBack:
    """See `Recorder.held_back`."""
    if not 0 < below <= 1:
        raise InvalidArgumentError(f"below must be a share above 0 and up to 1, got {below!r}")
    if step is not None and not 0 <= step <= rec.seen:
        raise InvalidArgumentError(
            f"step must be from 0 to {rec.seen}, the steps of this recording; got {step!r}"
        )
    past = Past(rec)
    return past.at(len(rec) if step is None else past.bucket_at(step), below)


def share_in_words(found: HeldBack, initial: float) -> str:
    """Return a sentence on how many accumulators are mostly their initial value."""
    share = found.initial_share(initial)
    mostly_initial = int((share[np.isfinite(share)] > 0.5).sum())
    of = f"{counted(len(share), 'sampled entry')} ({percent(mostly_initial / max(1, len(share)))})"
    return (
        f"An initial accumulator of {number(initial)} is more than half of the accumulator in "
        f"{mostly_initial:,} of {of}; that depends on the unit of the loss, such as mean or sum."
    )

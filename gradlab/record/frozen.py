"""Adagrad on a recorded run: which sampled entries can hardly move anymore, or never did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._base.arrays import quiet
from .._base.errors import InvalidArgumentError
from .._base.numbers import listed, number, percent
from .buckets import SHOWN, Buckets

if TYPE_CHECKING:
    from .. import rules  # named with it: there are several classes Adagrad


class Rates(NamedTuple):
    """Adagrad on the sampled entries: before the first bucket of a recording, and after each.

    Attributes:
        accumulator: (buckets + 1, entries) float32, infinite from where it no longer fits.
        share: (buckets + 1, entries) effective learning rate over that of the start; NaN after a gradient that is NaN.
        moved: (buckets + 1, entries) whether there has been a gradient that is not 0.
    """

    accumulator: np.ndarray
    share: np.ndarray
    moved: np.ndarray


@dataclass(frozen=True, eq=False)
class Frozen:
    """Which of the sampled entries of a recording Adagrad would have frozen.

    Attributes:
        rule: the Adagrad that was asked about. below: a rate below this share of its start is frozen. step: when.
        share: (entries,) effective learning rate over that of the start.
        accumulator: (entries,) float32.
        frozen: (entries,) rate below `below`, or overflowed. overflowed: accumulator beyond float32, frozen for good.
        still: (entries,) never moved, all their gradients were 0. spoiled: NaN, after a gradient that was.
        tensor: (entries,) which tensor each is of. names: of the tensors. entries: names of the entries.
        sampled_by_tensor: (tensors,) how many entries were sampled. share_by_tensor: (tensors,) how many of them are
            frozen, 0 to 1; NaN where none was sampled.
        beyond_by_tensor: (tensors,) whether the square of some entry, sampled or not, was beyond float32.
    """

    rule: rules.Adagrad
    below: float
    step: int
    share: np.ndarray
    accumulator: np.ndarray
    frozen: np.ndarray
    overflowed: np.ndarray
    still: np.ndarray
    spoiled: np.ndarray
    tensor: np.ndarray
    names: tuple[str, ...]
    entries: tuple[str, ...]
    sampled_by_tensor: np.ndarray
    share_by_tensor: np.ndarray
    beyond_by_tensor: np.ndarray

    @property
    def fraction(self) -> float:
        """Share of all sampled entries that are frozen."""
        return float(self.frozen.mean())

    def named(self, mask: np.ndarray) -> tuple[str, ...]:
        """The entries of a mask, such as `frozen`, by name."""
        return tuple(self.entries[k] for k in np.flatnonzero(mask))

    def __str__(self) -> str:
        by = ", ".join(
            f"{name} {percent(float(np.nan_to_num(share)))} of {count:,}"
            for name, share, count in zip(self.names, self.share_by_tensor, self.sampled_by_tensor, strict=True)
        )
        parts = [
            f"Adagrad from accumulator {self.rule.initial_accumulator_value:g}, after step {self.step:,}: "
            f"{self.frozen.sum():,} of {len(self.frozen):,} sampled entries are frozen, below {number(self.below)} of "
            f"the rate they started with ({by})"
        ]
        for mask, words in (
            (self.still, "never moved, all their gradients were 0"),
            (self.overflowed, "overflowed and are frozen for good"),
            (self.spoiled, "became NaN"),
        ):
            if mask.any():
                parts.append(f"{mask.sum():,} {words}: {listed(self.named(mask), SHOWN)}")
        if more := [name for name, there in zip(self.names, self.beyond_by_tensor, strict=True) if there]:
            parts.append(f"squares beyond float32 occurred in {listed(more, SHOWN)}")
        return "; ".join(parts)


def frozen(rec: Buckets, rule: rules.Adagrad | None, below: float, step: int | None) -> Frozen:
    """See `Recorder.frozen`."""
    from ..rules import Adagrad  # with all other rules, half of what importing the recorder would cost

    rule = Adagrad() if rule is None else rule
    if not isinstance(rule, Adagrad):
        raise TypeError(f"rule must be a gl.rules.Adagrad, whose accumulator can be told; got {type(rule).__name__}")
    if not 0 < below <= 1:
        raise InvalidArgumentError(f"below must be a share above 0 and up to 1, got {below!r}")
    if step is not None and not 0 <= step <= rec.seen:
        raise InvalidArgumentError(f"step must be from 0 to {rec.seen}, the steps of this recording; got {step!r}")
    rates = adagrad_rates(rec["square"], rule)
    done = len(rec) if step is None else int(np.searchsorted(ends(rec), step, side="right")) - 1
    return at_bucket(rec, rates, done, rule, below)


def ends(rec: Buckets) -> np.ndarray:
    """(buckets + 1,) how many steps were done before the first bucket, and at the end of each."""
    return np.append(rec.step, rec.seen)


@quiet
def adagrad_rates(square: np.ndarray, rule: rules.Adagrad) -> Rates:
    """Adagrad's accumulators and rates over (buckets, entries) sums of squared gradients.

        accumulator[r] = initial + sum of square[:r],   share[r] = root(start) / root(accumulator[r])

    start is the accumulator before the first step. If that is 0 nothing ever moves at the rate that belongs to it, and
    start is the accumulator after the first gradient that is not 0.
    """
    start = np.full((1, square.shape[1]), rule.initial_accumulator_value)
    accumulator = np.concatenate([start, start + np.cumsum(square, axis=0, dtype=np.float64)]).astype(np.float32)
    moved = np.concatenate([np.zeros_like(start, bool), np.cumsum(square != 0, axis=0) > 0])
    if rule.initial_accumulator_value == 0:
        first = np.argmax(moved, axis=0)
        start = np.take_along_axis(accumulator, first[None], axis=0)
    share = rule.root(start.astype(np.float32)) / rule.root(accumulator)
    return Rates(accumulator, np.where(moved, np.minimum(share, 1), 1.0), moved)


@quiet
def at_bucket(rec: Buckets, rates: Rates, done: int, rule: rules.Adagrad, below: float) -> Frozen:
    """Return what is frozen before the first bucket of a recording (0), or after so many."""
    accumulator, share = rates.accumulator[done], rates.share[done]
    tensor, count = rec.sampled[0], len(rec.names)
    overflowed, spoiled = np.isposinf(accumulator), np.isnan(accumulator)
    is_frozen = (share < below) | overflowed
    sampled = np.bincount(tensor, minlength=count)
    of_tensor = np.bincount(tensor, is_frozen, count)
    by_tensor = np.divide(of_tensor, sampled, out=np.full(count, np.nan), where=sampled > 0)
    largest = rec["largest"][:done].max(axis=0, initial=0)
    return Frozen(
        rule, below, int(ends(rec)[done]), share, accumulator, is_frozen, overflowed,
        ~rates.moved[done], spoiled, tensor, rec.names, tuple(rec.entry_name(k) for k in range(len(tensor))), sampled,
        by_tensor, np.isinf(largest * largest),
    )  # fmt: skip

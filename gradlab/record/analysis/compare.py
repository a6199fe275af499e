"""Several recorded runs beside each other: where they part, which tensors differ, and what cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fsdecode, fspath
from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np

from ..._base.arrays import quiet
from ..._base.numbers import are, counted, listed, number, percent_of_many
from ...errors import InvalidArgumentError
from ..buckets import AnyRecording, condensed

FEWEST, MOST = 2, 6  # runs
_NOTABLE = 0.01  # a relative difference that is more than rounding
_SHOWN = 0.001  # a relative difference that three digits show
_FEWEST_TENSORS = 3  # that can differ by one factor
_LISTED = 3  # values of runs; of more the smallest and the largest
_HEAD = "global_norm"


class Difference(NamedTuple):
    """One number of every run at a step at which not all are the same.

    Attributes:
        values: (runs,).
        missing: (runs,) whether a NaN among them stands for a number that was not recorded.
    """

    step: int
    values: np.ndarray
    missing: np.ndarray

    @property
    def relative(self) -> float:
        """Largest minus smallest, as a share of the larger size; inf where one is not finite."""
        if not np.isfinite(self.values).all():
            return np.inf
        return float((self.values.max() - self.values.min()) / np.abs(self.values).max())

    def __str__(self) -> str:
        if len(self.values) > _LISTED and np.isfinite(self.values).all():
            return f"{number(self.values.min())} to {number(self.values.max())}"
        words = [
            "not recorded" if is_missing else number(value)
            for value, is_missing in zip(self.values, self.missing, strict=True)
        ]
        return listed(words, MOST)


class Parting(NamedTuple):
    """The first difference between runs in one per-step number.

    Attributes:
        first: the first step at which they are not exactly the same; None if there is none.
        notable: the first at which they differ by more than 1%.
        unknown: steps before the first, or of all, of which not every run has the number.
    """

    first: Difference | None
    notable: Difference | None
    unknown: int


@dataclass(frozen=True)
class Comparison(Generic[AnyRecording]):
    """Comparison of 2 to 6 recordings with the first: what they have in common, and where they differ.

    How many buckets, entries, or histograms a recorder keeps isn't a difference: steps are compared
    by number.

    Args:
        names: of the runs.
        recs: the recordings.
    """

    names: tuple[str, ...]
    recs: tuple[AnyRecording, ...]

    @cached_property
    def steps(self) -> int:
        """Steps that all runs have."""
        return min(rec.seen for rec in self.recs)

    @cached_property
    def has_loss(self) -> bool:
        """True if every run has a loss."""
        return all("loss" in rec.scalars for rec in self.recs)

    @cached_property
    def parting(self) -> dict[str, Parting]:
        """Of "loss", where all have one, and "global_norm"."""
        return {column: self._parting(column) for column in ("loss",) * self.has_loss + (_HEAD,)}

    @quiet
    def _parting(self, column: str) -> Parting:
        values = np.stack([rec.every_step(column)[: self.steps] for rec in self.recs])
        known = np.all([rec.known[: self.steps] for rec in self.recs], axis=0)
        same = (values == values[0]) | (np.isnan(values) & np.isnan(values[0]))
        apart = np.flatnonzero(known & ~same.all(axis=0))
        if not apart.size:
            return Parting(None, None, int((~known).sum()))
        wide = values[:, apart].astype(np.float64)
        size = wide.max(axis=0) - wide.min(axis=0) > _NOTABLE * np.abs(wide).max(axis=0)
        notable = apart[size | ~np.isfinite(wide).all(axis=0)][:1]
        found = [
            Difference(
                int(step),
                values[:, step].astype(np.float64),
                self._is_missing(column, values[:, step], step),
            )
            for step in (*apart[:1], *notable)
        ]
        return Parting(
            found[0], found[1] if len(found) > 1 else None, int((~known[: apart[0]]).sum())
        )

    def _is_missing(self, column: str, values: np.ndarray, step: int) -> np.ndarray:
        """Tell for each run whether its NaN is a loss that was not recorded, which is stored as
        NaN, too.

        As in `loss_course`: beside a finite gradient a loss of NaN is one that was not recorded.
        """
        if column == _HEAD:
            return np.zeros(len(values), bool)
        norms = np.array([rec.every_step(_HEAD)[step] for rec in self.recs])
        is_missing: np.ndarray = np.isnan(values) & np.isfinite(norms)
        return is_missing

    @property
    def first_step(self) -> int | None:
        """The first step at which the loss or the global norm is not the same in all runs; None if there is none."""
        return min((p.first.step for p in self.parting.values() if p.first), default=None)

    def first(self) -> str:
        """A sentence that says what differs first; of logs, one that says by which factor, too."""
        if not any(rec.norms_only for rec in self.recs):
            return self._first()
        factors = [factor.in_words(self.names[0], name) for name, factor in self._factors()]
        return " ".join([self._first(), *factors])

    def _factors(self) -> Iterator[tuple[str, NormFactor]]:
        """The factor of each run but the first, where its norms differ from the first run's by one."""
        first, *others = [rec.every_step(_HEAD)[: self.steps] for rec in self.recs]
        for name, norms in zip(self.names[1:], others, strict=True):
            factor = norm_factor(first, norms)
            if factor is not None:
                yield name, factor

    def _first(self) -> str:
        who = listed(self.names, 2) if len(self.names) == FEWEST else f"The {len(self.names)} runs"
        there = {column: p.first for column, p in self.parting.items() if p.first}
        unknown = max(p.unknown for p in self.parting.values())
        if self.first_step is None:
            same = " and ".join(_called(column) for column in self.parting)
            if unknown == self.steps:
                return "No single step is known of all runs, and so not where they first differ."
            steps = counted(self.steps - unknown, "known step" if unknown else "step")
            return f"{who} are the same in all {steps}: {same}."
        now = [f"{_called(c)} {d}" for c, d in there.items() if d.step == self.first_step]
        later = [
            f"{_called(c)} from step {d.step}" for c, d in there.items() if d.step > self.first_step
        ]
        tiny = max(d.relative for d in there.values() if d.step == self.first_step)
        what = (
            ", ".join(now)
            if tiny >= _SHOWN
            else f"by {tiny:.1g} of {' and '.join(map(_called, there))}"
        )
        said = f"{who} first differ at step {self.first_step:,}: {'; '.join([what, *later])}"
        latest = " or earlier, where single steps are not known" if unknown else ""
        return f"{said}{latest}{self._notable(tiny)}."

    def _notable(self, tiny: float) -> str:
        if tiny > _NOTABLE:
            return ""
        found = [(c, p.notable) for c, p in self.parting.items() if p.notable]
        if not found:
            return ", and never by more than 1%"
        column, most = min(found, key=lambda pair: pair[1].step)
        return f", and by more than 1% at step {most.step:,}: {_called(column)} {most}"

    @cached_property
    def tensors(self) -> tuple[str, ...]:
        """Names of the tensors that all runs have with as many entries, in the first run's order."""
        if any(rec.norms_only for rec in self.recs):
            return ()
        sizes = [dict(zip(rec.names, rec.sizes, strict=True)) for rec in self.recs]
        return tuple(
            n for n, size in sizes[0].items() if all(other.get(n) == size for other in sizes)
        )

    @cached_property
    def stride(self) -> int:
        """Steps of a bucket in which norms of tensors are compared."""
        return max(rec.stride for rec in self.recs)

    @cached_property
    @quiet
    def factor(self) -> np.ndarray:
        """(runs, tensors) how many times as large as in the first run a tensor's norm is: the median over the steps.

        Of steps that all runs have. Where steps were merged, of the largest norm of each bucket.
        Left out are buckets whose steps were all skipped, and norms that are not finite, or 0 in
        both; NaN where nothing is left.
        """
        norms = self._norms()
        counts = np.isfinite(norms) & np.isfinite(norms[:1]) & ((norms > 0) | (norms[:1] > 0))
        ratio = np.where(counts, np.log(norms) - np.log(norms[:1]), np.nan)
        found = np.full((len(self.recs), len(self.tensors)), np.nan)
        some = counts.any(axis=1)
        for run, tensor in zip(*np.nonzero(some), strict=True):
            left = ratio[run, counts[run, :, tensor], tensor]
            # Infinities have no mean.
            found[run, tensor] = np.exp(np.quantile(left, 0.5, method="inverted_cdf"))
        return found

    @cached_property
    @quiet
    def distance(self) -> np.ndarray:
        """(runs, tensors) `factor`, or one over it where that is larger; NaN where it is not known."""
        found: np.ndarray = np.exp(np.abs(np.log(self.factor)))
        return found

    @property
    def apart(self) -> np.ndarray:
        """(tensors,) the largest distance of any run: 1 where all are alike, NaN where none is known."""
        found: np.ndarray = np.fmax.reduce(self.distance[1:], axis=0)
        return found

    @property
    def order(self) -> list[int]:
        """The tensors, those that differ most first."""
        order: list[int] = np.argsort(-np.nan_to_num(self.apart, nan=-1.0), kind="stable").tolist()
        return order

    def one_factor(self, run: int) -> float | None:
        """Return the factor by which every tensor of a run differs from the first run's at the first step; else None.

        At least 3 tensors, all by the same factor to 1%, and that is not 1: then the loss differs,
        or a sum stands in the place of a mean. Only the first step counts: later ones are of other
        weights.
        """
        norms = self._norms()
        if norms.shape[1] == 0 or self.stride > 1:
            return None
        first, other = norms[0, 0], norms[run, 0]
        counts = np.isfinite(first) & np.isfinite(other) & ((first > 0) | (other > 0))
        if (
            counts.sum() < _FEWEST_TENSORS
            or not (first[counts] > 0).all()
            or not (other[counts] > 0).all()
        ):
            return None
        factors = other[counts] / first[counts]
        middle = float(np.median(factors))
        is_one = bool((np.abs(factors / middle - 1) < _NOTABLE).all())
        return middle if is_one and abs(middle - 1) > _NOTABLE else None

    def without_gradient(self, here: int, there: int) -> tuple[str, ...]:
        """Return the tensors that have no gradient in any common step of one run, and one in the other run."""
        norms = self._norms()
        known = ~np.isnan(norms[here])
        is_still = known.any(axis=0) & (np.where(known, norms[here], 0) == 0).all(axis=0)
        has_some = np.where(np.isnan(norms[there]), 0, norms[there]).max(axis=0, initial=0) > 0
        return tuple(
            name for name, is_gone in zip(self.tensors, is_still & has_some, strict=True) if is_gone
        )

    def _norms(self) -> np.ndarray:
        """(runs, buckets, tensors) norms of common buckets, NaN where no step was taken."""
        even = len({rec.seen for rec in self.recs}) == 1
        buckets = -(-self.steps // self.stride) if even else self.steps // self.stride
        found = []
        for rec in self.recs:
            rec = condensed(rec, -(-rec.seen // self.stride))
            where = [rec.names.index(name) for name in self.tensors]
            taken = rec.taken[:buckets, None] > 0
            found.append(np.where(taken, rec["norm"][:buckets, where].astype(np.float64), np.nan))
        return np.stack(found)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Return what can't be compared, or only with care."""
        return (*self._lengths(), *self._tensors(), *self._columns())

    def _lengths(self) -> Iterator[str]:
        lengths = [f"{name} has {counted(rec.seen, 'step')}" for name, rec in self._runs()]
        if len({rec.seen for rec in self.recs}) > 1:
            yield (
                f"{listed(lengths, MOST)}: steps are compared up to step {self.steps - 1:,}, "
                "shares are of all steps."
            )
        for name, rec in self._runs():
            if rec.missing_steps:
                missing = (
                    f"{counted(rec.missing_steps, 'step')} of {name} "
                    f"{are(rec.missing_steps)} missing"
                )
                yield (
                    f"{missing}, nobody knows which: its later steps have lower numbers than they "
                    "should have."
                )
            if lost := int((~rec.known).sum()):
                yield (
                    f"Of {counted(lost, 'step')} of {name} single numbers are not known: its "
                    "shares are estimates."
                )
        if self.stride > 1:
            yield (
                "Steps were merged: tensors are compared by the largest norm in every "
                f"{self.stride:,} steps, loss and global norm step by step."
            )

    def _tensors(self) -> Iterator[str]:
        logs = [name for name, rec in self._runs() if rec.norms_only]
        if logs:
            yield f"{listed(logs, MOST)} {_has(len(logs))} global norms only: no tensors are compared."
            if len(logs) < len(self.recs):
                yield (
                    "A log is compared with a recording line by line, whatever step it logged; the "
                    "same lines are the same steps only if every step was logged."
                )
            return
        every = dict.fromkeys(name for rec in self.recs for name in rec.names)
        for name, rec in self._runs():
            if lacks := [tensor for tensor in every if tensor not in rec.names]:
                yield f"{name} has no {_tensors_named(lacks)}."
        there = [tensor for tensor in every if all(tensor in rec.names for rec in self.recs)]
        if other := [tensor for tensor in there if tensor not in self.tensors]:
            yield (
                f"{_tensors_named(other)} {_has(len(other))} different sizes, so that norms are "
                "not compared."
            )
        if len(there) < len(every) or other:
            yield (
                "Global norms are of different tensors: a difference may come from those that are "
                "not in all runs."
            )

    def _columns(self) -> Iterator[str]:
        if lacking := [name for name, rec in self._runs() if "loss" not in rec.scalars]:
            yield f"No loss was recorded in {listed(lacking, MOST)}, so losses are not compared."

    def _runs(self) -> Iterator[tuple[str, AnyRecording]]:
        return zip(self.names, self.recs, strict=True)


class NormFactor(NamedTuple):
    """One factor between the norms of two logs of a run.

    Attributes:
        factor: norms of the second over those of the first, in the median.
        share: of the steps in which it is that, to 1%.
        steps: that both logs have with finite norms above 0.
    """

    factor: float
    share: float
    steps: int

    def in_words(self, first: str, second: str) -> str:
        """Say how large the factor is, and what fits it.

        >>> NormFactor(0.5, 1.0, 100).in_words("one", "two")
        'The norms differ by 2.000 in every step, and those of one are larger. What fits: those of two are of \
one shard (sqrt of 4 processes); or those of one have a loss scale of 2; or those of one are of a sum over 2 \
micro-batches or processes, not of their mean.'
        """
        size = max(self.factor, 1 / self.factor)
        where = "in every step"
        if self.share < 1:
            where = f"in {percent_of_many(self.share)} of {counted(self.steps, 'step')}"
        if size - 1 < _NOTABLE:
            return f"The norms are the same, to 1%, {where}."
        smaller, larger = (first, second) if self.factor > 1 else (second, first)
        fits = "; or ".join(_what_fits(size, smaller, larger))
        return (
            f"The norms differ by {size:.3f} {where}, and those of {larger} are larger. What fits: "
            f"{fits or 'no number of processes or micro-batches, and no loss scale'}."
        )


_FEWEST_STEPS = 3
_MOST_STEPS_APART = 0.1  # share of the steps that may differ by another factor
_FITS = 0.002  # a relative difference from a whole number, as of norms that were printed
_MOST_PROCESSES = 128  # further roots lie too close to each other


def norm_factor(first: np.ndarray, second: np.ndarray) -> NormFactor | None:
    """Return the one factor between the norms of each step; None where there is none.

    It must hold to 1% in 90% of the steps.

    >>> norm_factor(np.array([1.0, 2.0, 3.0]), np.array([4.0, 8.0, 12.0]))
    NormFactor(factor=4.0, share=1.0, steps=3)
    """
    counts = np.isfinite(first) & np.isfinite(second) & (first > 0) & (second > 0)
    if counts.sum() < _FEWEST_STEPS:
        return None
    ratio = second[counts].astype(np.float64) / first[counts].astype(np.float64)
    factor = float(np.median(ratio))
    share = float((np.abs(ratio / factor - 1) < _NOTABLE).mean())
    if share < 1 - _MOST_STEPS_APART:
        return None
    return NormFactor(factor, share, int(counts.sum()))


def _what_fits(size: float, smaller: str, larger: str) -> Iterator[str]:
    """Say what makes norms so many times as large, where that is a plain number."""
    processes = round(size**2)
    if processes <= _MOST_PROCESSES and abs(size / math.sqrt(processes) - 1) < _FITS:
        yield f"those of {smaller} are of one shard (sqrt of {processes:,} processes)"
    exponent = round(math.log2(size))
    if exponent >= 1 and abs(size / 2.0**exponent - 1) < _FITS:
        yield f"those of {larger} have a loss scale of {2**exponent:,}"
    whole = round(size)
    if 2 <= whole <= _MOST_PROCESSES and abs(size / whole - 1) < _FITS:
        yield (
            f"those of {larger} are of a sum over {whole:,} micro-batches or processes, not of their "
            "mean"
        )


def times(factor: float) -> str:
    """A factor in words.

    >>> times(2.345), times(0.0434), times(float("nan"))
    ('2.35 times', '0.0434 times', 'an unknown number of times')
    """
    return "an unknown number of times" if np.isnan(factor) else f"{number(factor)} times"


def _called(column: str) -> str:
    return column.replace("_", " ")


def _tensors_named(tensors: Sequence[str]) -> str:
    return f"tensor{'s' * (len(tensors) > 1)} {listed(tensors)}"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


def run_names(recordings: Sequence[Any], names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return what runs are called: as given, or by their files, or "run 1" and so on.

    Raises:
        ValueError: fewer than 2 runs or more than 6, as many names as there are not runs, or two of
            one name.

    >>> run_names(["out/slow.npz", "out/fast.npz"]), run_names([object(), object()])
    (('slow', 'fast'), ('run 1', 'run 2'))
    """
    if not FEWEST <= len(recordings) <= MOST:
        raise InvalidArgumentError(
            f"a comparison takes {FEWEST} to {MOST} recordings, got {len(recordings)}"
        )
    if names is None:
        found = tuple(_of_file(x) or f"run {k}" for k, x in enumerate(recordings, 1))
    elif (
        isinstance(names, str)
        or len(names) != len(recordings)
        or not all(isinstance(n, str) and n for n in names)
    ):
        raise InvalidArgumentError(
            f"names must be {len(recordings)} texts, one for each recording, got {names!r}"
        )
    else:
        found = tuple(names)
    if twice := [name for name in found if found.count(name) > 1]:
        whose = [
            str(x)
            for x, name in zip(recordings, found, strict=True)
            if name == twice[0] and names is None
        ]
        where = f" ({listed(whose, MOST)})" * bool(whose)
        raise InvalidArgumentError(
            f"{found.count(twice[0])} runs are called {twice[0]!r}{where}; give each a name of "
            "its own with names"
        )
    return found


def _of_file(recording: Any) -> str:
    """The name of a file without its ending; nothing of what is none."""
    if not isinstance(recording, str | PathLike):
        return ""
    return Path(fsdecode(fspath(recording))).name.removesuffix(".npz").removesuffix(".rec")

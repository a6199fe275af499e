"""Several runs in one report: what differs first, one limit on all, which tensors differ, what cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from typing import Any

import numpy as np

from .._base.numbers import counted, in_full, listed, number
from .._base.numbers import percent_of_many_within as percent_within
from ..labs.compare_picture import Runs, in_picture, labels
from ..record import Recorder
from ..record.analysis.compare import Comparison, times
from ..record.analysis.diagnosis import names_by_layer
from ..record.analysis.summary import medians
from ..record.analysis.what_if import WhatIf
from ..record.buckets import condensed
from ._html import Section, moving, paragraph, picture, table
from ._run import Run
from .compare_picture import course_figure, curves_figure, factors_figure
from .limits import CURVE
from .recorded import loss_at_the_ends

_MOST_DRAWN = 1200  # buckets along a line
_FOOT = 0.12  # of the height, for words below the norms
_MEASURE = (
    "Measured as the median, over the steps that all runs have, of a tensor's norm divided by its "
    "norm in the first run at the same step. 1 is no difference; a change that goes one way in "
    "half of a run and back in the other half does not show."
)
_CAVEATS = (
    "One run of each kind says what differs between these runs, not why: with another seed they "
    "would differ, too. To know what a setting does, record several seeds of each.",
    (
        "Steps are compared by their numbers. Where batches or their order differ, so do "
        "gradients from the first step on."
    ),
    (
        "What a recorder was told to keep is no difference here: buckets, entries and histograms "
        "may be set otherwise."
    ),
    "A share says on how many of a run's own steps the limit would have fired. With that limit "
    "the run would have been another one.",
)


@dataclass(frozen=True)
class Several:
    """Recordings, their comparison, the limit asked about if any, and states of the moving figure; 0: it is still."""

    recs: tuple[Recorder, ...]
    both: Comparison[Recorder]
    asked: float | None
    states: int

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Each run alone."""
        return tuple(Run(rec, self.asked, self.states) for rec in self.recs)

    @cached_property
    def limit(self) -> tuple[float, str] | None:
        """The limit that the report is about, and whose it is; None if nobody has one."""
        if self.asked is not None:
            return self.asked, "asked about"
        for name, run in zip(self.both.names, self.runs, strict=True):
            if run.limit is not None:
                return run.limit, f"suggested for {name}"
        return None

    @cached_property
    def drawn(self) -> tuple[Runs, list[np.ndarray]]:
        """The data of the pictures."""
        seen = [condensed(rec, _MOST_DRAWN) for rec in self.recs]
        norms = [np.where(rec.taken > 0, rec.global_norm, np.nan) for rec in seen]
        there = self.norms
        low, high = (float(there.min()), 1.4 * float(there.max())) if there.size else (0.1, 10.0)
        ends = 0.8 * low * (low / high) ** _FOOT, high
        return in_picture(self.both, seen, ends), norms

    @property
    def norms(self) -> np.ndarray:
        """Global norms of all buckets of all runs that a log axis can show."""
        return np.concatenate([run.finite_norms for run in self.runs])


def first(runs: Several) -> Section:
    """Return where the runs part, their norms and losses on the same axes, and a table of the runs."""
    return Section("recorded", "What differs first", runs.both.first(), partial(_first, runs))


def _first(runs: Several) -> str:
    drawn, norms = runs.drawn
    alt = (
        f"Global norm and loss of {listed(runs.both.names, 6)} on the same axes. "
        f"{runs.both.first()}"
    )
    rows = [
        (
            name,
            counted(run.rec.seen, "step"),
            run.median_in_words if run.summary else "none",
            number(float(run.finite_norms.max())) if run.finite_norms.size else "none",
            *_loss_at_the_ends(run),
        )
        for name, run in zip(runs.both.names, runs.runs, strict=True)
    ]
    head = (
        "run",
        "length",
        "median global norm",
        "largest",
        "loss in the first tenth",
        "in the last",
    )
    return picture("course", partial(course_figure, drawn, norms), alt) + table(
        "The runs", head, rows
    )


def _loss_at_the_ends(run: Run) -> tuple[str, str]:
    """Return the loss of the first and the last tenth, as words of a table."""
    ends, found = loss_at_the_ends(run), run.loss_course
    if ends is None or found is None:
        return "not recorded", "not recorded"
    if found.to_the_end and found.first_nonfinite is not None:
        return number(ends[0]), f"{found.kind} from step {found.first_nonfinite[0]:,} on"
    return number(ends[0]), number(ends[1])


def limits(runs: Several) -> Section:
    """The share of each run's steps at the same limit, the curves over all limits, and a table of some."""
    title = "One limit on all runs"
    if runs.limit is None:
        sick = [name for name, run in zip(runs.both.names, runs.runs, strict=True) if run.summary]
        why = (
            f"{listed(sick, len(sick))} went wrong"
            if sick
            else "no run has a finite gradient that is not 0"
        )
        return Section("limits", title, f"No limit can be suggested: {why}.")
    limit, whose = runs.limit
    answers = [rec.what_if(clip_global_norm=limit) for rec in runs.both.recs]
    shares = [
        f"{_fires(a)} of {_steps(a)} of {name}"
        for name, a in zip(runs.both.names, answers, strict=True)
    ]
    sentence = (
        f"Limit {in_full(limit)} on the global norm, {whose}, fires on "
        f"{listed(shares, len(shares))}."
    )
    return Section("limits", title, sentence, partial(_limits, runs, limit, sentence))


def _limits(runs: Several, limit: float, sentence: str) -> str:
    low, high = (runs.norms.min(), runs.norms.max()) if runs.norms.size else (limit, limit)
    curve = np.geomspace(min(low, limit) / 1.5, max(high, limit) * 1.5, CURVE)
    recs, names = runs.both.recs, runs.both.names
    fired = np.array([[rec.what_if(clip_global_norm=x).of_finite for x in curve] for rec in recs])
    alt = (
        "Share of steps on which a limit fires, falling as the limit "
        f"grows, for each run. {sentence}"
    )
    shown = picture("shares", partial(curves_figure, names, curve, fired, limit), alt)
    own = {
        run.summary.suggested: f"suggested for {name}"
        for name, run in zip(names, runs.runs, strict=True)
        if run.summary and run.summary.suggested is not None
    }
    whose = own | ({runs.asked: "asked about"} if runs.asked else {})
    rows = [
        (in_full(x), *(_fires(rec.what_if(clip_global_norm=x)) for rec in recs), whose[x])
        for x in sorted(whose)
    ]
    return shown + table("The same limits on all runs", ("limit", *names, ""), rows)


def _fires(answer: WhatIf) -> str:
    return percent_within(answer.of_finite, *answer.bounds_of_finite)


def _steps(answer: WhatIf) -> str:
    steps = counted(answer.steps - answer.nonfinite, "finite step" if answer.nonfinite else "step")
    return f"{steps} taken" if answer.skipped else steps


def tensors(runs: Several) -> Section:
    """The tensors, those that differ most first."""
    both, title = runs.both, "Which tensors differ most"
    if any(rec.norms_only for rec in both.recs):
        return Section("tensors", title, "Not known: logs have no norms of single tensors.")
    if not both.tensors:
        return Section(
            "tensors", title, "No tensor is in all runs with the same number of entries."
        )
    most = both.order[0]
    if np.isnan(both.apart[most]):
        return Section(
            "tensors", title, "No tensor has norms in common steps that could be compared."
        )
    if both.apart[most] == 1:
        sentence = (
            "None by the median: the norm of every tensor is the same in all runs on at least "
            "half of the steps."
        )
        return Section("tensors", title, sentence, partial(_tensors, runs, sentence))
    sentence = " ".join([*_without_gradient(both), *_one_factor(both)]) or _farthest(both)
    return Section("tensors", title, sentence, partial(_tensors, runs, sentence))


def _one_factor(both: Comparison[Recorder]) -> list[str]:
    """Say which runs differ from the first by one factor in all tensors, and what that points to."""
    said = []
    for run in range(1, len(both.recs)):
        factor = both.one_factor(run)
        if factor is not None:
            said.append(
                f"At the first step the norms of all tensors of {both.names[run]} are "
                f"{number(factor, 4)} times those of {both.names[0]}, as if the loss were scaled, "
                "for example a sum in place of a mean."
            )
    return said


def _without_gradient(both: Comparison[Recorder]) -> list[str]:
    """Say which tensors have no gradient in a run, and one in the first run, or the other way
    round.
    """
    said = []
    for run in range(1, len(both.recs)):
        for here, there in ((run, 0), (0, run)):
            gone = both.without_gradient(here, there)
            if gone:
                names = names_by_layer(both.tensors, np.isin(both.tensors, gone))
                has = "has" if len(names) == 1 else "have"
                said.append(
                    f"{listed(names)} {has} no gradient in {both.names[here]}, but {has} one in "
                    f"{both.names[there]}."
                )
    return said


def _farthest(both: Comparison[Recorder]) -> str:
    """Name the tensor that differs most, and by how much."""
    most = both.order[0]
    run = int(np.nanargmax(both.distance[:, most]))
    return (
        f"{both.tensors[most]}: its norm in {both.names[run]} is "
        f"{times(float(both.factor[run, most]))} that in {both.names[0]}, "
        "in the median over the steps."
    )


def _tensors(runs: Several, sentence: str) -> str:
    both, middle = runs.both, [medians(rec) for rec in runs.both.recs]
    rows = [
        (
            both.tensors[k],
            *(
                number(m[rec.names.index(both.tensors[k])])
                for m, rec in zip(middle, both.recs, strict=True)
            ),
            *(number(float(x)) for x in both.factor[1:, k]),
        )
        for k in both.order
    ]
    names = labels(both.names)
    heads = *names, *(f"{name}, times {names[0]}" for name in names[1:])
    shown = picture(
        "tensors", partial(factors_figure, runs.drawn[0]), f"How tensors differ. {sentence}"
    )
    return (
        shown
        + paragraph(_MEASURE)
        + table("Median norms of all tensors, and how they differ", ("tensor", *heads), rows)
    )


def other_limit(runs: Several) -> Section | None:
    """The lab on these runs."""
    if runs.limit is None:
        return None
    said = "Move the limit, and see on how many steps of each run it fires."
    return Section("other", "Another limit", said, partial(_lab, runs, runs.limit[0]))


def _lab(runs: Several, limit: float) -> str:
    from ..labs import compare

    lab = compare(*runs.recs, names=runs.both.names)
    slider: Any = next(control for control in lab.controls if control.name == "limit")
    lab.set(limit=slider.clamp(limit))
    return moving(lab, runs.states)


def skipped(runs: Several) -> Section:
    """Return how many steps of each run were skipped, are missing, or held NaN or Inf."""
    said = [
        f"{name} skipped {rec.skipped_steps:,} of {counted(rec.seen, 'step')}"
        for name, rec in zip(runs.both.names, runs.both.recs, strict=True)
        if rec.skipped_steps
    ]
    others = "" if len(said) == len(runs.both.names) else "; no other run skipped any"
    sentence = f"{listed(said, len(said))}{others}." if said else "No run skipped a step."
    spoiled = [
        f"{name} in {rec.nonfinite_steps:,}"
        for name, rec in zip(runs.both.names, runs.both.recs, strict=True)
        if rec.nonfinite_steps
    ]
    if spoiled:
        sentence += f" NaN or Inf was in steps that were taken: {listed(spoiled, len(spoiled))}."
    return Section("skipped", "Steps that were skipped", sentence, partial(_skipped, runs))


def _skipped(runs: Several) -> str:
    rows = [
        (
            name,
            *map(number, (rec.seen, rec.skipped_steps, rec.missing_steps, rec.nonfinite_steps)),
            _overflowed(rec),
        )
        for name, rec in zip(runs.both.names, runs.both.recs, strict=True)
    ]
    head = ("run", "steps recorded", "skipped", "missing", "taken with NaN or Inf", "overflows in")
    return table("Steps of each run", head, rows)


def _overflowed(rec: Any) -> str:
    return listed(
        [
            f"{rec.names[k]} ({rec.overflows[k]:,})"
            for k in np.argsort(-rec.overflows)
            if rec.overflows[k]
        ]
    )


def incomparable(runs: Several) -> Section:
    """Return what can't be compared, or only with care."""
    notes = runs.both.notes
    some = (
        f"{counted(len(notes), 'thing')} {'differs' if len(notes) == 1 else 'differ'} between "
        "the recordings."
    )
    sentence = (
        some
        if notes
        else "Nothing: all runs have the same tensors, the same number of steps, and a loss."
    )
    return Section("incomparable", "What cannot be compared", sentence, partial(_list, notes))


def caveats(runs: Several) -> Section:
    """The caveats of every comparison, in plain words."""
    return Section(
        "caveats", "What these numbers do not say", _CAVEATS[0], partial(_list, _CAVEATS[1:])
    )


def _list(lines: Sequence[str]) -> str:
    return (
        "<ul>\n" + "".join(f"<li>{escape(line)}</li>\n" for line in lines) + "</ul>"
        if lines
        else ""
    )


SECTIONS = (first, limits, tensors, other_limit, skipped, incomparable, caveats)

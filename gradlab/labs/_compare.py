"""Recorded runs beside each other: where they part, how often one limit fires on each, which
tensors differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .._base.numbers import counted, listed, number, percent
from .._base.numbers import percent_of_many_within as percent_within
from ..live import Description, Drag, Items, LiveFigure, Menu
from ..models import char_rnn
from ..record.analysis.compare import FEWEST, Comparison, run_names, times
from ..record.analysis.summary import norm_at, percentiles
from ..record.analysis.what_if import WhatIf
from ..record.logs.align import at_common_steps
from ._lab import Control, Lab, Target
from ._own_run import (
    Recording,
    follow_clicks,
    in_sight,
    limit_slider,
    opened,
    reach,
    without_none,
    written,
)
from .compare_picture import FARTHEST, MOST_ROWS, ComparedNorms, CompareView, in_picture
from .tensor_rows import short

_ALL = "all tensors (global norm)"  # links hold it
_NAMED = 8  # tensors that the table names
_LETTERS = 14  # of a run's name, on a button
_SHIPPED = (
    f"one run of each, from one seed, with learning rate {char_rnn.ONE_RATE:g} and momentum "
    f"{char_rnn.MOMENTUM:g}; which limit is better can't be seen from single runs"
)


class CompareTrace(NamedTuple):
    """One limit over several runs.

    Attributes:
        names: of the runs.
        what_if: the library's answer for each.
        tensor: whose norm the limit is on; None: the global norm.
        shares, bounds: (runs,) and (2, runs) of the steps taken on which it fires, and what they
            are at least and most.
    """

    names: tuple[str, ...]
    what_if: tuple[WhatIf, ...]
    tensor: str | None
    shares: np.ndarray
    bounds: np.ndarray

    @property
    def ends(self) -> tuple[int, int]:
        """Two runs; of several those with the smallest and the largest share."""
        return (
            (0, 1)
            if len(self.names) == FEWEST
            else (int(self.shares.argmin()), int(self.shares.argmax()))
        )

    def words(self, run: int) -> str:
        """The share of one run."""
        low, high = self.bounds[:, run].tolist()
        return percent_within(float(self.shares[run]), low, high)


def _one_run_only(trace: CompareTrace) -> tuple[bool, str]:
    low, high = float(trace.shares.min()), float(trace.shares.max())
    if trace.tensor is not None:
        return False, f"The limit is on the norm of {trace.tensor} now"
    return low <= 0.05 and high >= 0.95, f"It fires on {percent(low)} and {percent(high)} now"


def compare(
    *recordings: Recording,
    names: Sequence[str] | None = None,
    limit: float | None = None,
    tensor: str | None = None,
    target: Literal["one_run_only"] | None = None,
) -> CompareLab:
    """Put recorded runs on the same axes: see where they part, and how often one limit fires on each.

    At a glance: Two runs go apart after a few steps. A limit fires on nearly every step of one and
    on a tenth of the other's.

    Norms and losses of 2 to 6 runs, thin lines for each step and thick ones for the median around
    it; a dotted line at the first step where runs differ; the share of each run's own steps on
    which the limit fires; and the tensors that differ most, by the median over common steps of
    (norm in a run) / (norm in the first run). Click one to see it. A recorder that goes on
    recording is compared as it was when the lab was made.

    Args:
        *recordings: each a `Recorder` or the path of one that was saved; the first is what others
            are compared with. By default two shipped runs of a recurrent network, without a limit
            and with limit 1, both at learning rate 0.4 and from one seed.
        names: what the runs are called; by default as their files, or "run 1" and so on.
        limit: on a log scale as wide as the norms of these runs; by default one that leaves 90% of
            a run's steps alone.
        tensor: whose norm is shown and limited; None, the default, for the global norm.
        target: a goal that is shown above the picture until it is reached.

    Raises:
        ValueError: fewer than 2 recordings or more than 6, two of one name, not a recording, or
            nothing is recorded yet.
        TypeError: neither a recording nor a path.

    >>> lab = compare(limit=1.0)
    >>> lab.description.summary
    'Limit 1 fires on 97.7% of the steps of “unclipped” and on 10.0% of “clip at 1”.'
    """
    return CompareLab(
        *recordings, names=names, target=target, **without_none(limit=limit, tensor=tensor)
    )


class CompareLab(Lab):
    """Lab of `compare`: recorded runs on the same axes."""

    function = "compare"
    label = "Recorded runs compared"
    axis = "limit"
    targets: ClassVar = {
        "one_run_only": Target(
            "find a limit on the global norm that fires on at least 95% of the steps of one run "
            "and on at most 5% of another's",
            _one_run_only,
        ),
    }

    def __init__(
        self,
        *recordings: Recording,
        names: Sequence[str] | None = None,
        target: str | None = None,
        **initial: Any,
    ) -> None:
        given = [
            f"{word}_{k}" if (word := written(x)) == "recording" else word
            for k, x in enumerate(recordings, 1)
        ]
        self.source = ", ".join([*given, *([f"names={tuple(names)!r}"] if names else [])])
        self.shipped = not recordings
        if self.shipped:
            shipped = char_rnn.shipped()
            recordings, names = (shipped[None], shipped[1.0]), names or ("unclipped", "clip at 1")
        called = run_names(recordings, names)
        recs = at_common_steps([opened(x).snapshot() for x in recordings])
        self.comparison = Comparison(called, recs)
        super().__init__(target, **initial)
        limit: Any = self._controls["limit"]
        self.presets = {  # type: ignore[misc]
            **{
                f"Leave 90% of {n} alone": {"limit": limit.shown(x), "tensor": None}
                for n, x in self._ninety()
            },
            **({"Most different tensor": {"tensor": self._tensors[0]}} if self._tensors else {}),
        }

    def _ninety(self) -> list[tuple[str, float]]:
        """Names of the first two runs, and the limit that leaves 90% of their steps alone."""
        found = [
            (n, norm_at(rec, 90))
            for n, rec in zip(self.comparison.names, self.comparison.recs, strict=True)
        ][:2]
        return [(short(name, _LETTERS), x) for name, x in found if x]

    def make_controls(self) -> list[Control]:
        recs = self.comparison.recs
        self._seen = [in_sight(rec) for rec in recs]
        self._tensors = [self.comparison.tensors[k] for k in self.comparison.order]
        norms = [rec.global_norm for rec in self._seen]
        own = [
            percentiles(rec, (10,))[0][[rec.names.index(n) for n in self._tensors]]
            for rec in self._seen
        ]
        self._reach = reach(*norms, *own)
        low, high = self._reach
        # So that round limits are positions of the slider.
        low = 10.0 ** np.floor(np.log10(low * 1.001))
        middle = [norm_at(rec, 90) for rec in recs]
        return [
            limit_slider((low, high), min(filter(None, middle), default=1.0)),
            Menu(
                "tensor", "Norm of", [(None, _ALL), *((name, name) for name in self._tensors)], None
            ),
        ]

    def compute(self, values: dict[str, Any]) -> CompareTrace:
        names, recs, limit, tensor = (
            self.comparison.names,
            self.comparison.recs,
            values["limit"],
            values["tensor"],
        )
        if tensor is None:
            answers = tuple(rec.what_if(clip_global_norm=limit) for rec in recs)
            shares = np.array([answer.fraction_fired for answer in answers])
            return CompareTrace(
                names, answers, None, shares, np.array([answer.bounds for answer in answers]).T
            )
        answers = tuple(rec.what_if(clip_norm=limit) for rec in recs)
        where = [rec.names.index(tensor) for rec in recs]
        shares = np.array(
            [answer.share_by_tensor[k] for answer, k in zip(answers, where, strict=True)]
        )
        bounds = np.stack(
            [answer.bounds_by_tensor[:, k] for answer, k in zip(answers, where, strict=True)],
            axis=1,
        )
        return CompareTrace(names, answers, tensor, shares, bounds)

    def make_view(self) -> CompareView:
        return CompareView(in_picture(self.comparison, self._seen, self._reach))

    def draw(self, view: CompareView, trace: CompareTrace) -> None:
        rows, tensor = self._tensors[:MOST_ROWS], trace.tensor
        norms = [
            rec.global_norm if tensor is None else rec["norm"][:, rec.names.index(tensor)]
            for rec in self._seen
        ]
        view.draw(
            ComparedNorms(
                "all tensors together" if tensor is None else tensor,
                norms,
                trace.what_if[0].limit,
                trace.shares,
                [trace.words(k) for k in range(len(trace.names))],
                rows.index(tensor) if tensor in rows else None,
            )
        )

    def items(self, view: CompareView, trace: CompareTrace) -> Items:
        factors = self.comparison.factor[1:, self.comparison.order]
        row = np.where(
            np.arange(len(self._tensors)) < MOST_ROWS,
            np.arange(len(self._tensors), dtype=float),
            np.nan,
        )
        values = {f"times, in {name}": x for name, x in zip(trace.names[1:], factors, strict=True)}
        place = np.clip(factors[0], 1 / FARTHEST, FARTHEST), row
        return Items("tensor", {view.factors: place}, values, self._tensors)

    def drags(self, view: CompareView) -> list[Drag]:
        return [Drag(view.norms, y="limit", label="drag the limit over the runs")]

    def make_live(self, view: CompareView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on a tensor selects it."""
        return follow_clicks(super().make_live(view, **params), "tensor", self._tensors)

    def describe(self, trace: CompareTrace) -> Description:
        both, on = (
            self.comparison,
            "the global norm" if trace.tensor is None else f"the norm of {trace.tensor}",
        )
        limit = number(trace.what_if[0].limit)
        fires = f"limit of {limit} on {on} fires on {self._shares(trace)}"
        return Description(
            alt=f"{counted(len(trace.names), 'recorded run')} on the same "
            f"axes. {both.first()} A {fires}.",
            summary=self._message(trace),
            table=(
                *([("what the runs are", _SHIPPED)] if self.shipped else []),
                ("what differs first", both.first()),
                ("limit", f"{limit} on {on}"),
                *(row for k in range(len(trace.names)) for row in self._run(trace, k)),
                *((f"norm of {both.tensors[k]}", self._factors(k)) for k in both.order[:_NAMED]),
                *(
                    [("more tensors", f"{more}")]
                    if (more := len(both.tensors) - _NAMED) > 0
                    else []
                ),
                *(
                    ("cannot be compared" if not k else "nor", note)
                    for k, note in enumerate(both.notes)
                ),
            ),
        )

    def _message(self, trace: CompareTrace) -> str:
        """The sentence on two runs, or on those with the smallest and the largest share."""
        on = "" if trace.tensor is None else f" on {short(trace.tensor, _LETTERS)}"
        limit, joined = (
            number(trace.what_if[0].limit),
            "and on" if len(trace.names) == FEWEST else "to",
        )
        (first, one), (last, other) = (
            (trace.words(k), short(trace.names[k], _LETTERS)) for k in trace.ends
        )
        fires = f"Limit {limit}{on} fires on {first} of the steps of “{one}”"
        return f"{fires} {joined} {last} of “{other}”."

    @staticmethod
    def _shares(trace: CompareTrace) -> str:
        """Of two runs, or of several those with the smallest and the largest."""
        first, last = (f"{trace.words(k)} of {trace.names[k]}" for k in trace.ends)
        if len(trace.names) == FEWEST:
            return f"{first} and {last}"
        return f"{first}, the fewest, to {last}, the most"

    def _run(self, trace: CompareTrace, run: int) -> list[tuple[str, str]]:
        rec, name, answer = self.comparison.recs[run], trace.names[run], trace.what_if[run]
        rows = [(f"{name}: fires on", f"{trace.words(run)} of {counted(answer.steps, 'step')}")]
        rows += [(f"{name}: steps skipped", number(answer.skipped))] * bool(answer.skipped)
        return rows + [(f"{name}: steps with NaN or Inf", number(rec.nonfinite_steps))] * bool(
            rec.nonfinite_steps
        )

    def _factors(self, tensor: int) -> str:
        """In words, of every run but the first."""
        both = self.comparison
        found = [
            f"{times(x)} in {name}"
            for x, name in zip(both.factor[1:, tensor], both.names[1:], strict=True)
        ]
        return f"{listed(found, len(found))} as large as in {both.names[0]}"

    def columns(self, trace: CompareTrace) -> dict[str, np.ndarray]:
        return {
            "steps": np.array([answer.steps for answer in trace.what_if]),
            "skipped": np.array([answer.skipped for answer in trace.what_if]),
            "share_fired": trace.shares,
            "at_least": trace.bounds[0],
            "at_most": trace.bounds[1],
            "run": np.array(trace.names),
        }

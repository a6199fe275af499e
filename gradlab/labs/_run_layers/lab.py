"""Limits by layer: how often one fires on each layer of a recorded run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, number, percent, percent_within
from ...live import Description, Drag, Items, LiveFigure, Menu
from ...record import Recorder
from ...record.analysis.summary import layer_of, parts, percentiles
from ...record.analysis.what_if import WhatIf
from .._following import AxesRoom, FollowingLab
from .._lab import Control, Target
from .._own_run import (
    Recording,
    RunLab,
    every,
    follow_clicks,
    in_sight,
    limit_slider,
    reach,
    without_none,
)
from ..tensor_rows import MOST_ROWS, short
from .picture import Layers, LayersView

METHODS = (("norm", "norm of each tensor"), ("global", "global norm"))
_PERCENTS = (10, 50, 90, 100)
_ALL, _EACH = "all", "layers"
_SHOWN = 10  # tensors that the table names
_LETTERS = 24  # of a tensor's name in the sentence


class RunLayersTrace(NamedTuple):
    """One limit over a run, and what of it is shown.

    Attributes:
        what_if: the library's answer.
        shares: (tensors,) of the steps on which it fires on each; under the global norm each
            tensor's part of the squared norm of the steps on which it fires.
        rows: tensors that are shown, largest norms first.
        tensor: the chosen one.
    """

    what_if: WhatIf
    shares: np.ndarray
    rows: Sequence[int]
    tensor: int

    @property
    def is_global(self) -> bool:
        return self.what_if.kind == "clip_global_norm"


def _one_alone(trace: RunLayersTrace) -> tuple[bool, str]:
    most, *others = sorted(trace.shares.tolist(), reverse=True)
    now = (
        f"{percent(most)} of the steps of one tensor and {percent(max(others, default=0.0))} of "
        "the next are clipped"
    )
    if trace.is_global:
        return False, "Now the clip is by global norm"
    return most >= 0.5 and max(others, default=1.0) <= 0.1, now


def _not_as_usual(trace: RunLayersTrace) -> tuple[bool, str]:
    share, part = trace.what_if.of_finite, float(trace.shares.max())
    if not trace.is_global:
        return False, "Now the clip is by the norm of each tensor"
    now = (
        f"It fires on {trace.what_if.percent_of_finite()}, and the largest part there is "
        f"{percent(part)} now"
    )
    return 0 < share <= 0.05 and part <= 0.45, now


def run_layers(
    recording: Recording | None = None,
    *,
    limit: float | None = None,
    method: Literal["norm", "global"] = "norm",
    tensor: str | None = None,
    show: str = _ALL,
    target: Literal["one_alone", "not_as_usual"] | None = None,
) -> RunLayersLab:
    """See layer by layer how often a limit fires on a recorded run, and drag another limit over it.

    At a glance: One limit across all tensors clips the top one on most of its steps and the others
    on few.

    Each row is a tensor: marks for the norm that 10, 50, 90 and 100% of its steps do not exceed,
    and beside it the share of steps on which the limit fires. Point at a tensor, click it to see
    its norm over time. Of very many tensors those with the largest norms are shown, which a limit
    reaches first.

    Of your own recorder the picture follows the run while it goes on, trained in this cell or in
    a thread: at most every 0.3 seconds, and such that drawing all labs that follow takes at most
    2% of the time, and a second at once after a rest. Of a recorder without steps whose tensors
    are known, attached or prepared, it waits for the first one. A lab that is closed, or whose
    cell runs again, follows no longer. While a cell trains, a page can open a lab with ipykernel
    7 and later; with an earlier one show the lab in a cell before.

    Args:
        recording: your own `Recorder`, or the path of one that was saved; by default the shipped
            run of the reader.
        limit: on a log scale as wide as this run's norms; by default a typical one of large norms.
        method: "norm" clips each tensor alone, "global" by the global norm; shares are then each
            tensor's part of the squared norm of the steps on which it fires.
        tensor: whose norm is shown over time; by default the one with the largest.
        show: "all" tensors, the largest of each of the "layers", or only one layer: "only hidden1".
        target: a goal that is shown above the picture until it is reached.

    Raises:
        ValueError: the file isn't a recording, or nothing is recorded yet.
        TypeError: neither a recording nor a path.

    >>> run_layers(limit=0.5).description.summary
    'Limit 0.5 clips embed on 62% of its 512 steps, and no other tensor on more than 10%.'
    """
    return RunLayersLab(
        recording,
        target=target,
        method=method,
        show=show,
        **without_none(limit=limit, tensor=tensor),
    )


class RunLayersLab(FollowingLab, RunLab):
    """Lab of `run_layers`: one limit over the tensors of a recorded run."""

    function = "run_layers"
    label = "Limits, layer by layer"
    axis = "limit"
    targets: ClassVar = {
        "one_alone": Target(
            "by the norm of each tensor, clip one tensor on at least half of its steps, and every "
            "other on at most 10%",
            _one_alone,
        ),
        "not_as_usual": Target(
            "find a limit on the global norm that fires on at most 5% of the steps, where no "
            "tensor makes up more than 45% of the squared norm",
            _not_as_usual,
        ),
    }

    def __init__(
        self, recording: Recording | None = None, *, target: str | None = None, **initial: Any
    ) -> None:
        super().__init__(recording, target=target, **initial)
        self.presets = self.own_presets()  # type: ignore[misc]
        self.follow(recording)

    def own_presets(self) -> dict[str, Mapping[str, Any]]:
        limit: Any = self._controls["limit"]
        suggested = limit.shown(self._suggested or limit.value)
        typical = limit.shown(float(np.median(self._norms[1])) or limit.value)
        of_suggested = {
            "The suggested limit": {"limit": suggested, "method": "global", "show": _ALL},
            "Suggested limit, per tensor": {"limit": suggested, "method": "norm", "show": _ALL},
        }
        if self._is_sick:
            of_suggested = {}
        return of_suggested | {
            "Limit at a typical norm": {"limit": typical, "method": "norm", "show": _ALL},
            "One of each layer": {"limit": typical, "method": "norm", "show": _EACH},
        }

    def make_controls(self) -> list[Control]:
        rec = self.rec = in_sight(self.rec)
        self._norms = percentiles(rec, _PERCENTS)
        self._reach = reach(self._norms, rec.global_norm)
        self._layers = [layer_of(name) for name in rec.names]
        self._order = np.argsort(-self._norms[2], kind="stable").tolist()
        try:
            summary = rec.summary()
            self._is_sick = summary.suggested is None
            self._suggested, self._reason = summary.suggested or 0.0, summary.reason
        except ValueError as error:  # all gradients are 0, or none is finite
            self._is_sick, self._suggested, self._reason = False, 0.0, str(error)
        several = [layer for layer in dict.fromkeys(self._layers) if self._layers.count(layer) > 1]
        shown = [(_ALL, "all, largest first"), (_EACH, "largest of each layer")]
        start = float(np.median(self._norms[2])) or 1.0
        return [
            limit_slider(self._reach, start),
            Menu("method", "Clip by", METHODS, "norm"),
            Menu("tensor", "Tensor over time", rec.names, rec.names[self._order[0]]),
            Menu(
                "show",
                "Show",
                [*shown, *((f"only {layer}", f"only {short(layer, 18)}") for layer in several)],
                _ALL,
                folded=True,
            ),
        ]

    def renewed(self, rec: Recorder) -> list[Control]:
        self.rec = rec
        return self.make_controls()

    def needs(self) -> AxesRoom:
        return AxesRoom(self.rec.seen, self.rec.stride, (self._reach,))

    def arrange_still(self, view: LayersView) -> None:
        room = self._room or self.needs()
        ((low, high),) = room.ranges
        view.still(room.steps, (0.8 * low, 1.25 * high), f"every {every(self.rec)}")

    def compute(self, values: dict[str, Any]) -> RunLayersTrace:
        rec, tensor = self.rec, self.rec.names.index(values["tensor"])
        kind = {"norm": "clip_norm", "global": "clip_global_norm"}[values["method"]]
        answer = rec.what_if(**{kind: values["limit"]})
        shares = (
            answer.of_finite_by_tensor if values["method"] == "norm" else parts(rec, answer.fired)
        )
        return RunLayersTrace(answer, shares, self._rows(values["show"]), tensor)

    def _rows(self, show: str) -> list[int]:
        """The tensors to show, by largest norm."""
        if show == _EACH:
            found: dict[str, int] = {}
            for k in self._order:
                found.setdefault(self._layers[k], k)
            return [*found.values()][:MOST_ROWS]
        only = show.removeprefix("only ")
        return [k for k in self._order if show == _ALL or self._layers[k] == only][:MOST_ROWS]

    def make_view(self) -> LayersView:
        rec, (low, high) = self.rec, self._reach
        rows = min(MOST_ROWS, len(rec.names))
        return self.signed(
            LayersView(rows, rec.step, rec.seen, (0.8 * low, 1.25 * high), f"every {every(rec)}")
        )

    def draw(self, view: LayersView, trace: RunLayersTrace) -> None:
        if self.waits:
            return
        rec, rows, answer = self.rec, trace.rows, trace.what_if
        view.steps = rec.step
        shares = trace.shares[rows]
        view.draw(
            Layers(
                [rec.names[k] for k in rows],
                self._norms[:, rows],
                shares,
                [*map(_finer, shares.tolist())],
                "Part of squared norm" if trace.is_global else "Share of steps clipped",
                rows.index(trace.tensor) if trace.tensor in rows else None,
                rec.names[trace.tensor],
                rec["norm_low"][:, trace.tensor],
                rec["norm"][:, trace.tensor],
                answer.fired_by_tensor[:, trace.tensor],
                np.nan if trace.is_global else answer.limit,
            )
        )

    def items(self, view: LayersView, trace: RunLayersTrace) -> Items | None:
        if self.waits:
            return None
        row = np.full(len(self.rec.names), np.nan)
        row[trace.rows] = np.arange(len(trace.rows))
        median = np.where(self._norms[1] > 0, self._norms[1], np.nan)
        values = {
            "median norm": median,
            "largest norm": self._norms[3],
            "steps or part in %": 100 * trace.shares,
        }
        return Items(
            "tensor",
            {view.norms: (median, row), view.shares: (trace.shares, row)},
            values,
            self.rec.names,
        )

    def drags(self, view: LayersView) -> list[Drag]:
        return [
            Drag(view.norms, x="limit", label="drag the limit across the tensors"),
            Drag(view.story, y="limit", label="drag the limit over the run"),
        ]

    def make_live(self, view: LayersView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on a tensor selects it."""
        return follow_clicks(super().make_live(view, **params), "tensor", self.rec.names)

    def describe(self, trace: RunLayersTrace) -> Description:
        rec, answer, shares = self.rec, trace.what_if, trace.shares
        most = int(np.argmax(np.nan_to_num(shares)))
        method, limit = dict(METHODS)["global" if trace.is_global else "norm"], number(answer.limit)
        steps = _finite_steps(answer)
        overall = _finer(answer.of_finite, *answer.bounds_of_finite)
        fires = f"fires on {overall} of {steps}"
        said = f"fires most on {rec.names[most]}, on {self._share(trace, most)} of its {steps}"
        if trace.is_global:
            said = (
                f"{fires}; on those {rec.names[most]} is {_finer(shares[most])} of the squared norm"
            )
        bad, tensors = rec.nonfinite_steps, counted(len(rec.names), "tensor")
        names = sorted(range(len(shares)), key=lambda k: -np.nan_to_num(shares[k]))
        where = (
            "where it fires"
            if rec.stride == 1
            else f"of the largest step of every {rec.stride:,} where it fires"
        )
        what = f"of the squared norm {where}" if trace.is_global else "of its steps"
        return Description(
            alt=f"Norms of {tensors} over {steps}, with a limit of {limit} on the "
            f"{method}: it {said}." + (f" {counted(bad, 'step')} with NaN or Inf." if bad else ""),
            summary=self._message(trace, most),
            table=(
                ("clip by", method),
                ("limit", limit),
                ("steps on which it fires", overall),
                *((rec.names[k], f"{self._share(trace, k)} {what}") for k in names[:_SHOWN]),
                *([("more tensors", f"{len(names) - _SHOWN}")] if len(names) > _SHOWN else []),
                (f"norm of {rec.names[trace.tensor]}", self._norms_of(trace.tensor)),
                ("suggestion", self._reason),
                ("steps with NaN or Inf", f"{bad}"),
                *([("steps that were skipped", number(answer.skipped))] if answer.skipped else []),
                ("shown as", f"every {every(rec)}"),
            ),
        )

    def _message(self, trace: RunLayersTrace, most: int) -> str:
        """The sentence on the tensor that has most of it."""
        limit, name = f"Limit {number(trace.what_if.limit)}", self._short(most)
        share, steps = self._share(trace, most), _finite_steps(trace.what_if)
        if trace.is_global:
            overall = _finer(trace.what_if.of_finite, *trace.what_if.bounds_of_finite)
            if not trace.what_if.of_finite:
                return f"{limit} on the global norm fires on none of {steps}."
            return (
                f"{limit} fires on {overall} of {steps}; on those {name} is {share} of the "
                "squared norm."
            )
        if not np.nan_to_num(trace.shares).any():
            return f"{limit} on the norm of each tensor clips none of them on any of {steps}."
        if np.nan_to_num(trace.what_if.bounds_by_tensor[0]).min() == 1 and len(trace.shares) > 1:
            return f"{limit} on the norm of each tensor clips all of them on each of {steps}."
        _, *others = np.argsort(-np.nan_to_num(trace.shares), kind="stable").tolist()
        rest = ""
        if others:
            second = self._share(trace, others[0])
            few = 2 * np.nan_to_num(trace.shares)[others[0]] <= trace.shares[most]
            rest = (
                f", and no other tensor on more than {second}"
                if few
                else f", then {self._short(others[0])} on {second}"
            )
        return f"{limit} clips {name} on {share} of its {steps}{rest}."

    def _short(self, tensor: int) -> str:
        return short(self.rec.names[tensor], _LETTERS)

    def _norms_of(self, tensor: int) -> str:
        low, middle, high, largest = (number(x) for x in self._norms[:, tensor])
        error = float(self.rec.quantile_error[tensor])
        within = f"; the first three within {number(100 * error, 2)}%" if error else ""
        return f"{low} (10%), {middle} (median), {high} (90%), {largest} (largest){within}"

    def _share(self, trace: RunLayersTrace, tensor: int) -> str:
        """The share of a tensor in words, with its bounds where it is an estimate."""
        share = trace.shares[tensor]
        return (
            _finer(share)
            if trace.is_global
            else _finer(share, *trace.what_if.bounds_of_finite_by_tensor[:, tensor])
        )

    def columns(self, trace: RunLayersTrace) -> dict[str, np.ndarray]:
        return {
            "share_or_part": trace.shares,
            "norm_10": self._norms[0],
            "norm_median": self._norms[1],
            "norm_90": self._norms[2],
            "norm_largest": self._norms[3],
            "tensor": np.array(self.rec.names),
        }


def _finite_steps(answer: WhatIf) -> str:
    """Return the steps that shares are of: those taken that are finite."""
    return counted(answer.steps - answer.nonfinite, "finite step" if answer.nonfinite else "step")


def _finer(share: float, low: float | None = None, high: float | None = None) -> str:
    """A share in percent, finer near 0 and 1, and its bounds where they show."""
    digits = 0 if share in (0, 1) or 0.01 <= share <= 0.99 else 1
    return percent_within(
        share, share if low is None else low, share if high is None else high, digits
    )

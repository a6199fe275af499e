"""Drag a limit over the recorded gradients of a real run.

    compute    control values -> ClippingTrace: one limit over one run, from `Recorder.what_if`
    describe   ClippingTrace -> a sentence, an alternative text and a table
    draw       ClippingTrace -> `ClippingPicture`

The lab shows one of three recordings: the shipped one, whose runs stand for ten seeds each; runs by
limit, as `char_rnn.record` returns them; or a single recorder of the reader's own, which it follows
while that goes on recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, number
from ...live import Button, Description, Drag, Items, Menu, Slider
from ...models import char_rnn, claims
from ...record import Recorder
from ...record.analysis.shares import Steps, by_step
from ...record.analysis.what_if import OF_A_STEP, WhatIf
from .._following import AxesRoom, FollowingLab, positive_range
from .._lab import Control, Target
from .._own_run import every, in_sight, limit_slider, reach, without_none, written
from .._quantities import TraceQuantity, csv_columns, tooltip_values
from .picture import TURN_SHOWN_FROM, ClippingPicture, RunData, RunLoss

Recording = str | PathLike[str] | Recorder | dict[float | None, Recorder] | None

TUNED_FREE = "none tuned"  # the run without a limit at its own rate; links hold the name
TENSORS_NAMED = 8  # in the table
NEAREST_FACTOR = 3.0  # a limit up to three times as large or small is called near
LIMITS = (0.001, 1000.0)  # that the slider reaches in any case
QUARTILES = (25, 50, 75)  # percent


class Method(NamedTuple):
    """A way to clip: what it is called, and the argument of `Recorder.what_if`."""

    name: str
    argument: str


METHODS = {
    "global": Method("global norm", "clip_global_norm"),
    "norm": Method("norm of each tensor", "clip_norm"),
    "value": Method("value of each entry", "clip_value"),
}


class ClippingTrace(NamedTuple):
    """One limit over one run."""

    method: str
    what_if: WhatIf
    steps: Steps | None  # single steps, None if they are no longer all known
    run: str
    run_loss: RunLoss  # of the recorded run itself
    nearest: str | None  # the run trained with this limit or one near it, which is drawn heavy
    ends: dict[str, float]  # final loss of each run, NaN if there is none

    @property
    def median_turn(self) -> float:
        """Degrees, over the steps that have a direction before and after; 0 if there are none."""
        angle = self.what_if.angle
        if not angle.any() or not np.isfinite(angle).any():
            return 0.0
        return float(np.nanmedian(angle))

    @property
    def turns_are_of_buckets(self) -> bool:
        """Whether the turns are those of the largest step of each bucket only."""
        return self.what_if.stride > 1 and self.method != "global"


QUANTITIES = (
    TraceQuantity("step", lambda trace: trace.run_loss.loss[0].astype(int)),
    TraceQuantity("norm_before", lambda trace: trace.what_if.norm_before, "norm before"),
    TraceQuantity("norm_after", lambda trace: trace.what_if.norm_after, "norm after"),
    TraceQuantity("factor", lambda trace: trace.what_if.factor),
    TraceQuantity("fired", lambda trace: trace.what_if.fired.astype(int)),
    TraceQuantity("turn_degrees", lambda trace: trace.what_if.angle, "turn (degrees)"),
    TraceQuantity("fraction_of_entries_hit", lambda trace: trace.what_if.fraction_hit),
    TraceQuantity("loss", lambda trace: trace.run_loss.loss[1], "loss"),
)


def _measure_keeping_95(trace: ClippingTrace) -> tuple[bool, str]:
    is_reached = 0.02 <= trace.what_if.fraction_fired <= 0.05
    return is_reached, f"Now {trace.what_if.percent()} of the steps are clipped"


def _measure_turning_little(trace: ClippingTrace) -> tuple[bool, str]:
    if trace.method != "norm":
        return False, f"Now the clip is by the {METHODS[trace.method].name}"
    clip = trace.what_if
    is_reached = clip.fraction_fired >= 2 / 3 and trace.median_turn < 5
    turn = f"a median turn of {trace.median_turn:.1f} degrees"
    return is_reached, f"Now {clip.percent()} of the steps are clipped, with {turn}"


def clipping(
    recording: Recording = None,
    *,
    limit: float | None = None,
    method: Literal["global", "norm", "value"] = "global",
    run: str | None = None,
    target: Literal["keep_95", "turn_little"] | None = None,
) -> ClippingLab:
    """Drag a limit over the recorded gradients of a recurrent network and see what every step would have become.

    At a glance: The limit flattens all that is above it. At rate 0.4, nine of ten runs without a
    limit end above a loss of 3; with limit 1, one of 20 does.

    The losses are medians and quartiles of ten runs for each limit, at the learning rate that a
    sweep chose for it, and of ten without a limit at rate 0.4. What they say of the limits is under
    *Values*, see `gradlab.models.claims`.

    The shipped recording comes with a button that records one run of each again on this machine. Of
    your own recorder the lab follows the run while it goes on, at most a few times a second, see
    `run_layers`.

    Args:
        recording: your own `Recorder`, the path of one that was saved or of a log, as
            `gl.record.read_log` reads it, or runs by limit, as `gl.models.char_rnn.record()`
            returns; the shipped recording by default.
        limit: the clip limit, on a log scale as wide as the norms of the runs; by default 1, or the
            median norm of your own run.
        method: "global" clips by the global norm, "norm" by the norm of each tensor, "value" clips
            each entry.
        run: the recorded run whose norms are shown. Of the shipped ones "none", the default,
            explodes without a limit at rate 0.4; "none tuned" has no limit and a rate of its own;
            "0.1", "0.3", "1" and "3" are named by their limits.
        target: a goal that is shown above the picture until it is reached.

    Raises:
        ValueError: the file isn't a recording, or nothing is recorded yet.
        TypeError: not a recording, or one given as `run`, which takes a name.

    >>> lab = clipping(limit=1.0, run="0.3")
    >>> lab.description.summary
    'Limit 1 clips 11.3% of steps of the run with limit 0.3; 10 runs with limit 1 end at losses of 2.10 to 2.17.'
    """
    return ClippingLab(
        recording, target=target, method=method, **without_none(limit=limit, run=run)
    )


class ClippingLab(FollowingLab):
    """Lab of `clipping`: one limit over one of several recorded runs."""

    function = "clipping"
    label = "Clipping a recorded run"
    axis = "limit"
    presets: ClassVar = {
        "Only the explosions": {"limit": 100.0, "method": "global", "run": "none"},
        "Every step": {"limit": 0.1, "method": "global", "run": "none"},
        "Each tensor alone": {"limit": 1.0, "method": "norm", "run": "none"},
        "Each entry alone": {"limit": 0.1, "method": "value", "run": "none"},
        "Trained with limit 1": {"limit": 1.0, "method": "global", "run": "1"},
    }
    targets: ClassVar = {
        "keep_95": Target("clip at least 2% and at most 5% of the steps", _measure_keeping_95),
        "turn_little": Target(
            "clip by the norm of each tensor on at least two thirds of the steps, with a median "
            "turn below 5 degrees",
            _measure_turning_little,
        ),
    }

    def __init__(
        self, recording: Recording = None, *, target: str | None = None, **initial: Any
    ) -> None:
        _check_arguments(recording, initial)
        self.is_shipped = recording is None
        # Runs of gradlab.models.char_rnn are named by the limit they were trained with, and their
        # loss has a unit.
        self.is_char_rnn = recording is None or isinstance(recording, dict)
        self.has_seeds = self.is_shipped  # each run stands for ten that differ by their seed
        self.rates: dict[str, float] = {}  # learning rate of each run, where it is known
        if not self.is_shipped:
            self.source = written(recording)

        self.recording: dict[Any, Recorder]
        if recording is None:
            self.recording = _add_free_run(char_rnn.tuned(), char_rnn.shipped()[None])
            self.rates = _rates_by_name()
        elif isinstance(recording, dict):
            self.recording = recording
        else:
            self.recording = {None: in_sight(self.taken(recording))}
        self._check_not_empty()

        self._recorded_losses: dict[str, tuple[Recorder, int, RunLoss]] = {}
        self._median_losses: dict[str, RunLoss] = {}
        super().__init__(target, **initial)
        self.presets = self.own_presets()  # type: ignore[misc]
        self.follow(recording)

    def _check_not_empty(self) -> None:
        for name, rec in self.runs.items():
            if not len(rec):
                where = f" in the run {name!r}" if len(self.runs) > 1 else ""
                raise ValueError(
                    f"nothing is recorded yet{where}: call rec.record(grads, "
                    "loss=loss) in every step first"
                )

    @property
    def runs(self) -> dict[str, Recorder]:
        """The recorded runs by name: "none", "none tuned", "0.1", ...

        A single recorder is called "none", too. How it was trained isn't known, and nothing is said
        of that where there is one run only.
        """
        return {_run_name(limit): rec for limit, rec in self.recording.items()}

    # Controls

    def make_controls(self) -> list[Control]:
        methods = tuple((key, METHODS[key].name) for key in self._methods())
        first_run = "none" if "none" in self.runs else next(iter(self.runs))
        controls: list[Control]
        if self.is_char_rnn:
            runs = [(name, self._describe_run(name)) for name in self.runs]
            controls = [
                self._wide_slider(),
                Menu("method", "Clip by", methods, "global"),
                Menu("run", "Run recorded with", runs, first_run),
            ]
        else:
            runs = [(name, "your own") for name in self.runs]
            controls = [
                _fit_slider(self.recording[None]),
                Menu("method", "Clip by", methods, "global"),
                Menu("run", "Run", runs, first_run),
            ]
        if self.is_shipped:
            controls.append(Button("record", "Record again", self.record_afresh, folded=True))
        return controls

    def _methods(self) -> list[str]:
        """The ways to clip that can be asked about: of a log, which has no tensors, one."""
        if any(rec.norms_only for rec in self.runs.values()):
            return ["global"]
        return [*METHODS]

    def _wide_slider(self) -> Slider:
        """Return a slider up to a limit that clips no step of any run."""
        _, largest = reach(*(rec.global_norm for rec in self.runs.values()))
        low, high = LIMITS
        high = max(high, largest)
        return Slider("limit", "Limit", low, high, 1.0, scale="log", step=40, play=True)

    def own_presets(self) -> dict[str, Mapping[str, Any]]:
        presets = type(self).presets if self.is_char_rnn else self._suggest_presets()
        return {label: values for label, values in presets.items() if values["run"] in self.runs}

    def _suggest_presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Return presets with the suggested limit; none if there is nothing to clip."""
        try:
            suggested = self.recording[None].summary().suggested
        except ValueError:
            return {}
        if suggested is None:  # the run is sick: see Summary
            return {}
        slider: Any = self._controls["limit"]
        limit = slider.shown(suggested)
        presets = {"The suggested limit": {"limit": limit, "run": "none", "method": "global"}}
        if "norm" in self._methods():
            presets["Suggested limit, per tensor"] = {
                "limit": limit,
                "run": "none",
                "method": "norm",
            }
        return presets

    def record_afresh(self) -> None:
        """Train again on this machine, about half a minute, and show one new run of each.

        The losses are of one run of each then, and no longer of ten.
        """

        def progress(text: str) -> None:
            self.live.say(f"Recording: {text} ...")

        seed = char_rnn.TYPICAL_SEED
        tuned = char_rnn.record(seed=seed, rate=char_rnn.TUNED, progress=progress)
        free = char_rnn.record(limits=(None,), progress=progress)
        runs = _add_free_run(tuned, free[None])

        def show_new_runs() -> None:
            self.recording = runs
            self.is_char_rnn = True
            self.has_seeds = False
            self._view.show_runs(self._run_data())

        self.live.redraw_still(show_new_runs)
        one = (
            "Recorded afresh on this machine: one run of each, which "
            "can't say which limit is better."
        )
        self.live.say(f"{one} {self.live.description.summary}")

    # From controls to a trace

    def compute(self, values: dict[str, Any]) -> ClippingTrace:
        limit = values["limit"]
        method = METHODS[values["method"]]
        run = self.runs[values["run"]]
        steps = None
        if run.known.all():
            steps = by_step(run, OF_A_STEP[method.argument], limit)
        return ClippingTrace(
            method=values["method"],
            what_if=run.what_if(**{method.argument: limit}),
            steps=steps,
            run=values["run"],
            run_loss=self._recorded_loss(values["run"]),
            nearest=self._nearest_run(limit, values["method"]),
            ends={name: self._run_loss(name).end for name in self.runs},
        )

    def _nearest_run(self, limit: float, method: str) -> str | None:
        """Return the run trained with a limit near this one, or None."""
        limits = {name: float(name) for name in self.runs if not _is_unlimited(name)}
        if not limits:  # a single run without a limit: there is nothing else to draw heavy
            return "none"
        if method != "global":  # all were trained with a limit on the global norm
            return None
        distances = {name: abs(np.log(other / limit)) for name, other in limits.items()}
        nearest = min(distances, key=lambda name: distances[name])
        return nearest if distances[nearest] <= np.log(NEAREST_FACTOR) else None

    def _run_loss(self, name: str) -> RunLoss:
        """Return the line of a run in the panel of losses: of ten seeds, or of itself."""
        if not self.has_seeds:
            return self._recorded_loss(name)
        if name not in self._median_losses:
            self._median_losses[name] = self._median_loss(name)
        return self._median_losses[name]

    def _recorded_loss(self, name: str) -> RunLoss:
        """Return the losses of a recorded run. They are computed once for as many steps as it has."""
        rec = self.runs[name]
        # Kept, because this is asked for every run while a reader drags the limit.
        if name in self._recorded_losses:
            known_rec, known_steps, loss = self._recorded_losses[name]
            if known_rec is rec and known_steps == rec.seen:
                return loss
        loss = RunLoss(
            self._describe_run(name),
            _bucket_losses(rec),
            _final_loss(rec),
            is_unlimited=name == "none",
        )
        self._recorded_losses[name] = rec, rec.seen, loss
        return loss

    def _median_loss(self, name: str) -> RunLoss:
        """Return the losses of the ten runs that have the limit and the rate of a recorded one."""
        losses = char_rnn.seed_losses(_limit_of(name), self.rates[name])
        low, median, high = np.percentile(losses, QUARTILES, axis=0)
        return RunLoss(
            self._describe_run(name),
            np.stack([np.arange(len(median)), median]),
            float(np.median(self._final_losses(name))),
            is_unlimited=name == "none",
            band=np.stack([low, high]),
            runs=len(losses),
            recorded=self._recorded_loss(name).loss[1],
        )

    def _final_losses(self, name: str) -> np.ndarray:
        return char_rnn.final_losses(_limit_of(name), self.rates[name])

    # From a trace to words

    def describe(self, trace: ClippingTrace) -> Description:
        return Description(
            alt=self._alt(trace),
            summary=self._summary(trace),
            table=tuple(self._table(trace)),
        )

    def _alt(self, trace: ClippingTrace) -> str:
        clip = trace.what_if
        run = f"run recorded {self._trained_how(trace.run)}" if self.is_char_rnn else "recorded run"
        peak = np.argmax(np.nan_to_num(clip.norm_before))
        sentence = (
            f"Clipping by {METHODS[trace.method].name} at {number(clip.limit)} fires on "
            f"{clip.percent()} of {counted(clip.steps, 'step')} of the {run}; the largest norm, "
            f"{number(clip.norm_before[peak])}, becomes {number(clip.norm_after[peak])}."
        )
        if len(self.runs) < 2 or trace.nearest is None or not self._knows_end_of_nearest(trace):
            return sentence
        # The rates have no room in the summary.
        ends = self._describe_ends(trace, f"trained {self._trained_how(trace.nearest)}")
        return f"{sentence} {ends[0].upper()}{ends[1:]}."

    def _summary(self, trace: ClippingTrace) -> str:
        clip = trace.what_if
        sentence = f"Limit {number(clip.limit)}"
        if trace.method != "global":
            sentence += f" on the {METHODS[trace.method].name}"
        # With several runs the number of steps has no room.
        steps = _steps_of(trace.run) if len(self.runs) > 1 else counted(clip.steps, "step")
        sentence += f" clips {clip.percent()} of {steps}"
        if trace.median_turn >= TURN_SHOWN_FROM:
            sentence += f"; median turn {trace.median_turn:.1f}°"
            if trace.turns_are_of_buckets:
                sentence += f" of the largest of every {clip.stride} steps"
        return sentence + self._nearest_clause(trace) + "."

    def _nearest_clause(self, trace: ClippingTrace) -> str:
        """Say how runs with the nearest limit end. Empty where runs can't be compared."""
        nearest = trace.nearest
        if len(self.runs) < 2:
            return ""
        if nearest is None:
            return "; no run was trained with a limit near it" if trace.method == "global" else ""
        if not self._knows_end_of_nearest(trace):
            return ""
        limit = f"with limit {nearest}"
        if float(nearest) != trace.what_if.limit:
            limit += ", the nearest,"
        elif _is_unlimited(trace.run) or trace.run == nearest:
            # If the recorded run had a limit of its own, "it" would be read as that one.
            limit = "with it"
        return f"; {self._describe_ends(trace, limit)}"

    def _knows_end_of_nearest(self, trace: ClippingTrace) -> bool:
        """Whether the runs with the nearest limit have a final loss."""
        return trace.nearest is not None and bool(np.isfinite(trace.ends[trace.nearest]))

    def _describe_ends(self, trace: ClippingTrace, trained: str) -> str:
        """Say how runs with the nearest limit end, which are called as `trained` has it."""
        assert trace.nearest is not None
        if not self.has_seeds:
            return f"the run {trained} ends at loss {trace.ends[trace.nearest]:.2f}"
        ends = self._final_losses(trace.nearest)
        return f"{len(ends)} runs {trained} end at losses of {ends.min():.2f} to {ends.max():.2f}"

    def _table(self, trace: ClippingTrace) -> Iterator[tuple[str, str]]:
        clip = trace.what_if
        run = self.runs[trace.run]
        factor = clip.median_factor
        yield "clip by", METHODS[trace.method].name
        yield "limit", number(clip.limit)
        yield "steps on which it fires", clip.percent()
        yield "median factor", "none is finite" if np.isnan(factor) else number(factor)
        yield "median turn", f"{trace.median_turn:.1f} degrees"
        yield "largest turn", f"{np.nan_to_num(clip.angle).max():.1f} degrees"
        if not run.norms_only:
            yield from _tensor_rows(clip)
        if clip.stride > 1:
            yield "shown as", f"every {every(run)}"
        yield from self._loss_rows(trace)
        if clip.skipped:
            yield "steps that were skipped", number(clip.skipped)
        yield "exact or estimate", _exactness(trace, run)
        for k, sentence in enumerate(run.about):
            yield "what the log is" if k == 0 else "about the log", sentence

    def _loss_rows(self, trace: ClippingTrace) -> Iterator[tuple[str, str]]:
        if not self.is_char_rnn:
            end = trace.ends[trace.run]
            yield "loss at the end", f"{end:.2f}" if np.isfinite(end) else "not recorded"
            return
        for name, end in trace.ends.items():
            words = self._describe_seeds(name) if self.has_seeds else f"{end:.2f} nats, one run"
            yield f"final loss, {self._describe_run(name)}", words
        if self.has_seeds:
            yield "at the rates of a sweep", claims.sentence("clip.final_loss")
            yield "at one rate", claims.sentence("clip.same_rate")
        elif len(trace.ends) > 1:
            yield (
                "which limit is better",
                "one run of each can't say: another seed may turn the order round",
            )

    def _describe_seeds(self, name: str) -> str:
        """Return the final losses of the ten runs with a limit and a rate."""
        ends = self._final_losses(name)
        words = (
            f"median {np.median(ends):.2f} nats, {ends.min():.2f} to {ends.max():.2f} in "
            f"{len(ends)} runs"
        )
        lost = char_rnn.lost_runs(_limit_of(name), self.rates[name])
        if lost:
            words += f"; {lost} of them ended above the loss they began with"
        return words

    def _describe_run(self, name: str) -> str:
        """Return what the panel of losses calls a run: "limit 1, rate 0.28"."""
        limit = "no limit" if _is_unlimited(name) else f"limit {name}"
        return f"{limit}, rate {self.rates[name]:g}" if name in self.rates else limit

    def _trained_how(self, name: str) -> str:
        """Return how a run was trained: "at rate 0.28 with limit 1"."""
        limit = "without a limit" if _is_unlimited(name) else f"with limit {name}"
        return f"at rate {self.rates[name]:g} {limit}" if name in self.rates else limit

    def columns(self, trace: ClippingTrace) -> dict[str, np.ndarray]:
        return csv_columns(QUANTITIES, trace)

    # From a trace to a picture

    def make_view(self) -> ClippingPicture:
        return self.signed(ClippingPicture(self._run_data()))

    def draw(self, view: ClippingPicture, trace: ClippingTrace) -> None:
        if self.waits:
            return
        heavy = None if trace.nearest is None else self._run_loss(trace.nearest)
        view.draw(trace.what_if, trace.steps, heavy, trace.run_loss)

    def items(self, view: ClippingPicture, trace: ClippingTrace) -> Items | None:
        if self.waits:
            return None
        step, loss = trace.run_loss.loss
        places = {
            view.norms.axes: (step, trace.what_if.norm_before),
            view.losses.axes: (step, loss),
        }
        return Items("step", places, tooltip_values(QUANTITIES, trace))

    def drags(self, view: ClippingPicture) -> list[Drag]:
        return [
            Drag(view.norms.axes, y="limit", label="drag the limit in the steps"),
            Drag(view.counts.axes, y="limit", label="drag the limit in the histogram"),
        ]

    def _run_data(self) -> RunData:
        recordings = self.runs.values()
        norms = np.concatenate([rec.global_norm for rec in recordings])
        norms = norms[np.isfinite(norms) & (norms > 0)]
        return RunData(
            steps=max(rec.seen for rec in recordings),
            stride=max(rec.stride for rec in recordings),
            norm_range=(float(norms.min()), float(norms.max())) if norms.size else (0.1, 1.0),
            runs=[self._run_loss(name) for name in self.runs],
            loss_unit="loss (nats)" if self.is_char_rnn else "loss",
        )

    # Following a recorder that goes on

    def renewed(self, rec: Recorder) -> list[Control]:
        self.recording = {None: in_sight(rec)}
        return [_fit_slider(self.recording[None])]

    def needs(self) -> AxesRoom:
        data = self._run_data()
        losses = _bucket_losses(self.recording[None])[1]
        return AxesRoom(data.steps, data.stride, (data.norm_range, positive_range(losses)))

    def arrange_still(self, view: ClippingPicture) -> None:
        data = self._run_data()
        if self._room is not None:
            norm_range, loss_range = self._room.ranges
            # The loss curve of a run that goes on is drawn for every state. The axes only have to
            # be wide enough, and to have as many buckets as the lines are medians of.
            loss = np.full((2, max(2, -(-self._room.steps // data.stride))), np.nan)
            loss[1, :2] = loss_range
            data = data._replace(
                steps=self._room.steps, norm_range=norm_range, runs=[RunLoss("", loss)]
            )
        view.show_runs(data)


def _check_arguments(recording: Any, initial: Mapping[str, Any]) -> None:
    if isinstance(initial.get("run"), PathLike | Recorder | dict):
        raise TypeError(
            "run is the name of a run; your own Recorder goes first: gl.labs.clipping(rec)"
        )
    if isinstance(recording, dict) and not all(
        isinstance(rec, Recorder) for rec in recording.values()
    ):
        raise TypeError(
            "recording must be a gl.Recorder, the path of one that was saved, or what "
            "gl.models.char_rnn.record returned, got a dict with "
            f"{', '.join(map(repr, list(recording)[:3]))}. "
            "gl.record.read_log reads the log of another tool"
        )
    if isinstance(recording, dict):
        _check_limits(recording)


def _check_limits(recording: Mapping[Any, Recorder]) -> None:
    """Check the keys of runs by limit."""
    if not recording:
        raise ValueError("recording must hold at least one run, got an empty dict")
    for limit in recording:
        if limit is None:
            continue
        if isinstance(limit, bool) or not isinstance(limit, Real) or not 0 < float(limit) < np.inf:
            raise ValueError(
                "the keys of recording must be the limits that its runs were trained with: "
                f"positive finite numbers, or None for a run without a limit; got {limit!r}. Show "
                "a run whose limit isn't known by itself: gl.labs.clipping(rec)"
            )


def _add_free_run(tuned: dict[float | None, Recorder], free: Recorder) -> dict[Any, Recorder]:
    """Return the runs of the lab.

    Each is at its own rate; first stands one without a limit at the rate at which that explodes.
    """
    limited = {limit: rec for limit, rec in tuned.items() if limit is not None}
    return {None: free, TUNED_FREE: tuned[None], **limited}


def _rates_by_name() -> dict[str, float]:
    """Return the learning rates of those runs."""
    rates = {"none": char_rnn.ONE_RATE}
    for limit, rate in char_rnn.TUNED.items():
        rates[TUNED_FREE if limit is None else _run_name(limit)] = rate
    return rates


def _run_name(limit: float | str | None) -> str:
    """Return the name of a run, which links hold."""
    if limit is None:
        return "none"
    return limit if isinstance(limit, str) else f"{limit:g}"


def _is_unlimited(name: str) -> bool:
    return name in ("none", TUNED_FREE)


def _limit_of(name: str) -> float | None:
    return None if _is_unlimited(name) else float(name)


def _steps_of(name: str) -> str:
    """Return what the sentence above the picture calls the steps of a recorded run."""
    if name == "none":
        return "the unclipped run's steps"
    if name == TUNED_FREE:
        return "the tuned unclipped run's steps"
    return f"steps of the run with limit {name}"


def _fit_slider(rec: Recorder) -> Slider:
    """A slider from limits for single entries to the largest norm. It starts at the median norm."""
    norms = rec.global_norm
    # Entries of a log aren't known, and no limit on them is asked about.
    largest_entries = norms if rec.norms_only else rec["largest"].max(axis=1)
    start = 1.0
    if (norms > 0).any():
        start = float(np.nan_to_num(np.median(norms[np.isfinite(norms) & (norms > 0)]), nan=1.0))
    return limit_slider(reach(norms, largest_entries / 10), start)


def _bucket_losses(rec: Recorder) -> np.ndarray:
    """Return (2, buckets): the first step of each, and its loss, NaN where none was recorded."""
    loss = rec["loss"] if "loss" in rec.scalars else np.full(len(rec), np.nan)
    return np.stack([rec.step, loss])


def _final_loss(rec: Recorder) -> float:
    """Return the mean loss of the last steps that have one, or NaN."""
    if "loss" not in rec.scalars:
        return np.nan
    loss = rec.every_step("loss")
    loss = loss[np.isfinite(loss)]
    return float(np.mean(loss[-char_rnn.AT_END :])) if loss.size else np.nan


def _tensor_rows(clip: WhatIf) -> Iterator[tuple[str, str]]:
    """Name the tensors on which the limit fires; of many those on which it fires most."""
    unnamed = len(clip.names) - TENSORS_NAMED
    named: Sequence[int] = range(len(clip.names))
    if unnamed > 0:
        named = np.argsort(-clip.share_by_tensor, kind="stable")[:TENSORS_NAMED].tolist()
    for k in named:
        yield f"fires on {clip.names[k]}", clip.percent_of(k)
    if unnamed > 0:
        yield "tensors on which it fires less", str(unnamed)


def _exactness(trace: ClippingTrace, run: Recorder) -> str:
    """Say whether the numbers are exact, or where their estimates come from."""
    clip = trace.what_if
    if clip.exact:
        return "exact"
    if trace.method == "value" and clip.stride == 1:
        return f"estimate from histograms of {run.counted_in}"
    return f"estimate: {clip.note}"

"""Drag a limit over the recorded gradients of a real run."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, number
from ...live import Button, Description, Drag, Items, Menu, Slider
from ...models import char_rnn, claims
from ...record import Recorder
from ...record.analysis.what_if import OF_A_STEP, WhatIf
from ...record.shares import Steps, by_step
from .._following import FollowingLab, Room, positive_range
from .._lab import Control, Target
from .._own_run import every, in_sight, limit_slider, reach, without_none, written
from .picture import ClippingView, Trained

Recording = str | PathLike[str] | Recorder | dict[float | None, Recorder] | None

TUNED_FREE = "none tuned"  # the run without a limit at its own rate; links hold the name

METHODS = (("global", "global norm"), ("norm", "norm of each tensor"), ("value", "value of each entry"))
_NAMED = 8  # tensors that the table names
_NEAR = 3.0  # times a limit, at most, that another is called near to it
_QUARTILES = (25, 50, 75)  # percent
_LEAST, _MOST = 0.001, 1000.0  # the limits that a slider reaches in any case
_KINDS = {"global": "clip_global_norm", "norm": "clip_norm", "value": "clip_value"}


class Answer(NamedTuple):
    """One limit over one run, and the recorded run nearest to it, None if none is near.

    `steps` are single ones, None if not all are known any more; `ends` are the final losses of all runs, NaN where
    there is none.
    """

    what_if: WhatIf
    steps: Steps | None
    run: str
    nearest: str | None
    ends: dict[str, float]


def _keeps_95(trace: Answer) -> tuple[bool, str]:
    fired = trace.what_if.fraction_fired
    return 0.02 <= fired <= 0.05, f"Now {trace.what_if.percent()} of the steps are clipped"


def _turns_little(trace: Answer) -> tuple[bool, str]:
    answer, turn = trace.what_if, _median_turn(trace.what_if)
    if answer.kind != _KINDS["norm"]:
        return False, f"Now the clip is by the {_called(answer)}"
    now = f"Now {answer.percent()} of the steps are clipped, with a median turn of {turn:.1f} degrees"
    return answer.fraction_fired >= 2 / 3 and turn < 5, now


def clipping(
    recording: Recording = None,
    *,
    limit: float | None = None,
    method: Literal["global", "norm", "value"] = "global",
    run: str | None = None,
    target: Literal["keep_95", "turn_little"] | None = None,
) -> ClippingLab:
    """Drag a limit over the recorded gradients of a recurrent network and see what every step would have become.

    At a glance: The limit flattens all that is above it. At rate 0.4, nine of ten runs without a limit end above a loss
    of 3; with limit 1, one of 20 does.

    The losses are medians and quartiles of ten runs for each limit, at the learning rate that a sweep chose for it, and
    of ten without a limit at rate 0.4. What they say of the limits is under *Values*, see `gradlab.models.claims`.

    The shipped recording comes with a button that records one run of each again on this machine. Of your own recorder
    the lab follows the run while it goes on, at most a few times a second, see `run_layers`.

    Args:
        recording: your own `Recorder`, the path of one that was saved, or runs by limit, as
            `gl.models.char_rnn.record()` returns; the shipped recording by default.
        limit: the clip limit, on a log scale as wide as the norms of the runs; by default 1, or the median norm of your
            own run.
        method: "global" clips by the global norm, "norm" by the norm of each tensor, "value" clips each entry.
        run: the recorded run whose norms are shown. Of the shipped ones "none", the default, explodes without a limit
            at rate 0.4; "none tuned" has no limit and a rate of its own; "0.1", "0.3", "1" and "3" are named by their
            limits.
        target: a goal that is shown above the picture until it is reached.

    Raises:
        ValueError: the file isn't a recording, or nothing is recorded yet.
        TypeError: not a recording, or one given as `run`, which takes a name.

    >>> lab = clipping(limit=1.0, run="0.3")
    >>> lab.description.summary
    'Limit 1 clips 11.3% of steps of the run with limit 0.3; 10 runs with limit 1 end at losses of 2.10 to 2.17.'
    """
    return ClippingLab(recording, target=target, method=method, **without_none(limit=limit, run=run))


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
        "keep_95": Target("clip at least 2% and at most 5% of the steps", _keeps_95),
        "turn_little": Target(
            "clip by the norm of each tensor on at least two thirds of the steps, with a median turn below 5 degrees",
            _turns_little,
        ),
    }

    def __init__(self, recording: Recording = None, *, target: str | None = None, **initial: Any) -> None:
        if isinstance(initial.get("run"), PathLike | Recorder | dict):
            raise TypeError("run is the name of a run; your own Recorder goes first: gl.labs.clipping(rec)")
        if isinstance(recording, dict) and not all(isinstance(rec, Recorder) for rec in recording.values()):
            raise TypeError(
                "recording must be a gl.Recorder, the path of one that was saved, or what "
                f"gl.models.char_rnn.record returned, got a dict with {', '.join(map(repr, list(recording)[:3]))}. "
                "Norms of a log can be put into a recorder: gl.Recorder(entries=0), then prepare and extend"
            )
        self.own = recording is not None  # it cannot be recorded afresh
        if self.own:
            self.source = written(recording)
        self.trained = recording is None or isinstance(
            recording, dict
        )  # by gradlab.models.char_rnn: the loss has a unit
        self.rates: dict[str, float] = {}  # of the runs by name, where they are known
        self.many_seeds = recording is None  # the losses are of ten runs each
        given = recording
        if recording is not None and not isinstance(recording, dict):
            recording = {None: in_sight(self.taken(recording))}
        if recording is None:
            recording = _with_free(char_rnn.tuned(), char_rnn.shipped()[None])
            self.rates = _rates()
        self.recording: dict[Any, Recorder] = recording
        self._curves: dict[str, tuple[Recorder, int, Trained]] = {}
        self._own: dict[str, tuple[Recorder, int, Trained]] = {}
        if empty := [name for name, rec in self.runs.items() if not len(rec)]:
            whose = f" in the run {empty[0]!r}" * (len(self.runs) > 1)
            raise ValueError(f"nothing is recorded yet{whose}: call rec.record(grads, loss=loss) in every step first")
        super().__init__(target, **initial)
        self.presets = self.own_presets()  # type: ignore[misc]
        self.follow(given)

    @property
    def runs(self) -> dict[str, Recorder]:
        """The recorded runs by name: "none", "none tuned", "0.1", ..."""
        return {_name(limit): rec for limit, rec in self.recording.items()}

    def make_controls(self) -> list[Control]:
        runs = [(name, self._label(name) if self.trained else "your own") for name in self.runs]
        recorded = "Run recorded with" if self.trained else "Run"
        afresh = [] if self.own else [Button("record", "Record again", self.record_afresh, folded=True)]
        return [
            self._wide_slider() if self.trained else self._fitting(self.recording[None]),
            Menu("method", "Clip by", METHODS, "global"),
            Menu("run", recorded, runs, "none" if "none" in self.runs else runs[0][0]),
            *afresh,
        ]

    def _wide_slider(self) -> Slider:
        """Return a slider up to a limit that clips no step of any run."""
        _, largest = reach(*(rec.global_norm for rec in self.runs.values()))
        return Slider("limit", "Limit", _LEAST, max(_MOST, largest), 1.0, scale="log", step=40, play=True)

    @staticmethod
    def _fitting(rec: Recorder) -> Slider:
        """From limits for single entries to the largest norm; it starts where the norms are in the middle."""
        norms, largest = rec.global_norm, rec["largest"].max(axis=1)
        middle = np.median(norms[np.isfinite(norms) & (norms > 0)]) if (norms > 0).any() else 1.0
        return limit_slider(reach(norms, largest / 10), float(np.nan_to_num(middle, nan=1.0)))

    def own_presets(self) -> dict[str, Mapping[str, Any]]:
        known = dict(type(self).presets) if self.trained else self._suggestions()
        return {label: values for label, values in known.items() if values["run"] in self.runs}

    def renewed(self, rec: Recorder) -> list[Control]:
        self.recording = {None: in_sight(rec)}
        return [self._fitting(self.recording[None])]

    def needs(self) -> Room:
        rec, (steps, ends, _, _, stride) = self.recording[None], self._still()
        return Room(steps, stride, (ends, positive_range(_loss(rec)[1])))

    def arrange_still(self, view: ClippingView) -> None:
        steps, ends, runs, unit, stride = self._still()
        if (room := self._room) is not None:  # of the loss only the ends: its curve moves
            steps, (ends, of_loss) = room.steps, room.ranges
            loss = np.full((2, max(2, -(-steps // stride))), np.nan)  # as many buckets as the lines are medians of
            loss[1, :2] = of_loss
            runs = [Trained("", loss)]
        view.still(steps, ends, runs, unit, stride)

    def _suggestions(self) -> Mapping[str, Mapping[str, Any]]:
        """Presets for one's own run: the suggested limit, in two ways; none where there is nothing to clip."""
        try:
            suggested = self.recording[None].summary().suggested
        except ValueError:
            return {}
        if suggested is None:  # the run is sick: see Summary
            return {}
        slider: Any = self._controls["limit"]
        limit = {"limit": slider.shown(suggested), "run": "none"}
        each = {"The suggested limit": "global", "Suggested limit, per tensor": "norm"}
        return {title: limit | {"method": method} for title, method in each.items()}

    def compute(self, values: dict[str, Any]) -> Answer:
        runs, limit, method = self.runs, values["limit"], values["method"]
        answer = runs[values["run"]].what_if(**{_KINDS[method]: limit})
        limits = {name: float(name) for name in runs if not _is_free(name)}
        away = {name: abs(np.log(own / limit)) for name, own in limits.items()}
        nearest: str | None = min(away, key=lambda name: away[name], default="none")
        # All were trained with a limit on the global norm: to another kind none is near.
        if nearest in away and (method != "global" or away[nearest] > np.log(_NEAR)):
            nearest = None
        run = runs[values["run"]]
        steps = by_step(run, OF_A_STEP[answer.kind], limit) if run.known.all() else None
        return Answer(answer, steps, values["run"], nearest, {name: self._trained(name).end for name in runs})

    def make_view(self) -> ClippingView:
        return self.signed(ClippingView(*self._still()))

    def _still(self) -> tuple[int, tuple[float, float], list[Trained], str, int]:
        norms = np.concatenate([rec.global_norm for rec in self.runs.values()])
        norms = norms[np.isfinite(norms) & (norms > 0)]
        ends = (float(norms.min()), float(norms.max())) if norms.size else (0.1, 1.0)
        runs = [self._trained(name) for name in self.runs]
        steps, stride = max(rec.seen for rec in self.runs.values()), max(rec.stride for rec in self.runs.values())
        return steps, ends, runs, "loss (nats)" if self.trained else "loss", stride

    def _trained(self, name: str) -> Trained:
        """A run's losses, computed once for as many steps as it has."""
        rec = self.runs[name]
        kept = self._curves.get(name)
        if kept is None or kept[:2] != (rec, rec.seen):
            line = self._of_seeds(name) if self.many_seeds else self._recorded(name)
            kept = rec, rec.seen, line
            self._curves[name] = kept
        return kept[2]

    def _recorded(self, name: str) -> Trained:
        """Return the losses of the recorded run itself, computed once for as many steps as it has."""
        rec = self.runs[name]
        kept = self._own.get(name)
        if kept is None or kept[:2] != (rec, rec.seen):
            kept = rec, rec.seen, Trained(self._label(name), _loss(rec), _end(rec), free=name == "none")
            self._own[name] = kept
        return kept[2]

    def _of_seeds(self, name: str) -> Trained:
        """Return the losses of the ten runs that have the limit and the rate of a recorded one."""
        limit = None if _is_free(name) else float(name)
        losses = char_rnn.seed_losses(limit, self.rates[name])
        low, middle, high = np.percentile(losses, _QUARTILES, axis=0)
        end = float(np.median(char_rnn.final_losses(limit, self.rates[name])))
        curve = np.stack([np.arange(len(middle)), middle])
        band = np.stack([low, high])
        recorded = self._recorded(name).loss[1]
        return Trained(self._label(name), curve, end, name == "none", band, len(losses), recorded)

    def _label(self, name: str) -> str:
        """Return what the panel of losses calls a run."""
        limit = "no limit" if _is_free(name) else f"limit {name}"
        return f"{limit}, rate {self.rates[name]:g}" if name in self.rates else limit

    def _with_limit(self, name: str) -> str:
        """Return how a sentence says with which limit a run was trained, and at which rate."""
        limit = "without a limit" if _is_free(name) else f"with limit {name}"
        return f"at rate {self.rates[name]:g} {limit}" if name in self.rates else limit

    def draw(self, view: ClippingView, trace: Answer) -> None:
        if self.waits:
            return
        chosen = None if trace.nearest is None else self._trained(trace.nearest)
        view.draw(trace.what_if, trace.steps, chosen, self._recorded(trace.run))

    def items(self, view: ClippingView, trace: Answer) -> Items | None:
        if self.waits:
            return None
        a, (step, loss) = trace.what_if, _loss(self.runs[trace.run])
        places = {view.norm: (step, a.norm_before), view.loss: (step, loss)}
        values = {"norm before": a.norm_before, "norm after": a.norm_after, "turn (degrees)": a.angle, "loss": loss}
        return Items("step", places, values)

    def drags(self, view: ClippingView) -> list[Drag]:
        places = {"steps": view.norm, "histogram": view.spread}
        return [Drag(axes, y="limit", label=f"drag the limit in the {name}") for name, axes in places.items()]

    def describe(self, trace: Answer) -> Description:
        answer, method = trace.what_if, _called(trace.what_if)
        fired, steps = answer.percent(), counted(answer.steps, "step")
        turned = f"; median turn {_median_turn(answer):.1f}°" if _median_turn(answer) >= 0.05 else ""
        on = "" if answer.kind == _KINDS["global"] else f" on the {method}"
        turn, peak = f"{_median_turn(answer):.1f} degrees", np.argmax(np.nan_to_num(answer.norm_before))
        every_ = answer.stride == 1 or answer.kind == _KINDS["global"]
        of = "" if every_ else f" of the largest of every {answer.stride} steps"
        shares, more = answer.share_by_tensor, len(answer.names) - _NAMED
        most = np.argsort(-shares, kind="stable")[:_NAMED].tolist() if more > 0 else range(len(shares))
        run = f"run recorded {self._with_limit(trace.run)}" if self.trained else "recorded run"
        # The sentence has to fit on a line. The rates and the number of steps are in the alternative text.
        whose = _steps_of_run(trace.run) if len(self.runs) > 1 else steps
        return Description(
            alt=f"Clipping by {method} at {number(answer.limit)} fires on {fired} of {steps} of the {run}; the "
            f"largest norm, {number(answer.norm_before[peak])}, becomes {number(answer.norm_after[peak])}."
            f"{self._ends_of_nearest_in_full(trace)}",
            summary=f"Limit {number(answer.limit)}{on} clips {fired} of {whose}"
            f"{turned and turned + of}{self._ends_of_nearest(trace)}.",
            table=(
                ("clip by", method),
                ("limit", number(answer.limit)),
                ("steps on which it fires", fired),
                ("median factor", "none is finite" if np.isnan(factor := answer.median_factor) else number(factor)),
                ("median turn", turn),
                ("largest turn", f"{np.nan_to_num(answer.angle).max():.1f} degrees"),
                *((f"fires on {answer.names[k]}", answer.percent_of(k)) for k in most),
                *([("tensors on which it fires less", f"{more}")] if more > 0 else []),
                *([("shown as", f"every {every(self.runs[trace.run])}")] if answer.stride > 1 else []),
                *self._ends(trace),
                *([("steps that were skipped", number(answer.skipped))] if answer.skipped else []),
                ("exact or estimate", "exact" if answer.exact else _estimated(answer, self.runs[trace.run])),
            ),
        )

    def _ends_of_nearest(self, trace: Answer) -> str:
        """Return how runs trained with the limit, or with the nearest one, end; nothing where there is one run."""
        near = trace.nearest
        if len(self.runs) < 2:
            return ""
        if near is None:
            is_global = trace.what_if.kind == _KINDS["global"]
            return "; no run was trained with a limit near it" if is_global else ""
        if not np.isfinite(trace.ends[near]):
            return ""
        if float(near) != trace.what_if.limit:
            return f"; {self._end_in_words(trace, f'with limit {near}, the nearest,')}"
        # Where the recorded run has another limit, "it" would be read as that one.
        is_clear = _is_free(trace.run) or trace.run == near
        return f"; {self._end_in_words(trace, 'with it' if is_clear else f'with limit {near}')}"

    def _ends_of_nearest_in_full(self, trace: Answer) -> str:
        """Return the same as a sentence of its own, with the rate."""
        near = trace.nearest
        if len(self.runs) < 2 or near is None or not np.isfinite(trace.ends[near]):
            return ""
        words = self._end_in_words(trace, f"trained {self._with_limit(near)}")
        return f" {words[0].upper()}{words[1:]}."

    def _end_in_words(self, trace: Answer, trained: str) -> str:
        """Return at which loss the runs with the nearest limit end, which are called as trained so."""
        near = trace.nearest
        assert near is not None
        if not self.many_seeds:
            return f"the run {trained} ends at loss {trace.ends[near]:.2f}"
        ends = char_rnn.final_losses(float(near), self.rates[near])
        return f"{len(ends)} runs {trained} end at losses of {ends.min():.2f} to {ends.max():.2f}"

    def _ends(self, trace: Answer) -> list[tuple[str, str]]:
        """Return the rows on final losses; what trained the shipped runs, and in which unit their loss is, is known."""
        if not self.trained:
            end = trace.ends[trace.run]
            return [("loss at the end", f"{end:.2f}" if np.isfinite(end) else "not recorded")]
        if self.many_seeds:
            rows = [(f"final loss, {self._label(name)}", self._end_of_seeds(name)) for name in trace.ends]
            claim_ids = {"at the rates of a sweep": "clip.final_loss", "at one rate": "clip.same_rate"}
            return rows + [(where, claims.sentence(claim)) for where, claim in claim_ids.items()]
        rows = [(f"final loss, {self._label(name)}", f"{end:.2f} nats, one run") for name, end in trace.ends.items()]
        if len(rows) > 1:
            rows.append(("which limit is better", "one run of each can't say: another seed may turn the order round"))
        return rows

    def _end_of_seeds(self, name: str) -> str:
        """Return the final losses of the runs with a limit and a rate, in words."""
        limit = None if _is_free(name) else float(name)
        ends = char_rnn.final_losses(limit, self.rates[name])
        lost = char_rnn.lost_runs(limit, self.rates[name])
        words = f"median {np.median(ends):.2f} nats, {ends.min():.2f} to {ends.max():.2f} in {len(ends)} runs"
        return f"{words}; {lost} of them ended above the loss they began with" if lost else words

    def columns(self, trace: Answer) -> dict[str, np.ndarray]:
        a, (step, loss) = trace.what_if, _loss(self.runs[trace.run])
        return {
            "step": step.astype(int), "norm_before": a.norm_before, "norm_after": a.norm_after,
            "factor": a.factor, "fired": a.fired.astype(int), "turn_degrees": a.angle,
            "fraction_of_entries_hit": a.fraction_hit, "loss": loss,
        }  # fmt: skip

    def record_afresh(self) -> None:
        """Train again on this machine, about half a minute, and show one new run of each in place of the shipped ones.

        The losses are of one run of each then, and no longer of ten.
        """

        def progress(text: str) -> None:
            self.live.say(f"Recording: {text} ...")

        seed = char_rnn.TYPICAL_SEED
        tuned = char_rnn.record(seed=seed, rate=char_rnn.TUNED, progress=progress)
        free = char_rnn.record(limits=(None,), progress=progress)
        runs = _with_free(tuned, free[None])

        def change() -> None:
            self.recording = runs
            self.trained = True
            self.many_seeds = False
            self._view.still(*self._still())

        self.live.redraw_still(change)
        one = "Recorded afresh on this machine: one run of each, which can't say which limit is better."
        self.live.say(f"{one} {self.live.description.summary}")


def _with_free(tuned: dict[float | None, Recorder], free: Recorder) -> dict[Any, Recorder]:
    """Return the runs of the lab: at their own rates, and without a limit at the rate at which that explodes."""
    limited = {limit: rec for limit, rec in tuned.items() if limit is not None}
    return {None: free, TUNED_FREE: tuned[None], **limited}


def _rates() -> dict[str, float]:
    """Return the learning rates of those runs by name."""
    own = {TUNED_FREE if limit is None else _name(limit): rate for limit, rate in char_rnn.TUNED.items()}
    return {"none": char_rnn.ONE_RATE, **own}


def _name(limit: float | str | None) -> str:
    """Return the name of a run, which links hold."""
    if limit is None:
        return "none"
    return limit if isinstance(limit, str) else f"{limit:g}"


def _is_free(name: str) -> bool:
    """Whether a run of this name had no limit."""
    return name in ("none", TUNED_FREE)


def _steps_of_run(name: str) -> str:
    """Return what the sentence above the picture calls the steps of a recorded run."""
    if name == "none":
        return "the unclipped run's steps"
    if name == TUNED_FREE:
        return "the tuned unclipped run's steps"
    return f"steps of the run with limit {name}"


def _called(answer: WhatIf) -> str:
    """The norm or entries that are limited."""
    return dict(METHODS)[next(method for method, kind in _KINDS.items() if kind == answer.kind)]


def _median_turn(answer: WhatIf) -> float:
    """Degrees, over the steps that have a direction before and after; 0 if none has."""
    angle = answer.angle  # often 0 throughout
    return float(np.nanmedian(angle)) if angle.any() and np.isfinite(angle).any() else 0.0


def _loss(run: Recorder) -> np.ndarray:
    """(2, buckets) the first step of each, and its loss, NaN where none was recorded."""
    return np.stack([run.step, run["loss"] if "loss" in run.scalars else np.full(len(run), np.nan)])


def _end(run: Recorder) -> float:
    """Mean loss of the last steps that have one; NaN if none has."""
    loss = run.every_step("loss") if "loss" in run.scalars else np.empty(0)
    loss = loss[np.isfinite(loss)]
    return float(np.mean(loss[-char_rnn.AT_END :])) if loss.size else np.nan


def _estimated(answer: WhatIf, run: Recorder) -> str:
    """From what the estimates of an answer come."""
    alone = answer.kind == _KINDS["value"] and answer.stride == 1
    return f"estimate from histograms of {run.counted_in}" if alone else f"estimate: {answer.note}"

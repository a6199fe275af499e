"""Adagrad on the gradients of a recorded run: who would have frozen, who never moved."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._base.numbers import counted, listed, number, percent
from ..figures.run_adagrad import Entries, EntriesView
from ..figures.run_rows import MOST_ROWS
from ..live import Description, Drag, Items, LiveFigure, Menu, Slider
from ..record import Recorder
from ..record.frozen import Frozen, Rates, adagrad_rates, at_bucket, ends
from ..rules import Adagrad
from ._following import FollowingLab, Room
from ._lab import Control, Target
from ._own_run import Recording, RunLab, every, follow_clicks, in_sight

_POSITIONS = 100  # of the slider for the step
_NAMED = 8  # tensors that the table names
_MOVES, _FROZEN, _STILL, _LOST = range(4)  # what may be of an entry


class Answer(NamedTuple):
    """Adagrad over a run, and what it has come to after some buckets of it.

    Attributes:
        rates: of all entries over the run. frozen: after so many buckets. done: how many. entry: the chosen one.
    """

    rates: Rates
    frozen: Frozen
    done: int
    entry: int

    @property
    def state(self) -> np.ndarray:
        """(entries,) moves, frozen, never moved, or lost to Inf or NaN."""
        f = self.frozen
        return np.select([f.overflowed | f.spoiled, f.still, f.frozen], [_LOST, _STILL, _FROZEN], _MOVES)


def _all_alive(trace: Answer) -> tuple[bool, str]:
    done = trace.done == len(trace.rates.share) - 1
    strict = trace.frozen.below >= 0.1
    but = ", but not at the end of the run" * (not done) + ", below a lower threshold" * (not strict)
    return done and strict and trace.frozen.fraction <= 0.05, f"{percent(trace.frozen.fraction)} are frozen now{but}"


def _first_gone(trace: Answer) -> tuple[bool, str]:
    shares = trace.frozen.share_by_tensor[trace.frozen.sampled_by_tensor > 1]
    gone, others = float(np.nanmax(shares, initial=0)), np.sort(np.nan_to_num(shares))[:-1].max(initial=0)
    small = trace.frozen.rule.initial_accumulator_value <= 1
    now = f"{percent(gone)} of one tensor and {percent(others)} of the next are frozen now"
    now += ", from a large accumulator" * (not small)
    return bool(small and gone == 1 and others <= 0.5), now


class run_adagrad(FollowingLab, RunLab):
    """Run Adagrad's accumulator over a recorded run and see which entries it freezes, and which never moved at all.

    At a glance: With time dots wander left across the threshold, whole tensors freeze, and some entries never moved.

    Each dot is one of the entries that were sampled, in the row of its tensor, at its effective learning rate over the
    rate it started with; an entry is frozen below a threshold. The learning rate itself has no say in that. Point at a
    dot for its name, click it for its story. An accumulator beyond float32 is infinite, and its entry frozen for good.

    Of your own recorder it follows the run while it goes on, see `run_layers`.

    Controls: `step` (steps done), `initial` (the initial accumulator, log scale), `below` (the share of its first rate
    below which an entry is frozen, log scale), `entry` (the one whose story is told) and `epsilon` (log scale).

    Args:
        recording: your own `Recorder`, or the path of one that was saved; by default the shipped run of the reader.
        **initial: step, initial, below, entry, epsilon.

    Raises:
        ValueError: the file isn't a recording, nothing is recorded yet, or no single entries are. TypeError: neither a
            recording nor a path.

    >>> run_adagrad(initial=10.0).description.summary
    'After 512 steps 25 of 128 sampled entries are frozen: below 10% of their first rate.'
    """

    label = "Adagrad on a recorded run"
    axis = "step"
    targets: ClassVar = {
        "all_alive": Target(
            "with a threshold of at least 10%, keep 95% of the sampled entries from freezing until the end of the run",
            _all_alive,
        ),
        "first_gone": Target(
            "with an initial accumulator of at most 1, find a step at which all entries of one tensor are frozen, "
            "but at most half of any other tensor's",
            _first_gone,
        ),
    }

    def __init__(self, recording: Recording | None = None, *, target: str | None = None, **initial: Any) -> None:
        super().__init__(recording, target=target, **initial)
        self.presets = self.own_presets()  # type: ignore[misc]
        self.follow(recording)

    def own_presets(self) -> dict[str, Mapping[str, Any]]:
        end = self.rec.seen
        return {
            "The accumulator of Keras": {"initial": 0.1, "epsilon": 1e-7, "below": 0.1, "step": end},
            "A large accumulator": {"initial": 10.0, "epsilon": 1e-7, "below": 0.1, "step": end},
            "A tiny accumulator": {"initial": 1e-6, "epsilon": 1e-10, "below": 0.1, "step": end},
            "Before the first step": {"initial": 0.1, "epsilon": 1e-7, "below": 0.1, "step": 0},
        }

    def make_controls(self) -> list[Control]:
        rec = self.rec = in_sight(self.rec)
        self._square, self._ends = rec["square"], ends(rec)
        self._names = tuple(rec.entry_name(k) for k in range(len(rec.sampled[0])))
        self._ran = functools.lru_cache(maxsize=32)(self._rates)
        grown = self._square.sum(axis=0, dtype=np.float64)
        grown = np.where(np.isfinite(grown), grown, -1.0)
        step = max(1, -(-rec.seen // (_POSITIONS * rec.stride))) * rec.stride
        return [
            Slider("step", "Steps done", 0, rec.seen, rec.seen, scale="integer", step=step, play=True),
            Slider("initial", "Initial accumulator", 1e-6, 1000.0, 0.1, scale="log", step=8),
            Slider("below", "Frozen below", 0.001, 0.5, 0.1, scale="log", step=20, unit="of the start"),
            Menu("entry", "Entry", self._names, self._names[int(np.argmax(grown))]),
            Slider("epsilon", "Epsilon", 1e-10, 1.0, 1e-7, scale="log", step=4, folded=True),
        ]

    def renewed(self, rec: Recorder) -> list[Control]:
        self.rec = rec
        vars(self).pop("_rows", None)
        return self.make_controls()

    def needs(self) -> Room:
        return Room(self.rec.seen, self.rec.stride, ((self._highest, self._highest),))

    def arrange_still(self, view: EntriesView) -> None:
        room = self._room or self.needs()
        view.still(room.steps, room.ranges[0][1])

    def _rates(self, rule: Adagrad) -> Rates:
        return adagrad_rates(self._square, rule)

    def compute(self, values: dict[str, Any]) -> Answer:
        rule = Adagrad(values["initial"], values["epsilon"])
        rates = self._ran(rule)
        done = int(np.searchsorted(self._ends, values["step"], side="right")) - 1
        return Answer(
            rates, at_bucket(self.rec, rates, done, rule, values["below"]), done, self._names.index(values["entry"])
        )

    @functools.cached_property
    def _rows(self) -> list[int]:
        """The tensors to show: all, or of many those whose entries have the largest gradients, in the run's order."""
        tensor, count = self.rec.sampled[0], len(self.rec.names)
        size = np.zeros(count)
        np.maximum.at(size, tensor, np.nan_to_num(self._square.max(axis=0), nan=np.inf))
        return sorted(np.argsort(-size, kind="stable")[:MOST_ROWS].tolist())

    def make_view(self) -> EntriesView:
        return self.signed(EntriesView(len(self._rows), self._ends, self._highest))

    @property
    def _highest(self) -> float:
        """The final values of accumulators."""
        largest = self._square.sum(axis=0, dtype=np.float64)
        largest = largest[np.isfinite(largest)].max(initial=1.0)
        return float(min(10.0 ** np.ceil(np.log10(1000.0 + largest)), 1e38))

    def draw(self, view: EntriesView, trace: Answer) -> None:
        if self.waits:
            return
        view.over(self._ends)
        view.draw(self._shown(trace))

    def _shown(self, trace: Answer) -> Entries:
        rec, frozen, rows = self.rec, trace.frozen, self._rows
        place = np.full(len(rec.names), -1)
        place[rows] = np.arange(len(rows))
        mine = frozen.tensor == frozen.tensor[trace.entry]
        story = [
            np.stack([x[:, trace.entry], np.median(x[:, mine], axis=1)])
            for x in (trace.rates.share, trace.rates.accumulator)
        ]
        counts = frozen.sampled_by_tensor
        gone = np.nan_to_num(frozen.share_by_tensor * counts).round().astype(int)
        return Entries(
            [rec.names[k] for k in rows], place[frozen.tensor], frozen.share, trace.state, frozen.below,
            frozen.share_by_tensor[rows], [f"{gone[k]} of {counts[k]}" for k in rows], trace.entry,
            self._names[trace.entry], frozen.step, *story,
        )  # fmt: skip

    def items(self, view: EntriesView, trace: Answer) -> Items | None:
        if self.waits:
            return None
        values = {"rate in % of the first": 100 * trace.frozen.share, "accumulator": trace.frozen.accumulator}
        return Items("entry", {view.cloud: view.places(self._shown(trace))}, values, self._names)

    def drags(self, view: EntriesView) -> list[Drag]:
        return [
            Drag(view.cloud, x="below", label="drag the threshold of all entries"),
            Drag(view.rate, y="below", label="drag the threshold of the chosen entry"),
        ]

    def make_live(self, view: EntriesView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on an entry selects it."""
        return follow_clicks(super().make_live(view, **params), "entry", self._names)

    def describe(self, trace: Answer) -> Description:
        f, name = trace.frozen, self._names[trace.entry]
        rule, steps, story = f.rule, counted(f.step, "step"), _share(f.share[trace.entry])
        count, below = f"{f.frozen.sum()} of {len(f.frozen)}", f"{number(100 * f.below)}%"
        still = f"{f.still.sum()} never moved" if f.still.any() else "all have moved"
        gone = (f.overflowed | f.spoiled).sum()
        lost = f"; {gone} are lost to Inf or NaN" if gone else ""
        most = int(np.nanargmax(f.share_by_tensor))
        worst = f"most of all in {f.names[most]}, {percent(f.share_by_tensor[most])}"
        worst = worst if f.frozen.any() else "none anywhere"
        return Description(
            alt=f"Effective rates of {len(f.frozen)} sampled entries of {len(f.names)} tensors under Adagrad from "
            f"accumulator {number(rule.initial_accumulator_value)} after {steps}: {count} are below {below} of their "
            f"first rate, {worst}; {still}{lost}.",
            summary=f"After {steps} {count} sampled entries are frozen: below {below} of their first rate{lost}.",
            table=(
                (
                    "initial accumulator, epsilon",
                    f"{number(rule.initial_accumulator_value)}, {number(rule.epsilon)}",
                ),
                ("steps done", f"{f.step:,} of {self.rec.seen:,}, by {every(self.rec)}"),
                (f"frozen, below {below}", f"{count} sampled entries, {worst}"),
                *_by_tensor(f),
                ("never moved", listed(f.named(f.still)) or "none"),
                ("overflowed, frozen for good", listed(f.named(f.overflowed)) or "none"),
                ("NaN", listed(f.named(f.spoiled)) or "none"),
                (f"rate of {name}", story),
                (f"accumulator of {name}", number(f.accumulator[trace.entry])),
            ),
        )

    def columns(self, trace: Answer) -> dict[str, np.ndarray]:
        f, kinds = trace.frozen, np.array(["moves", "frozen", "never moved", "lost"])
        return {
            "share_of_first_rate": f.share, "accumulator": f.accumulator, "state": kinds[trace.state],
            "entry": np.array(self._names),
        }  # fmt: skip


def _by_tensor(f: Frozen) -> list[tuple[str, str]]:
    """Of the tensors with the largest shares, how much of them is frozen."""
    share, count = np.nan_to_num(f.share_by_tensor), f.sampled_by_tensor.tolist()
    order = np.argsort(-share, kind="stable")[:_NAMED].tolist()
    return [(f.names[k], f"{percent(float(share[k]))} of {count[k]:,}") for k in order]


def _share(share: float) -> str:
    return f"{number(100 * share)}% of its first rate"

"""Adagrad on the gradients of a recorded run: which entries their past holds back, and which have
no gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.arrays import quiet
from ..._base.numbers import counted, listed, number, percent
from ...live import Description, Drag, Items, LiveFigure, Menu, Slider
from ...record import HeldBack, Recorder
from ...record.analysis.held_back import BELOW, Past, share_in_words
from .._following import AxesRoom, FollowingLab
from .._lab import Control, Target
from .._own_run import Recording, RunLab, every, follow_clicks, in_sight, without_none
from .._quantities import TraceQuantity, csv_columns, tooltip_values
from ..tensor_rows import MOST_ROWS
from .picture import DrawnEntries, EntriesView

_POSITIONS = 100  # of the slider for the step
_NAMED = 8  # tensors that the table names
_STEADY, _HELD, _NO_GRADIENT, _FEW, _LOST = range(5)  # classes of an entry
_KINDS = np.array(["not held back", "held back", "no gradient", "too few gradients", "lost"])


class RunAdagradTrace(NamedTuple):
    """What Adagrad has come to after some buckets of a run.

    Attributes:
        found: of all entries.
        initial: the initial accumulator.
        entry: the chosen one.
        is_end: whether it is the end.
    """

    found: HeldBack
    initial: float
    entry: int
    is_end: bool

    @property
    def state(self) -> np.ndarray:
        """(entries,) the class of each."""
        f = self.found
        return np.select(
            [f.overflowed | f.spoiled, f.no_gradient, f.too_few, f.held],
            [_LOST, _NO_GRADIENT, _FEW, _HELD],
            _STEADY,
        )


QUANTITIES = (
    TraceQuantity("ratio", lambda trace: trace.found.ratio, "R"),
    TraceQuantity("sum_of_squares", lambda trace: trace.found.accumulator, "sum of squares"),
    TraceQuantity("state", lambda trace: _KINDS[trace.state]),
)


def _recovers(trace: RunAdagradTrace) -> tuple[bool, str]:
    held = int(trace.found.held.sum())
    reached = trace.found.step >= 100 and trace.found.below >= BELOW and held <= 1
    where = f"at step {trace.found.step:,} and threshold {trace.found.below:g}"
    return (
        reached,
        f"{counted(held, 'entry')} {'is' if held == 1 else 'are'} held back now, {where}",
    )


def _past_counts(trace: RunAdagradTrace) -> tuple[bool, str]:
    share = float((trace.found.initial_share(trace.initial) > 0.5).mean())
    at = "" if trace.is_end else ", but not at the end of the run"
    return (
        trace.is_end and share <= 0.05,
        f"it is more than half in {percent(share)} of the entries now{at}",
    )


def run_adagrad(
    recording: Recording | None = None,
    *,
    step: int | None = None,
    below: float = BELOW,
    initial: float = 0.1,
    entry: str | None = None,
    target: Literal["recovers", "past_counts"] | None = None,
) -> RunAdagradLab:
    """Run Adagrad over a recorded run and see which entries are held back by their past, and which have no gradient.

    At a glance: In the shipped run dots spread around 0.7; 12 of 99 lie below the threshold.

    Each dot is one of the entries that were sampled, in the row of its tensor, at R: its Adagrad
    rate is R times what steady gradients of the present size would leave it (`Recorder.held_back`).
    No factor on the loss changes R. Entries without a gradient in the last eighth of the steps
    stand apart at the right. Point at a dot for its name, click it for its story. What the initial
    accumulator does depends on the unit of the loss; its line is in the last panel.

    Of your own recorder it follows the run while it goes on, see `run_layers`.

    Args:
        recording: your own `Recorder`, or the path of one that was saved; by default the shipped
            run of the reader.
        step: how many steps are done; by default all.
        below: the R below which an entry is held back, 0.001 to 1.
        initial: the initial accumulator, 1e-06 to 1000.
        entry: the one whose story is told, "embed[0, 0]"; by default the one that is held back
            most.
        target: a goal that is shown above the picture until it is reached.

    Raises:
        ValueError: the file isn't a recording, nothing is recorded yet, or no single entries are.
        TypeError: neither a recording nor a path.

    >>> run_adagrad().description.summary
    'After 512 steps 12 of 99 countable entries are held back; of 2 judged tensors none is in trouble.'
    """
    return RunAdagradLab(
        recording,
        target=target,
        below=below,
        initial=initial,
        **without_none(step=step, entry=entry),
    )


class RunAdagradLab(FollowingLab, RunLab):
    """Lab of `run_adagrad`: the entries of a recorded run under Adagrad."""

    function = "run_adagrad"
    label = "Adagrad on a recorded run"
    axis = "step"
    targets: ClassVar = {
        "recovers": Target(
            "with a threshold of at least 0.1, find a step from 100 on at which at most one entry "
            "is held back",
            _recovers,
        ),
        "past_counts": Target(
            "at the end of the run, choose an initial accumulator that is more than half of the "
            "accumulator in at most 5% of the entries",
            _past_counts,
        ),
    }

    def __init__(
        self, recording: Recording | None = None, *, target: str | None = None, **initial: Any
    ) -> None:
        super().__init__(recording, target=target, **initial)
        self.presets = self.own_presets()  # type: ignore[misc]
        self.follow(recording)

    def own_presets(self) -> dict[str, Mapping[str, Any]]:
        end = self.rec.seen
        middle = self._controls["step"]
        half = middle.at(middle.position(end / 2)) if isinstance(middle, Slider) else end
        return {
            "The end of the run": {"step": end, "below": BELOW, "initial": 0.1},
            "About half of the run": {"step": half, "below": BELOW, "initial": 0.1},
            "A small initial accumulator": {"step": end, "below": BELOW, "initial": 1e-3},
        }

    def make_controls(self) -> list[Control]:
        rec = self.rec = in_sight(self.rec)
        self._past = Past(rec)
        # By entry: medians over a tensor take a while.
        self._stories: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._names = tuple(rec.entry_name(k) for k in range(len(rec.sampled[0])))
        step = max(1, -(-rec.seen // (_POSITIONS * rec.stride))) * rec.stride
        return [
            Slider(
                "step", "Steps done", 0, rec.seen, rec.seen, scale="integer", step=step, play=True
            ),
            Slider("below", "Held back below R =", 0.001, 1.0, BELOW, scale="log", step=20),
            Slider("initial", "Initial accumulator", 1e-6, 1000.0, 0.1, scale="log", step=8),
            Menu("entry", "Entry", self._names, self._names[self._most_held()]),
        ]

    def _most_held(self) -> int:
        """The entry with the smallest R at the end; where none can be counted the one with the
        largest squares.
        """
        found = self._past.at(len(self._past.ends) - 1)
        if found.countable:
            return int(np.nanargmin(found.ratio))
        return int(np.argmax(np.where(np.isfinite(found.accumulator), found.accumulator, -1.0)))

    def renewed(self, rec: Recorder) -> list[Control]:
        self.rec = rec
        vars(self).pop("_rows", None)
        return self.make_controls()

    def needs(self) -> AxesRoom:
        return AxesRoom(self.rec.seen, self.rec.stride, ((self._highest, self._highest),))

    def arrange_still(self, view: EntriesView) -> None:
        room = self._room or self.needs()
        view.still(room.steps, room.ranges[0][1])

    def compute(self, values: dict[str, Any]) -> RunAdagradTrace:
        done = self._past.bucket_at(values["step"])
        found = self._past.at(done, values["below"])
        entry = self._names.index(values["entry"])
        return RunAdagradTrace(found, values["initial"], entry, done == len(self._past.ends) - 1)

    @functools.cached_property
    def _rows(self) -> list[int]:
        """The tensors to show: all, or of many those whose entries have the largest gradients, in
        the run's order.
        """
        tensor, count = self.rec.sampled[0], len(self.rec.names)
        size = np.zeros(count)
        np.maximum.at(size, tensor, np.nan_to_num(self._past.accumulator[-1], nan=np.inf))
        return sorted(np.argsort(-size, kind="stable")[:MOST_ROWS].tolist())

    def make_view(self) -> EntriesView:
        return self.signed(EntriesView(len(self._rows), self._past.ends, self._highest))

    @property
    def _highest(self) -> float:
        """The final values of accumulators."""
        largest = self._past.accumulator[-1]
        largest = largest[np.isfinite(largest)].max(initial=1.0)
        return float(min(10.0 ** np.ceil(np.log10(1000.0 + largest)), 1e37))

    def draw(self, view: EntriesView, trace: RunAdagradTrace) -> None:
        if self.waits:
            return
        view.over(self._past.ends)
        view.draw(self._shown(trace))

    def _shown(self, trace: RunAdagradTrace) -> DrawnEntries:
        rec, found, rows = self.rec, trace.found, self._rows
        place = np.full(len(rec.names), -1)
        place[rows] = np.arange(len(rows))
        if trace.entry not in self._stories:
            self._stories[trace.entry] = self._story(trace.entry)
        ratios, accumulators = self._stories[trace.entry]
        words = [_bar_label(found, k) for k in rows]
        return DrawnEntries(
            names=[rec.names[k] for k in rows],
            row=place[found.tensor],
            ratio=found.ratio,
            state=trace.state,
            below=found.below,
            held=found.share_by_tensor[rows],
            words=words,
            chosen=trace.entry,
            entry=self._names[trace.entry],
            step=found.step,
            ratios=ratios,
            accumulators=accumulators,
            initial=trace.initial,
        )

    @quiet
    def _story(self, entry: int) -> tuple[np.ndarray, np.ndarray]:
        """(2, buckets + 1) ratios and sums of squares over the run: of an entry, and the medians of
        its tensor.
        """
        tensor = self.rec.sampled[0]
        mine = np.flatnonzero(tensor == tensor[entry])
        ratios = self._past.ratios(np.arange(len(self._past.ends)), mine)
        sums = self._past.accumulator[:, mine]
        own = int(np.flatnonzero(mine == entry)[0])
        return _with_median(ratios, own), _with_median(sums, own)

    def items(self, view: EntriesView, trace: RunAdagradTrace) -> Items | None:
        if self.waits:
            return None
        places = {view.cloud: view.places(self._shown(trace))}
        return Items("entry", places, tooltip_values(QUANTITIES, trace), self._names)

    def drags(self, view: EntriesView) -> list[Drag]:
        return [
            Drag(view.cloud, x="below", label="drag the threshold of all entries"),
            Drag(view.rate, y="below", label="drag the threshold of the chosen entry"),
        ]

    def make_live(self, view: EntriesView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on an entry selects it."""
        return follow_clicks(super().make_live(view, **params), "entry", self._names)

    def describe(self, trace: RunAdagradTrace) -> Description:
        found, name = trace.found, self._names[trace.entry]
        steps = counted(found.step, "step")
        gone = int((found.overflowed | found.spoiled).sum())
        lost = f" {gone} are lost to Inf or NaN." if gone else ""
        quiet_ones = int(found.no_gradient.sum())
        estimate = f" An estimate, by {every(self.rec)}." if found.stride > 1 else ""
        share = share_in_words(found, trace.initial)
        return Description(
            alt=f"{len(found.ratio)} sampled entries of {counted(len(found.names), 'tensor')} "
            f"under Adagrad after {steps}: {found.count_in_words}, with R below "
            f"{number(found.below)}; {quiet_ones} have no gradient in the last eighth of the "
            f"steps, {found.too_few.sum()} too few to tell.{lost} "
            f"{found.verdict_in_words}. {share}",
            summary=f"After {steps} {_summary(found)}.{lost}{estimate}",
            table=(
                ("steps done", f"{found.step:,} of {self.rec.seen:,}, by {every(self.rec)}"),
                (f"held back, R below {number(found.below)}", found.count_in_words),
                ("tensors", found.verdict_in_words),
                *_by_tensor(found),
                (
                    "no gradient in the last eighth",
                    listed(found.named(found.no_gradient)) or "none",
                ),
                ("no gradient at all", listed(found.named(found.never)) or "none"),
                ("too few gradients", listed(found.named(found.too_few)) or "none"),
                ("overflowed, held back for good", listed(found.named(found.overflowed)) or "none"),
                ("NaN", listed(found.named(found.spoiled)) or "none"),
                ("initial accumulator", share),
                (f"R of {name}", _ratio(found.ratio[trace.entry])),
                (f"sum of squares of {name}", number(found.accumulator[trace.entry])),
            ),
        )

    def columns(self, trace: RunAdagradTrace) -> dict[str, np.ndarray]:
        return csv_columns(QUANTITIES, trace) | {"entry": np.array(self._names)}


def _summary(found: HeldBack) -> str:
    """Say how many entries are held back and which tensors are in trouble, more briefly than
    `HeldBack` does.
    """
    held = int(found.held.sum())
    judged = int(found.is_judged.sum())
    entries = counted(found.countable, "countable entry")
    count = f"{held:,} of {entries} {'is' if held == 1 else 'are'} held back"
    if not judged:
        return f"{count}; no tensor can be judged"
    if found.in_trouble.any():
        return f"{count}; in trouble: {listed(found.tensors(found.in_trouble), 2)}"
    return f"{count}; of {counted(judged, 'judged tensor')} none is in trouble"


def _with_median(values: np.ndarray, own: int) -> np.ndarray:
    """(2, n) a column, and the median of all columns where some are known."""
    median = np.full(len(values), np.nan)
    known = np.isfinite(values).any(axis=1)
    median[known] = np.nanmedian(values[known], axis=1)
    return np.stack([values[:, own], median])


def _bar_label(found: HeldBack, k: int) -> str:
    """Return what is written after the bar of tensor number k."""
    words = f"{found.held_by_tensor[k]} of {found.countable_by_tensor[k]}"
    return f"{words}: trouble" if found.in_trouble[k] else words


def _by_tensor(found: HeldBack) -> list[tuple[str, str]]:
    """Of the tensors with the largest shares, how many entries are held back, and the verdict."""
    order = np.argsort(-np.nan_to_num(found.share_by_tensor), kind="stable")[:_NAMED].tolist()
    return [
        (
            found.names[k],
            f"{found.held_by_tensor[k]} of {found.countable_by_tensor[k]}; {found.verdict(k)}",
        )
        for k in order
    ]


def _ratio(ratio: float) -> str:
    return number(ratio) if np.isfinite(ratio) else "can't be counted"

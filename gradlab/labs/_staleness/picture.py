"""Several workers over time: a lane each, the staleness of their gradients, and the verdicts."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from ..._base.numbers import counted
from ...live.drawing.labels import label, on_paper
from ...live.drawing.lanes import (
    ACCEPTED,
    DROPPED,
    IN_HAND,
    MOST_WORKERS,
    TOP,
    UPDATE,
    Ages,
    LaneNames,
    Waits,
    Workers,
    patch,
    sides,
    text,
)  # fmt: skip
from ...live.drawing.shapes import bars, hatching
from ...live.drawing.style import (
    BLACK,
    BLUE_TEXT,
    HATCH,
    NARROW,
    ORANGE_TEXT,
    WIDE,
    entitle,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip
from .._layout import PanelLayout, place_panels

# Ticks shown at a time: the whole run, on any page, so that bars and tallies show the same
# gradients.
_WINDOW = 1200
# Ticks between two numbers of the axis, on a wide and a narrow page.
_TICK = {False: 200, True: 400}
_PIXEL = {False: 2.75, True: 4.9}  # ticks in a pixel of the lanes
_BOLD, _PAD = 9.0, 4.0  # width of a letter in a bar, and what stays free beside it, in pixels
_WORD = 100  # ticks of a wait that has room for a word
_NAMED = 14  # gradients of one worker that can carry numbers


class Lanes(NamedTuple):
    """Gradients up to a time `now`, in the order in which they were settled, those in hand last. Arrays are (n,).

    Attributes:
        workers, now: how many; ticks.
        worker, began, ended: ticks of the read, and of the update or the drop; `ended` is `now` for
            those in hand.
        read: step of the weights that were read.
        recorded, true: staleness; -1 for those in hand.
        accepted: whether it was.
        updates (u,): when the weights moved.
        waits (w, 3): worker, from, to.
        limit: the largest staleness that is accepted; None if all are.
        straggler: how much slower the last worker is.
        handed_in, accepted_of, starving (workers,): what became of each worker's gradients.
    """

    workers: int
    now: int
    worker: np.ndarray
    began: np.ndarray
    ended: np.ndarray
    read: np.ndarray
    recorded: np.ndarray
    true: np.ndarray
    accepted: np.ndarray
    updates: np.ndarray
    waits: np.ndarray
    limit: int | None
    straggler: float
    handed_in: np.ndarray
    accepted_of: np.ndarray
    starving: np.ndarray

    @property
    def settled(self) -> np.ndarray:
        """Tell whether the gradient was submitted."""
        return self.recorded >= 0


_WIDE_LAYOUT = PanelLayout((WIDE, 5.2), "LW/AA", width_ratios=(2.6, 1), height_ratios=(2.4, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 9.8), "L/W/A", height_ratios=(3.4, 2.6, 1.6))


class TimelineView:
    """A lane for each worker with a bar for each gradient; what was accepted of each; the distribution of staleness.

    In a bar stands its staleness: so many of the updates at the upper edge came while it was
    computed. Accepted bars are filled, dropped ones hatched.
    """

    def __init__(self) -> None:
        self.figure = new_figure(WIDE, 5.2)
        self.lanes, self.workers, self.ages = (self.figure.add_subplot() for _ in range(3))
        self._lanes, self._workers, self._ages = (
            _Lanes(self.lanes),
            Workers(self.workers),
            Ages(self.ages),
        )
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what was accepted beside the lanes, or everything in one column."""
        self._narrow = narrow
        self._lanes.arrange(narrow)
        self._ages.arrange(narrow)
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, L=self.lanes, W=self.workers, A=self.ages)

    def draw(self, lanes: Lanes) -> None:
        """Set the moving artists."""
        self._lanes.draw(lanes)
        self._workers.draw(lanes.handed_in, lanes.accepted_of, lanes.starving, named=self._narrow)
        done = lanes.settled
        self._ages.draw(lanes.true[done], lanes.recorded[done], lanes.accepted[done], lanes.limit)

    def places(self, lanes: Lanes) -> tuple[np.ndarray, np.ndarray]:
        """The places of the gradients in the Axes `lanes`: the middles of their bars."""
        start = self._lanes.start(lanes.now)
        return (lanes.began + lanes.ended) / 2 - start, np.mean(
            sides(lanes.worker, lanes.workers), axis=0
        )


class _Lanes:
    """Bars over time. The window ends at `now` once the run is longer than it."""

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(axes, "", "time (ticks); in a bar: the gradient's staleness", "")
        axes.grid(False)
        axes.set_xticks([])
        axes.xaxis.labelpad = 19
        self._bars = {name: patch(axes, looks) for name, looks in _LOOKS.items()}
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._waits = Waits(axes, _WORD)
        self._updates = moving_line(axes, zorder=3, **UPDATE)
        self._now = moving_line(axes, color=BLACK, lw=1.6, zorder=3)
        self._narrow = False
        base = axes.get_yaxis_transform()
        self._version = label(axes, x=-0.02, y=TOP / 2, ha="right", color=BLUE_TEXT, transform=base)
        self._wrong = label(
            axes, x=1, y=1.03, ha="right", text="5≠2: recorded as 2", transform=axes.transAxes
        )
        self._ages = [
            label(axes, weight="bold", clip_on=True) for _ in range(_NAMED * MOST_WORKERS)
        ]
        self._names = LaneNames(axes)
        foot: dict[str, Any] = {
            "y": -0.02,
            "va": "top",
            "ha": "center",
            "transform": axes.get_xaxis_transform(),
        }
        self._times = [text(axes, **foot) for _ in range(1 + _WINDOW // min(_TICK.values()))]

    def draw(self, lanes: Lanes) -> None:
        start = self.start(lanes.now)
        began, ended = lanes.began - start, lanes.ended - start
        low, high = sides(lanes.worker, lanes.workers)
        for name, some in zip(
            _LOOKS, (lanes.settled & lanes.accepted, _dropped(lanes), ~lanes.settled), strict=True
        ):
            self._bars[name].set_path(bars(began[some], ended[some], low[some], high[some]))
        lost = _dropped(lanes) & (ended > 0)
        self._hatching.set_data(
            *hatching(began[lost], ended[lost], low[lost], high[lost], 50, 18).T
        )
        updates = lanes.updates[lanes.updates >= start] - start
        self._updates.set_data(updates, np.full(len(updates), TOP / 2))
        self._now.set_data([lanes.now - start] * 2, [0, 1])
        self._waits.draw(lanes.waits, start, lanes.workers)
        self._draw_times(start)
        self._version.set_text(counted(len(lanes.updates), "update"))
        self._write(lanes, began, ended)
        self._wrong.set_visible(bool((lanes.true != lanes.recorded)[lanes.settled].any()))
        self._names.draw(lanes.workers, lanes.workers - 1, lanes.straggler)

    def arrange(self, narrow: bool) -> None:
        """Write fewer numbers on a narrow page, below a title for which there is room."""
        self._narrow = narrow
        title = "Each bar: a gradient" if narrow else "Each bar is a gradient, from read to update"
        entitle(self.axes, title)
        self.axes.set_xlim(0, _WINDOW)

    def start(self, now: int) -> int:
        """The tick at the left edge."""
        return max(0, now - _WINDOW)

    def _draw_times(self, start: int) -> None:
        first, last = self.axes.get_xlim()  # a part of the window, if somebody looks closer
        apart = _TICK[self._narrow]
        ticks = range(-(-start // apart) * apart, start + _WINDOW + 1, apart)
        for words, tick in zip_longest(self._times, ticks):
            at = np.inf if tick is None else tick - start
            words.set_visible(bool(first <= at <= last))
            if first <= at <= last:
                words.set(x=at, text=f"{tick:,}", ha="right" if at > 0.98 * last else "center")

    def _write(self, lanes: Lanes, began: np.ndarray, ended: np.ndarray) -> None:
        """Staleness into the bars that are wide enough."""
        low, high = sides(lanes.worker, lanes.workers)
        room, lost = (ended - began.clip(0)) / _PIXEL[self._narrow] - _PAD, _dropped(lanes)
        some = np.flatnonzero(ended > 0)[-len(self._ages) :].tolist()
        for k, age in zip_longest(some, self._ages):
            said = "" if k is None else _age(int(lanes.recorded[k]), int(lanes.true[k]))
            age.set_visible(bool(said) and len(said) * _BOLD <= room[k])
            if age.get_visible():
                middle = (began[k].clip(0) + ended[k]) / 2, (low[k] + high[k]) / 2
                age.set(position=middle, text=said, color=ORANGE_TEXT if lost[k] else BLACK)
                on_paper(age, bool(lost[k]))


_LOOKS = {"accepted": ACCEPTED, "dropped": DROPPED, "in hand": IN_HAND}


def _dropped(lanes: Lanes) -> np.ndarray:
    dropped: np.ndarray = lanes.settled & ~lanes.accepted
    return dropped


def _age(recorded: int, true: int) -> str:
    return "" if recorded < 0 else f"{true}" if true == recorded else f"{true}≠{recorded}"

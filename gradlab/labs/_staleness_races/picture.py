"""Moves of several workers in their order, top to bottom, and how stale their gradients are, truly
and as noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.patches import Rectangle

from ..._base.numbers import percent
from ...live.drawing.labels import label
from ...live.drawing.lanes import ACCEPTED, DROPPED, LIMIT, RECORDED, patch
from ...live.drawing.shapes import bars, hatching
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    HATCH,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    WIDE,
    moving_line,
    new_figure,
    percent_ticks,
    tidy,
)  # fmt: skip

_KINDS: dict[str, dict[str, Any]] = {
    "read": {"marker": "o", "color": BLUE},
    "note": {"marker": "D", "color": BLACK},
    "passed": {"marker": "s", "color": GREEN},
    "failed": {"marker": "X", "color": ORANGE},
    "updated": {"marker": "^", "color": BLUE},
    "dropped": {"marker": "X", "color": ORANGE},
}
_PIECE: dict[str, Any] = {"fc": "none", "ec": OTHER, "lw": 1.2}
_TO_COME: dict[str, Any] = {"color": OTHER, "marker": "o", "ms": 4, "mfc": "none", "ls": "none"}
_OLDEST = 2  # updates that a gradient can be stale here


class Event(NamedTuple):
    """One move: whose (from 0), its kind (of `_KINDS`), in words, and whether it is one piece with the one before."""

    worker: int
    kind: str
    words: str
    joined: bool


class OrderCount(NamedTuple):
    """All orders under one setting of the switches: how many, and the share that accepts too stale a gradient."""

    name: str
    orders: int
    share: float


class Schedule(NamedTuple):
    """Events of which `done` have happened.

    Attributes:
        versions: (row of the update, words) of the weights, the first one at row 0.
        recorded, true (workers,): staleness, -1 where there is none yet. accepted (workers,).
        limit: of staleness.
        ranges, chosen: every setting of the switches, and which of them this is.
    """

    events: Sequence[Event]
    done: int
    versions: Sequence[tuple[int, str]]
    recorded: np.ndarray
    true: np.ndarray
    accepted: np.ndarray
    limit: int
    ranges: Sequence[OrderCount]
    chosen: int


class SequenceView:
    """A column for each worker and one for the weights, a row for each move; moves of one piece share a frame.

    Beside it: how stale each gradient is, and how often too stale a one is accepted over all
    orders.
    """

    def __init__(self, workers: int, events: int) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.moves, self.ages, self.orders = (self.figure.add_subplot() for _ in range(3))
        self._moves, self._ages = _Moves(self.moves, workers, events), _Ages(self.ages, workers)
        self._orders = _Orders(self.orders)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: ages and orders beside the moves, or below them."""
        if narrow:
            self.figure.set_size_inches(NARROW, 9.4)
            grid = GridSpec(3, 1, self.figure, height_ratios=(3.6, 1.4, 1.3))
            places = [grid[k] for k in range(3)]
        else:
            self.figure.set_size_inches(WIDE, 5.3)
            columns = GridSpec(1, 2, self.figure, width_ratios=(1.6, 1))
            right = columns[1].subgridspec(2, 1)
            places = [columns[0], right[0], right[1]]
        for axes, place in zip((self.moves, self.ages, self.orders), places, strict=True):
            axes.set_subplotspec(place)

    def draw(self, schedule: Schedule) -> None:
        """Set the moving artists."""
        self._moves.draw(schedule)
        self._ages.draw(schedule)
        self._orders.draw(schedule)


class _Moves:
    """The rows, from 1 on; row 0 is the start. Columns are one unit wide."""

    def __init__(self, axes: Any, workers: int, events: int) -> None:
        self._workers = workers
        axes.set_axis_off()
        axes.set(xlim=(0, workers + 0.8), ylim=(events + 0.6, -1.1))
        heads = [f"worker {k + 1}" for k in range(workers)] + ["weights"]
        for k, head in enumerate(heads):
            axes.text(
                k + 0.03, -0.75, head, fontsize=LABEL, weight="bold", va="center", color=BLACK
            )
        self._now = axes.add_patch(
            Rectangle((0, 0), workers + 0.8, 0.92, fc="#F0F0F0", ec="none", animated=True, zorder=1)
        )
        self._ahead = moving_line(axes, color=OTHER, ls=":", lw=1.0, zorder=1.5)
        self._at_work = moving_line(axes, color=BLUE, lw=2.2, zorder=2)
        self._pieces = patch(axes, _PIECE)
        self._marks = {
            kind: moving_line(axes, ls="none", ms=6.5, zorder=3, **looks)
            for kind, looks in _KINDS.items()
        }
        self._to_come = moving_line(axes, zorder=3, **_TO_COME)
        self._words = [label(axes, ha="left") for _ in range(events)]
        self._as_one = label(axes, ha="right", text="as one", color=QUIET)
        self._versions = [label(axes, ha="left") for _ in range(workers + 1)]

    def draw(self, schedule: Schedule) -> None:
        rows, done = np.arange(1, len(schedule.events) + 1), schedule.done
        columns = np.array([event.worker for event in schedule.events]) + 0.1
        self._now.set(visible=done > 0, y=done - 0.46)
        for kind, marks in self._marks.items():
            some = np.array([event.kind == kind for event in schedule.events]) & (rows <= done)
            marks.set_data(columns[some], rows[some])
        self._to_come.set_data(columns[rows > done], rows[rows > done])
        for words, row, event in zip(self._words, rows, schedule.events, strict=True):
            happened = row <= done
            late = event.kind == "updated" and schedule.true[event.worker] > schedule.limit
            said = (
                f"{event.words.removeprefix('now ')}, {schedule.true[event.worker]} old"
                if late
                else event.words
            )
            words.set(x=event.worker + 0.2, y=row, text=said, color=BLACK if happened else QUIET)
            words.set_weight("bold" if late else "normal")
        self._draw_lives(schedule, rows, columns)
        self._draw_pieces(schedule)
        for words, (made, said) in zip(self._versions, schedule.versions, strict=False):
            words.set(x=self._workers + 0.06, y=max(made, 0.1), text=said, visible=made <= done)
        for words in self._versions[len(schedule.versions) :]:
            words.set_visible(False)

    def _draw_lives(self, schedule: Schedule, rows: np.ndarray, columns: np.ndarray) -> None:
        """From a worker's read to its update."""
        whole, past = [], []
        for column in np.unique(columns):
            mine = rows[columns == column]
            whole += [(column, mine[0]), (column, mine[-1]), (np.nan, np.nan)]
            over = mine[mine <= schedule.done]
            if len(over):
                until = mine[-1] if len(over) == len(mine) else max(over[-1], schedule.done)
                past += [(column, over[0]), (column, until), (np.nan, np.nan)]
        self._ahead.set_data(*np.array(whole, float).reshape(-1, 2).T)
        self._at_work.set_data(*np.array(past, float).reshape(-1, 2).T)

    def _draw_pieces(self, schedule: Schedule) -> None:
        last = np.array([row for row, event in enumerate(schedule.events, 1) if event.joined])
        left = np.array([schedule.events[row - 1].worker for row in last])
        self._pieces.set_path(bars(left + 0.01, left + 0.97, last - 1.42, last + 0.42))
        self._as_one.set_visible(len(last) > 0)
        if len(last):
            self._as_one.set(x=left[0] + 0.94, y=last[0] - 0.5)


class _Ages:
    """A bar for each worker's true staleness with what came of it, and a mark for the recorded one."""

    def __init__(self, axes: Any, workers: int) -> None:
        self.axes = tidy(axes, "How stale the gradients are", "worker", "staleness (updates)")
        axes.set(
            xlim=(-0.6, workers - 0.4), ylim=(-0.25, _OLDEST + 0.75), yticks=range(_OLDEST + 1)
        )
        axes.set_xticks(range(workers), labels=[f"{k + 1}" for k in range(workers)])
        self._taken, self._lost = patch(axes, ACCEPTED), patch(axes, DROPPED)
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._recorded = moving_line(axes, zorder=3, **RECORDED)
        self._noted = label(axes)
        self._limit = moving_line(axes, **LIMIT)
        self._called = label(axes, x=-0.56, ha="left", color=GREEN, weight="bold")
        self._verdicts = [label(axes, x=k) for k in range(workers)]

    def draw(self, schedule: Schedule) -> None:
        there = schedule.true >= 0
        for part, some in ((self._taken, schedule.accepted), (self._lost, ~schedule.accepted)):
            k = np.flatnonzero(some & there)
            sides = k - 0.3, k + 0.3, np.full(len(k), -0.2), schedule.true[k]
            part.set_path(bars(*sides))
        self._hatching.set_data(*hatching(*sides, lean=0.3, apart=0.12).T)
        for n, words in enumerate(self._verdicts):
            taken, true = bool(schedule.accepted[n]), int(schedule.true[n])
            words.set(text=("accepted" if taken else "dropped") if there[n] else "", y=true + 0.17)
            words.set_weight("bold" if taken and true > schedule.limit else "normal")
            words.set_color(BLUE_TEXT if taken else ORANGE_TEXT)
        noted = np.flatnonzero(schedule.recorded >= 0)
        self._recorded.set_data(noted, schedule.recorded[noted])
        self._limit.set_data([-1, len(schedule.true)], [schedule.limit + 0.5] * 2)
        self._called.set(y=schedule.limit + 0.64, text=f"limit {schedule.limit}")
        self._name_recorded(schedule, np.where(there, schedule.true - schedule.recorded, 0))

    def _name_recorded(self, schedule: Schedule, apart: np.ndarray) -> None:
        """Name the recorded staleness where it is furthest from the true one."""
        k = int(np.argmax(apart))
        self._noted.set_visible(bool(apart[k] > 0))
        if apart[k] > 0:
            self._noted.set(
                x=k, y=schedule.recorded[k] + 0.2, text=f"recorded {schedule.recorded[k]}"
            )


class _Orders:
    """For every setting of the switches the share of all orders in which too stale a gradient is
    accepted.
    """

    def __init__(self, axes: Any) -> None:
        self.axes = tidy(
            axes, "Orders that go wrong", "share that accepts too stale a gradient", ""
        )
        axes.set(xlim=(0, 1.02), ylim=(3.6, -0.6), xticks=(0, 0.5, 1), yticks=[])
        percent_ticks(axes.xaxis)
        self._shares, self._chosen = (
            patch(axes, {"fc": color, "ec": "none"}) for color in (OTHER, BLACK)
        )
        self._names = [label(axes, x=0.02, ha="left") for _ in range(4)]

    def draw(self, schedule: Schedule) -> None:
        at, shares = np.arange(len(schedule.ranges)), np.array([r.share for r in schedule.ranges])
        chosen = at == schedule.chosen
        for part, some in ((self._shares, ~chosen), (self._chosen, chosen)):
            part.set_path(bars(0, shares[some], at[some] + 0.05, at[some] + 0.36))
        for k, (name, orders) in enumerate(zip(self._names, schedule.ranges, strict=True)):
            name.set(y=k - 0.2, text=f"{orders.name}: {percent(orders.share)} of {orders.orders:,}")
            name.set(weight="bold" if chosen[k] else "normal", color=BLACK if chosen[k] else QUIET)

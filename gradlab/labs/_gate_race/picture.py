"""Two schedules of one step, side by side: what runs when, what each gradient reads, and the
numbers it leads to.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patches import FancyArrowPatch, Rectangle

from ..._base.numbers import number, signed
from ...live.drawing.lanes import text
from ...live.drawing.style import (
    BLACK,
    BLUE,
    GREEN,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_BLUE,
    QUIET,
    WIDE,
    moving_line,
    new_figure,
)  # fmt: skip
from .._layout import PanelLayout, place_panels

_KEY = "framed and bold: differs from the other schedule"

# Text in orange would be too pale to read: rust says the same.
PALE_ORANGE, BAND = "#F6D2BF", "#F0F0F0"

# Where things stand in a panel, in units of which a panel is 364 wide and 406 high, y downwards.
WIDTH, HEIGHT = 364, 406
# Left edges of the four boxes; the gate stands in the gap in the middle.
_TASKS = (16, 100, 196, 280)
_BOX, _GATE, _END = 80, 188, 362
_LANES = {"a": 92, "b": 160}  # where the value of each variable runs along
_LANE, _TALL = 30, 19  # half the height of a lane, of a box
_ROWS = {"a": 252, "b": 310}  # the upper row of each matrix
# Centers of the two columns of each matrix: before, gradient, after.
_COLUMNS = ((30, 54), (110, 170), (254, 314))
_ENTRY, _LINE = (57, 23), 23  # what is filled behind an entry; the distance of two rows


class Side(NamedTuple):
    """One schedule after `done` of its four tasks, which run in `order`."""

    title: str
    rule: str
    order: tuple[str, ...]
    done: int
    waits: str | None  # the task that the gate holds back
    gate_opens: int | None  # after how many tasks; None where there is no gate
    # For each gradient so far the variable it read, and whether that was new.
    reads: dict[str, tuple[str, bool]]
    numbers: np.ndarray  # (variable, before / gradient / after, 2, 2), NaN where there is none yet
    told: str  # what the last task did, and what is good or bad about it
    outcome: str
    alarm: bool  # whether the outcome is bad

    @property
    def raced(self) -> tuple[str, ...]:
        """Variables whose gradient read a new value."""
        return tuple(v for v, (_, new) in self.reads.items() if new)


class GateRaceTrace(NamedTuple):
    """Two schedules of one step after `step` tasks, and which of their numbers differ."""

    step: int
    first: Side
    second: Side
    differs: np.ndarray


_WIDE_LAYOUT = PanelLayout((WIDE, 4.7), "FS")
_NARROW_LAYOUT = PanelLayout((NARROW, 8.9), "F/S")


class GateView:
    """Two panels. In each the tasks of a step as boxes in the order they run, in the lane of their variable.

    A lane is thin while its variable is old and thick once it is new; an arrow shows which of the
    two a gradient read. Below stand the matrices, with a frame around the entries that differ from
    the other panel, and what has happened.
    """

    def __init__(self, start: np.ndarray, rate: float) -> None:
        self.figure = new_figure(WIDE, 4.7)
        step = f"One step on sum(a @ b), learning rate {rate:g}"
        self.figure.suptitle(step, fontsize=LABEL, color=BLACK, x=0.005, ha="left")
        self._key = self.figure.supxlabel(_KEY, fontsize=LABEL, color=QUIET)
        self._key.set_animated(True)
        self._panels = [_Panel(self.figure.add_subplot(), start, rate) for _ in range(2)]
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Side by side, or one above the other."""
        first, second = self._panels
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, F=first.axes, S=second.axes)

    def draw(self, race: GateRaceTrace) -> None:
        """Set the moving artists of both panels."""
        # The layout keeps its line even where it says nothing.
        self._key.set_text(_KEY if race.differs.any() else " ")
        for panel, side in zip(self._panels, (race.first, race.second), strict=True):
            panel.draw(side, race.differs)


class _Panel:
    """The artists of one side."""

    def __init__(self, axes: Any, start: np.ndarray, rate: float) -> None:
        self.axes = axes
        axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
        axes.set_axis_off()
        self._still(start, rate)
        self._title = self._text(0, 12, ha="left", weight="bold")
        self._rule = self._text(0, 31, ha="left", color=QUIET)
        self._now = self._patch(BAND, (_BOX + 4, 2 * _LANE + 68), zorder=1)
        self._old, self._new = (
            {v: moving_line(axes, color=c, lw=w, zorder=2, solid_capstyle="butt") for v in _LANES}
            for c, w in ((QUIET, 1.2), (BLUE, 5.0))
        )
        self._boxes = [self._patch("white", (_BOX, 2 * _TALL), zorder=3) for _ in _TASKS]
        self._names = [self._text(left + _BOX / 2, 0) for left in _TASKS]
        self._arrows = {v: self._arrow() for v in _LANES}
        self._read = {v: self._text(0, 0) for v in _LANES}
        self._gate = moving_line(axes, color=GREEN, lw=4.0, zorder=3, solid_capstyle="butt")
        self._gate_text = self._text(_GATE, 53, color=GREEN)
        self._fills, self._entries = self._matrices()
        self._told = self._text(0, 371, ha="left")
        self._outcome = self._text(0, 391, ha="left", weight="bold")

    def _still(self, start: np.ndarray, rate: float) -> None:
        for name, y in _LANES.items():
            self._text(0, y, name, ha="left", weight="bold", animated=False)
            self.axes.plot([14, _END], [y, y], ":", color=OTHER, lw=1)
        for columns, head in zip(
            _COLUMNS, ("before", f"− {rate:g} × gradient", "= after"), strict=True
        ):
            self._text(sum(columns) / 2, 224, head, color=QUIET, animated=False)
        for value, (name, top) in zip(start, _ROWS.items(), strict=True):
            self._text(0, top + _LINE / 2, name, ha="left", weight="bold", animated=False)
            for columns in _COLUMNS:
                self._brackets(columns, top)
            for row, column in np.ndindex(2, 2):
                x, y = _COLUMNS[0][column], top + row * _LINE
                self._text(x, y, _number(value[row, column]), animated=False)

    def _brackets(self, columns: tuple[int, int], top: int) -> None:
        low, high = top - 12, top + _LINE + 12
        out = 14 if columns is _COLUMNS[0] else _ENTRY[0] / 2 + 4
        for x, inwards in ((columns[0] - out, 4), (columns[1] + out, -4)):
            self.axes.plot(
                [x + inwards, x, x, x + inwards], [low, low, high, high], color=OTHER, lw=1
            )

    def _matrices(self) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """A fill and a text for every entry of the gradients and of what comes after, by its place
        in `numbers`.
        """
        fills, texts = {}, {}
        for v, stage, row, column in itertools.product((0, 1), (1, 2), (0, 1), (0, 1)):
            x, y, key = (
                _COLUMNS[stage][column],
                (*_ROWS.values(),)[v] + row * _LINE,
                (v, stage, row, column),
            )
            texts[key], fills[key] = self._text(x, y), self._patch("white", _ENTRY, zorder=1)
            fills[key].set_xy((x - _ENTRY[0] / 2, y - _ENTRY[1] / 2))
        return fills, texts

    def _text(self, x: float, y: float, words: str = "", **looks: Any) -> Any:
        looks = {"ha": "center", "va": "center", "fontsize": LABEL} | looks
        return text(self.axes, x=x, y=y, s=words, **looks)  # the layout is the same for all texts

    def _patch(self, color: str, size: tuple[float, float], zorder: float) -> Any:
        return self.axes.add_patch(
            Rectangle((0, 0), *size, fc=color, ec="none", animated=True, zorder=zorder)
        )

    def _arrow(self) -> Any:
        looks: dict[str, Any] = {
            "arrowstyle": "-|>",
            "mutation_scale": 12,
            "shrinkA": 0,
            "shrinkB": 1,
        }
        return self.axes.add_patch(
            FancyArrowPatch((0, 0), (0, 1), animated=True, zorder=3, **looks)
        )

    def draw(self, side: Side, differs: np.ndarray) -> None:
        self._title.set_text(side.title)
        self._rule.set_text(side.rule)
        self._told.set_text(_signs(side.told))
        verdict = ("✗ " if side.alarm else "✓ ") if side.done == len(side.order) else ""
        self._outcome.set(text=verdict + side.outcome, color=ORANGE_TEXT if side.alarm else GREEN)
        self._draw_tasks(side)
        self._draw_lanes(side)
        self._draw_gate(side)
        self._draw_numbers(side, differs)

    def _draw_tasks(self, side: Side) -> None:
        self._now.set_visible(side.done > 0)
        self._now.set_xy((_TASKS[side.done - 1] - 2, _LANES["a"] - _LANE))
        for k, (task, box, name) in enumerate(
            zip(side.order, self._boxes, self._names, strict=True)
        ):
            y, ran, wrong = _LANES[task[-1]], k < side.done, task[-1] in side.raced
            box.set_xy((_TASKS[k], y - _TALL))
            edge, fill = (ORANGE, PALE_ORANGE) if wrong else (BLUE, PALE_BLUE)
            box.set(ec=edge if ran else OTHER, fc=fill if ran else "white", ls="-" if ran else "--")
            box.set_linewidth(2.6 if k == side.done - 1 else 1.1)
            name.set(
                y=y,
                color=BLACK if ran else QUIET,
                text=f"{task}\nwaits" if task == side.waits else task,
            )

    def _draw_lanes(self, side: Side) -> None:
        now = _TASKS[side.done - 1] + _BOX if side.done else 14
        for v, y in _LANES.items():
            updated = min(_TASKS[side.order.index(f"update {v}")] + _BOX / 2, now)
            self._old[v].set_data([14, updated], [y, y])
            self._new[v].set_data([updated, now], [y, y])
            self._arrows[v].set_visible(v in side.reads)
            self._read[v].set_visible(v in side.reads)
            if v in side.reads:
                self._draw_reading(
                    v, _TASKS[side.order.index(f"gradient {v}")] + _BOX / 2, *side.reads[v]
                )

    def _draw_reading(self, v: str, x: float, other: str, new: bool) -> None:
        """An arrow from the lane of `other`, as it was at that time, into the gradient of `v`."""
        start, end = _LANES[other], _LANES[v]
        outwards = 1 if start > end else -1
        self._arrows[v].set_positions((x, start), (x, end + outwards * _TALL))
        self._arrows[v].set(color=ORANGE if new else QUIET, linewidth=2.4 if new else 1.2)
        self._read[v].set(
            x=x,
            y=start + outwards * 13,
            text=f"{'new' if new else 'old'} {other}",
            color=ORANGE_TEXT if new else QUIET,
        )
        self._read[v].set_fontweight("bold" if new else "normal")

    def _draw_gate(self, side: Side) -> None:
        low, high = _LANES["a"] - _LANE, _LANES["b"] + _LANE
        if side.gate_opens is None:
            text, bar = "", list[float]()
        elif side.done < side.gate_opens:
            text, bar = "gate closed", [low, high]
        else:
            text, bar = "gate open", [low, low + 16, np.nan, high - 16, high]
        self._gate_text.set_text(text)
        self._gate.set_data([_GATE] * len(bar), bar)

    def _draw_numbers(self, side: Side, differs: np.ndarray) -> None:
        for key, words in self._entries.items():
            words.set(
                text=_number(float(side.numbers[key])), weight="bold" if differs[key] else "normal"
            )
        for key, fill in self._fills.items():
            fill.set_visible(bool(differs[key]))
            wrong = "ab"[key[0]] in side.raced
            fill.set(fc=PALE_ORANGE if wrong else PALE_BLUE, ec=ORANGE if wrong else BLUE, lw=1.4)


def _number(x: float) -> str:
    """Three digits with a true minus, a dot where there is no number yet."""
    return "·" if np.isnan(x) else signed(number(x))


def _signs(text: str) -> str:
    """ASCII arithmetic as it is printed."""
    return signed(text).replace("*", "×")

"""One training under several policies for stale gradients: its loss over updates and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec

from .._base.numbers import number as rounded
from ._lanes import text
from ._style import (
    BLACK,
    BLUE,
    GREEN,
    NARROW,
    ORANGE,
    OTHER,
    SMALL,
    VIOLET,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip

LOWEST, HIGHEST = 0.3, 10.0  # of the losses shown
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": OTHER, "ls": "-", "marker": "o"},
    {"color": ORANGE, "ls": "--", "marker": "^"},
    {"color": GREEN, "ls": "-.", "marker": "s"},
    {"color": BLUE, "ls": ":", "marker": "D"},
    {"color": BLACK, "ls": (0, (6, 1.5, 1, 1.5, 1, 1.5)), "marker": "v"},
    {"color": VIOLET, "ls": "-", "marker": "P"},
)
_MARKS = 6  # on each line
_HEADS = ("policy", "updates", "loss at the end", "loss at the line")
_SHORT_HEADS = ("policy", "updates", "loss", "at line")


class Curve(NamedTuple):
    """The watched loss of one policy: updates, time and loss (n,), and the loss when the first policy is through."""

    step: np.ndarray
    time: np.ndarray
    loss: np.ndarray
    then: float


class PoliciesView:
    """Loss over updates and over time, a line for each policy; below, how far each came, the best in bold.

    The upright line is the time at which the first of them has handed in all its gradients.
    """

    def __init__(self, names: Sequence[str], updates: int, time: float) -> None:
        self.figure = new_figure(WIDE, 5.2)
        self.names = list(names)
        self.steps, self.times, self._key = (self.figure.add_subplot() for _ in range(3))
        self._still(updates, time)
        lines = [{"lw": 1.7, "ms": 5.5, **looks} for looks in _LOOKS]
        self._lines = [
            [moving_line(axes, mec="white", **looks) for looks in lines] for axes in (self.steps, self.times)
        ]
        self._samples = [
            self._key.plot([], [], clip_on=False, markevery=[1], mec="white", **looks)[0] for looks in lines
        ]
        self._then = moving_line(self.times, color=BLACK, lw=1.0, ls="-")
        self._heads = [self._key.text(0, 0, head, fontsize=SMALL, va="center", color=BLACK) for head in _HEADS]
        self._cells = [[text(self._key, va="center") for _ in _HEADS] for _ in self.names]
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: both panels side by side, or one above the other."""
        if narrow:
            self.figure.set_size_inches(NARROW, 8.2)
            grid = GridSpec(3, 1, self.figure, height_ratios=(1.6, 1.6, 1.1))
            places = [grid[k] for k in range(3)]
        else:
            self.figure.set_size_inches(WIDE, 5.2)
            grid = GridSpec(2, 2, self.figure, height_ratios=(2, 1.05))
            places = [grid[0, 0], grid[0, 1], grid[1, :]]
        for axes, place in zip((self.steps, self.times, self._key), places, strict=True):
            axes.set_subplotspec(place)
        self._arrange_key(narrow)

    def _arrange_key(self, narrow: bool) -> None:
        """A row for each policy; units are inches across and lines down."""
        self._key.set(xlim=(0, 3.4 if narrow else 7.2), ylim=(len(self.names) + 0.5, -0.7))
        columns = (0.62, 2.2, 2.8, 3.4) if narrow else (0.8, 2.6, 4.1, 5.8)
        for column, head in enumerate(self._heads):
            head.set(x=columns[column], y=-0.1, ha="right" if column else "left")
            head.set_text((_SHORT_HEADS if narrow else _HEADS)[column])
        for row, (sample, cells) in enumerate(zip(self._samples, self._cells, strict=True), 1):
            sample.set_data([0.05, 0.27, 0.49], [row] * 3)
            for column, cell in enumerate(cells):
                cell.set(x=columns[column], y=row, ha="right" if column else "left")

    def _still(self, updates: int, time: float) -> None:
        tidy(self.steps, "Loss at every update", "updates of the weights", "held-out loss (cross-entropy)")
        tidy(
            self.times, "Loss at every time", "time (gradient times of a fast worker)", "held-out loss (cross-entropy)"
        )
        self.steps.set_xlim(0, updates * 1.02)
        self.times.set_xlim(0, time)
        for axes in (self.steps, self.times):
            axes.set(yscale="log", ylim=(LOWEST / 1.05, HIGHEST * 1.05))
            log_ticks(axes.yaxis, LOWEST, HIGHEST)
        self._key.set_axis_off()

    def draw(self, curves: Mapping[str, Curve], then: float) -> None:
        """The curves by policy, and the time of the upright line."""
        self._then.set_data([then] * 2, [LOWEST / 2, 2 * HIGHEST])
        ends = {name: curve.loss[-1] for name, curve in curves.items()}
        best = [
            min(curves, key=lambda name: number(ends[name])),
            min(curves, key=lambda name: number(curves[name].then)),
        ]
        for k, name in enumerate(self.names):
            curve = curves[name]
            for lines, x in zip(self._lines, (curve.step, curve.time), strict=True):
                lines[k].set_data(x, np.clip(number(curve.loss), LOWEST, HIGHEST))
                lines[k].set_markevery((k, max(1, len(x) // _MARKS)))
            words = (name, f"{curve.step[-1]}", written(curve.loss[-1]), written(curve.then))
            for column, (cell, word) in enumerate(zip(self._cells[k], words, strict=True)):
                cell.set(text=word, fontweight="bold" if column > 1 and best[column - 2] == name else "normal")


def number(loss: Any) -> Any:
    """Losses that are no numbers are the largest."""
    return np.where(np.isfinite(loss), loss, np.inf)


def written(loss: float) -> str:
    """A loss for readers."""
    return rounded(loss) if loss < 1000 else "> 1,000" if np.isfinite(loss) else "NaN"

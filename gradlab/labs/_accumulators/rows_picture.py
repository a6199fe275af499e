"""Sparse gradients as they come, and each row's sum, count and two means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patches import Rectangle

from ..._base.numbers import number
from ...live.drawing.labels import label
from ...live.drawing.lanes import ACCEPTED, patch
from ...live.drawing.shapes import bars, segments
from ...live.drawing.style import (
    BLUE,
    BLUE_TEXT,
    NARROW,
    OTHER,
    QUIET,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip
from .._layout import PanelLayout, place_panels

MOST_GRADIENTS, MOST_ROWS = 6, 8
_EARLIER: dict[str, Any] = {"fc": "white", "ec": OTHER, "lw": 1.0}
_BY_ROW: dict[str, Any] = {"marker": "D", "ms": 8, "color": BLUE, "mec": "white", "ls": "none"}
_BY_GRADIENT: dict[str, Any] = {
    "marker": "o",
    "ms": 11,
    "mfc": "none",
    "mec": QUIET,
    "mew": 1.8,
    "ls": "none",
}
_APART: dict[str, Any] = {"color": OTHER, "lw": 1.4, "ls": "-"}
_LINE = 0.34  # of a row: between two lines of one row
_SUMS = -3.4  # where the sums begin, left of the means


class RowSums(NamedTuple):
    """The state of an accumulator of rows after some gradients.

    Fields: given: (indices, values) of every gradient so far; row, total, held_by, by_row, by_gradient (n,): the rows
    as a take would return them, their sums, in how many gradients they are, and both means.
    """

    given: Sequence[tuple[Sequence[int], Sequence[float]]]
    row: np.ndarray
    total: np.ndarray
    held_by: np.ndarray
    by_row: np.ndarray
    by_gradient: np.ndarray

    @property
    def twice(self) -> np.ndarray:
        """The rows that a take returns more than once."""
        found, times = np.unique(self.row, return_counts=True)
        twice: np.ndarray = found[times > 1]
        return twice

    @property
    def told(self) -> int:
        """The line to look at: the first of a row that is returned more than once, or the one with means far apart."""
        if self.twice.size:
            return int(np.flatnonzero(self.row == self.twice[0])[0])
        return int(np.argmax(self.by_row - self.by_gradient)) if len(self.row) else -1


_WIDE_LAYOUT = PanelLayout((WIDE, 4.8), "GT", width_ratios=(1, 1.35))
_NARROW_LAYOUT = PanelLayout((NARROW, 9.0), "G/T")


class RowsView:
    """A column of boxes for each gradient; beside it, in the same rows, what a take would return."""

    def __init__(self) -> None:
        self.figure = new_figure(WIDE, 4.8)
        self.given, self.taken = (self.figure.add_subplot() for _ in range(2))
        tidy(self.given, "Incoming gradients", "gradient", "row")
        tidy(self.taken, "Sum of each row, and its two means", "mean", "")
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what comes out beside what came in, or below it."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, G=self.given, T=self.taken)
        self.taken.tick_params(labelleft=narrow)
        self.taken.set_ylabel("row" if narrow else "")

    def _still(self) -> None:
        self.given.set(xlim=(0.4, MOST_GRADIENTS + 0.6), xticks=range(1, MOST_GRADIENTS + 1))
        self.taken.set(xlim=(_SUMS - 0.2, 9.6), xticks=range(0, 10, 3))
        for axes in (self.given, self.taken):
            axes.set(ylim=(MOST_ROWS - 0.4, -1.1), yticks=range(MOST_ROWS))
        self.taken.axvline(0, color=OTHER, lw=1)

    def _moving(self) -> None:
        looks: dict[str, Any] = {"fc": "#F0F0F0", "ec": "none", "animated": True, "zorder": 0.5}
        # Of the row to look at.
        self._bands = [Rectangle((-9, 0), 20, 1, **looks) for _ in range(2)]
        for axes, band in zip((self.given, self.taken), self._bands, strict=True):
            axes.add_patch(band)
        self._earlier, self._latest = patch(self.given, _EARLIER), patch(self.given, ACCEPTED)
        self._values = [label(self.given) for _ in range(MOST_GRADIENTS * MOST_ROWS)]
        self._newest = label(self.given, y=-0.75, text="latest", color=BLUE_TEXT, weight="bold")
        self._rows = [label(self.taken, x=_SUMS, ha="left") for _ in range(MOST_ROWS)]
        self._apart = moving_line(self.taken, **_APART)
        self._by_gradient = moving_line(self.taken, zorder=3, **_BY_GRADIENT)
        self._by_row = moving_line(self.taken, zorder=4, **_BY_ROW)
        self._words = [
            label(self.taken, color=BLUE_TEXT, weight="bold"),
            label(self.taken, color=QUIET),
        ]
        self._nothing = label(self.taken, x=0.3, y=3.5, ha="left", color=QUIET)

    def draw(self, rows: RowSums) -> None:
        """Set the moving artists."""
        boxes = [
            (k + 1, row, value)
            for k, (given, values) in enumerate(rows.given)
            for row, value in _together(given, values)
        ]
        at = np.array([(x, y) for x, y, _ in boxes]).reshape(-1, 2)
        latest = at[:, 0] == len(rows.given)
        for box, some in ((self._earlier, at[~latest]), (self._latest, at[latest])):
            x, y = some.T
            box.set_path(bars(x - 0.42, x + 0.42, y - 0.38, y + 0.38))
        for words, place in zip(
            self._values, [*boxes, *[None] * (len(self._values) - len(boxes))], strict=True
        ):
            words.set_visible(place is not None)
            if place:
                words.set(x=place[0], y=place[1], text=place[2])
        self._newest.set(x=len(rows.given), visible=len(rows.given) > 0)
        for band in self._bands:
            band.set_visible(len(rows.row) > 0)
            if len(rows.row):
                band.set_y(rows.row[rows.told] - 0.5)
        self._draw_taken(rows)

    def _draw_taken(self, rows: RowSums) -> None:
        y = _heights(rows.row)
        self._by_row.set_data(rows.by_row, y)
        self._by_gradient.set_data(rows.by_gradient, y)
        self._apart.set_data(*segments(rows.by_gradient, y, rows.by_row, y))
        for k, words in enumerate(self._rows):
            words.set_visible(k < len(y))
            if k < len(y):
                words.set(
                    y=y[k],
                    text=f"{number(rows.total[k])} in {rows.held_by[k]} of {len(rows.given)}",
                )
                words.set_weight("bold" if rows.row[k] == rows.row[rows.told] else "normal")
        self._name(rows, y)
        self._nothing.set_text("" if len(y) else "nothing is in it")

    def _name(self, rows: RowSums, y: np.ndarray) -> None:
        """Say at one row, if it is a single line, which mark is which mean."""
        alone = np.flatnonzero(~np.isin(rows.row, rows.twice))
        for words in self._words:
            words.set_visible(alone.size > 0)
        if alone.size:
            k = alone[np.argmax((rows.by_row - rows.by_gradient)[alone])]
            means, counts = (
                (rows.by_row[k], rows.by_gradient[k]),
                (f"{rows.held_by[k]}", f"all {len(rows.given)}"),
            )
            for words, mean, count, up in zip(self._words, means, counts, (-1, 1), strict=True):
                words.set(text=f"÷ {count} = {number(mean)}", x=mean, y=y[k] + 0.32 * up)


def _heights(row: np.ndarray) -> np.ndarray:
    """The heights of the lines: those of their rows, lines of one row below each other."""
    heights = row.astype(float)
    for one in np.unique(row):
        lines = np.flatnonzero(row == one)
        heights[lines] += _LINE * (np.arange(len(lines)) - (len(lines) - 1) / 2)
    return heights


def _together(indices: Sequence[int], values: Sequence[float]) -> list[tuple[int, str]]:
    """The text in a gradient's box of each row: a row that occurs twice has both values in one box."""
    found: dict[int, list[str]] = {}
    for row, value in zip(indices, values, strict=True):
        found.setdefault(row, []).append(f"{value:g}")
    return [(row, " + ".join(words)) for row, words in found.items()]

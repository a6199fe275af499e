"""Sparse gradients as they come, and each row's sum, count and two means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import NullLocator

from ._lanes import ACCEPTED, IN_HAND, patch, text
from ._shapes import Key, bars
from ._style import GREEN, NARROW, ORANGE, OTHER, QUIET, SMALL, WIDE, moving_line, new_figure, tidy

MOST_GRADIENTS, MOST_ROWS = 6, 8
_BY_ROW: dict[str, Any] = {"marker": "D", "ms": 8, "color": GREEN, "mec": "white", "ls": "none"}
_BY_GRADIENT: dict[str, Any] = {"marker": "o", "ms": 12, "mfc": "none", "mec": ORANGE, "mew": 2, "ls": "none"}
_APART: dict[str, Any] = {"color": OTHER, "lw": 1.4, "ls": "-"}
_LEFT = {"ha": "left", "va": "center"}


class Rows(NamedTuple):
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


class RowsView:
    """A column of boxes for each gradient; beside it, what a take would return, a line for each row."""

    def __init__(self) -> None:
        self.figure = new_figure(WIDE, 5.0)
        self.given, self.taken, key = (self.figure.add_subplot() for _ in range(3))
        tidy(self.given, "Incoming gradients", "gradient", "row")
        tidy(self.taken, "What a take returns", "value", "")
        self._key = Key(key, (
            (ACCEPTED, "the latest gradient"), (IN_HAND, "earlier ones"),
            (_BY_ROW, "sum / gradients that hold the row"), (_BY_GRADIENT, "sum / all gradients"),
        ), moving=True)  # fmt: skip
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what comes out beside what came in, or below it."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 9.4 if narrow else 5.0)
        if narrow:
            grid = GridSpec(3, 1, self.figure, height_ratios=(2, 2.2, 0.9))
            places = [grid[k] for k in range(3)]
        else:
            grid = GridSpec(2, 2, self.figure, height_ratios=(1, 0.16), width_ratios=(1, 1.3))
            places = [grid[0, 0], grid[0, 1], grid[1, :]]
        for axes, place in zip((self.given, self.taken, self._key.axes), places, strict=True):
            axes.set_subplotspec(place)
        self._key.arrange(1 if narrow else 2, 3.3 if narrow else 8.2)

    def _still(self) -> None:
        self.given.set(xlim=(0.4, MOST_GRADIENTS + 0.6), ylim=(MOST_ROWS - 0.4, -0.6), yticks=range(MOST_ROWS))
        self.given.set_xticks(range(1, MOST_GRADIENTS + 1))
        self.taken.set(xlim=(-9, 9.6), ylim=(MOST_ROWS - 0.4, -0.6), xticks=range(0, 10, 3))
        self.taken.yaxis.set_major_locator(NullLocator())
        self.taken.axvline(0, color=OTHER, lw=1)

    def _moving(self) -> None:
        self._earlier, self._latest = patch(self.given, IN_HAND), patch(self.given, ACCEPTED)
        looks: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
        self._values = [text(self.given, **looks) for _ in range(MOST_GRADIENTS * MOST_ROWS)]
        self._rows = [text(self.taken, x=-8.8, **_LEFT, fontsize=SMALL) for _ in range(MOST_ROWS)]
        self._apart = moving_line(self.taken, **_APART)
        self._by_gradient = moving_line(self.taken, zorder=3, **_BY_GRADIENT)
        self._by_row = moving_line(self.taken, zorder=4, **_BY_ROW)
        self._nothing = text(self.taken, x=0.3, y=3.5, va="center", color=QUIET, fontsize=SMALL)

    def draw(self, rows: Rows) -> None:
        """Set the moving artists."""
        boxes = [(k + 1, row, value) for k, (given, values) in enumerate(rows.given) for row, value in _together(
            given, values)]  # fmt: skip
        at = np.array([(x, y) for x, y, _ in boxes]).reshape(-1, 2)
        latest = at[:, 0] == len(rows.given)
        for box, some in ((self._earlier, at[~latest]), (self._latest, at[latest])):
            x, y = some.T
            box.set_path(bars(x - 0.42, x + 0.42, y - 0.38, y + 0.38))
        for words, place in zip(self._values, [*boxes, *[None] * (len(self._values) - len(boxes))], strict=True):
            words.set_visible(place is not None)
            if place:
                words.set(x=place[0], y=place[1], text=place[2])
        self._draw_taken(rows)
        given, there = len(rows.given), len(rows.row) > 0
        self._key.show(given, given > 1, there, there)

    def _draw_taken(self, rows: Rows) -> None:
        lines = np.arange(len(rows.row))
        self._by_row.set_data(rows.by_row, lines)
        self._by_gradient.set_data(rows.by_gradient, lines)
        joined = np.stack([rows.by_gradient, rows.by_row, np.full(len(lines), np.nan)], axis=1)
        self._apart.set_data(joined.ravel(), np.repeat(lines, 3))
        for k, words in enumerate(self._rows):
            words.set_visible(k < len(lines))
            if k < len(lines):
                sum_of = f"{rows.total[k]:g} from {rows.held_by[k]} of {len(rows.given)}"
                words.set(y=k, text=f"row {rows.row[k]}: {sum_of}")
        self._nothing.set_text("" if len(lines) else "nothing is in it")


def _together(indices: Sequence[int], values: Sequence[float]) -> list[tuple[int, str]]:
    """The text in a gradient's box of each row: a row that occurs twice has both values in one box."""
    found: dict[int, list[str]] = {}
    for row, value in zip(indices, values, strict=True):
        found.setdefault(row, []).append(f"{value:g}")
    return [(row, " + ".join(words)) for row, words in found.items()]

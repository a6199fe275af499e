"""The rows of a table as a strip of cells, device by device: which one is followed, and which a step looks up."""

from __future__ import annotations

from typing import Any

import numpy as np

from .labels import label
from .lanes import patch
from .shapes import bars
from .style import BLACK, BLUE, LABEL, OTHER, PALE_BLUE, QUIET, SMALL

_LINE = 1.9  # from one line of cells to the next, in cells


class Strip:
    """One line of cells with its name beside it; two, and the name above them, on a narrow page."""

    def __init__(self, axes: Any, rows: int, devices: int) -> None:
        self.axes, self.rows, self._each, self._line = axes, rows, rows // devices, rows
        axes.set(xticks=[], yticks=[], frame_on=False)
        looks: dict[str, Any] = {"va": "center", "in_layout": False}
        self._name = axes.text(
            0, 0, "The table", weight="bold", fontsize=LABEL, color=BLACK, **looks
        )
        self._devices = [
            axes.text(0, 0, f"device {k}", ha="center", fontsize=SMALL, color=QUIET, **looks)
            for k in range(devices)
        ]
        self._count = label(axes, color=QUIET)
        self._rest, self._touched, self._chosen = (patch(axes, one) for one in (
            {"fc": "white", "ec": OTHER, "lw": 0.7}, {"fc": PALE_BLUE, "ec": BLUE, "lw": 1.4},
            {"fc": BLACK, "ec": "none"}))  # fmt: skip
        self._numbers = [label(axes) for _ in range(rows)]

    def arrange(self, narrow: bool) -> None:
        """Fit the page."""
        self._line = self.rows // 2 if narrow else self.rows
        above, beside = (0.9, 0.1) if narrow else (0.1, 5.6)  # the room for its name
        self.axes.set(
            xlim=(-beside, self._line + 0.05),
            ylim=(_LINE * (self.rows // self._line) - 0.1, -above),
        )
        self._name.set(x=-beside, y=-0.6 if narrow else 0.25)
        self._count.set(
            **{"x": self._line, "y": -0.6, "ha": "right"}
            if narrow
            else {"x": -beside, "y": 1.1, "ha": "left"}
        )
        for k, words in enumerate(self._devices):
            left, top = self._cell(np.array(self._each * k))
            words.set(x=float(left) + self._each / 2, y=float(top) + 1.35)

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The middle of every row's cell, x and y (rows,)."""
        x, y = self._cell(np.arange(self.rows))
        return x + 0.5, y + 0.45

    def draw(self, row: int, touched: np.ndarray) -> None:
        """Fill the cell of a row, and mark those of the rows that are looked up."""
        rows = np.arange(self.rows)
        (x, y), found, chosen = self._cell(rows), np.isin(rows, touched), rows == row
        for shape, some in (
            (self._rest, ~found & ~chosen),
            (self._touched, found & ~chosen),
            (self._chosen, chosen),
        ):
            shape.set_path(bars(x[some] + 0.05, x[some] + 0.95, y[some], y[some] + 0.9))
        for k, words in enumerate(self._numbers):
            words.set(x=x[k] + 0.5, y=y[k] + 0.45, text=f"{k}")
            on_chip(words, bool(chosen[k]), BLACK, bold=bool(found[k]))
        self._count.set_text(f"{int(found.sum())} of {self.rows} looked up")

    def _cell(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The left and upper side of a row's cell."""
        return (row % self._line).astype(float), _LINE * (row // self._line)


def on_chip(words: Any, chosen: bool, otherwise: str, bold: bool = False) -> None:
    """Write white on a chosen chip, which is black."""
    color, weight = "white" if chosen else otherwise, "bold" if chosen or bold else "normal"
    if (words.get_color(), words.get_weight()) != (color, weight):  # of many words few change
        words.set_color(color)
        words.set_fontweight(weight)
    words.put_on(BLACK if chosen else None)

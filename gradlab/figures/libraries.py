"""The same gradients clipped by several libraries, as a table of cells that say what happened to each entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ._style import BLACK, new_figure

# What can happen to an entry, and how its cell looks: pale colours under dark text, and the word itself.
LOOKS = {
    "kept": "#FFFFFF",
    "last digit moved": "#FFF3C4",
    "scaled": "#CFE3F1",
    "set to 0": "#D9D9D9",
    "sign flipped": "#F6D2BF",
    "NaN": "#EFC6DC",
    "error": "#EFC6DC",
}


class LibrariesView:
    """One row for each library, one column for each entry; the first row is the gradient itself."""

    def __init__(self, rows: Sequence[str], columns: Sequence[str]) -> None:
        self.figure = new_figure(8.4, 3.6)
        self.axes = axes = self.figure.add_subplot()
        self.rows, self.columns = list(rows), list(columns)
        axes.set(xlim=(-1.15, len(columns)), ylim=(len(rows) + 0.05, -0.75))
        axes.set_axis_off()
        self._cells = {look: self._add_boxes(colour) for look, colour in LOOKS.items()}
        for r, name in enumerate(rows):
            axes.text(-0.05, r + 0.5, name, ha="right", va="center", fontsize=10, color=BLACK)
        for c, name in enumerate(columns):
            axes.text(c + 0.5, -0.2, name, ha="center", va="center", fontsize=9.5, color=BLACK)
        self._limit = axes.text(-0.05, -0.2, "", ha="right", va="center", fontsize=9.5, color=BLACK, animated=True)
        self._texts = [[self._add_text(c, r) for c in range(len(columns))] for r in range(len(rows))]

    def _add_boxes(self, colour: str) -> PathPatch:
        boxes = PathPatch(_boxes([]), fc=colour, ec="#8C8C8C", lw=0.8, animated=True)
        self.axes.add_patch(boxes)
        return boxes

    def _add_text(self, column: int, row: int) -> Any:
        looks: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "color": BLACK, "animated": True}
        return self.axes.text(column + 0.5, row + 0.5, "", **looks)

    def draw(self, limit: float, texts: Sequence[Sequence[str]], looks: Sequence[Sequence[str]]) -> None:
        """Set the limit, the text of every cell and what happened to its entry: a key of LOOKS."""
        self._limit.set_text(f"limit {limit:g}")
        boxes: dict[str, list[tuple[int, int]]] = {look: [] for look in LOOKS}
        for r, (row, kinds) in enumerate(zip(texts, looks, strict=True)):
            for c, (text, kind) in enumerate(zip(row, kinds, strict=True)):
                self._texts[r][c].set_text(text)
                boxes[kind].append((c, r))
        for look, patch in self._cells.items():
            patch.set_path(_boxes(boxes[look]))


def _boxes(cells: list[tuple[int, int]]) -> Path:
    """Unit squares at (column, row) as one path."""
    if not cells:
        return Path(np.full((1, 2), np.nan))
    square = np.array([[0.03, 0.08], [0.97, 0.08], [0.97, 0.92], [0.03, 0.92], [0.03, 0.08]])
    vertices = (np.array(cells, float)[:, None] + square).reshape(-1, 2)
    return Path(vertices, [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(cells))

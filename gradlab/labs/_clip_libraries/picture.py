"""Table of gradients clipped by several libraries, with a cell for each entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.path import Path

from ..._base.numbers import number, signed
from ...live.drawing.lanes import text
from ...live.drawing.moving import MovingPath
from ...live.drawing.style import BLACK, LABEL, NARROW, OTHER, WIDE, new_figure

# What can happen to an entry, and how its cell looks: pale colors under dark text, and the word
# itself.
LOOKS = {
    "kept": "#FFFFFF",
    "last digit moved": "#FFF3C4",
    "scaled": "#CFE3F1",
    "set to 0": "#D9D9D9",
    "sign flipped": "#F6D2BF",
    "NaN": "#EFC6DC",
    "error": "#EFC6DC",
}
# Left, right, top and bottom of a cell in its square of one row and one column.
_BESIDE, _BELOW = (0.03, 0.97, 0.08, 0.92), (0.01, 0.99, 0.38, 0.98)


class LibrariesView:
    """One row for each library, one column for each entry; the first row is the gradient itself."""

    def __init__(self, rows: Sequence[str], columns: Sequence[str]) -> None:
        self.figure = new_figure(WIDE, 3.9)
        self.axes = self.figure.add_subplot()
        self.axes.set_axis_off()
        self.rows, self.columns = list(rows), list(columns)
        self._cells = {look: self._add_boxes(color) for look, color in LOOKS.items()}
        looks: dict[str, Any] = {"fontsize": LABEL, "color": BLACK}
        self._names = [self.axes.text(0, 0, name, va="center", **looks) for name in rows]
        self._heads = [self.axes.text(0, 0, "", ha="center", **looks) for _ in columns]
        self._title = text(self.axes, weight="bold", ha="left", **looks)
        self._texts = [[self._add_text() for _ in columns] for _ in rows]
        self.arrange(narrow=False)

    def _add_boxes(self, color: str) -> MovingPath:
        patch = MovingPath(boxes([], _BESIDE), fc=color, ec=OTHER, lw=0.8, animated=True)
        self.axes.add_patch(patch)
        return patch

    def _add_text(self) -> Any:
        return text(self.axes, ha="center", va="center")

    def arrange(self, narrow: bool) -> None:
        """Fit the page: names beside their rows, or above them."""
        self._inside = _, _, top, bottom = _BELOW if narrow else _BESIDE
        rows, columns, above = len(self.rows), len(self.columns), 1.35 if narrow else 0.95
        self.figure.set_size_inches(
            *((NARROW, round(0.62 * (rows + above), 2)) if narrow else (WIDE, 3.9))
        )
        self.axes.set(xlim=(0 if narrow else -0.62, columns), ylim=(rows, -above))
        edge = {"x": 0.01, "ha": "left"} if narrow else {"x": -0.05, "ha": "right"}
        for r, name in enumerate(self._names):
            name.set(y=r + (top / 2 if narrow else 0.5), **edge)
        self._title.set(x=0.01 if narrow else -0.6, y=-1.02 if narrow else -0.62)
        for c, (head, words) in enumerate(zip(self._heads, self.columns, strict=True)):
            head.set(x=c + 0.5, y=-0.12, text=words.replace(", ", ",\n") if narrow else words)
        for r, row in enumerate(self._texts):
            for c, words in enumerate(row):
                words.set(x=c + 0.5, y=r + (top + bottom) / 2)

    def draw(
        self, limit: float, texts: Sequence[Sequence[str]], looks: Sequence[Sequence[str]]
    ) -> None:
        """Set the limit in the title, the text of every cell and what happened to its entry: a key of LOOKS."""
        self._title.set_text(f"Clipped by global norm, limit {signed(number(limit))}")
        places: dict[str, list[tuple[int, int]]] = {look: [] for look in LOOKS}
        for r, (row, kinds) in enumerate(zip(texts, looks, strict=True)):
            for c, (words, kind) in enumerate(zip(row, kinds, strict=True)):
                self._texts[r][c].set_text(words)
                places[kind].append((c, r))
        for look, patch in self._cells.items():
            patch.set_path(boxes(places[look], self._inside))


def boxes(cells: list[tuple[int, int]], inside: tuple[float, float, float, float]) -> Path:
    """Rectangles within the unit squares at (column, row) as one path."""
    if not cells:
        return Path(np.full((1, 2), np.nan))
    left, right, top, bottom = inside
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom], [left, top]])
    vertices = (np.array(cells, float)[:, None] + corners).reshape(-1, 2)
    return Path(
        vertices, [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(cells)
    )

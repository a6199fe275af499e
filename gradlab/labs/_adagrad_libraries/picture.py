"""Numbers of several libraries as a table in which the first digit that differs stands out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...live.drawing.lanes import text
from ...live.drawing.moving import MovingPath
from ...live.drawing.style import BLACK, LABEL, NARROW, OTHER, SMALL, WIDE, moving_line, new_figure
from .._clip_libraries.picture import boxes

QUIET, RUST = "#505050", "#8F3800"  # darker than beside other figures: they stand on colors
# How far a number agrees, and how its cell looks: pale colors under dark text, beside a note in
# words.
LOOKS = {"same": "#FFFFFF", "last digits": "#FFF3C4", "early": "#F6D2BF", "none": "#EFC6DC"}
# Characters are whole pixels apart at 100, 125, 150 and 200 dots per inch, so that parts of a
# number join.
_ADVANCE = 8 * 72 / 100  # points
_SIZE = _ADVANCE * 2048 / 1233
_GAP = (math.nan, math.nan)
# Left, right, top and bottom of a cell in its square of one row and one column.
_BESIDE, _BELOW = (0.02, 0.98, 0.06, 0.94), (0.01, 0.99, 0.33, 0.99)


class Cell(NamedTuple):
    """A number as text, the place of its first differing character or None, a note below it, and a key of LOOKS."""

    text: str
    differs: int | None
    note: str
    look: str


class DigitsView:
    """One row for each library, one column for each number; the first row is what all were given.

    Of a number that differs the characters before that are black, the first differing one is bold,
    rust and underlined, and those after it are gray.
    """

    def __init__(self, rows: Sequence[str], columns: Sequence[str]) -> None:
        self.figure = new_figure(WIDE, 4.62)
        # The axes fill the page, so that it is known how large a point is in data coordinates.
        self.figure.set_layout_engine("constrained", w_pad=0, h_pad=0)
        self.axes = self.figure.add_subplot()
        self.axes.set_axis_off()
        self.rows, self.columns = list(rows), list(columns)
        self._boxes = {look: self._add_boxes(color) for look, color in LOOKS.items()}
        looks: dict[str, Any] = {"fontsize": LABEL, "color": BLACK, "va": "center"}
        self._heads = [
            self.axes.text(0, 0, words, ha="center", **{**looks, "color": QUIET})
            for words in columns
        ]
        self._names = [self.axes.text(0, 0, name, **looks) for name in rows]
        small = {**looks, "fontsize": SMALL, "color": QUIET, "animated": True}
        self._told = [text(self.axes, **small) for _ in rows]
        self._title = text(self.axes, **looks, weight="bold")
        self._lines = moving_line(self.axes, color=RUST, lw=2.0, solid_capstyle="butt")
        self._cells = [[_Cell(self.axes, small) for _ in columns] for _ in rows]
        for artist in self.axes.get_children():
            artist.set_in_layout(False)
        self.arrange(narrow=False)

    def _add_boxes(self, color: str) -> MovingPath:
        patch = MovingPath(boxes([], _BESIDE), fc=color, ec=OTHER, lw=0.8, animated=True)
        self.axes.add_patch(patch)
        return patch

    def arrange(self, narrow: bool) -> None:
        """Fit the page: names beside their rows, or above them."""
        self._break = ",\n" if narrow else ", "
        self._inside = _, _, top, bottom = _BELOW if narrow else _BESIDE
        rows, columns, above = len(self.rows), len(self.columns), 1.0
        # Rows are whole pixels high, so that equal numbers are painted once.
        self.figure.set_size_inches(*((NARROW, 7.0) if narrow else (WIDE, 4.62)))
        self.axes.set(xlim=(0 if narrow else -0.95, columns), ylim=(rows, -above))
        for r, (name, told) in enumerate(zip(self._names, self._told, strict=True)):
            name.set(x=0.02 if narrow else -0.93, y=r + (0.18 if narrow else 0.33), ha="left")
            edge = {"x": columns - 0.02, "ha": "right"} if narrow else {"x": -0.93, "ha": "left"}
            told.set(y=r + (0.18 if narrow else 0.68), **edge)
        # In up to three lines.
        self._title.set(x=0.02 if narrow else -0.93, y=-0.72 if narrow else -0.78)
        for c, head in enumerate(self._heads):
            head.set(x=c + 0.5, y=-0.25)
        spans, sizes = (
            (columns - self.axes.get_xlim()[0], rows + above),
            self.figure.get_size_inches(),
        )
        point = tuple(span / (72 * inches) for span, inches in zip(spans, sizes, strict=True))
        for r, row in enumerate(self._cells):
            for c, cell in enumerate(row):
                cell.place(c + 0.5, r + (top + bottom) / 2, point)

    def draw(self, title: str, told: Sequence[str], cells: Sequence[Sequence[Cell]]) -> None:
        """Set the title, a few words on every row, and the cells."""
        self._title.set_text(title.replace(", ", self._break))
        places: dict[str, list[tuple[int, int]]] = {look: [] for look in LOOKS}
        ends: list[tuple[float, float]] = [_GAP]
        for r, (row, words) in enumerate(zip(cells, told, strict=True)):
            self._told[r].set_text(words)
            for c, cell in enumerate(row):
                ends += self._cells[r][c].draw(cell)
                places[cell.look].append((c, r))
        for look, patch in self._boxes.items():
            patch.set_path(boxes(places[look], self._inside))
        self._lines.set_data(*zip(*ends, strict=True))


class _Cell:
    """The texts of one number: what agrees, the first digit that does not, the rest, and a note
    below.
    """

    def __init__(self, axes: Any, small: dict[str, Any]) -> None:
        looks: dict[str, Any] = {
            "fontsize": _SIZE,
            "fontfamily": "DejaVu Sans Mono",
            "va": "center",
        }
        self.kept = text(axes, color=BLACK, ha="left", **looks)
        self.first = text(axes, color=RUST, weight="bold", ha="left", **looks)
        self.rest = text(axes, color=QUIET, ha="left", **looks)
        self.note = text(axes, **{**small, "ha": "center"})

    def place(self, x: float, y: float, point: tuple[float, float]) -> None:
        """Stand in the middle at (x, y), where one point is as large as `point`."""
        self._middle, self._advance, self._y = x, _ADVANCE * point[0], y - 6.5 * point[1]
        self._under = self._y + 7.0 * point[1]
        self.note.set(x=x, y=y + 9.0 * point[1])

    def draw(self, cell: Cell) -> list[tuple[float, float]]:
        """Set the texts; give the ends of the line below the digit that differs."""
        at = len(cell.text) if cell.differs is None else cell.differs
        left = self._middle - len(cell.text) * self._advance / 2
        for words, start, part in (
            (self.kept, 0, cell.text[:at]), (self.first, at, cell.text[at : at + 1]),
            (self.rest, at + 1, cell.text[at + 1 :]),
        ):  # fmt: skip
            words.set(text=part, x=left + start * self._advance, y=self._y)
        self.note.set_text(cell.note)
        here = left + at * self._advance
        return (
            []
            if cell.differs is None
            else [(here, self._under), (here + self._advance, self._under), _GAP]
        )

"""Figure of the same ids on two engines: the input of each, and the movement of rows with and
without sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._base.numbers import decimals
from ...live.drawing.labels import EndLabels, label, moving_title
from ...live.drawing.lanes import DROPPED, IN_HAND, LIMIT, patch
from ...live.drawing.shapes import bars, hatching, segments
from ...live.drawing.strip import on_chip
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    HATCH,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_BLUE,
    QUIET,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels

PLACES, CORES, PART = (
    16,
    2,
    8,
)  # of the buffer of a SparseCore; SparseCores; places that a partition is filled up to
FARTHEST = 1.2  # moves beyond stand there
_HELD: dict[str, Any] = {"fc": PALE_BLUE, "ec": BLUE, "lw": 0.8}
_CLASSIC: dict[str, Any] = {
    "marker": "o",
    "ms": 11,
    "mfc": "none",
    "mec": OTHER,
    "mew": 1.6,
    "ls": "none",
}
_SPARSE: dict[str, Any] = {"marker": "D", "ms": 6, "color": BLUE, "mew": 0, "ls": "none"}
_EACH: dict[str, Any] = {
    "marker": "X",
    "ms": 6,
    "color": OTHER,
    "mec": "white",
    "mew": 0.5,
    "ls": "none",
}
_NAMES = ("classic", "SparseCores", "without sums")


class Engines(NamedTuple):
    """The data of the figure.

    Fields: unique (u,), inverse, samples, weights (n,): deduplication data; lost (n,): which
    lookups SparseCores drop.
    limit: lookups that a partition may get; minibatches: how many there are. core, place, local, of, gain (m,): for
    each lookup in the buffers its SparseCore, its place there, the row as its partition counts, the sample as the
    SparseCore counts, and the gain; owner (m,): the row it is. ends (SparseCores, partitions): what row pointers say.
    padded (p, 2): SparseCore and place of what only fills up. moved (3, rows): how far each row
    moves with the classic engine, with SparseCores and without accumulation. row: the chosen
    one. words: said in place of the buffers.
    """

    unique: np.ndarray
    inverse: np.ndarray
    samples: np.ndarray
    weights: np.ndarray
    lost: np.ndarray
    limit: int
    minibatches: int
    core: np.ndarray
    place: np.ndarray
    local: np.ndarray
    of: np.ndarray
    gain: np.ndarray
    owner: np.ndarray
    ends: np.ndarray
    padded: np.ndarray
    moved: np.ndarray
    row: int
    words: Sequence[str]


_WIDE_LAYOUT = PanelLayout((WIDE, 5.4), "CS/MM", height_ratios=(3.2, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 11.2), "C/S/M", height_ratios=(4, 4, 2.2))


class EnginesView:
    """Vectors of the classic engine beside the buffers of two SparseCores; below them, how far every row moves."""

    def __init__(self, rows: int) -> None:
        self.figure = new_figure(WIDE, 5.4)
        self.rows = rows
        self.classic, self.sparse, self.moved = (self.figure.add_subplot() for _ in range(3))
        tidy(self.classic, "", "", "lookup")
        tidy(self.sparse, "", "", "place: even rows, then odd")
        tidy(self.moved, "", "row", "distance")
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the engines side by side, or all in one column."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, C=self.classic, S=self.sparse, M=self.moved)
        self.moved.set(
            xlim=(-0.7, self.rows + (13 if narrow else 4)),
            xticks=range(0, self.rows, 4 if narrow else 2),
        )

    def _still(self) -> None:
        for axes, end in ((self.classic, 4.4), (self.sparse, 6.9)):
            axes.grid(False)
            axes.set(
                xlim=(-0.5, end), ylim=(PLACES + 0.9, -2.4), xticks=[], yticks=range(0, PLACES, 2)
            )
            axes.spines["bottom"].set_visible(False)
        for x, words in ((0, "unique"), (1.3, "inverse"), (2.3, "sample"), (3.3, "weight")):
            self.classic.text(
                x + 0.5, -1.0, words, ha="center", va="center", fontsize=SMALL, color=BLACK
            )
        for core in range(CORES):
            looks: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "fontsize": SMALL,
                "color": BLACK,
            }
            self.sparse.text(3.3 * core + 1, -1.9, f"SparseCore {core}", **looks)
            for k, words in enumerate(("row", "sample", "gain")):
                self.sparse.text(3.3 * core + k, -1.0, words, **looks)
        self.moved.set(ylim=(-0.1, FARTHEST + 0.1))
        self.moved.set_yticks((0, 0.4, 0.8, FARTHEST), ("0", "0.4", "0.8", f"≥ {FARTHEST}"))

    def _moving(self) -> None:
        classic, sparse, moved = self.classic, self.sparse, self.moved
        self._given, self._held = patch(classic, _HELD), patch(sparse, _HELD)
        self._lost, self._strokes = (
            patch(classic, DROPPED),
            moving_line(classic, zorder=2.5, **HATCH),
        )
        self._gone = label(classic, x=4.26, y=-1.9, ha="right", color=ORANGE_TEXT)
        self._padding = patch(sparse, IN_HAND)
        self._chosen = [patch(axes, {"fc": BLACK, "ec": "none"}) for axes in (classic, sparse)]
        self._vectors = [label(classic) for _ in range(4 * (PLACES + 1))]
        self._places = [label(sparse) for _ in range(3 * CORES * PLACES)]
        self._limits, self._limit = (
            moving_line(sparse, **LIMIT, zorder=3),
            label(sparse, ha="left", color=GREEN),
        )
        self._filled = label(sparse, color=QUIET)
        self._ends = [label(sparse, x=3.3 * k + 1, y=PLACES + 0.2) for k in range(CORES)]
        self._words = [label(sparse, x=0, ha="left") for _ in range(8)]
        self._apart = moving_line(moved, color=ORANGE, lw=3, solid_capstyle="butt")
        looks = (_CLASSIC, _SPARSE, _EACH)
        self._moves = [moving_line(moved, zorder=3 + k, **look) for k, look in enumerate(looks)]
        self._here = moving_line(moved, color=BLACK, lw=1.6, zorder=1.5)
        self._names = EndLabels(moved, len(_NAMES))
        self._titles = [moving_title(axes) for axes in (classic, sparse, moved)]

    def draw(self, engines: Engines) -> None:
        """Set the moving artists."""
        self._draw_classic(engines)
        self._draw_sparse(engines)
        self._draw_moves(engines)
        for title, words in zip(self._titles, _titles(engines), strict=True):
            title.set_text(words)

    def _draw_moves(self, e: Engines) -> None:
        touched, moved = np.unique(e.unique), np.minimum(e.moved, FARTHEST)
        for line, far, aside in zip(self._moves, moved, (0, 0, 0.3), strict=True):
            line.set_data(touched + aside, far[touched])
        other = _otherwise(e)
        self._apart.set_data(*segments(other, moved[0, other], other, moved[1, other]))
        self._here.set_data([e.row] * 2, [-0.1, FARTHEST + 0.1])
        looks = {"color": (QUIET, BLUE_TEXT, QUIET), "weight": ("normal", "bold", "normal")}
        self._names.draw(touched[-1] + 0.4, moved[:, touched[-1]], _NAMES, **looks)

    def _draw_classic(self, e: Engines) -> None:
        n, u = len(e.inverse), len(e.unique)
        x = np.concatenate([np.full(u, 0.5), np.repeat([1.8, 2.8, 3.8], n)])
        y = np.concatenate([np.arange(u), np.tile(np.arange(n), 3)])
        texts = [f"{v}" for v in (*e.unique, *e.inverse, *e.samples)] + [
            decimals(w) for w in e.weights
        ]
        _write(self._vectors, x, y, texts)
        lost = np.concatenate([np.zeros(u, bool), np.tile(e.lost, 3)])
        mine = np.concatenate([e.unique == e.row, np.tile(e.unique[e.inverse] == e.row, 3)])
        for shape, some in (
            (self._given, ~lost & ~mine), (self._lost, lost), (self._chosen[0], mine & ~lost)
        ):  # fmt: skip
            shape.set_path(bars(x[some] - 0.46, x[some] + 0.46, y[some] - 0.42, y[some] + 0.42))
        strokes = hatching(
            x[lost] - 0.46, x[lost] + 0.46, y[lost] - 0.42, y[lost] + 0.42, lean=0.25, apart=0.16
        )
        self._strokes.set_data(*strokes.T)
        self._gone.set_text(f"{e.lost.sum()} dropped" if e.lost.any() else "")
        for words, own, gone in zip(self._vectors, mine, lost, strict=False):
            on_chip(words, bool(own and not gone), BLACK, bold=bool(own))

    def _draw_sparse(self, e: Engines) -> None:
        x = (3.3 * e.core)[:, None] + np.arange(3)
        y = np.repeat(e.place, 3)
        texts = [
            t
            for a, b, g in zip(e.local, e.of, e.gain, strict=True)
            for t in (f"{a}", f"{b}", decimals(g))
        ]
        _write(self._places, x.ravel(), y, texts)
        mine = np.repeat(e.owner == e.row, 3)
        for shape, some in ((self._held, ~mine), (self._chosen[1], mine)):
            shape.set_path(
                bars(x.ravel()[some] - 0.46, x.ravel()[some] + 0.46, y[some] - 0.42, y[some] + 0.42)
            )
        for words, own in zip(self._places, mine, strict=False):
            on_chip(words, bool(own), BLACK)
        left, at = 3.3 * e.padded[:, 0] - 0.46, e.padded[:, 1]
        self._padding.set_path(bars(left, left + 2.92, at - 0.42, at + 0.42))
        filled = e.padded[e.padded[:, 0] == 0, 1]
        self._filled.set(
            x=1, y=filled[:2][-1] if len(filled) else 0, text="padding" if len(filled) else ""
        )
        self._draw_limits(e)
        shown = not e.words
        for core, words in enumerate(self._ends):
            words.set_text(f"row pointers {', '.join(map(str, e.ends[core]))}" if shown else "")
        _write(self._words, np.full(len(e.words), -0.4), 1.3 * np.arange(len(e.words)) + 1, e.words)

    def _draw_limits(self, e: Engines) -> None:
        """A line in each partition below the last place that it may fill."""
        starts = -(-np.column_stack([np.zeros(CORES, int), e.ends[:, :-1]]) // PART) * PART
        core = np.repeat(np.arange(CORES), CORES)
        y, x = starts.ravel() + e.limit - 0.5, 3.3 * core - 0.5
        self._limits.set_data(*(((), ()) if e.words else segments(x, y, x + 3, y)))
        self._limit.set(
            x=3.3 * (CORES - 1) + 2.6, y=y[-CORES], text="" if e.words else f"limit {e.limit}"
        )


def _otherwise(e: Engines) -> np.ndarray:
    """Rows that move differently with SparseCores."""
    return np.flatnonzero(np.abs(e.moved[1] - e.moved[0]) > 1e-6)


def _titles(e: Engines) -> tuple[str, str, str]:
    """Return what is seen in the panels."""
    lookups, held = len(e.inverse), len(e.core)
    # A SparseCore looks up an id that a sample repeats once, with a larger gain.
    wanted = len(set(zip(e.samples.tolist(), e.unique[e.inverse].tolist(), strict=True)))
    repeated = f", {lookups - wanted} repeated" if wanted < lookups else ""
    sparse = f"SparseCores: {held} of {wanted} have room"
    if e.minibatches > 1:
        sparse = f"SparseCores: first of {e.minibatches} minibatches"
    other, rows = len(_otherwise(e)), len(np.unique(e.unique))
    moves = f"{other} of {rows} rows move differently" if other else "Every row moves alike"
    if e.words:
        sparse, moves = "SparseCores: the batch is refused", "Moves with the classic engine"
    return f"Classic engine: {lookups} lookups{repeated}", sparse, moves


def _write(texts: Sequence[Any], x: np.ndarray, y: np.ndarray, words: Sequence[str]) -> None:
    """So many of the texts as there are words."""
    for k, one in enumerate(texts):
        one.set_visible(k < len(words))
        if k < len(words):
            one.set_position((x[k], y[k]))
            one.set_text(words[k])

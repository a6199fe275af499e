"""Figure of the same ids on two engines: the input of each, and the movement of rows with and without sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec

from .._base.numbers import decimals
from ._labels import colored_title, label
from ._lanes import ACCEPTED, IN_HAND, patch
from ._shapes import bars
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    SELECTED,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)

PLACES, CORES = 16, 2  # of the buffer of a SparseCore; SparseCores
FARTHEST = 2.5
_CHOSEN: dict[str, Any] = {"fc": "none", "ec": BLACK, "lw": SELECTED}
_CLASSIC: dict[str, Any] = {"marker": "o", "ms": 11, "mfc": "none", "mec": BLUE, "mew": 2, "ls": "none"}
_SPARSE: dict[str, Any] = {"marker": "D", "ms": 5, "color": GREEN, "mew": 0, "ls": "none"}
_EACH: dict[str, Any] = {"marker": "X", "ms": 7, "color": ORANGE, "mec": "white", "mew": 0.5, "ls": "none"}


class Engines(NamedTuple):
    """The data of the figure.

    Fields: unique (u,), inverse, samples, weights (n,): deduplication data. core, place, local, of, gain (m,): for each
    lookup in the buffers its SparseCore, its place there, the row as its partition counts, the sample as the SparseCore
    counts, and the gain; owner (m,): the row it is. ends (SparseCores, partitions): what row pointers say. padded
    (p, 2): SparseCore and place of what only fills up. moved (3, rows): how far each row moves with the classic engine,
    with SparseCores and without accumulation. row: the chosen one. words: said in place of the buffers.
    """

    unique: np.ndarray
    inverse: np.ndarray
    samples: np.ndarray
    weights: np.ndarray
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


class EnginesView:
    """Vectors of the classic engine beside the buffers of two SparseCores; below them, how far every row moves."""

    def __init__(self, rows: int) -> None:
        self.figure = new_figure(WIDE, 5.4)
        self.rows = rows
        self.classic, self.sparse, self.moved = (self.figure.add_subplot() for _ in range(3))
        tidy(self.classic, "Classic: deduplication data", "", "lookup")
        tidy(self.sparse, "SparseCores: buffers, dotted: padding", "", "place: even rows, then odd")
        tidy(self.moved, "Moves:", "row", "distance")
        colored_title(self.moved, ("classic ○", BLUE_TEXT), ("sparse ◆", GREEN), ("unsummed ✖", ORANGE_TEXT))
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the engines side by side, or all in one column."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 11.2 if narrow else 5.4)
        if narrow:
            grid = GridSpec(3, 1, self.figure, height_ratios=(4, 4, 2.2))
            places = [grid[k] for k in range(3)]
        else:
            grid = GridSpec(2, 2, self.figure, height_ratios=(3.2, 1))
            places = [grid[0, 0], grid[0, 1], grid[1, :]]
        for axes, place in zip((self.classic, self.sparse, self.moved), places, strict=True):
            axes.set_subplotspec(place)

    def _still(self) -> None:
        for axes, end in ((self.classic, 4.4), (self.sparse, 6.4)):
            axes.grid(False)
            axes.set(xlim=(-0.5, end), ylim=(PLACES + 0.9, -2.4), xticks=[], yticks=range(0, PLACES, 2))
            axes.spines["bottom"].set_visible(False)
        for x, words in ((0, "unique"), (1.3, "inverse"), (2.3, "sample"), (3.3, "weight")):
            self.classic.text(x + 0.5, -1.0, words, ha="center", va="center", fontsize=SMALL, color=BLACK)
        for core in range(CORES):
            looks: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL, "color": BLACK}
            self.sparse.text(3.3 * core + 1, -1.9, f"SparseCore {core}", **looks)
            for k, words in enumerate(("row", "sample", "gain")):
                self.sparse.text(3.3 * core + k, -1.0, words, **looks)
        self.moved.set(xlim=(-0.7, self.rows - 0.3), ylim=(-0.15, FARTHEST + 0.15), xticks=range(0, self.rows, 2))

    def _moving(self) -> None:
        self._given, self._held = patch(self.classic, ACCEPTED), patch(self.sparse, ACCEPTED)
        self._padding = patch(self.sparse, IN_HAND)
        self._chosen = [patch(axes, _CHOSEN) for axes in (self.classic, self.sparse)]
        self._vectors = [label(self.classic) for _ in range(4 * (PLACES + 1))]
        self._places = [label(self.sparse) for _ in range(3 * CORES * PLACES)]
        self._ends = [label(self.sparse, x=3.3 * k + 1, y=PLACES + 0.2) for k in range(CORES)]
        self._words = [label(self.sparse, x=0, y=k + 1, ha="left") for k in range(8)]
        looks = (_CLASSIC, _SPARSE, _EACH)
        self._moves = [moving_line(self.moved, zorder=3 + k, **look) for k, look in enumerate(looks)]
        self._here = moving_line(self.moved, color=BLACK, lw=1.6, zorder=1.5)

    def draw(self, engines: Engines) -> None:
        """Set the moving artists."""
        self._draw_classic(engines)
        self._draw_sparse(engines)
        touched = np.unique(engines.unique)
        for line, moved, aside in zip(self._moves, engines.moved, (0, 0, 0.3), strict=True):
            line.set_data(touched + aside, np.minimum(moved[touched], FARTHEST))
        self._here.set_data([engines.row] * 2, [-0.15, FARTHEST + 0.15])

    def _draw_classic(self, e: Engines) -> None:
        n, u = len(e.inverse), len(e.unique)
        x = np.concatenate([np.full(u, 0.5), np.repeat([1.8, 2.8, 3.8], n)])
        y = np.concatenate([np.arange(u), np.tile(np.arange(n), 3)])
        texts = [f"{v}" for v in (*e.unique, *e.inverse, *e.samples)] + [decimals(w) for w in e.weights]
        _write(self._vectors, x, y, texts)
        self._given.set_path(bars(x - 0.46, x + 0.46, y - 0.42, y + 0.42))
        mine = np.flatnonzero(e.unique[e.inverse] == e.row)
        own = np.flatnonzero(e.unique == e.row)
        left, right = np.repeat([0.04, 1.34], [len(own), len(mine)]), np.repeat([0.96, 4.26], [len(own), len(mine)])
        at = np.concatenate([own, mine])
        self._chosen[0].set_path(bars(left, right, at - 0.42, at + 0.42))

    def _draw_sparse(self, e: Engines) -> None:
        x = (3.3 * e.core)[:, None] + np.arange(3)
        y = np.repeat(e.place, 3)
        texts = [t for a, b, g in zip(e.local, e.of, e.gain, strict=True) for t in (f"{a}", f"{b}", decimals(g))]
        _write(self._places, x.ravel(), y, texts)
        self._held.set_path(bars(x.ravel() - 0.46, x.ravel() + 0.46, y - 0.42, y + 0.42))
        left, at = 3.3 * e.padded[:, 0] - 0.46, e.padded[:, 1]
        self._padding.set_path(bars(left, left + 2.92, at - 0.42, at + 0.42))
        mine = e.owner == e.row
        left = 3.3 * e.core[mine] - 0.46
        self._chosen[1].set_path(bars(left, left + 2.92, e.place[mine] - 0.42, e.place[mine] + 0.42))
        shown = not e.words
        for core, words in enumerate(self._ends):
            words.set_text(f"row pointers {', '.join(map(str, e.ends[core]))}" if shown else "")
        _write(self._words, np.zeros(len(e.words)), 1.3 * np.arange(len(e.words)) + 1, e.words)


def _write(texts: Sequence[Any], x: np.ndarray, y: np.ndarray, words: Sequence[str]) -> None:
    """So many of the texts as there are words."""
    for k, one in enumerate(texts):
        one.set_visible(k < len(words))
        if k < len(words):
            one.set(x=x[k], y=y[k], text=words[k])

"""A row for each tensor of a recorded run: names beside two panels, and a frame around the chosen one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.names import printable
from ..live.drawing.labels import Leaders, apart, label, on_paper
from ..live.drawing.lanes import patch
from ..live.drawing.shapes import bars
from ..live.drawing.style import BLACK, SMALL, percent_ticks, plain

MOST_ROWS = 12
_LETTERS = 13  # of a name; the end of it says more than the start
ROOM = 66.0  # points beside a panel
HEAD, _NAME = -1.0, 0.68  # the row of names above the first one; inches from one name to the next


def short(name: str, most: int = _LETTERS) -> str:
    """A name on one line; of one that is too long the end, after its number if that would be lost.

    >>> short("encoder/attention/kernel"), short("transformer.h.11.attn.c_attn.weight"), short("w1")
    ('…ntion/kernel', '11…ttn.weight', 'w1')
    """
    name = printable(name)
    if len(name) <= most:
        return name
    numbers = [
        part
        for part in re.split("[./]", name)
        if any(c.isdigit() for c in part) and len(part) < most // 2
    ]
    number = numbers[-1] if numbers and numbers[-1] not in name[-most + 1 :] else ""
    return f"{number}…{name[len(number) - most + 1 :]}"


def name_rows(axes: Any, places: Sequence[float] | np.ndarray, names: Sequence[str]) -> None:
    """Name rows that stand still, on their axis."""
    axes.set_yticks(places, [plain(short(name)) for name in names])


def name_some_rows(axes: Any, names: Sequence[str], most: int) -> int:
    """Name every k-th row, with k so large that there are at most `most` names; return k."""
    every = -(-len(names) // most)
    rows = range(0, len(names), every)
    name_rows(axes, rows, [names[row] for row in rows])
    return every


class TensorRows:
    """So many rows from the top down, at most `MOST_ROWS`, named at the left of each of some Axes.

    Above the first one is room for `head` more, below the last one for `foot`.
    """

    def __init__(self, rows: int, *panels: Any, head: float = 0.0, foot: float = 0.0) -> None:
        self._panels = panels
        self._names, self._frames = [], []
        for axes in panels:
            axes.set(ylim=(max(rows, 4) + foot - 0.4, -0.6 - head), yticks=[])
            axes.grid(False, axis="y")
            axes.yaxis.labelpad = ROOM
            axes.set_ylabel(" ", fontsize=SMALL)  # the names, which move, need the room
            place: dict[str, Any] = {"x": -0.03, "ha": "right", "fontsize": SMALL}
            names = [label(axes, **place) for _ in range(MOST_ROWS)]
            for name in names:
                name.set_transform(axes.get_yaxis_transform())
            self._names.append(names)
            self._frames.append(patch(axes, {"fc": "none", "ec": BLACK, "lw": 1.1}))

    def named(self, panel: int, shown: bool) -> None:
        """Show or hide the names of a panel; beside a panel with the same rows it needs none."""
        axes = self._panels[panel]
        axes.yaxis.labelpad = ROOM if shown else 0.0
        axes.set_ylabel(" " if shown else "")
        for name in self._names[panel]:
            name.set_visible(shown)

    def draw(self, names: Sequence[str], chosen: int | None) -> None:
        """Name the rows, and frame the chosen one."""
        for axes, labels, frame in zip(self._panels, self._names, self._frames, strict=True):
            axes_from, axes_to = sorted(axes.get_xlim())
            for k, words in enumerate(labels):
                words.set(y=k, text=short(names[k]) if k < len(names) else "")
            here = [] if chosen is None else [chosen]
            low = np.array(here, float) - 0.45
            frame.set_path(
                bars(np.full(len(here), axes_from), np.full(len(here), axes_to), low, low + 0.9)
            )


class MarkNames:
    """Names above marks of the first row, from left to right, with a line to each: apart where the marks are not."""

    def __init__(self, axes: Any, *names: tuple[str, str, str]) -> None:
        """Names (text, color, text in a narrow panel)."""
        self._axes, self._marks, self._words = axes, np.empty(0), names
        self._names = [label(axes, color=color, y=HEAD) for _, color, _ in names]
        for name in self._names:
            on_paper(name, True)  # a limit may pass below it
        self._leaders = axes.add_line(Leaders(self._place, axes.transData))

    def draw(self, marks: Sequence[float] | np.ndarray) -> None:
        """Marks in data, rising; a name without one, NaN, is not there."""
        marks = np.asarray(marks, float)
        if not np.array_equal(marks, self._marks, equal_nan=True):
            self._marks, self._leaders.stale = marks, True

    def _place(self) -> None:
        axes = self._axes
        to_panel = axes.transScale + axes.transLimits
        marks = to_panel.transform(np.stack([self._marks, np.full(len(self._marks), HEAD)], axis=1))
        # In sight, if somebody looks closer.
        there = np.flatnonzero((np.abs(marks - 0.5) <= 0.5 + 1e-6).all(axis=1))
        width = axes.get_position().width * axes.figure.get_size_inches()[0]
        half, narrow = _NAME / 2 / width, width < 4 * _NAME + 0.2
        half *= 0.75 if narrow else 1.0
        for k, (name, (words, _, short_words)) in enumerate(
            zip(self._names, self._words, strict=True)
        ):
            name.set(visible=k in there, text=short_words if narrow else words)
        places = apart(marks[there, 0], 2 * half, half, 1 - half)
        x = to_panel.inverted().transform(np.stack([places, np.zeros(len(there))], axis=1))[:, 0]
        lines = []
        for k, left in zip(there.tolist(), x, strict=True):
            self._names[k].set_x(left)
            lines += [(left, HEAD + 0.3), (self._marks[k], -0.25), (np.nan, np.nan)]
        self._leaders.set_data(*np.reshape(lines, (-1, 2)).T)


class ShareBars:
    """A bar for each row from 0 to 100%, and its number in words."""

    def __init__(self, axes: Any, looks: dict[str, Any]) -> None:
        axes.set(xlim=(0, 1.45), xticks=(0, 0.5, 1))
        percent_ticks(axes.xaxis)
        self._bars = patch(axes, looks)
        self._words = [label(axes, ha="left", fontsize=SMALL) for _ in range(MOST_ROWS)]

    def draw(self, shares: np.ndarray, words: Sequence[str]) -> None:
        """Shares (rows,) from 0 to 1, NaN for none, and what is written after each."""
        row = np.flatnonzero(np.nan_to_num(shares) > 0)
        self._bars.set_path(bars(0, shares[row], row - 0.3, row + 0.3))
        for k, text in enumerate(self._words):
            there = k < len(shares)
            text.set(
                x=(0.04 + np.nan_to_num(shares[k])) if there else 0,
                y=k,
                text=words[k] if there else "",
            )

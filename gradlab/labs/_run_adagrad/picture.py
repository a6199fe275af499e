"""What holds Adagrad back on a recorded run: every sampled entry, tensor by tensor, and the history
of one entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from ..._base.numbers import number
from ...live.drawing.labels import EndLabels, label, moving_title
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    SELECTED,
    VIOLET,
    VIOLET_TEXT,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)
from ..tensor_rows import ShareBars, TensorRows, short

LOWEST = 1e-4  # ratio; what is below stands at this edge
HIGHEST = 4.0  # ratio: 2.8 at most
UNKNOWN = 8.0  # where entries stand whose ratio can't be counted
SMALLEST = 1e-9  # accumulator
_HEIGHT = 5.35  # inches
_POINTS = 240  # of a line over time
_LETTERS = 24  # of the name of the entry whose story is told
_GAP = 1.12  # from a line or a mark to its name, as a factor
_BELOW: dict[str, Any] = {"color": GREEN, "ls": "--", "lw": 1.6}
_STEADY: dict[str, Any] = {"marker": "o", "ms": 3.4, "color": BLUE, "ls": "none", "mew": 0}
_HELD: dict[str, Any] = {"marker": "^", "ms": 4.6, "color": ORANGE, "ls": "none", "mew": 0}
_QUIET: dict[str, Any] = {"marker": "s", "ms": 5.5, "color": OTHER, "ls": "none", "mew": 0}
_FEW: dict[str, Any] = {"marker": "P", "ms": 4.5, "color": OTHER, "ls": "none", "mew": 0}
_LOST: dict[str, Any] = {"marker": "x", "ms": 6, "color": BLACK, "ls": "none", "mew": 1.6}
_STATES = (_STEADY, _HELD, _QUIET, _FEW, _LOST)
_IS_LOST = 4
_WORDS = (
    ("not held back", BLUE_TEXT),
    ("held back", ORANGE_TEXT),
    ("■ no gradient", QUIET),
    ("✚ too few", QUIET),
    ("✖ NaN, Inf", BLACK),
)
_ENTRY: dict[str, Any] = {"ls": "-", "lw": SELECTED}
_TENSOR: dict[str, Any] = {"color": OTHER, "ls": "-.", "lw": 1.6}
_START: dict[str, Any] = {"color": OTHER, "ls": "--", "lw": 1.4}
# Colors of a line and its name: of the rate, and of memory.
_NAMED = ((BLUE, BLUE_TEXT), (VIOLET, VIOLET_TEXT))
_HERE: dict[str, Any] = {"marker": "D", "ms": 8, "color": BLACK, "ls": "none", "mec": "white"}


class DrawnEntries(NamedTuple):
    """The data of the figure.

    Attributes:
        names: of the rows.
        row: (entries,) where each entry is, -1 for nowhere.
        ratio: (entries,) rate over that of steady gradients, NaN where it can't be counted.
        state: (entries,) 0 not held back, 1 held back, 2 no gradient, 3 too few, 4 lost.
        below: the threshold.
        held: (rows,) share that is held back.
        words: what is written after each.
        chosen: which entry has its story told.
        entry: its name.
        step: steps done by now.
        ratios, accumulators: (2, steps) of the chosen entry, and the median of its tensor.
        initial: the initial accumulator.
    """

    names: Sequence[str]
    row: np.ndarray
    ratio: np.ndarray
    state: np.ndarray
    below: float
    held: np.ndarray
    words: Sequence[str]
    chosen: int
    entry: str
    step: int
    ratios: np.ndarray
    accumulators: np.ndarray
    initial: float


class EntriesView:
    """A dot for each sampled entry in the row of its tensor; the share held back; one entry's ratio over time."""

    def __init__(self, rows: int, steps: np.ndarray, highest: float) -> None:
        """Draw what does not move.

        Args:
            rows: the most tensors.
            steps: (n,) done at each point of a line.
            highest: where accumulators end.
        """
        self.figure = new_figure(WIDE, _HEIGHT)
        self.over(steps)
        self.cloud, self.shares, self.rate, self.accumulator = (
            self.figure.add_subplot() for _ in range(4)
        )
        tidy(self.cloud, "Every sampled entry", "R: rate over that of steady gradients", "")
        tidy(self.shares, "Held back", "of the countable entries", "")
        tidy(self.rate, "", "steps", "R")
        tidy(self.accumulator, "Its sum of squares", "steps", "sum, and initial value")
        self.cloud.set(xscale="log", xlim=(0.7 * LOWEST, 1.6 * UNKNOWN))
        log_ticks(self.cloud.xaxis, lowest=LOWEST)
        self.cloud.set_xticks([1e-4, 1e-3, 1e-2, 1e-1, 1])
        self.rate.set(yscale="log", ylim=(0.7 * LOWEST, HIGHEST))
        log_ticks(self.rate.yaxis, lowest=LOWEST)
        self.still(int(steps[-1]), highest)
        self._rows = TensorRows(rows, self.cloud, self.shares, head=0.55, foot=1.1)
        self._bars = ShareBars(self.shares, {"fc": ORANGE, "ec": "none"})
        self._moving()
        self.arrange(narrow=False)

    def over(self, steps: np.ndarray) -> None:
        """The steps that the lines of the story are over; argument as above."""
        self._thin = np.unique(np.linspace(0, len(steps) - 1, _POINTS).astype(int))
        self._steps = steps[self._thin]

    def still(self, until: int, highest: float) -> None:
        """The room on the axes of the story: so many steps, and accumulators up to there."""
        self._highest = highest
        # With room for the mark of now.
        self.accumulator.set(yscale="log", ylim=(0.5 * SMALLEST, 8 * highest))
        log_ticks(self.accumulator.yaxis, lowest=SMALLEST, highest=highest)
        for axes in (self.rate, self.accumulator):
            axes.set_xlim(-0.01 * until, 1.5 * until)  # with room for names
            ticks = MaxNLocator(3, integer=True, steps=[1, 2, 5, 10]).tick_values(0, until)
            axes.set_xticks([tick for tick in ticks if 0 <= tick <= until])

    def arrange(self, narrow: bool) -> None:
        """Fit the page: shares beside the cloud and the story below, or everything in one column."""
        self.figure.set_size_inches(*((NARROW, 13.4) if narrow else (WIDE, _HEIGHT)))
        if narrow:
            grid = GridSpec(4, 1, self.figure, height_ratios=(1.5, 1.35, 1, 1))
            places = [grid[k] for k in range(4)]
        else:
            rows = GridSpec(2, 1, self.figure, height_ratios=(1.75, 1))
            top, low = rows[0].subgridspec(1, 2, width_ratios=(2.1, 1)), rows[1].subgridspec(1, 2)
            places = [top[0], top[1], low[0], low[1]]
        for axes, place in zip(
            (self.cloud, self.shares, self.rate, self.accumulator), places, strict=True
        ):
            axes.set_subplotspec(place)
        self._rows.named(1, narrow)

    def _moving(self) -> None:
        self._dots = [moving_line(self.cloud, **looks) for looks in _STATES]
        self._at = moving_line(self.cloud, **_HERE)
        self._words = [label(self.cloud, text=words, color=color) for words, color in _WORDS]
        self._threshold = label(self.cloud, color=GREEN)
        self._title = moving_title(self.rate)
        self._below = [
            moving_line(self.cloud, transform=self.cloud.get_xaxis_transform(), **_BELOW),
            moving_line(self.rate, transform=self.rate.get_yaxis_transform(), **_BELOW),
        ]
        self._initial = moving_line(
            self.accumulator, transform=self.accumulator.get_yaxis_transform(), **_START
        )
        panels = (self.rate, self.accumulator)
        self._median = [moving_line(axes, **_TENSOR) for axes in panels]
        self._story = [
            moving_line(axes, color=c, **_ENTRY)
            for axes, (c, _) in zip(panels, _NAMED, strict=True)
        ]
        self._now = [moving_line(axes, **_HERE) for axes in panels]
        self._ends = [EndLabels(axes, 2) for axes in panels]

    def draw(self, shown: DrawnEntries) -> None:
        """Set the moving artists."""
        chosen_row = int(shown.row[shown.chosen])
        self._rows.draw(shown.names, chosen_row if chosen_row >= 0 else None)
        self._bars.draw(shown.held, shown.words)
        x, y = self.places(shown)
        for kind, dots in enumerate(self._dots):
            dots.set_data(x[shown.state == kind], y[shown.state == kind])
        self._at.set_data(x[[shown.chosen]], y[[shown.chosen]])
        self._draw_words(shown)
        self._title.set_text(f"R of {short(shown.entry, _LETTERS)}")
        self._initial.set_data([0, 1 / 1.5], [max(shown.initial, SMALLEST)] * 2)
        self._below[0].set_data([shown.below] * 2, [0, 1])
        self._below[1].set_data([0, 1 / 1.5], [shown.below] * 2)  # as far as the lines go
        bounds = ((LOWEST, HIGHEST), (SMALLEST, self._highest))
        at = int(np.searchsorted(self._steps, shown.step))
        for k, (of_all, (low, high)) in enumerate(
            zip((shown.ratios, shown.accumulators), bounds, strict=True)
        ):
            chosen, median = np.clip(of_all[:, self._thin], low, high)
            self._story[k].set_data(self._steps, chosen)
            self._median[k].set_data(self._steps, median)
            self._now[k].set_data([shown.step], [chosen[min(at, len(chosen) - 1)]])
            looks = {"color": (_NAMED[k][1], QUIET), "weight": ("bold", "normal")}
            self._ends[k].draw(
                self._steps[-1], [chosen[-1], median[-1]], ["this entry", "median"], **looks
            )

    def _draw_words(self, shown: DrawnEntries) -> None:
        """Name the states: two on either side of the threshold, two below at the edges where their
        marks stand.
        """
        head, foot = -0.85, self.cloud.get_ylim()[0] - 0.85
        edges = self.cloud.get_xlim()
        right = shown.below < 0.02  # of the threshold, where there is room for its name
        for words, x, y, left in (
            (self._threshold, shown.below, foot, right),
            (self._words[0], shown.below, head, True),
            (self._words[1], shown.below, head, False),
            (self._words[2], edges[1], foot + 0.55, False),
            (self._words[3], edges[1], foot, False),
            (self._words[4], edges[0], foot + 0.55, True),
        ):
            words.set(x=x * (_GAP if left else 1 / _GAP), y=y, ha="left" if left else "right")
        self._threshold.set_text(f"threshold {number(shown.below)}")
        for kind, words in enumerate(self._words):
            words.set_visible(bool(((shown.state == kind) & (shown.row >= 0)).any()))

    @staticmethod
    def places(shown: DrawnEntries) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the dots, (entries,) each: in their row, slightly apart; NaN for entries without one."""
        apart = (np.arange(len(shown.row)) * 0.618 % 1 - 0.5) * 0.62
        x = np.clip(np.nan_to_num(shown.ratio, nan=UNKNOWN), LOWEST, None)
        x = np.where(shown.state == _IS_LOST, LOWEST, x)
        return np.where(shown.row >= 0, x, np.nan), np.where(
            shown.row >= 0, shown.row + apart, np.nan
        )

"""Adagrad's rates on a recorded run: every sampled entry, tensor by tensor, and the history of one entry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from ._labels import EndLabels, key_line
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)
from .run_rows import ROOM, Rows, Shares

LOWEST = 1e-4  # share of the first rate; what is below stands at this edge
SMALLEST = 1e-6  # accumulator
_HEIGHT = 5.35  # inches
_POINTS = 240  # of a line over time
_BELOW: dict[str, Any] = {"color": GREEN, "ls": "--", "lw": 1.6}
_ALIVE: dict[str, Any] = {"marker": "o", "ms": 3.4, "color": BLUE, "ls": "none", "mew": 0}
_FROZEN: dict[str, Any] = {"marker": "^", "ms": 4.6, "color": ORANGE, "ls": "none", "mew": 0}
_STILL: dict[str, Any] = {"marker": "s", "ms": 5.5, "color": OTHER, "ls": "none", "mew": 0}
_LOST: dict[str, Any] = {"marker": "x", "ms": 6, "color": BLACK, "ls": "none", "mew": 1.6}
_STATES = (_ALIVE, _FROZEN, _STILL, _LOST)
_WORDS = (("● moves on", BLUE_TEXT), ("▲ frozen", ORANGE_TEXT), ("■ never moved", QUIET), ("✖ NaN or too large", BLACK))
_ENTRY: dict[str, Any] = {"color": ORANGE, "ls": "-", "lw": 2.0}
_TENSOR: dict[str, Any] = {"color": OTHER, "ls": "-.", "lw": 1.6}
_NAMED: dict[str, Any] = {"color": [ORANGE_TEXT, QUIET], "weight": ["bold", "normal"]}
_HERE: dict[str, Any] = {"marker": "D", "ms": 8, "color": ORANGE, "ls": "none", "mec": "white"}


class Entries(NamedTuple):
    """The data of the figure.

    Attributes:
        names: of the rows. row: (entries,) where each entry is, -1 for nowhere.
        share: (entries,) effective rate over that of the start. state: (entries,) 0 alive, 1 frozen, 2 still, 3 lost.
        below: the threshold. frozen: (rows,) share that is frozen. words: what is written after each.
        chosen: which entry has its story told. step: steps done by now.
        rates, accumulators: (2, steps) of the chosen entry, and the median of its tensor.
    """

    names: Sequence[str]
    row: np.ndarray
    share: np.ndarray
    state: np.ndarray
    below: float
    frozen: np.ndarray
    words: Sequence[str]
    chosen: int
    step: int
    rates: np.ndarray
    accumulators: np.ndarray


class EntriesView:
    """A dot for each sampled entry in the row of its tensor; the share of frozen ones; one entry's rate over time."""

    def __init__(self, rows: int, steps: np.ndarray, highest: float, kinds: Collection[int] = range(4)) -> None:
        """Draw what does not move.

        Args:
            rows: the most tensors. steps: (n,) done at each point of a line. highest: where accumulators end.
            kinds: which states an entry can be in, for the words that name them.
        """
        self.figure = new_figure(WIDE, _HEIGHT)
        self.over(steps)
        self.cloud, self.shares, self.rate, self.accumulator = (self.figure.add_subplot() for _ in range(4))
        tidy(self.cloud, "Every sampled entry", "effective rate, share of its start", "", key=True)
        tidy(self.shares, "Frozen", "of the sampled entries", "")
        tidy(self.rate, "Rate of the chosen entry", "steps", "share of the start")
        tidy(self.accumulator, "Its accumulator", "steps", "accumulator")
        self.cloud.set(xscale="log", xlim=(0.7 * LOWEST, 1.6))
        log_ticks(self.cloud.xaxis, lowest=LOWEST)
        self.rate.set(yscale="log", ylim=(0.7 * LOWEST, 1.6))
        log_ticks(self.rate.yaxis, lowest=LOWEST)
        self.still(int(steps[-1]), highest)
        self._rows = Rows(rows, self.cloud, self.shares)
        self._bars = Shares(self.shares, {"fc": ORANGE, "ec": "none"})
        self._moving()
        key_line(self.cloud, -ROOM, *(words for kind, words in enumerate(_WORDS) if kind in kinds))
        self.arrange(narrow=False)

    def over(self, steps: np.ndarray) -> None:
        """The steps that the lines of the story are over; argument as above."""
        self._thin = np.unique(np.linspace(0, len(steps) - 1, _POINTS).astype(int))
        self._steps = steps[self._thin]

    def still(self, until: int, highest: float) -> None:
        """The room on the axes of the story: so many steps, and accumulators up to there."""
        self._highest = highest
        self.accumulator.set(yscale="log", ylim=(0.5 * SMALLEST, 2 * highest))
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
        for axes, place in zip((self.cloud, self.shares, self.rate, self.accumulator), places, strict=True):
            axes.set_subplotspec(place)
        self._rows.named(1, narrow)

    def _moving(self) -> None:
        self._dots = [moving_line(self.cloud, **looks) for looks in _STATES]
        self._at = moving_line(self.cloud, **_HERE)
        self._below = [
            moving_line(self.cloud, transform=self.cloud.get_xaxis_transform(), **_BELOW),
            moving_line(self.rate, transform=self.rate.get_yaxis_transform(), **_BELOW),
        ]
        panels = (self.rate, self.accumulator)
        self._median = [moving_line(axes, **_TENSOR) for axes in panels]
        self._story = [moving_line(axes, **_ENTRY) for axes in panels]
        self._now = [moving_line(axes, **_HERE) for axes in panels]
        self._ends = [EndLabels(axes, 2) for axes in panels]

    def draw(self, shown: Entries) -> None:
        """Set the moving artists."""
        chosen_row = int(shown.row[shown.chosen])
        self._rows.draw(shown.names, chosen_row if chosen_row >= 0 else None)
        self._bars.draw(shown.frozen, shown.words)
        x, y = self.places(shown)
        for kind, dots in enumerate(self._dots):
            dots.set_data(x[shown.state == kind], y[shown.state == kind])
        self._at.set_data(x[[shown.chosen]], y[[shown.chosen]])
        self._below[0].set_data([shown.below] * 2, [0, 1])
        self._below[1].set_data([0, 1], [shown.below] * 2)
        bounds = ((LOWEST, 1.0), (SMALLEST, self._highest))
        at = int(np.searchsorted(self._steps, shown.step))
        for k, (of_all, (low, high)) in enumerate(zip((shown.rates, shown.accumulators), bounds, strict=True)):
            chosen, median = np.clip(of_all[:, self._thin], low, high)
            self._story[k].set_data(self._steps, chosen)
            self._median[k].set_data(self._steps, median)
            self._now[k].set_data([shown.step], [chosen[min(at, len(chosen) - 1)]])
            self._ends[k].draw(self._steps[-1], [chosen[-1], median[-1]], ["this entry", "median"], **_NAMED)

    @staticmethod
    def places(shown: Entries) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the dots, (entries,) each: in their row, slightly apart; NaN for entries without one."""
        apart = (np.arange(len(shown.row)) * 0.618 % 1 - 0.5) * 0.62
        share = np.clip(np.nan_to_num(shown.share, nan=0.0), LOWEST, None)
        return np.where(shown.row >= 0, share, np.nan), np.where(shown.row >= 0, shown.row + apart, np.nan)

"""Benefit of backup workers: how long a round takes, what it teaches, and the time to a given accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec

from .._base.numbers import percent
from ._labels import EndLabels, beyond
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    NARROW,
    OTHER,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip

_HERE: dict[str, Any] = {"marker": "D", "ms": 8, "color": BLACK, "ls": "none", "mec": "white", "zorder": 4}
_NEVER: dict[str, Any] = {"marker": "^", "ls": "none", "mfc": "none"}


class SpareView:
    """Time of a round by how many gradients end it; learning curves over time; time until enough is right.

    What does not get there is a hollow triangle above the last time, without a value.
    """

    def __init__(self, collect: np.ndarray, needed: np.ndarray, times: np.ndarray, goal: float) -> None:
        """Draw what does not move.

        Args:
            collect: (workers,) ticks of a round that ends with 1, 2, ... gradients.
            needed: (workers, seeds) ticks until the goal, infinite for never. times: of the learning curves.
            goal: accuracy.
        """
        self.figure = new_figure(WIDE, 5.2)
        self.rounds, self.needed, self.curves = (self.figure.add_subplot() for _ in range(3))
        self._k, self._times = np.arange(1, len(collect) + 1), times / 1000
        self._collect, self._median = collect, np.median(needed, axis=1) / 1000
        tidy(self.rounds, "Time of a round", f"gradients that end it, of {len(collect)} workers", "ticks")
        tidy(self.needed, f"Until {percent(goal)} are right", "gradients that end a round", "thousand ticks")
        tidy(self.curves, "Accuracy", "thousand ticks", "%")
        self._still(needed / 1000, goal)
        self._here = [moving_line(axes, **_HERE) for axes in (self.rounds, self.needed)]
        self._chosen = moving_line(self.curves, color=BLUE, lw=SELECTED)
        self._all = moving_line(self.curves, color=QUIET, ls=DASHED, lw=1.4, zorder=3)  # seen on the chosen one, too
        self._names = EndLabels(self.curves, 2)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what a round costs and buys side by side, or one below the other."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 8.8 if narrow else 5.2)
        if narrow:
            grid = GridSpec(3, 2, self.figure, width_ratios=(1, 0.26))
            places = [grid[0, :], grid[1, :], grid[2, 0]]
        else:
            grid = GridSpec(2, 3, self.figure, width_ratios=(1, 0.7, 0.3))
            places = [grid[0, 0], grid[0, 1:], grid[1, :2]]
        for axes, place in zip((self.rounds, self.needed, self.curves), places, strict=True):
            axes.set_subplotspec(place)

    def _still(self, needed: np.ndarray, goal: float) -> None:
        workers, end = len(self._collect), self._times[-1]
        for axes in (self.rounds, self.needed):
            axes.set(xlim=(0.4, workers + 0.6), xticks=[1, *range(4, workers + 1, 4)])
        self.rounds.plot(self._k, self._collect, "o-", ms=4, lw=1.4, color=BLUE)
        self.rounds.set_ylim(0, 1.08 * self._collect.max())
        seeds, every = np.repeat(self._k, needed.shape[1]), needed.ravel()
        self._never = beyond(self.needed, end, f"not within {1000 * end:,.0f} ticks")
        series: tuple[Any, ...] = ((seeds, every, {"ms": 5, "color": OTHER}), (self._k, self._median, {"color": BLUE}))
        for k, ticks, looks in series:
            lost = ~np.isfinite(ticks)
            self.needed.plot(k[lost], np.full(lost.sum(), self._never), **{"ms": 7, "mec": looks["color"], **_NEVER})
            self.needed.plot(k[~lost], ticks[~lost], **({"marker": ".", "ls": "none", "mew": 0, "ms": 6} | looks))
        self.needed.plot(self._k, np.where(np.isfinite(self._median), self._median, np.nan), lw=1.4, color=BLUE)
        where: dict[str, Any] = {"transform": self.needed.transAxes, "fontsize": SMALL, "color": QUIET}
        self.needed.text(0.02, 0.03, "gray: a run, blue: median", **where)
        best = int(np.argmin(self._median))
        if np.isfinite(self._median[best]):
            at = self._k[best], self._median[best]
            self.needed.annotate(
                f"{at[0]} is fastest", at, (0, 26), textcoords="offset points", fontsize=SMALL, color=BLUE_TEXT,
                weight="bold", ha="center",
            )  # fmt: skip
        self.curves.set(xlim=(0, end), ylim=(0, 101))
        self.curves.axhline(100 * goal, color=OTHER, lw=1)

    def draw(self, k: int, curve: np.ndarray, everybody: np.ndarray) -> None:
        """Set the moving artists: how many gradients end a round, and learning curves (times,) in %."""
        self._here[0].set_data([k], [self._collect[k - 1]])
        median = self._median[k - 1]
        self._here[1].set_data([k], [median if np.isfinite(median) else self._never])
        self._chosen.set_data(self._times, curve)
        self._all.set_data(self._times, everybody)
        words = [f"{k} of {len(self._k)}", f"all {len(self._k)}"]
        ends, looks = [curve[-1], everybody[-1]], {"color": [BLUE_TEXT, QUIET], "weight": ["bold", "normal"]}
        self._names.draw(self._times[-1], ends, words, **looks)

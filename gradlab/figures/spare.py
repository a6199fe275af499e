"""Benefit of backup workers: how long a round takes, what it teaches, and the time to a given accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec

from .._base.numbers import percent
from ._style import BLACK, BLUE, NARROW, ORANGE, OTHER, WIDE, moving_line, new_figure, tidy

_HERE: dict[str, Any] = {"marker": "D", "ms": 8, "color": ORANGE, "ls": "none", "mec": "white", "zorder": 4}
_ALL: dict[str, Any] = {"color": BLACK, "ls": "--", "lw": 1.6}


class SpareView:
    """Time of a round by how many gradients end it; learning curves over time; time until enough is right."""

    def __init__(self, collect: np.ndarray, needed: np.ndarray, times: np.ndarray, goal: float) -> None:
        """Draw what does not move.

        Args:
            collect: (workers,) ticks of a round that ends with 1, 2, ... gradients.
            needed: (workers, seeds) ticks until the goal, infinite for never. times: of the learning curves.
            goal: accuracy.
        """
        self.figure = new_figure(WIDE, 5.6)
        self.rounds, self.needed, self.curves = (self.figure.add_subplot() for _ in range(3))
        self._k, self._times = np.arange(1, len(collect) + 1), times / 1000
        self._collect, self._median = collect, np.median(needed, axis=1) / 1000
        tidy(self.rounds, "Time of a round", f"gradients that end it, of {len(collect)} workers", "ticks")
        tidy(self.needed, f"Until {percent(goal)} are right", "gradients that end a round", "thousand ticks")
        tidy(self.curves, "Accuracy", "thousand ticks", "%")
        self._still(needed / 1000, goal)
        self._here = [moving_line(axes, **_HERE) for axes in (self.rounds, self.needed)]
        self._all = moving_line(self.curves, **_ALL)
        self._chosen = moving_line(self.curves, color=ORANGE, lw=2)
        self._legend()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what a round costs and buys side by side, or one below the other."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 8.8 if narrow else 5.6)
        grid = GridSpec(3, 1, self.figure) if narrow else GridSpec(2, 2, self.figure)
        places = [grid[0], grid[1], grid[2]] if narrow else [grid[0, 0], grid[0, 1], grid[1, :]]
        for axes, place in zip((self.rounds, self.needed, self.curves), places, strict=True):
            axes.set_subplotspec(place)

    def _still(self, needed: np.ndarray, goal: float) -> None:
        workers, end = len(self._collect), self._times[-1]
        for axes in (self.rounds, self.needed):
            axes.set(xlim=(0.4, workers + 0.6), xticks=[1, *range(4, workers + 1, 4)])
        self.rounds.plot(self._k, self._collect, "o-", ms=4, lw=1.4, color=BLUE)
        self.rounds.set_ylim(0, 1.08 * self._collect.max())
        seeds = np.repeat(self._k, needed.shape[1])
        self.needed.plot(seeds, np.minimum(needed.ravel(), end), ".", ms=4, color=OTHER)
        self.needed.plot(self._k, np.minimum(self._median, end), "o-", ms=4, lw=1.4, color=BLUE)
        self.needed.set_ylim(0, 1.05 * end)
        self.curves.set(xlim=(0, end), ylim=(0, 101))
        self.curves.axhline(100 * goal, color=OTHER, lw=1)

    def _legend(self) -> None:
        self.curves.plot([], [], color=ORANGE, lw=2, label="this many gradients end a round")
        self.curves.plot([], [], label=f"all {len(self._k)} are waited for", **_ALL)
        self.curves.legend(loc="lower right", fontsize=9, frameon=False)

    def draw(self, k: int, curve: np.ndarray, everybody: np.ndarray) -> None:
        """Set the moving artists: how many gradients end a round, and learning curves (times,) in %."""
        self._here[0].set_data([k], [self._collect[k - 1]])
        self._here[1].set_data([k], [min(self._median[k - 1], self._times[-1])])
        self._chosen.set_data(self._times, curve)
        self._all.set_data(self._times, everybody)

"""Benefit of backup workers: how long a round takes, what it teaches, and the time to a given accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.transforms import ScaledTranslation

from .._base.numbers import number, percent
from ._curves import SMOOTHED, smoothed
from ._labels import EndLabels, beyond, label, on_paper
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
_UNIT = 1000  # ticks, of the axes of training


class SpareView:
    """Time until enough is right by how many gradients end a round; the time of a round; learning curves over time.

    What does not get there is a hollow triangle above the last time, without a value.
    """

    def __init__(self, collect: np.ndarray, needed: np.ndarray, times: np.ndarray, goal: float) -> None:
        """Draw what does not move.

        Args:
            collect: (workers,) ticks of a round that ends with 1, 2, ... gradients.
            needed: (workers, seeds) ticks until the goal, infinite for never. times: of the learning curves.
            goal: accuracy.
        """
        self.figure = new_figure(WIDE, 4.9)
        self.needed, self.rounds, self.curves = (self.figure.add_subplot() for _ in range(3))
        self._k, self._times = np.arange(1, len(collect) + 1), times / _UNIT
        self._collect, self._median = collect, np.median(needed, axis=1) / _UNIT
        smooth = number(SMOOTHED * float(times[1] - times[0]))
        ends = f"gradients that end a round, of {len(collect)}"
        tidy(self.needed, f"Time until {percent(goal)} accuracy", ends, "thousand ticks")
        tidy(self.rounds, "Time of a round", ends, "ticks")
        tidy(self.curves, "Accuracy over time", "thousand ticks", f"%, mean of {smooth} ticks")
        self._still(needed / _UNIT, goal)
        self._here = [moving_line(axes, **_HERE) for axes in (self.rounds, self.needed)]
        up = ScaledTranslation(0, 0.16, self.figure.dpi_scale_trans)
        self._said = [label(axes, weight="bold", transform=axes.transData + up) for axes in (self.rounds, self.needed)]
        for words in self._said:
            on_paper(words, True)  # where the line is steep
        self._chosen = moving_line(self.curves, color=BLUE, lw=SELECTED)
        self._reference = moving_line(self.curves, color=QUIET, ls=DASHED, lw=1.4, zorder=3)  # seen on the chosen one
        self._names = EndLabels(self.curves, 2)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what rounds cost and teach beside the time that is needed, or all in one column."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 9.0 if narrow else 4.9)
        if narrow:
            grid = GridSpec(3, 2, self.figure, width_ratios=(1, 0.26), height_ratios=(1.5, 1, 1))
            places = [grid[0, :], grid[1, :], grid[2, 0]]
        else:
            grid = GridSpec(2, 3, self.figure, width_ratios=(1.6, 1, 0.36))
            places = [grid[:, 0], grid[0, 1:], grid[1, 1]]
        for axes, place in zip((self.needed, self.rounds, self.curves), places, strict=True):
            axes.set_subplotspec(place)

    def _still(self, needed: np.ndarray, goal: float) -> None:
        workers, end = len(self._collect), self._times[-1]
        for axes in (self.rounds, self.needed):
            axes.set(xlim=(0.4, workers + 0.6), xticks=[1, *range(4, workers + 1, 4)])
        self.rounds.plot(self._k, self._collect, "o-", ms=4, lw=1.4, color=BLUE)
        self.rounds.set_ylim(0, 1.15 * self._collect.max())
        seeds, every = np.repeat(self._k, needed.shape[1]), needed.ravel()
        self._never = beyond(self.needed, end, f"not within {number(_UNIT * end)} ticks")
        series: tuple[Any, ...] = ((seeds, every, {"ms": 5, "color": OTHER}), (self._k, self._median, {"color": BLUE}))
        for k, ticks, looks in series:
            lost = ~np.isfinite(ticks)
            self.needed.plot(k[lost], np.full(lost.sum(), self._never), **{"ms": 7, "mec": looks["color"], **_NEVER})
            self.needed.plot(k[~lost], ticks[~lost], **({"marker": ".", "ls": "none", "mew": 0, "ms": 6} | looks))
        self.needed.plot(self._k, np.where(np.isfinite(self._median), self._median, np.nan), lw=1.8, color=BLUE)
        self._annotate(seeds, every)
        self.curves.set(xlim=(0, end), ylim=(0, 101), yticks=(0, 50, round(100 * goal)))
        self.curves.axhline(100 * goal, color=OTHER, lw=1)

    def _annotate(self, seeds: np.ndarray, every: np.ndarray) -> None:
        """Name the fastest, the line of the medians, and one of the dots."""
        there, best = np.flatnonzero(np.isfinite(self._median)), int(np.argmin(self._median))
        dots = np.flatnonzero(np.isfinite(every))
        looks: dict[str, Any] = {"textcoords": "offset points", "fontsize": SMALL, "va": "center"}
        if len(dots):
            at = seeds[dots[0]], every[dots[0]]
            self.needed.annotate("a run", at, (5, 0), color=QUIET, **looks)
        if len(there):
            first = int(there[np.argmax(self._median[there[:4]])])
            at = self._k[first], self._median[first]
            self.needed.annotate("median", at, (6, 3), color=BLUE_TEXT, **looks)
            at = self._k[best], self._median[best]
            bold: dict[str, Any] = {"color": BLUE_TEXT, "weight": "bold", "ha": "center"}
            self.needed.annotate(f"{at[0]} is fastest", at, (0, -26), **looks, **bold)

    def draw(self, k: int, curve: np.ndarray, reference: int, other: np.ndarray) -> None:
        """Set the moving artists: how many gradients end a round, here and for comparison, and their curves in %."""
        median = self._median[k - 1]
        self._here[0].set_data([k], [self._collect[k - 1]])
        self._here[1].set_data([k], [median if np.isfinite(median) else self._never])
        at_end = {1: "left", len(self._k): "right"}
        side: dict[str, Any] = {"x": k, "ha": at_end.get(k, "center")}
        self._said[0].set(y=self._collect[k - 1], text=f"{number(self._collect[k - 1])} ticks", **side)
        self._said[1].set(visible=bool(np.isfinite(median)), **side)
        if np.isfinite(median):
            self._said[1].set(y=median, text=f"{number(_UNIT * median)} ticks")
        shown = [smoothed(curve), smoothed(other)]
        self._chosen.set_data(self._times, shown[0])
        self._reference.set_data(self._times, shown[1])
        words = [f"all {one}" if one == len(self._k) else f"{one} of {len(self._k)}" for one in (k, reference)]
        looks = {"color": [BLUE_TEXT, QUIET], "weight": ["bold", "normal"]}
        self._names.draw(self._times[-1], [line[-1] for line in shown], words, **looks)

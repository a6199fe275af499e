"""The cost of stale gradients for models and optimizers: learning curves, and how many times as
long a goal takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec

from ..._base.numbers import number, percent
from ...live.drawing.curves import SMOOTHED, smoothed
from ...live.drawing.labels import EndLabels, beyond
from ...live.drawing.shapes import segments
from ...live.drawing.style import (
    BLACK,
    NARROW,
    OTHER,
    OTHERS,
    QUIET,
    SELECTED,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)

# One look for each line of a group: dash and marker. Its color and width say whether the sentence
# speaks of it.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"ls": (0, (1.5, 1.2)), "marker": "o"},
    {"ls": (0, (6, 1.5, 1.5, 1.5)), "marker": "s"},
    {"ls": (0, (6, 1.5)), "marker": "^"},
    {"ls": "-", "marker": "D"},
)
_MOST = 8.0  # times as many updates: the highest shown
_NEXT = 0.075  # of that: between the marks of two lines that have no value
_SIDE = 0.55  # updates of delay: between the bars of two lines, which would lie on one another


class DelaysView:
    """Two groups of lines, each with its learning curves at one delay above and its slowdown at all delays below.

    A bar is the middle half of the seeds. Where some run doesn't reach the goal, a hollow mark
    above the highest slowdown stands in place of a value.
    """

    def __init__(
        self,
        titles: Sequence[str],
        labels: Sequence[Sequence[str]],
        updates: np.ndarray,
        delays: Sequence[int],
        goal: float,
    ) -> None:
        self.figure = new_figure(WIDE, 5.2)
        self._updates = np.asarray(updates)
        self._delays = np.asarray(delays)
        self.curves, self.needed = ([self.figure.add_subplot() for _ in titles] for _ in range(2))
        self._still(titles, goal)
        self._moving(labels)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the two groups side by side, or one below the other."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 11.0 if narrow else 5.2)
        # Right of each panel is room for names.
        columns = (1, 0.68) if narrow else (1, 0.36, 1, 0.6)
        grid = GridSpec(4 if narrow else 2, len(columns), self.figure, width_ratios=columns)
        for k, group in enumerate(zip(self.curves, self.needed, strict=True)):
            for row, axes in enumerate(group):
                axes.set_subplotspec(grid[2 * k + row, 0] if narrow else grid[row, 2 * k])

    def _still(self, titles: Sequence[str], goal: float) -> None:
        most, apart = int(self._updates[-1]), int(self._updates[1] - self._updates[0])
        for axes, title in zip(self.curves, titles, strict=True):
            tidy(
                axes, title, "updates", f"accuracy (%), mean of {number(SMOOTHED * apart)} updates"
            )
            axes.set(
                xlim=(0, most),
                ylim=(0, 101),
                yticks=range(0, 91, 30),
                xticks=range(0, most + 1, max(1, most // 3)),
            )
            axes.axhline(100 * goal, color=OTHER, lw=1, ls="-")
        for axes in self.needed:
            tidy(axes, f"Times as many updates to {percent(goal)}", "largest delay in updates", "")
            axes.set(xlim=(-2, self._delays[-1] + 2), xticks=self._delays)
            axes.set_ylim(0, _MOST)
            axes.set_yticks(range(0, int(_MOST) + 1, 2))
            self._never = (
                beyond(axes, _MOST, f"not in all runs within {number(most)} updates") - 0.02 * _MOST
            )
        for axes in self.curves:
            axes.xaxis.set_major_formatter(lambda x, _: number(x))

    def _moving(self, labels: Sequence[Sequence[str]]) -> None:
        self._lines, self._means, self._beyond, self._here, self._names = [], [], [], [], []
        self._spreads: list[list[Any]] = []
        self._labels = [list(group) for group in labels]
        self._told: list[np.ndarray] = [np.empty(0)] * len(labels)
        for curves, needed, group in zip(self.curves, self.needed, labels, strict=True):
            looks = [{**look, "ms": 5} for look in _LOOKS[: len(group)]]
            self._lines.append(
                [moving_line(curves, **{**look, "marker": "none"}) for look in looks]
            )
            self._means.append([moving_line(needed, **look) for look in looks])
            self._spreads.append([moving_line(needed) for _ in looks])
            hollow = {"ls": "none", "mfc": "none"}
            self._beyond.append(
                [moving_line(needed, **{**look, **hollow, "ms": 7}) for look in looks]
            )
            self._here.append(moving_line(needed, color=BLACK, lw=OTHERS, ls=":"))
            self._names.append([EndLabels(axes, len(group)) for axes in (curves, needed)])

    def draw(
        self,
        delay: int,
        curves: Sequence[np.ndarray],
        needed: Sequence[np.ndarray],
        told: Sequence[np.ndarray],
    ) -> None:
        """Set the moving artists.

        Args:
            delay: which of the delays the curves are for, by its place.
            curves: for each group (lines, updates) in %.
            needed: for each group (3, lines, delays): the lower quartile, mean and upper quartile
                of the slowdown, infinite where some run never gets there.
            told: for each group (lines,), whether the line is heavy.
        """
        for k, heavy in enumerate(told):
            smooth = smoothed(np.asarray(curves[k], float))
            lower, mean, upper = np.asarray(needed[k], float)
            got, above = self._split(mean)
            self._spread(k, lower, upper)
            for line, accuracy in zip(self._lines[k], smooth, strict=True):
                line.set_data(self._updates, accuracy)
            for lines, heights in ((self._means[k], got), (self._beyond[k], above)):
                for line, height in zip(lines, heights, strict=True):
                    line.set(data=(self._delays, height), visible=np.isfinite(height).any())
            if not np.array_equal(self._told[k], heavy):
                self._told[k] = np.array(heavy)
                self._emphasize(k, heavy)
            self._name(k, smooth[:, -1], np.where(np.isfinite(got), got, above)[:, -1], heavy)
            self._here[k].set_data([self._delays[delay]] * 2, [0, self._never + _NEXT * _MOST])

    def _spread(self, k: int, lower: np.ndarray, upper: np.ndarray) -> None:
        """Draw the bars of a group, side by side."""
        for line, (bar, low, high) in enumerate(zip(self._spreads[k], lower, upper, strict=True)):
            there = np.isfinite(low) & np.isfinite(high)
            at = self._delays[there] + _SIDE * (line - (len(lower) - 1) / 2)
            bar.set_data(*segments(at, low[there], at, high[there]))

    def _emphasize(self, k: int, heavy: np.ndarray) -> None:
        """Make some lines of a group heavy and the others light."""
        groups = self._lines[k], self._means[k], self._spreads[k], self._beyond[k]
        for *artists, chosen in zip(*groups, heavy, strict=True):
            width = SELECTED if chosen else OTHERS
            for artist in artists:
                artist.set(color=BLACK if chosen else QUIET, lw=width, zorder=3 if chosen else 2)
            artists[-1].set_markeredgewidth(1.8 if chosen else OTHERS)

    def _split(self, needed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slowdowns (lines, delays) that have a value, and the heights of the marks of those
        without.
        """
        rows = self._never + _NEXT * _MOST * (np.arange(len(needed)) % 2)
        there = np.isfinite(needed)
        return np.where(there, needed, np.nan), np.where(there, np.nan, rows[:, None])

    def _name(self, k: int, curves: np.ndarray, needed: np.ndarray, heavy: np.ndarray) -> None:
        """Names at the last points (lines,) of both panels."""
        looks = {
            "color": [BLACK if chosen else QUIET for chosen in heavy],
            "weight": ["bold" if chosen else "normal" for chosen in heavy],
        }
        for names, x, ends in zip(
            self._names[k], (self._updates, self._delays), (curves, needed), strict=True
        ):
            names.draw(x[-1], ends.tolist(), self._labels[k], **looks)

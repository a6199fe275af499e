"""Benefit of backup workers: how long a round takes, what it teaches, and the time to a given
accuracy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.transforms import ScaledTranslation

from ..._base.numbers import number, percent
from ...live.drawing.curves import SMOOTHED, smoothed
from ...live.drawing.labels import EndLabels, beyond, label, on_paper
from ...live.drawing.moving import MovingPath
from ...live.drawing.shapes import NOWHERE, band
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    NARROW,
    OTHER,
    PALE_BLUE,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels

_HERE: dict[str, Any] = {
    "marker": "D",
    "ms": 8,
    "color": BLACK,
    "ls": "none",
    "mec": "white",
    "zorder": 4,
}
_NEVER: dict[str, Any] = {"marker": "^", "ls": "none", "mfc": "none", "ms": 7, "mec": BLUE}
_UNIT = 1000  # ticks, of the axes of training
_WIDE_LAYOUT = PanelLayout((WIDE, 4.9), "NRR/NC.", width_ratios=(1.6, 1, 0.36))
_NARROW_LAYOUT = PanelLayout(
    (NARROW, 9.0), "NN/RR/C.", width_ratios=(1, 0.26), height_ratios=(1.5, 1, 1)
)


class SpareView:
    """Time until enough is right by how many gradients end a round; the time of a round; learning curves over time.

    Lines are means over the seeds, bands their middle half. Where some run doesn't reach the goal,
    a hollow triangle above the last time stands in place of a value.
    """

    def __init__(
        self, rounds: np.ndarray, needed: np.ndarray, times: np.ndarray, goal: float
    ) -> None:
        """Draw what does not move.

        Args:
            rounds: (workers,) ticks of a round that ends with 1, 2, ... gradients.
            needed: (workers, seeds) ticks until the goal, infinite for never.
            times: of the learning curves.
            goal: accuracy.
        """
        self.figure = new_figure(WIDE, 4.9)
        self.needed, self.rounds, self.curves = (self.figure.add_subplot() for _ in range(3))
        self._k = np.arange(1, len(rounds) + 1)
        self._times = times / _UNIT
        self._rounds = rounds
        self._mean = needed.mean(axis=1) / _UNIT
        smooth = number(SMOOTHED * float(times[1] - times[0]))
        ends = f"gradients that end a round, of {len(rounds)}"
        tidy(
            self.needed,
            f"Time until {percent(goal)} accuracy, at own rates",
            ends,
            "thousand ticks",
        )
        tidy(self.rounds, "Time of a round", ends, "ticks")
        tidy(self.curves, "Accuracy over time", "thousand ticks", f"%, mean of {smooth} ticks")
        self._still(needed / _UNIT, goal)
        self._here = [moving_line(axes, **_HERE) for axes in (self.rounds, self.needed)]
        up = ScaledTranslation(0, 0.16, self.figure.dpi_scale_trans)
        self._said = [
            label(axes, weight="bold", transform=axes.transData + up)
            for axes in (self.rounds, self.needed)
        ]
        for words in self._said:
            on_paper(words, True)  # where the line is steep
        self._band: Any = self.curves.add_patch(
            MovingPath(NOWHERE, fc=PALE_BLUE, ec=BLUE, lw=0.5, animated=True)
        )
        self._chosen = moving_line(self.curves, color=BLUE, lw=SELECTED)
        # Seen on the chosen one.
        self._reference = moving_line(self.curves, color=QUIET, ls=DASHED, lw=1.4, zorder=3)
        self._names = EndLabels(self.curves, 2)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: what rounds cost and teach beside the time that is needed, or all in one column."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, N=self.needed, R=self.rounds, C=self.curves)

    def _still(self, needed: np.ndarray, goal: float) -> None:
        workers = len(self._rounds)
        end = self._times[-1]
        for axes in (self.rounds, self.needed):
            axes.set(xlim=(0.4, workers + 0.6), xticks=[1, *range(4, workers + 1, 4)])
        self.rounds.plot(self._k, self._rounds, "o-", ms=4, lw=1.4, color=BLUE)
        self.rounds.set_ylim(0, 1.15 * self._rounds.max())
        self._never = beyond(
            self.needed, end, f"not in all runs within {number(_UNIT * end)} ticks"
        )
        there = np.isfinite(self._mean)
        lower, upper = np.percentile(needed[there], (25, 75), axis=1)
        self.needed.fill_between(self._k[there], lower, upper, color=PALE_BLUE, lw=0)
        self.needed.plot(self._k[there], self._mean[there], "o-", ms=5, lw=1.8, color=BLUE)
        self.needed.plot(self._k[~there], np.full((~there).sum(), self._never), **_NEVER)
        self._name_lines(upper)
        self.curves.set(xlim=(0, end), ylim=(0, 101), yticks=(0, 50, round(100 * goal)))
        self.curves.axhline(100 * goal, color=OTHER, lw=1)

    def _name_lines(self, upper: np.ndarray) -> None:
        """Name the line of the means and the band around it, where they are highest."""
        there = np.flatnonzero(np.isfinite(self._mean))
        if not len(there):
            return
        at = self._k[there[0]], self._mean[there[0]]
        looks: dict[str, Any] = {"textcoords": "offset points", "fontsize": SMALL, "va": "center"}
        self.needed.annotate("mean", at, (8, 0), color=BLUE_TEXT, **looks)
        self.needed.annotate(
            "middle half of the runs", (at[0], upper[0]), (8, 6), color=QUIET, **looks
        )

    def draw(
        self,
        k: int,
        curve: np.ndarray,
        quartiles: tuple[np.ndarray, np.ndarray],
        reference: int,
        other: np.ndarray,
    ) -> None:
        """Set the moving artists.

        Args:
            k, reference: how many gradients end a round, here and for comparison.
            curve, other: (times,) their mean accuracies in %.
            quartiles: lower and upper, (times,), of the first.
        """
        mean = self._mean[k - 1]
        self._here[0].set_data([k], [self._rounds[k - 1]])
        self._here[1].set_data([k], [mean if np.isfinite(mean) else self._never])
        last = len(self._k)
        at_end = {1: "left", last - 1: "right", last: "right"}
        side: dict[str, Any] = {"x": k, "ha": at_end.get(k, "center")}
        self._said[0].set(
            y=self._rounds[k - 1], text=f"{number(self._rounds[k - 1])} ticks", **side
        )
        self._said[1].set(visible=bool(np.isfinite(mean)), **side)
        if np.isfinite(mean):
            self._said[1].set(y=mean, text=f"{round(_UNIT * mean, -1):,.0f} ticks")
        lower, upper = (smoothed(line) for line in quartiles)
        self._band.set_path(band(self._times, lower, upper))
        shown = [smoothed(curve), smoothed(other)]
        self._chosen.set_data(self._times, shown[0])
        self._reference.set_data(self._times, shown[1])
        words = [
            f"all {one}" if one == len(self._k) else f"{one} of {len(self._k)}"
            for one in (k, reference)
        ]
        looks = {"color": [BLUE_TEXT, QUIET], "weight": ["bold", "normal"]}
        self._names.draw(self._times[-1], [line[-1] for line in shown], words, **looks)

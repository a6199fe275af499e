"""The cost of stale gradients for models and optimizers: learning curves, and updates to a goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec

from .._base.numbers import percent
from ._labels import EndLabels, beyond
from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, OTHER, OTHERS, WIDE, moving_line, new_figure, tidy

# One look for each line of a group: color, dash and marker.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "ls": "-", "marker": "o"},
    {"color": GREEN, "ls": "--", "marker": "s"},
    {"color": ORANGE, "ls": "-.", "marker": "^"},
    {"color": BLACK, "ls": ":", "marker": "D"},
)


class DelaysView:
    """Two groups of lines, each with its learning curves at one delay above and its updates to the goal below.

    What never gets there is a hollow mark above the last update, without a value.
    """

    def __init__(
        self, titles: Sequence[str], labels: Sequence[Sequence[str]], updates: np.ndarray, delays: Sequence[int],
        goal: float,
    ) -> None:  # fmt: skip
        self.figure = new_figure(WIDE, 5.2)
        self._updates, self._delays = np.asarray(updates), np.asarray(delays)
        self.curves, self.needed = ([self.figure.add_subplot() for _ in titles] for _ in range(2))
        most = int(self._updates[-1])
        for axes, title in zip(self.curves, titles, strict=True):
            tidy(axes, title, "updates", "accuracy (%)")
            axes.set(xlim=(0, most), ylim=(0, 101))
            axes.axhline(100 * goal, color=OTHER, lw=1, ls="-")
        for axes in self.needed:
            tidy(axes, f"Until {percent(goal)} are right", "largest delay in updates", "updates")
            axes.set(xlim=(-1, self._delays[-1] + 1), ylim=(0, most), xticks=self._delays)
            self._never = beyond(axes, most, "not within the run")
        self._moving(labels)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the two groups side by side, or one below the other."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 11.0 if narrow else 5.2)
        columns = (1, 0.55) if narrow else (1, 0.62, 1, 0.62)  # right of each panel is room for names
        grid = GridSpec(4 if narrow else 2, len(columns), self.figure, width_ratios=columns)
        for k, group in enumerate(zip(self.curves, self.needed, strict=True)):
            for row, axes in enumerate(group):
                axes.set_subplotspec(grid[2 * k + row, 0] if narrow else grid[row, 2 * k])

    def _moving(self, labels: Sequence[Sequence[str]]) -> None:
        self._lines, self._medians, self._beyond, self._here, self._names = [], [], [], [], []
        self._labels = [list(group) for group in labels]
        for curves, needed, group in zip(self.curves, self.needed, labels, strict=True):
            looks = [{**look, "ms": 5} for look in _LOOKS[: len(group)]]
            self._lines.append([moving_line(curves, **{**look, "marker": "none", "lw": 1.6}) for look in looks])
            self._medians.append([moving_line(needed, **look, lw=1.6) for look in looks])
            hollow = {"ls": "none", "mfc": "none"}
            self._beyond.append([moving_line(needed, **{**look, **hollow, "ms": 7}) for look in looks])
            self._here.append(moving_line(needed, color=BLACK, lw=OTHERS, ls=":"))
            self._names.append([EndLabels(axes, len(group)) for axes in (curves, needed)])

    def draw(self, delay: int, curves: Sequence[np.ndarray], needed: Sequence[np.ndarray]) -> None:
        """Set the moving artists.

        Args:
            delay: which of the delays the curves are for, by its place.
            curves: for each group (lines, updates) in %. needed: for each group (lines, delays), infinite for never.
        """
        for k, (lines, medians) in enumerate(zip(self._lines, self._medians, strict=True)):
            for line, right in zip(lines, curves[k], strict=True):
                line.set_data(self._updates, right)
            got = [np.where(np.isfinite(updates), updates, np.nan) for updates in needed[k]]
            above = [np.where(np.isfinite(updates), np.nan, self._never) for updates in needed[k]]
            for line, mark, updates, never in zip(medians, self._beyond[k], got, above, strict=True):
                line.set_data(self._delays, updates)
                mark.set_data(self._delays, never)
            self._name(k, curves[k], np.where(np.isfinite(got), got, self._never))
            self._here[k].set_data([self._delays[delay]] * 2, [0, self._never])

    def _name(self, k: int, curves: np.ndarray, needed: np.ndarray) -> None:
        for names, x, lines in zip(self._names[k], (self._updates, self._delays), (curves, needed), strict=True):
            names.draw(x[-1], [line[-1] for line in lines], self._labels[k])

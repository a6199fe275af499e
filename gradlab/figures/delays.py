"""The cost of stale gradients for models and optimizers: learning curves, and updates to a goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec

from .._base.numbers import percent
from ._shapes import Key
from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, OTHER, WIDE, moving_line, new_figure, tidy

# One look for each line of a group: color, dash and marker.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "ls": "-", "marker": "o"},
    {"color": GREEN, "ls": "--", "marker": "s"},
    {"color": ORANGE, "ls": "-.", "marker": "^"},
    {"color": BLACK, "ls": ":", "marker": "D"},
)


class DelaysView:
    """Two groups of lines, each with its learning curves at one delay above and its updates to the goal below."""

    def __init__(
        self, titles: Sequence[str], labels: Sequence[Sequence[str]], updates: np.ndarray, delays: Sequence[int],
        goal: float,
    ) -> None:  # fmt: skip
        self.figure = new_figure(WIDE, 6.2)
        self._updates, self._delays = np.asarray(updates), np.asarray(delays)
        self.curves, self.needed = ([self.figure.add_subplot() for _ in titles] for _ in range(2))
        most = int(self._updates[-1])
        for axes, title in zip(self.curves, titles, strict=True):
            tidy(axes, title, "updates", "accuracy (%)")
            axes.set(xlim=(0, most), ylim=(0, 101))
            axes.axhline(100 * goal, color=OTHER, lw=1, ls="-")
        for axes in self.needed:
            tidy(axes, f"Until {percent(goal)} are right", "largest delay in updates", "updates")
            axes.set(xlim=(-1, self._delays[-1] + 1), ylim=(0, 1.2 * most), xticks=self._delays)
            axes.axhline(most, color=OTHER, lw=1, ls="-")
            axes.text(0.01, most * 1.05, "never, within the run", fontsize=8.5, color=BLACK, va="bottom")
        self._never = 1.0 * most
        self._moving(labels)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the two groups side by side, or one below the other."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 13.0 if narrow else 6.6)
        heights = (1.2, 0.6 if narrow else 0.4, 1)  # learning curves, the key to both panels, updates needed
        grid = GridSpec(6, 1, self.figure, height_ratios=heights * 2) if narrow else GridSpec(
            3, 2, self.figure, height_ratios=heights)  # fmt: skip
        for k, group in enumerate(zip(self.curves, self._keys, self.needed, strict=True)):
            for row, axes in enumerate((group[0], group[1].axes, group[2])):
                axes.set_subplotspec(grid[3 * k + row, 0] if narrow else grid[row, k])
            group[1].arrange(1 if narrow else 2, 2.8 if narrow else 3.9)

    def _moving(self, labels: Sequence[Sequence[str]]) -> None:
        self._lines, self._medians, self._here, self._keys = [], [], [], []
        for curves, needed, group in zip(self.curves, self.needed, labels, strict=True):
            looks = [{**look, "lw": 1.8, "ms": 6} for look in _LOOKS[: len(group)]]
            self._lines.append([moving_line(curves, **{**look, "marker": "none"}) for look in looks])
            self._medians.append([moving_line(needed, **look) for look in looks])
            self._here.append(moving_line(needed, color=BLACK, lw=1.2))
            self._keys.append(Key(self.figure.add_subplot(), list(zip(looks, group, strict=True))))

    def draw(self, delay: int, curves: Sequence[np.ndarray], needed: Sequence[np.ndarray]) -> None:
        """Set the moving artists.

        Args:
            delay: which of the delays the curves are for, by its place.
            curves: for each group (lines, updates) in %. needed: for each group (lines, delays), infinite for never.
        """
        for k, (lines, medians) in enumerate(zip(self._lines, self._medians, strict=True)):
            for line, right in zip(lines, curves[k], strict=True):
                line.set_data(self._updates, right)
            for line, updates in zip(medians, needed[k], strict=True):
                line.set_data(self._delays, np.minimum(updates, self._never))
            self._here[k].set_data([self._delays[delay]] * 2, [0, self._never])

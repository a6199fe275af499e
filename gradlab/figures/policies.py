"""One training under several policies for stale gradients: its loss over updates and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from .._base.numbers import number as rounded
from ._curves import smoothed
from ._labels import EndLabels
from ._shapes import segments
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    LABEL,
    NARROW,
    OTHER,
    OTHERS,
    QUIET,
    SELECTED,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip

LOWEST, HIGHEST = 0.4, 5.0  # of the losses shown
# One for each, so that thin gray lines can be followed.
_DASHES: tuple[Any, ...] = (
    "-", (0, (6, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (3, 1)),
)  # fmt: skip


class Curve(NamedTuple):
    """The watched loss of one policy: updates, time and loss (n,), and the loss when the first policy is through."""

    step: np.ndarray
    time: np.ndarray
    loss: np.ndarray
    then: float


class PoliciesView:
    """Loss over updates, to the last gradient of each policy; and over time, until the first of them is through.

    The policy that is lowest in a panel is heavy there: the one by updates blue in both, the one by time black.
    """

    def __init__(self, names: Sequence[str], updates: int, time: float) -> None:
        self.figure = new_figure(WIDE, 5.0)
        self.names = list(names)
        self.steps = _Panel(self.figure.add_subplot(), "updates of the weights", updates, len(self.names))
        self.times = _Panel(self.figure.add_subplot(), "time (gradient times of a fast worker)", time, len(self.names))
        self.times.axes.yaxis.label.set_visible(False)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: both panels side by side, or one above the other. Right of each is room for names."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 8.6 if narrow else 5.0)
        columns = (1, 0.84) if narrow else (1, 0.8, 1, 0.8)
        grid = GridSpec(2 if narrow else 1, len(columns), self.figure, width_ratios=columns)
        self.steps.axes.set_subplotspec(grid[0, 0])
        self.times.axes.set_subplotspec(grid[1, 0] if narrow else grid[0, 2])
        self.times.axes.tick_params(labelleft=narrow)
        self.steps.axes.yaxis.label.set_visible(not narrow)

    def draw(self, curves: Mapping[str, Curve], then: float, lowest: str, ahead: str) -> None:
        """Set the moving artists.

        Args:
            curves: by policy. then: the time up to which they are drawn over time.
            lowest: the policy whose loss is lowest in the end. ahead: the one whose loss is lowest at that time.
        """
        ordered = [curves[name] for name in self.names]
        colors = [BLUE if name == lowest else BLACK if name == ahead else QUIET for name in self.names]
        past = [curve.time <= then for curve in ordered]
        words = [[f"{name} {written(loss)}" for name, loss in zip(self.names, losses, strict=True)]
                 for losses in ([c.loss[-1] for c in ordered], [c.then for c in ordered])]  # fmt: skip
        lines = (
            [(c.step, c.loss) for c in ordered],
            [(c.time[p], c.loss[p]) for c, p in zip(ordered, past, strict=True)],
        )
        self.steps.draw(lines[0], words[0], colors, self.names.index(lowest), f"Loss by updates: {lowest} ends lowest")
        self.times.draw(lines[1], words[1], colors, self.names.index(ahead), f"Loss by the clock: {ahead} leads")


class _Panel:
    """A line for each policy, with its name and its last loss at the right edge."""

    def __init__(self, axes: Any, unit: str, end: float, lines: int) -> None:
        self.axes, self._edge = tidy(axes, "loss", unit, "held-out loss (cross-entropy), smoothed"), end
        axes.set(xlim=(0, end), yscale="log", ylim=(LOWEST / 1.05, HIGHEST * 1.05))
        axes.xaxis.set_major_locator(MaxNLocator(4))
        log_ticks(axes.yaxis, LOWEST, HIGHEST)
        self.lines = [moving_line(axes, ls=dash) for dash in _DASHES[:lines]]
        self._leaders = moving_line(axes, color=OTHER, lw=0.8, ls=":", zorder=1.5)
        self.names = EndLabels(axes, lines)
        self.title = axes.set_title("loss", loc="left", fontsize=LABEL, fontweight="bold", animated=True)

    def draw(
        self, lines: Sequence[tuple[np.ndarray, np.ndarray]], words: Sequence[str], colors: Sequence[str], heavy: int,
        title: str,
    ) -> None:  # fmt: skip
        """Lines (x, loss) with words at their ends, one of them heavy; dots join those that end early to theirs."""
        ends = np.array([(x[-1], shown(loss)[-1]) for x, loss in lines])
        for k, (line, (x, loss), color) in enumerate(zip(self.lines, lines, colors, strict=True)):
            told = color != QUIET
            line.set_data(x, np.exp(smoothed(np.log(shown(loss)))))
            line.set(
                color=color, lw=SELECTED if k == heavy else 1.4 if told else OTHERS, zorder=2 + told + (k == heavy)
            )
        x, y = ends.T
        self._leaders.set_data(*segments(x, y, self._edge, y))
        shades = [BLUE_TEXT if color == BLUE else color for color in colors]
        weights = ["bold" if k == heavy else "normal" for k in range(len(lines))]
        self.names.draw(self._edge, ends[:, 1].tolist(), words, color=shades, weight=weights)
        self.title.set_text(title)


def shown(loss: np.ndarray) -> np.ndarray:
    """Losses moved into the panel; those that aren't numbers are at its upper edge."""
    return np.clip(np.where(np.isfinite(loss), loss, np.inf), LOWEST, HIGHEST)


def written(loss: float) -> str:
    """A loss for readers."""
    return rounded(loss) if loss < 1000 else "> 1,000" if np.isfinite(loss) else "NaN"

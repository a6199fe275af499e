"""Six policies for stale gradients: what they reach, counted in gradients and by the clock, and how
long they take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.transforms import ScaledTranslation

from ..._base.numbers import number as rounded
from ...live.drawing.labels import label, moving_title
from ...live.drawing.moving import MovingPath
from ...live.drawing.shapes import NOWHERE, bars, segments
from ...live.drawing.style import (
    BLUE,
    BLUE_TEXT,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_BLUE,
    QUIET,
    SMALL,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels

LOWEST, HIGHEST = 0.4, 2.5  # of the losses shown; all runs start at 2.3
LONGEST = 140.0  # gradient times shown
_SPREAD_ROW, _SINGLE_ROW = -0.14, 0.22  # from the middle of a policy's row, downwards
# Font sizes: from a panel down to the middle of the first line of its label, and from there to the
# next line.
_FIRST_LINE, _LINE = 2.86, 1.23
_HALF = 0.1  # the height of a bar above and below its middle


class Spread(NamedTuple):
    """Losses of many seeds at a policy's own rate: the quartiles, the median, the rate, and how many runs these are."""

    lower: float
    median: float
    upper: float
    rate: float
    runs: int


class Row(NamedTuple):
    """One policy: its losses by gradients and by time, and how long its gradients take.

    Attributes:
        single: (by gradients, by time) of one run at the rate that all policies share.
        spreads: (by gradients, by time) of the runs at its own rates; None where there are none at
            this setting.
        time: gradient times of a quick worker until all gradients are in: the mean of the runs at
            its own rates, or that of the one run.
    """

    single: tuple[float, float]
    spreads: tuple[Spread, Spread] | None
    time: float


_WIDE_LAYOUT = PanelLayout((WIDE, 4.4), "G.T.B", width_ratios=(1, 0.62, 1, 0.62, 0.85))
_NARROW_LAYOUT = PanelLayout((NARROW, 9.6), "G./T./BB", width_ratios=(1, 0.59))


class PoliciesView:
    """A row for each policy in three panels: its loss by gradients, its loss by the clock, and the time it takes.

    Blue: the middle half of the runs at the policy's own rate, with the median. Orange: one run at
    a common rate.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.figure = new_figure(WIDE, 4.4)
        self.names = list(names)
        self.losses = [_LossPanel(self.figure.add_subplot(), self.names) for _ in range(2)]
        self.times = _TimePanel(self.figure.add_subplot(), self.names)
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the panels side by side, or one below the other. Right of each is room for numbers."""
        by_gradients, by_time = (panel.axes for panel in self.losses)
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, G=by_gradients, T=by_time, B=self.times.axes)
        for axes in (by_time, self.times.axes):
            axes.tick_params(labelleft=narrow)

    def draw(self, rows: Mapping[str, Row], titles: tuple[str, str]) -> None:
        """Set the moving artists.

        Args:
            rows: by policy.
            titles: of the panels by gradients and by time.
        """
        ordered = [rows[name] for name in self.names]
        for k, (panel, title) in enumerate(zip(self.losses, titles, strict=True)):
            spreads = [None if row.spreads is None else row.spreads[k] for row in ordered]
            panel.draw([row.single[k] for row in ordered], spreads, title)
        runs = max((spread.runs for row in ordered for spread in row.spreads or ()), default=1)
        self.times.draw([row.time for row in ordered], runs)


class _LossPanel:
    """Losses on a log axis, a row for each policy, and its median and rate at the right edge."""

    def __init__(self, axes: Any, names: Sequence[str]) -> None:
        self.axes = tidy(axes, "", "held-out loss\n \n ", "")
        count = len(names)
        axes.set(xscale="log", xlim=(LOWEST / 1.05, HIGHEST * 1.05), ylim=(count - 0.5, -0.5))
        axes.set_yticks(range(count), names)
        axes.grid(False, axis="y")
        log_ticks(axes.xaxis, LOWEST, HIGHEST)
        self.spread = axes.add_patch(
            MovingPath(NOWHERE, fc=PALE_BLUE, ec=BLUE, lw=0.8, animated=True)
        )
        self.median = moving_line(axes, color=BLUE, marker="o", ms=6, ls="none", mew=0)
        self.single = moving_line(axes, color=ORANGE, marker="^", ms=6, ls="none", mew=0)
        beside = {"x": 1.03, "ha": "left", "transform": axes.get_yaxis_transform()}
        self.numbers = [
            label(axes, color=BLUE_TEXT, y=k + _SPREAD_ROW, **beside) for k in range(count)
        ]
        self.singles = [
            label(axes, color=ORANGE_TEXT, y=k + _SINGLE_ROW, **beside) for k in range(count)
        ]
        self.key = _line_below(axes, 2, BLUE_TEXT)
        _line_below(axes, 3, ORANGE_TEXT).set_text("orange: one run each")
        self.title = moving_title(axes)

    def draw(self, singles: Sequence[float], spreads: Sequence[Spread | None], title: str) -> None:
        """Set the losses of one run each, and the spreads of many."""
        rows = np.arange(len(singles))
        self.single.set_data(shown(np.array(singles)), rows + _SINGLE_ROW)
        there = [
            (row, spread) for row, spread in zip(rows, spreads, strict=True) if spread is not None
        ]
        at = np.array([row for row, _ in there], float) + _SPREAD_ROW
        lower = shown(np.array([spread.lower for _, spread in there], float))
        upper = shown(np.array([spread.upper for _, spread in there], float))
        self.spread.set_path(bars(lower, upper, at - _HALF, at + _HALF))
        self.median.set_data(shown(np.array([spread.median for _, spread in there], float)), at)
        for row, words in enumerate(self.numbers):
            spread = spreads[row]
            words.set(
                text=""
                if spread is None
                else f"{written(spread.median)}, rate {rounded(spread.rate)}"
            )
            self.singles[row].set(text=written(singles[row]))
        self.key.set(text="blue: median, quartiles at own rates" if there else "")
        self.title.set(text=title)


class _TimePanel:
    """How long the gradients of each policy take."""

    def __init__(self, axes: Any, names: Sequence[str]) -> None:
        self.axes = tidy(axes, "Time", "gradient times\nfor all gradients\n ", "")
        axes.set(xlim=(0, LONGEST), ylim=(len(names) - 0.5, -0.5), xticks=(0, 50, 100))
        axes.set_yticks(range(len(names)), names)
        axes.grid(False, axis="y")
        self.bars = moving_line(axes, color=OTHER, lw=9, solid_capstyle="butt")
        self.numbers = [label(axes, color=QUIET, y=k, ha="left") for k in range(len(names))]
        self.key = _line_below(axes, 3, QUIET)

    def draw(self, times: Sequence[float], runs: int) -> None:
        """Set the times, and of how many runs of each policy they are the means."""
        self.key.set(text="one run each" if runs == 1 else f"mean of {runs} runs")
        rows = np.arange(len(times))
        self.bars.set_data(*segments(0, rows, np.array(times), rows))
        for words, time in zip(self.numbers, times, strict=True):
            words.set(x=time + 0.04 * LONGEST, text=f"{time:.0f}")


def _line_below(axes: Any, line: int, color: str) -> Any:
    """Return a moving text in a line of the label below a panel, which keeps the room for it."""
    below = ScaledTranslation(
        0, -(_FIRST_LINE + (line - 1) * _LINE) * SMALL / 72, axes.figure.dpi_scale_trans
    )
    return label(axes, x=0.5, y=0, color=color, transform=axes.transAxes + below)


def shown(loss: np.ndarray) -> np.ndarray:
    """Losses moved into the panel; those that aren't numbers are at its upper edge."""
    return np.clip(np.where(np.isfinite(loss), loss, np.inf), LOWEST, HIGHEST)


def written(loss: float) -> str:
    """Write a loss for readers.

    >>> written(0.4612), written(1e9), written(float("nan"))
    ('0.461', '> 1,000', 'NaN')
    """
    if np.isnan(loss):
        return "NaN"
    return rounded(loss) if loss < 1000 else "> 1,000"

"""One look for every figure, in light and in dark; readers who see fewer colors tell its colors apart."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from .._base.numbers import percent

# Every pair differs by 20 or more in CIEDE2000, also with protan, deutan or tritan eyes, and likewise in the dark.
BLUE, ORANGE, GREEN, BLACK, OTHER = "#187FD8", "#E66A10", "#175C36", "#141414", "#919191"
GRID, FAINT = "#D9D9D9", "#EBB28C"  # FAINT joins marks that are understood without it
# What these colors become on a dark page; all others have their lightness turned round.
DARK = {BLUE: "#4489F7", ORANGE: "#CF6A20", GREEN: "#55F58A", OTHER: "#787878"}

WIDE, NARROW = 8.4, 3.6  # inches, at 100 dots per inch


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, `width` x `height` inches at 100 dots per inch, laid out once it is full."""
    return Figure(figsize=(width, height), dpi=100, layout="constrained")


def tidy(axes: Any, title: str, x: str, y: str) -> Any:
    """Title, labels with units, a light grid and no box."""
    axes.set_title(title, loc="left", fontsize=10, color=BLACK)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8.5, colors=BLACK)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


class _LogTicks(LogLocator):
    """A tick for every decade, 2 and 5 between them where these are few, and any round numbers closer by."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        if vmax < 4 * vmin:
            return [tick for tick in MaxNLocator(5).tick_values(vmin, vmax) if tick > 0]
        self.set_params(subs=(1, 2, 5) if vmax < 200 * vmin else (1,))
        return super().tick_values(vmin, vmax)


def log_ticks(axis: Any, lowest: float = 0.0, highest: float = math.inf) -> None:
    """Few ticks with plain numbers on a log axis, however closely one looks; what is beyond the ends stands there."""
    axis.set_major_locator(_LogTicks())
    axis.set_minor_locator(NullLocator())

    def words(value: float, _: int | None = None) -> str:
        beyond = (
            r"$\leq$ " if value <= 1.001 * lowest else r"$\geq$ " if value >= highest / 1.001 else ""
        )  # ticks are rounded
        return beyond + _plain(value)

    axis.set_major_formatter(words)


def plain(words: str) -> str:
    """Words that matplotlib is not to take for a formula, as it takes all between two dollar signs.

    >>> plain("a$x$")
    'a\\\\$x\\\\$'
    """
    return words.replace("$", r"\$")


def percent_ticks(axis: Any, digits: int = 0) -> None:
    """Label an axis of shares, 0 to 1, in percent."""
    axis.set_major_formatter(lambda share, _: percent(share, digits))


def _plain(value: float) -> str:
    power = math.log10(value)
    return f"$10^{{{power:.0f}}}$" if power.is_integer() and abs(power) > 3 else f"{value:g}"


def moving_line(axes: Any, *style: str, **looks: Any) -> Any:
    """An empty line that `draw` fills for every state."""
    (line,) = axes.plot([], [], *style, animated=True, **looks)
    return line

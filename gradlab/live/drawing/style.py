"""One look for every figure, in light and in dark; readers who see fewer colors tell its colors apart.

What each color, line and size stands for is on the page "The visual language" of the site's guide.
"""

from __future__ import annotations

import math
from typing import Any

from matplotlib.cbook import normalize_kwargs
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import Locator, LogLocator, MaxNLocator, NullLocator, ScalarFormatter

from ..._base.numbers import number, percent
from .moving import MovingLine

# Every pair differs by 20 or more in CIEDE2000, also with protan, deutan or tritan eyes, and
# likewise in the dark.
BLUE, ORANGE, GREEN, BLACK, OTHER, VIOLET = (
    "#187FD8",
    "#E66A10",
    "#175C36",
    "#141414",
    "#919191",
    "#5F1173",
)
GRID, FAINT = "#E4E4E4", "#EBB28C"  # FAINT joins marks that are understood without it
PALE_BLUE, PALE_GREEN, PALE_VIOLET = (
    "#CFE3F1",
    "#D3E8DB",
    "#E6D6EB",
)  # fills below an edge of the full color
# Small text in orange, blue, violet or gray: as the color of the mark, with a contrast of 4.5 or
# more.
ORANGE_TEXT, BLUE_TEXT, VIOLET_TEXT, QUIET = "#A84300", "#0F5FA8", "#651A79", "#5F5F5F"
# What these colors become on a dark page; all others have their lightness turned round.
DARK = {
    BLUE: "#629CFF",
    ORANGE: "#D16215",
    GREEN: "#36FF6C",
    OTHER: "#808080",
    VIOLET: "#89479A",
    GRID: "#2B2B2B",
    ORANGE_TEXT: "#E07E4C",
}

WIDE, NARROW = 7.28, 3.6  # inches, at 100 dots per inch
HIGHEST = 5.4  # inches, of a figure that is WIDE: it fits a laptop's screen with its controls
# Three sizes of type, in points: 18, 13 and 12 CSS pixels. TITLE is that of the sentence above a
# picture.
TITLE, LABEL, SMALL = 12.96, 9.36, 8.64
SELECTED, OTHERS = 2.5, 1.0  # widths of the line that is looked at, and of the rest
DASHED = (0, (4, 2.5))  # of a reference: what would have been otherwise
HATCH: dict[str, Any] = {"color": FAINT, "lw": 0.9}  # the strokes over what is dropped


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, `width` x `height` inches at 100 dots per inch, laid out once it is full."""
    return Figure(figsize=(width, height), dpi=100, layout="constrained")


def entitle(axes: Any, title: str) -> None:
    """Give a panel its title."""
    axes.set_title(title, loc="left", fontsize=LABEL, fontweight="bold", color=BLACK)


class _Thousands(ScalarFormatter):
    """Numbers of a linear axis, "1,000" as everywhere else."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write the number of a tick."""
        words: str = super().__call__(x, pos)
        whole, point, decimals = words.partition(".")
        digits = whole.lstrip("−")
        # Not a plain number, such as "$10^5$", or without thousands.
        if not digits.isdecimal() or len(digits) <= 3:
            return words
        sign = whole.removesuffix(digits)
        return f"{sign}{int(digits):,}{point}{decimals}"


def tidy(axes: Any, title: str, x: str, y: str) -> Any:
    """Give a panel its title, labels with units, a quiet grid and no box."""
    entitle(axes, title)
    axes.set_xlabel(x, fontsize=SMALL, color=QUIET)
    axes.set_ylabel(y, fontsize=SMALL, color=QUIET)
    axes.tick_params(labelsize=SMALL, labelcolor=QUIET, color=OTHER, length=3, width=0.6)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_Thousands())
    axes.grid(True, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=OTHER, linewidth=0.6)
    return axes


class _LogTicks(LogLocator):
    """A tick for every decade, 2 and 5 between them where these are few, and any round numbers
    closer by.

    `lowest` and `highest` are the ends at which values beyond are drawn. While both are in sight,
    both have a tick.
    """

    def __init__(self, lowest: float, highest: float) -> None:
        super().__init__()
        self._ends = lowest, highest

    def tick_values(self, vmin: float, vmax: float) -> Any:
        lowest, highest = self._ends
        if vmin <= lowest and highest <= vmax and _is_decade(lowest) and _is_decade(highest):
            return _decades(lowest, highest)
        if vmax < 4 * vmin:
            return [tick for tick in MaxNLocator(5).tick_values(vmin, vmax) if tick > 0]
        self.set_params(subs=(1, 2, 5) if vmax < 200 * vmin else (1,))
        return super().tick_values(vmin, vmax)


_MOST_DECADES = 8  # with a tick each: more are written into one another on a low panel


def _is_decade(value: float) -> bool:
    return 0 < value < math.inf and math.log10(value).is_integer()


def _decades(low: float, high: float) -> list[float]:
    """Ticks from end to end: one for each decade, or for every second or third one of many."""
    first = round(math.log10(low))
    last = round(math.log10(high))
    decades = last - first
    step = 1
    if decades > 5 and decades % 2 == 0:
        step = 2
    if decades / step > _MOST_DECADES:
        step = math.ceil(decades / _MOST_DECADES)
    # The last tick names the end, so one that would be written into it is left out.
    powers = [*range(first, last - step + 1, step), last]
    return [10.0**power for power in powers]


def log_ticks(axis: Any, lowest: float = 0.0, highest: float = math.inf) -> None:
    """Few ticks with plain numbers on a log axis, however closely one looks; what is beyond the ends stands there."""
    axis.set_major_locator(_LogTicks(lowest, highest))
    axis.set_minor_locator(NullLocator())

    def words(value: float, _: int | None = None) -> str:
        # Ticks are rounded.
        beyond = "≤ " if value <= 1.001 * lowest else "≥ " if value >= highest / 1.001 else ""
        return beyond + _plain(value)

    axis.set_major_formatter(words)


class _TicksFrom(Locator):
    """The ticks of another locator, from a value on."""

    def __init__(self, ticks: Locator, start: float) -> None:
        self._ticks, self._start = ticks, start

    def set_axis(self, axis: Any) -> None:
        """Take over the axis."""
        super().set_axis(axis)
        self._ticks.set_axis(axis)

    def __call__(self) -> Any:
        """Give the ticks of the axis as it is seen."""
        axis: Any = self.axis
        return self.tick_values(*axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Give the ticks between two values."""
        return [tick for tick in self._ticks.tick_values(vmin, vmax) if tick >= self._start]


def room_below(axes: Any, low: float, high: float, share: float) -> None:
    """A log axis from low to high, and below it a strip for something else, without ticks: a share of the height."""
    axes.set(yscale="log", ylim=(low / (high / low) ** (share / (1 - share)), high))
    log_ticks(axes.yaxis)
    axes.yaxis.set_major_locator(_TicksFrom(axes.yaxis.get_major_locator(), low / 1.001))


def plain(words: str) -> str:
    """Words that matplotlib is not to take for a formula, as it takes all between two dollar signs.

    >>> plain("a$x$")
    'a\\\\$x\\\\$'
    """
    return words.replace("$", r"\$")


def percent_ticks(axis: Any, digits: int = 0) -> None:
    """Label an axis of shares, 0 to 1, in percent."""
    axis.set_major_formatter(lambda share, _: percent(share, digits))


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _plain(value: float) -> str:
    power = math.log10(value)
    # Letters of their own, for matplotlib's formulas take longer to get ready than all other words
    # of a picture.
    return (
        f"10{f'{power:.0f}'.translate(_RAISED)}"
        if power.is_integer() and abs(power) > 3
        else number(value)
    )


def moving_line(axes: Any, *style: str, **looks: Any) -> Any:
    """An empty line that `draw` fills for every state."""
    # `plot` alone reads styles such as "o--" and chooses the next color, but it makes plain lines.
    (plain,) = axes.plot([], [], *style, **looks)
    plain.remove()
    chosen = {
        "color": plain.get_color(),
        "linestyle": plain.get_linestyle(),
        "marker": plain.get_marker(),
    }
    return axes.add_line(
        MovingLine([], [], animated=True, **chosen | normalize_kwargs(looks, Line2D))
    )

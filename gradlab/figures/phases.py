"""A phase diagram: one number for every limit of staleness and every number of workers, and two cuts through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec

from ._lanes import text
from ._style import BLACK, BLUE, GREEN, GRID, NARROW, ORANGE, SMALL, WIDE, moving_line, new_figure, tidy

_COLORS = "cividis"  # light and dark for every eye
LEVELS = (0.25, 0.5, 0.75)  # shares of the scale at which lines are drawn
_CASING: dict[str, Any] = {"color": BLACK, "lw": 3.2, "solid_capstyle": "butt"}
_LINES: tuple[dict[str, Any], ...] = tuple({"color": GRID, "lw": 1.4, "ls": dash} for dash in (":", "-", "--"))
_HERE: dict[str, Any] = {"marker": "D", "ms": 9, "color": ORANGE, "ls": "none", "mec": "white"}
_ACROSS: dict[str, Any] = {"color": BLUE, "marker": "o", "ms": 4, "lw": 1.6}
_UP: dict[str, Any] = {"color": GREEN, "marker": "s", "ms": 4, "lw": 1.6, "ls": "--"}


class Scale(NamedTuple):
    """The quantity shown: its name, the end of its scale, and the format of its numbers."""

    name: str
    top: float
    write: Callable[[float], str]


class PhasesView:
    """Cells colored by a scale, with lines where it is a quarter, a half and three quarters full; a diamond to drag.

    Beside it are the cuts through the diamond: along the limits, and along the numbers of workers.
    """

    def __init__(self, limits: range, workers: range) -> None:
        self.figure = new_figure(WIDE, 5.4)
        self._limits, self._workers = np.array(limits), np.array(workers)
        self.plane, self.along, self.across, self._scale = (self.figure.add_subplot() for _ in range(4))
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the cuts beside the diagram, or below it."""
        if narrow:
            self.figure.set_size_inches(NARROW, 9.2)
            grid = GridSpec(4, 1, self.figure, height_ratios=(2.2, 0.6, 1.2, 1.2))
            places = [grid[0], grid[2], grid[3], grid[1]]
        else:
            self.figure.set_size_inches(WIDE, 5.4)
            columns = GridSpec(1, 2, self.figure, width_ratios=(1.5, 1))
            left = columns[0].subgridspec(2, 1, height_ratios=(5.2, 1))
            right = columns[1].subgridspec(2, 1)
            places = [left[0], right[0], right[1], left[1]]
        for axes, place in zip((self.plane, self.along, self.across, self._scale), places, strict=True):
            axes.set_subplotspec(place)

    def _still(self) -> None:
        limits, workers = self._limits, self._workers
        tidy(self.plane, "Every limit, every number of workers", "limit of staleness", "workers")
        tidy(self.along, "At this number of workers", "limit of staleness", "")
        tidy(self.across, "At this limit", "workers", "")
        self.plane.grid(False)
        self.plane.set(xlim=(limits[0] - 0.5, limits[-1] + 0.5), ylim=(workers[0] - 0.5, workers[-1] + 0.5))
        self.plane.set(xticks=limits[::4], yticks=workers[::3])
        for axes, values, apart in ((self.along, limits, 4), (self.across, workers, 3)):
            axes.set(xlim=(values[0] - 0.7, values[-1] + 0.7), ylim=(-0.04, 1.08), xticks=values[::apart])
            axes.set_yticks((0, 0.5, 1), labels=("", "", ""))
            axes.yaxis.labelpad = 40
            axes.set_ylabel(" ", fontsize=SMALL)  # the numbers that move need the room
        ramp = np.linspace(0, 1, 64)[None]
        self._scale.set_axis_off()
        self._scale.set(xlim=(-0.02, 1.02), ylim=(0, 1))
        self._scale.imshow(ramp, extent=(0, 1, 0.42, 0.66), aspect="auto", cmap=_COLORS, interpolation="none")
        for level, looks in zip(LEVELS, _LINES, strict=True):
            self._scale.plot([level] * 2, [0.42, 0.66], **_CASING)
            self._scale.plot([level] * 2, [0.42, 0.66], **looks)

    def _moving(self) -> None:
        x, y = self._limits, self._workers
        self._cells = self.plane.imshow(
            np.zeros((len(y), len(x))), extent=(x[0] - 0.5, x[-1] + 0.5, y[0] - 0.5, y[-1] + 0.5), aspect="auto",
            origin="lower", cmap=_COLORS, vmin=0, vmax=1, interpolation="none", animated=True, zorder=1,
        )  # fmt: skip
        self._casings = [moving_line(self.plane, zorder=2, **_CASING) for _ in LEVELS]
        self._lines = [moving_line(self.plane, zorder=2.5, **looks) for looks in _LINES]
        self._cuts = [moving_line(self.along, **_ACROSS), moving_line(self.across, **_UP)]
        self._here = [moving_line(axes, zorder=4, **_HERE) for axes in (self.plane, self.along, self.across)]
        self._here[0].set(markeredgecolor=BLACK, markeredgewidth=1.4)
        self._name = text(self._scale, x=0.5, y=0.95, ha="center", va="top", fontsize=SMALL)
        foot: dict[str, Any] = {"y": 0.3, "ha": "center", "va": "top"}
        self._numbers = [text(self._scale, x=level, **foot) for level in (0, *LEVELS, 1)]
        self._numbers[-1].set(x=1.02, ha="right")
        beside: dict[str, Any] = {"x": -0.03, "ha": "right", "va": "center"}
        self._ticks = [
            [text(axes, y=tick, transform=axes.get_yaxis_transform(), **beside) for tick in (0, 0.5, 1)]
            for axes in (self.along, self.across)
        ]

    def draw(self, values: np.ndarray, scale: Scale, limit: int, workers: int) -> None:
        """Values (limits, workers), what they are, and the place that is looked at."""
        shares = values / scale.top
        column, row = int(limit - self._limits[0]), int(workers - self._workers[0])
        self._cells.set_data(shares.T)
        for level, *pair in zip(LEVELS, self._casings, self._lines, strict=True):
            x, y = borders(shares >= level).T
            for line in pair:
                line.set_data(x + self._limits[0] - 0.5, y + self._workers[0] - 0.5)
        self._cuts[0].set_data(self._limits, shares[:, row])
        self._cuts[1].set_data(self._workers, shares[column])
        spots = ((limit, workers), (limit, shares[column, row]), (workers, shares[column, row]))
        for here, (x, y) in zip(self._here, spots, strict=True):
            here.set_data([x], [y])
        self._name.set_text(scale.name)
        for level, number in zip((0, *LEVELS, 1), self._numbers, strict=True):
            number.set_text(scale.write(level * scale.top))
        for ticks in self._ticks:
            for level, tick in zip((0, 0.5, 1), ticks, strict=True):
                tick.set_text(scale.write(level * scale.top))


def borders(inside: np.ndarray) -> np.ndarray:
    """The edges between cells (x, y) that are inside and those that are not, (3 n, 2) with NaN between them."""
    pieces = [np.empty((0, 2))]
    for x, y in np.argwhere(inside[1:] != inside[:-1]):
        pieces.append(np.array([(x + 1, y), (x + 1, y + 1), (np.nan, np.nan)]))
    for x, y in np.argwhere(inside[:, 1:] != inside[:, :-1]):
        pieces.append(np.array([(x, y + 1), (x + 1, y + 1), (np.nan, np.nan)]))
    return np.concatenate(pieces)

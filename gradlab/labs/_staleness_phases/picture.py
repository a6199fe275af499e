"""A phase diagram: one number for every staleness limit and every number of workers, and two cuts
through it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec

from ..._base.numbers import counted
from ...live.drawing.labels import apart, label
from ...live.drawing.shapes import segments
from ...live.drawing.style import (
    BLACK,
    BLUE,
    GRID,
    LABEL,
    NARROW,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)

_COLORS = "cividis"  # light and dark for every eye
LEVELS = (0.25, 0.5, 0.75)  # shares of the scale at which lines are drawn
_CASING: dict[str, Any] = {"color": BLACK, "lw": 3.2, "solid_capstyle": "butt"}
_LINES: tuple[dict[str, Any], ...] = tuple(
    {"color": GRID, "lw": 1.4, "ls": dash} for dash in (":", "-", "--")
)
_HERE: dict[str, Any] = {
    "marker": "D",
    "ms": 9,
    "color": BLACK,
    "ls": "none",
    "mec": "white",
    "mew": 1.4,
}
_CUT: dict[str, Any] = {"color": BLUE, "lw": 1.6}
_ABOVE = 6 + 1.7 * SMALL  # points between the diagram and its title
_APART = 0.4, 0.2  # inches between two names of lines, side by side and one above the other


class Scale(NamedTuple):
    """The quantity shown: its name, the end of its scale, and the format of its numbers."""

    name: str
    top: float
    write: Callable[[float], str]


class PhasesView:
    """Cells colored by a scale, lines with names where it is a quarter, a half, and three quarters full, and a diamond.

    Beside it are the cuts through the diamond: along the limits, and along the numbers of workers.
    """

    def __init__(self, limits: range, workers: range) -> None:
        self.figure = new_figure(WIDE, 5.2)
        self._limits, self._workers = np.array(limits), np.array(workers)
        self.plane, self.along, self.across, self._scale = (
            self.figure.add_subplot() for _ in range(4)
        )
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the cuts beside the diagram, or below it."""
        if narrow:
            self.figure.set_size_inches(NARROW, 9.0)
            grid = GridSpec(
                4, 2, self.figure, height_ratios=(2.2, 0.3, 1.2, 1.2), width_ratios=(1, 0.13)
            )
            # Right of the diagram is room for names.
            places = [grid[0, 0], grid[2, :], grid[3, :], grid[1, :]]
        else:
            self.figure.set_size_inches(WIDE, 5.2)
            columns = GridSpec(1, 2, self.figure, width_ratios=(1.5, 1))
            left = columns[0].subgridspec(2, 1, height_ratios=(8, 1))
            right = columns[1].subgridspec(2, 1)
            places = [left[0], right[0], right[1], left[1]]
        for axes, place in zip(
            (self.plane, self.along, self.across, self._scale), places, strict=True
        ):
            axes.set_subplotspec(place)

    def _still(self) -> None:
        limits, workers = self._limits, self._workers
        tidy(self.plane, " ", "staleness limit", "workers")
        tidy(self.along, " ", "staleness limit", "")
        tidy(self.across, " ", "workers", "")
        self.plane.grid(False)
        self.plane.set(
            xlim=(limits[0] - 0.5, limits[-1] + 0.5), ylim=(workers[0] - 0.5, workers[-1] + 0.5)
        )
        self.plane.set(xticks=limits[::4], yticks=workers[::3])
        for axes, values, every in ((self.along, limits, 4), (self.across, workers, 3)):
            axes.set(
                xlim=(values[0] - 0.7, values[-1] + 0.7), ylim=(-0.04, 1.08), xticks=values[::every]
            )
            axes.set_yticks((0, 0.5, 1), labels=("", "", ""))
            axes.yaxis.labelpad = 40
            axes.set_ylabel(" ", fontsize=SMALL)  # the numbers that move need the room
        ramp = np.linspace(0, 1, 64)[None]
        self._scale.set_axis_off()
        self._scale.set(xlim=(-0.02, 1.02), ylim=(0, 1))
        self._scale.imshow(
            ramp, extent=(0.16, 0.84, 0.3, 0.7), aspect="auto", cmap=_COLORS, interpolation="none"
        )

    def _moving(self) -> None:
        x, y = self._limits, self._workers
        self._cells = self.plane.imshow(
            np.zeros((len(y), len(x))),
            extent=(x[0] - 0.5, x[-1] + 0.5, y[0] - 0.5, y[-1] + 0.5),
            aspect="auto",
            origin="lower",
            cmap=_COLORS,
            vmin=0,
            vmax=1,
            interpolation="none",
            animated=True,
            zorder=1,
        )
        self._casings = [moving_line(self.plane, zorder=2, **_CASING) for _ in LEVELS]
        self._lines = [moving_line(self.plane, zorder=2.5, **looks) for looks in _LINES]
        self._names = [label(self.plane, weight="bold") for _ in LEVELS]
        self._cuts = [moving_line(axes, **_CUT) for axes in (self.along, self.across)]
        self._here = [
            moving_line(axes, zorder=4, **_HERE) for axes in (self.plane, self.along, self.across)
        ]
        bold: dict[str, Any] = {
            "loc": "left",
            "fontsize": LABEL,
            "fontweight": "bold",
            "animated": True,
        }
        pads = (_ABOVE, None, None)  # above the diagram is room for the names of its lines
        self._titles = [
            axes.set_title(" ", pad=pad, **bold)
            for axes, pad in zip((self.plane, self.along, self.across), pads, strict=True)
        ]
        self._ends = [
            label(self._scale, x=x, y=0.5, ha=ha) for x, ha in ((0.14, "right"), (0.86, "left"))
        ]
        beside: dict[str, Any] = {"x": -0.03, "ha": "right"}
        self._ticks = [
            [
                label(axes, y=tick, transform=axes.get_yaxis_transform(), **beside)
                for tick in (0, 0.5, 1)
            ]
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
        self._name(shares, scale)
        self._cuts[0].set_data(self._limits, shares[:, row])
        self._cuts[1].set_data(self._workers, shares[column])
        spots = ((limit, workers), (limit, shares[column, row]), (workers, shares[column, row]))
        for here, (x, y) in zip(self._here, spots, strict=True):
            here.set_data([x], [y])
        there, team = scale.write(values[column, row]), counted(workers, "worker")
        titles = (
            scale.name.capitalize(),
            f"{team}: {there} at limit {limit}",
            f"Limit {limit}: {there}, {team}",
        )
        for title, words in zip(self._titles, titles, strict=True):
            title.set_text(words)
        for share, number in zip((0, 1), self._ends, strict=True):
            number.set_text(scale.write(share * scale.top))
        for ticks in self._ticks:
            for level, tick in zip((0, 0.5, 1), ticks, strict=True):
                tick.set_text(scale.write(level * scale.top))

    def _name(self, shares: np.ndarray, scale: Scale) -> None:
        """Write its level where a line leaves the diagram: above it, or else right of it."""
        (width, height), inches = self.plane.get_position().size, self.figure.get_size_inches()
        above: list[tuple[Any, float]] = []
        beside: list[tuple[Any, float]] = []
        for name, level in zip(self._names, LEVELS, strict=True):
            name.set(text=scale.write(level * scale.top), visible=False)
            for places, along in ((above, shares[:, -1]), (beside, shares[-1])):
                crossings = np.flatnonzero(np.diff(along >= level))
                if crossings.size and not name.get_visible():
                    name.set_visible(True)
                    places.append((name, (float(crossings[-1]) + 1) / len(along)))
        for places, least in (
            (above, _APART[0] / (width * inches[0])),
            (beside, _APART[1] / (height * inches[1])),
        ):
            for (name, _), at in zip(
                places, apart(np.array([place for _, place in places]), least), strict=True
            ):
                x, y, ha = (at, 1.035, "center") if places is above else (1.01, at, "left")
                name.set(x=x, y=y, ha=ha, transform=self.plane.transAxes)


def borders(inside: np.ndarray) -> np.ndarray:
    """The edges between cells (x, y) that are inside and those that are not, (3 n, 2) with NaN between them."""
    x, y = np.nonzero(inside[1:] != inside[:-1])
    upright = segments(x + 1, y, x + 1, y + 1)
    x, y = np.nonzero(inside[:, 1:] != inside[:, :-1])
    return np.concatenate([upright, segments(x, y + 1, x + 1, y + 1)], axis=1).T

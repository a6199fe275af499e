"""Update rules racing over a loss of two weights: their paths, their losses, and how much the learning rate matters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import NullLocator

from .._base.numbers import number
from ..models.surfaces import REACH, SURFACES
from ._shapes import contours
from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, OTHER, WIDE, log_ticks, moving_line, new_figure, tidy

# One look for each place at the start: color, dash and marker.
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "ls": "-", "lw": 1.8, "marker": "o", "ms": 8},
    {"color": ORANGE, "ls": "--", "lw": 1.8, "marker": "^", "ms": 9},
    {"color": GREEN, "ls": "-.", "lw": 1.8, "marker": "s", "ms": 8},
    {"color": BLACK, "ls": ":", "lw": 2.0, "marker": "D", "ms": 7},
)
LOWEST, HIGHEST = 1e-8, 100.0  # of the losses shown, as shares of the loss at the start
_START: dict[str, Any] = {"marker": "o", "ms": 11, "mfc": "none", "mec": BLACK, "mew": 1.6, "ls": "none"}
_MINIMUM: dict[str, Any] = {"marker": "*", "ms": 13, "color": BLACK, "mec": "white", "ls": "none"}


class Racer(NamedTuple):
    """One rule after `step` steps: its path (step + 1, 2), the loss of each step, and the loss at every learning rate.

    Losses are above the lowest one, as shares of that at the start. `rate` is the learning rate it runs with.
    """

    title: str
    rate: float
    path: np.ndarray
    loss: np.ndarray
    by_rate: np.ndarray


class RaceView:
    """Contours with the path and the place of every racer; losses over steps; the loss now at every learning rate."""

    def __init__(self, steps: int, rates: Sequence[float]) -> None:
        self.figure = new_figure(WIDE, 5.4)
        self.plane, self.loss, self.rates, self._key = (self.figure.add_subplot() for _ in range(4))
        self._all_rates = np.asarray(rates)
        self._still(steps)
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the losses beside the paths, or below them."""
        if narrow:
            self.figure.set_size_inches(NARROW, 10.4)
            grid = GridSpec(4, 1, self.figure, height_ratios=(2.1, 1.3, 1.3, 0.9))
            places = [grid[k] for k in range(4)]
        else:
            self.figure.set_size_inches(WIDE, 5.4)
            grid = GridSpec(3, 2, self.figure, width_ratios=(1.3, 1), height_ratios=(1, 1, 0.3))
            places = [grid[:2, 0], grid[0, 1], grid[1, 1], grid[2, :]]
        for axes, place in zip((self.plane, self.loss, self.rates, self._key), places, strict=True):
            axes.set_subplotspec(place)
        self._arrange_key(narrow)

    def _arrange_key(self, narrow: bool) -> None:
        """Racers in a column, or in two, and beside or below them what else is marked."""
        width, rows = (3.4, 5) if narrow else (8.2, 2)  # in inches and in lines
        self._key.set(xlim=(0, width), ylim=(rows - 0.4, -0.6))
        places = [(-0.4, k) for k in range(4)] if narrow else [(0, 0), (0, 1), (3.5, 0), (3.5, 1)]
        for (x, y), sample, name in zip(places, self._samples, self._names, strict=True):
            sample.set_data([x + 0.05, x + 0.3, x + 0.55], [y] * 3)
            name.set_position((x + 0.7, y))
        marks = [(-0.1, 4), (1.4, 4)] if narrow else [(7.2, 0), (7.2, 1)]
        for (x, y), (mark, words) in zip(marks, self._marks, strict=True):
            mark.set_data([x], [y])
            words.set_position((x + (0.4 if narrow else 0.2), y))

    def _still(self, steps: int) -> None:
        tidy(self.plane, "Paths over the loss", "first weight", "second weight")
        tidy(self.loss, "Loss at every step", "steps", "loss (first = 1)")
        tidy(self.rates, "Loss now, at every learning rate", "learning rate", "loss (first = 1)")
        self.plane.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
        self.plane.grid(False)
        self.loss.set_xlim(0, steps * 1.02)
        self.loss.set_xticks(range(0, steps + 1, steps // 4))
        self.rates.set(xscale="log", xlim=(self._all_rates[0] / 1.3, self._all_rates[-1] * 1.3))
        for axes in (self.loss, self.rates):
            axes.set(yscale="log", ylim=(LOWEST / 2, HIGHEST))
            axes.yaxis.set_minor_locator(NullLocator())
            log_ticks(axes.yaxis, LOWEST, HIGHEST)
        log_ticks(self.rates.xaxis)
        self._key.set_axis_off()
        looks: dict[str, Any] = {"va": "center", "fontsize": 9.5, "color": BLACK}
        self._marks = [
            (self._key.plot([], [], clip_on=False, **mark)[0], self._key.text(0, 0, words, **looks))
            for mark, words in ((_START, "start"), (_MINIMUM, "minimum"))
        ]

    def _moving(self) -> None:
        self._contours = PathPatch(Path(np.zeros((1, 2))), fc="none", ec=OTHER, lw=0.6, animated=True, zorder=1)
        self.plane.add_patch(self._contours)
        self._minima, self._start = moving_line(self.plane, **_MINIMUM), moving_line(self.plane, **_START)
        lines = [{**looks, "marker": "none"} for looks in LOOKS]
        heads = [{**looks, "ls": "none", "mec": "white", "zorder": 4} for looks in LOOKS]
        self._paths = [moving_line(self.plane, **looks) for looks in lines]
        self._losses = [moving_line(self.loss, **looks) for looks in lines]
        self._by_rate = [moving_line(self.rates, **{**looks, "lw": 1.4}) for looks in lines]
        self._heads = [[moving_line(axes, **looks) for axes in (self.plane, self.loss, self.rates)] for looks in heads]
        self._samples = [moving_line(self._key, markevery=[1], clip_on=False, mec="white", **looks) for looks in LOOKS]
        text: dict[str, Any] = {"va": "center", "fontsize": 9.5, "color": BLACK, "animated": True}
        self._names = [self._key.text(0, 0, "", **text) for _ in LOOKS]

    def draw(self, surface: str, start: np.ndarray, racers: Sequence[Racer | None]) -> None:
        """Set the moving artists: the surface by name, the start (2,), and who races in each place, if anybody."""
        self._contours.set_path(rings(surface))
        self._minima.set_data(*np.array(SURFACES[surface].minima).T)
        self._start.set_data([start[0]], [start[1]])
        for k, racer in enumerate(racers):
            moving = (self._paths[k], self._losses[k], self._by_rate[k], *self._heads[k], self._samples[k])
            for artist in (*moving, self._names[k]):
                artist.set_visible(racer is not None)
            if racer is not None:
                self._draw(k, racer)

    def _draw(self, k: int, racer: Racer) -> None:
        path, loss, by_rate = _on_the_page(racer.path), _shown(racer.loss), _shown(racer.by_rate)
        self._paths[k].set_data(*path.T)
        self._losses[k].set_data(np.arange(len(loss)), loss)
        self._by_rate[k].set_data(self._all_rates, by_rate)
        self._names[k].set_text(f"{racer.title}, rate {number(racer.rate, 2)}")
        here = int(np.abs(np.log(self._all_rates / racer.rate)).argmin())
        spots = (path[-1], (len(loss) - 1, loss[-1]), (racer.rate, by_rate[here]))
        for head, (x, y) in zip(self._heads[k], spots, strict=True):
            head.set_data([x], [y])


def _on_the_page(path: np.ndarray) -> np.ndarray:
    """A path as far as it can be drawn; what is far outside lies outside."""
    return np.where(np.isfinite(path), np.clip(path, -9 * REACH, 9 * REACH), np.nan)


def _shown(loss: np.ndarray) -> np.ndarray:
    """Losses moved into the panel; those that aren't numbers are at its upper edge."""
    return np.clip(np.where(np.isfinite(loss), loss, HIGHEST), LOWEST, HIGHEST)


@functools.cache
def rings(surface: str) -> Path:
    """Lines of equal loss, between which lie equal parts of the square."""
    side = np.linspace(-REACH, REACH, 81)
    plane = np.stack(np.meshgrid(side, side), axis=-1)
    loss = SURFACES[surface].loss(plane)
    levels = np.quantile(loss, (0.01, 0.04, 0.1, 0.18, 0.28, 0.4, 0.53, 0.67, 0.82, 0.94))
    return contours(side, side, np.asarray(loss), np.unique(levels))

"""Update rules racing over a loss of two weights: their paths, their losses, and how much the
learning rate matters.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.path import Path
from matplotlib.ticker import NullLocator

from ..._base.numbers import number
from ...live.drawing.labels import EndLabels
from ...live.drawing.lanes import text
from ...live.drawing.moving import MovingPath
from ...live.drawing.shapes import NOWHERE, contours, segments
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    GREEN,
    LABEL,
    NARROW,
    OTHER,
    OTHERS,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)  # fmt: skip
from ...models.surfaces import REACH, SURFACES

# One look for each place at the start, so that thin gray lines can be followed: dash and marker.
LOOKS: tuple[dict[str, Any], ...] = (
    {"ls": "-", "marker": "o", "ms": 7},
    {"ls": (0, (6, 1.5)), "marker": "^", "ms": 8},
    {"ls": (0, (6, 1.5, 1.5, 1.5)), "marker": "s", "ms": 7},
    {"ls": (0, (1.5, 1.2)), "marker": "D", "ms": 6},
)
LOWEST, HIGHEST = 1e-8, 10.0  # of the losses shown, as shares of the loss at the start
_LETTERS = 16  # of a name
GOOD = 1e-3  # a rate that ends below this share serves
_KEY = (
    "dot: rate in use",
    f"green: rates that end below {GOOD:g}",
    "×: largest ÷ smallest of these",
)
_START: dict[str, Any] = {
    "marker": "o",
    "ms": 10,
    "mfc": "none",
    "mec": BLACK,
    "mew": 1.6,
    "ls": "none",
}
_MINIMUM: dict[str, Any] = {"marker": "*", "ms": 13, "color": BLACK, "mec": "white", "ls": "none"}


class Racer(NamedTuple):
    """One rule after `step` steps: its path (step + 1, 2), the loss of each step, and the loss at every learning rate.

    Losses are above the lowest one, as shares of that at the start. `rate` is the learning rate it
    runs with;
    `capped`: it should have been one beyond all those.
    """

    title: str
    rate: float
    path: np.ndarray
    loss: np.ndarray
    by_rate: np.ndarray
    capped: bool = False


class RaceView:
    """Contours with the path of every racer; losses over steps; and a small panel for each: its loss at every rate.

    One racer is heavy and blue, the others are thin and gray. A small panel marks the rate that is
    raced with by a dot, and the rates that serve by a green bar.
    """

    def __init__(self, steps: int, rates: Sequence[float]) -> None:
        self.figure = new_figure(WIDE, 5.4)
        self.plane, self.loss, self._note = (self.figure.add_subplot() for _ in range(3))
        first = self.figure.add_subplot()
        self.rates = [
            first,
            *(self.figure.add_subplot(sharex=first, sharey=first) for _ in LOOKS[1:]),
        ]
        self._all_rates = np.asarray(rates)
        self._still(steps)
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the losses beside the paths and a row of small panels, or everything in one column."""
        if narrow:
            self.figure.set_size_inches(NARROW, 10.2)
            grid = GridSpec(
                7,
                2,
                self.figure,
                width_ratios=(1, 0.72),
                height_ratios=(3.2, 2.6, 0.85, 1, 1, 1, 1),
            )
            places = [grid[0, :], grid[1, 0], grid[2, :], *(grid[k, :] for k in range(3, 7))]
        else:
            self.figure.set_size_inches(WIDE, 5.4)
            grid = GridSpec(3, 1, self.figure, height_ratios=(2.8, 0.12, 1.15))
            above, below = (
                grid[0].subgridspec(1, 3, width_ratios=(1.58, 0.96, 0.64)),
                grid[2].subgridspec(1, 4),
            )
            places = [above[0], above[1], grid[1], *(below[k] for k in range(4))]
        for axes, place in zip(
            (self.plane, self.loss, self._note, *self.rates), places, strict=True
        ):
            axes.set_subplotspec(place)
        for k, axes in enumerate(self.rates):
            axes.tick_params(
                labelleft=narrow or k == 0, labelbottom=not narrow or k == len(self.rates) - 1
            )
            axes.xaxis.label.set_visible(not narrow or k == len(self.rates) - 1)
        self._key.set(text=("\n" if narrow else "   ").join(_KEY), position=(0 if narrow else 1, 0))
        self._key.set(ha="left" if narrow else "right", va="bottom")
        self._head.set(y=1 if narrow else 0, va="top" if narrow else "bottom")

    def _still(self, steps: int) -> None:
        tidy(self.plane, "Paths from one start", "first weight", "second weight")
        tidy(self.loss, "Loss, as a share of the first", "step", "")
        ends, ticks = (-REACH, REACH), range(-2, 3)
        self.plane.set_anchor("NW")
        self.plane.set(xlim=ends, ylim=ends, xticks=ticks, yticks=ticks, aspect="equal")
        self.plane.grid(False)
        self.loss.set_xlim(0, steps * 1.02)
        self.loss.set_xticks(range(0, steps + 1, steps // 4))
        for axes in self.rates:
            tidy(axes, "rule", "learning rate", "")
            axes.set(xscale="log", xlim=(self._all_rates[0] / 1.3, self._all_rates[-1] * 1.3))
            axes.axhline(GOOD, color=GREEN, lw=0.8, ls=":")
        # Below small curves is the bar; above them is room for half of a dot at the highest loss.
        for axes, below, above in ((self.loss, 2, 1), (self.rates[0], 300, 20)):
            axes.set(yscale="log", ylim=(LOWEST / below, HIGHEST * above))
            axes.yaxis.set_minor_locator(NullLocator())
            log_ticks(axes.yaxis, LOWEST, HIGHEST)
        log_ticks(self.rates[0].xaxis)
        self.loss.set_yticks([LOWEST, 1e-6, 1e-4, 1e-2, 1, HIGHEST])
        self.rates[0].set(xticks=[1e-4, 1e-2, 1, 100], yticks=[LOWEST, GOOD, HIGHEST])
        self.rates[0].xaxis.set_minor_locator(NullLocator())
        self._note.set_axis_off()
        looks: dict[str, Any] = {"transform": self._note.transAxes, "in_layout": False}
        head = "Loss at every rate from here"
        self._head = self._note.text(0, 0, head, fontsize=LABEL, weight="bold", **looks)
        self._key = self._note.text(0, 0, "", fontsize=SMALL, color=QUIET, **looks)

    def _moving(self) -> None:
        self._contours = MovingPath(NOWHERE, fc="none", ec=OTHER, lw=0.5, animated=True, zorder=1)
        self.plane.add_patch(self._contours)
        self._minima, self._start = (
            moving_line(self.plane, **_MINIMUM),
            moving_line(self.plane, **_START),
        )
        self._where = text(self.plane, s="start", va="bottom", weight="bold")
        self._bottom = text(self.plane, s="bottom")
        self._reference = moving_line(self.loss, color=OTHER, ls=DASHED, lw=1.6)
        lines = [{**looks, "marker": "none"} for looks in LOOKS]
        heads = [{**looks, "ls": "none", "mec": "white", "zorder": 4} for looks in LOOKS]
        self._paths = [moving_line(self.plane, **looks) for looks in lines]
        self._losses = [moving_line(self.loss, **looks) for looks in lines]
        self._heads = [moving_line(self.plane, **looks) for looks in heads]
        self._names = EndLabels(self.loss, len(LOOKS) + 1)  # the reference has a name, too
        self._sweeps = [_Sweep(axes) for axes in self.rates]

    def draw(
        self, surface: str, start: np.ndarray, racers: Sequence[Racer | None], heavy: int = -1,
        reference: tuple[str, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        """Set the moving artists.

        Args:
            surface: by name.
            start: (2,).
            racers: who races in each place, if anybody.
            heavy: the place to follow.
            reference: a name and the losses of a race to compare with.
        """
        self._contours.set_path(rings(surface))
        minima = np.array(SURFACES[surface].minima)
        self._minima.set_data(*minima.T)
        self._bottom.set_position(minima[0] + (0.12, 0.1))
        self._start.set_data([start[0]], [start[1]])
        right = start[0] > 0.6 * REACH
        self._where.set(x=start[0] + (0.1 if right else -0.1), ha="right" if right else "left")
        self._where.set_y(start[1] + 0.12 if start[1] < 0.8 * REACH else start[1] - 0.36)
        for k, racer in enumerate(racers):
            for artist in (self._paths[k], self._losses[k], self._heads[k]):
                artist.set_visible(racer is not None)
            self._sweeps[k].draw(racer, self._all_rates, k == heavy)
            if racer is not None:
                self._draw(k, racer, k == heavy)
        self._reference.set_visible(reference is not None)
        if reference is not None:
            shown = _shown(reference[1])
            self._reference.set_data(np.arange(len(shown)), shown)
        self._name(racers, heavy, reference)

    def _draw(self, k: int, racer: Racer, heavy: bool) -> None:
        path, loss = _on_the_page(racer.path), _shown(racer.loss)
        looks: dict[str, Any] = {"ls": "-", "color": BLUE, "lw": SELECTED, "zorder": 3}
        if not heavy:
            looks = {"ls": LOOKS[k]["ls"], "color": QUIET, "lw": OTHERS, "zorder": 2}
        self._paths[k].set(data=path.T, **looks)
        self._losses[k].set(data=(np.arange(len(loss)), loss), **looks)
        self._heads[k].set(
            data=path[-1:].T, color=looks["color"], mec="white", zorder=looks["zorder"] + 2
        )

    def _name(
        self, racers: Sequence[Racer | None], heavy: int, reference: tuple[str, np.ndarray] | None
    ) -> None:
        """Name the ends of all losses. The reference is among them, so that no name lies on
        another.
        """
        there = [(k, racer) for k, racer in enumerate(racers) if racer is not None]
        ends = [float(_shown(racer.loss)[-1]) for _, racer in there]
        colors = [BLUE_TEXT if k == heavy else QUIET for k, _ in there]
        weights = ["bold" if k == heavy else "normal" for k, _ in there]
        step = max((len(racer.loss) - 1 for _, racer in there), default=0)
        words = [_short(racer.title) for _, racer in there]
        if reference is not None:
            words.append(reference[0])
            ends.append(float(_shown(reference[1])[-1]))
            colors.append(QUIET)
            weights.append("normal")
        self._names.draw(step, ends, words, color=colors, weight=weights)


class _Sweep:
    """The small panel of one racer: a loss for every learning rate."""

    def __init__(self, axes: Any) -> None:
        self.axes = axes
        self._name = axes.set_title("rule", loc="left", fontsize=SMALL, animated=True)
        self._width = axes.set_title(
            "none", loc="right", fontsize=SMALL, color=GREEN, animated=True
        )
        self.curve = moving_line(axes)
        self.here = moving_line(axes, marker="o", ms=7, mec="white", ls="none", zorder=5)
        self.good = moving_line(
            axes, color=GREEN, lw=4, solid_capstyle="butt", transform=axes.get_xaxis_transform()
        )

    def draw(self, racer: Racer | None, rates: np.ndarray, heavy: bool) -> None:
        for artist in (self._name, self._width, self.curve, self.here, self.good):
            artist.set_visible(racer is not None)
        if racer is None:
            return
        losses = _shown(racer.by_rate)
        color, width = (BLUE, SELECTED) if heavy else (QUIET, OTHERS)
        at = int(np.abs(np.log(rates / racer.rate)).argmin())
        self.curve.set(data=(rates, losses), color=color, lw=width)
        self.here.set(data=([rates[at]], [losses[at]]), mfc=color)
        good = np.isfinite(racer.by_rate) & (racer.by_rate < GOOD)
        self.good.set_data(*_runs(rates, good))
        beyond = "≥ " if good[0] or good[-1] else ""
        span = rates[good].max() / rates[good].min() if good.any() else 0.0
        wide = f"{beyond}{number(float(f'{span:.1e}'), 2)} ×" if span else "none"
        # Both share a line above the panel: a wider number leaves less room for the name.
        room = _LETTERS - 2 * max(0, len(wide) - len("1,000 ×"))
        self._name.set(text=_short(racer.title, room), weight="bold" if heavy else "normal")
        self._name.set_color(BLUE_TEXT if heavy else BLACK)
        self._width.set_text(wide)


def _runs(rates: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Return bars (2, 3 n) along the rates that serve, half a step longer at both ends."""
    half = np.sqrt(rates[1] / rates[0])
    return segments(rates[good] / half, 0.06, rates[good] * half, 0.06)


def _short(title: str, most: int = _LETTERS) -> str:
    """A name that fits above a small panel, or beside a curve."""
    return title if len(title) <= most else f"{title[: most - 4].rstrip()}…"


def _on_the_page(path: np.ndarray) -> np.ndarray:
    """A path as far as it can be drawn; what is far outside lies outside.

    Steps between two points outside the square are left out. A path that diverges would cross the
    picture with each.
    """
    drawable = np.where(np.isfinite(path), np.clip(path, -9 * REACH, 9 * REACH), np.nan)
    outside = np.asarray((np.abs(drawable) > REACH).any(axis=1))
    gaps = np.flatnonzero(outside[1:] & outside[:-1]) + 1
    return np.insert(drawable, gaps, np.nan, axis=0)


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

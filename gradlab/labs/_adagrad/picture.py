"""Adagrad beside gradient descent on a loss of two weights: where both go, how far down, and at
which rates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.path import Path

from ...live.drawing.labels import EndLabels, label
from ...live.drawing.moving import MovingPath
from ...live.drawing.shapes import contours
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    SELECTED,
    VIOLET,
    VIOLET_TEXT,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels

REACH = (5.0, 3.0)  # the plane shows weights from -REACH to REACH
FAR = 1e4  # nothing is drawn beyond
# What is beyond the ends of a log axis stands at them, so both ends have ticks, which say "≤" and
# "≥". Handles on these axes reach as far as their sliders.
LOSSES, SUMS, RATES = (1e-4, 1e4), (1e-4, 1e6), (1e-3, 100.0)
_ROOM = 0.06  # of the height, beyond each end, where half of a mark lies
_ADAGRAD: dict[str, Any] = {
    "color": BLUE,
    "ls": "-",
    "marker": "o",
    "ms": 4.6,
    "mew": 0,
    "lw": SELECTED,
}
_DESCENT: dict[str, Any] = {
    "color": ORANGE,
    "ls": "--",
    "marker": "^",
    "ms": 4.0,
    "mew": 0,
    "lw": 1.2,
}
_SECOND: dict[str, Any] = {"color": BLUE, "ls": ":", "lw": 2.2}
_EPSILON: dict[str, Any] = {"color": GREEN, "ls": "-.", "lw": 1.4}
_START: dict[str, Any] = {
    "color": BLACK,
    "ls": "none",
    "marker": "s",
    "ms": 8,
    "mfc": "none",
    "mew": 1.5,
}
_BOTTOM: dict[str, Any] = {"color": BLACK, "ls": "none", "marker": "+", "ms": 13, "mew": 2.2}
_NOW: dict[str, Any] = {"color": BLACK, "ls": "-", "lw": 0.8}


class Ground(NamedTuple):
    """A loss over the plane: `above` (m, n) is how far it is above its least value at x (n,), y (m,).

    `weights` names the first and the second weight.
    """

    x: np.ndarray
    y: np.ndarray
    above: np.ndarray
    bottom: tuple[float, float]
    weights: tuple[str, str] = ("flat", "steep")


class Walk(NamedTuple):
    """The path of an optimizer from step 0 on: weights (n, 2), loss above the least (n,), learning rates (n,)."""

    weights: np.ndarray
    above: np.ndarray
    rates: np.ndarray


class EffectiveRates(NamedTuple):
    """Adagrad's accumulator (n, 2) and effective rates (n, 2), the first one NaN, and what epsilon makes of both.

    An accumulator below `floor` counts less than epsilon does; no effective rate exceeds `ceiling`
    (n,).
    """

    accumulator: np.ndarray
    effective: np.ndarray
    floor: float
    ceiling: np.ndarray


_WIDE_LAYOUT = PanelLayout((WIDE, 5.3), "PPP/LAR", height_ratios=(1.4, 1))
_NARROW_LAYOUT = PanelLayout((NARROW, 9.0), "P/L/A/R", height_ratios=(1.7, 1, 1, 1))


class AdagradView:
    """The plane with both paths up to a step; loss, accumulator and effective rate over all steps, the step marked.

    Adagrad is blue with dots, its memory violet, gradient descent orange and dashed with triangles;
    the second weight is dotted.
    """

    def __init__(self, steps: int) -> None:
        self.figure = new_figure(WIDE, 5.3)
        self.plane = self.figure.add_subplot()
        self.loss = self.figure.add_subplot()
        self.accumulator = self.figure.add_subplot(sharex=self.loss)
        self.rate = self.figure.add_subplot(sharex=self.loss)
        self._still(steps)
        self._moving()
        self._ground: Ground | None = None
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the curves side by side below the plane, or one below the other."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(
            self.figure, layout, P=self.plane, L=self.loss, A=self.accumulator, R=self.rate
        )

    def _still(self, steps: int) -> None:
        tidy(self.plane, "Path of the weights", "first weight", "second weight")
        tidy(self.loss, "Loss above the bottom", "step", "")
        tidy(self.accumulator, "Memory: sum of gradient²", "step", "")
        tidy(self.rate, "Effective rate", "step", "")
        self.plane.set(xlim=(-REACH[0], REACH[0]), ylim=(-REACH[1], REACH[1]))
        self.plane.grid(False)
        self.loss.set(xlim=(-2, 1.7 * steps), xticks=range(0, steps + 1, 20))
        for axes, ends in ((self.loss, LOSSES), (self.accumulator, SUMS), (self.rate, RATES)):
            room = (ends[1] / ends[0]) ** _ROOM
            axes.set(yscale="log", ylim=(ends[0] / room, ends[1] * room))
            log_ticks(axes.yaxis, *ends)

    def _moving(self) -> None:
        self._rings = MovingPath(Path(np.zeros((1, 2))), fc="none", ec=OTHER, lw=0.5, animated=True)
        self.plane.add_patch(self._rings)
        self._bottom = moving_line(self.plane, **_BOTTOM)
        self._paths = [moving_line(self.plane, **looks) for looks in (_DESCENT, _ADAGRAD)]
        self._start = moving_line(self.plane, **_START)
        plain = [{**looks, "marker": ""} for looks in (_DESCENT, _ADAGRAD)]
        self._losses = [moving_line(self.loss, **looks) for looks in plain]
        self._sums = [
            moving_line(self.accumulator, **looks | {"color": VIOLET})
            for looks in (plain[1], _SECOND)
        ]
        self._rates = [moving_line(self.rate, **looks) for looks in (plain[0], plain[1], _SECOND)]
        self._floor = moving_line(
            self.accumulator, transform=self.accumulator.get_yaxis_transform(), **_EPSILON
        )
        self._ceiling = moving_line(self.rate, **_EPSILON)
        panels = (self.loss, self.accumulator, self.rate)
        self._ends = [EndLabels(axes, most) for axes, most in zip(panels, (2, 2, 3), strict=True)]
        self._directions = label(
            self.plane, x=0.99, y=1.06, ha="right", color=QUIET, transform=self.plane.transAxes
        )
        self._words = [label(self.plane, text=words, color=QUIET) for words in ("start", "bottom")]
        self._walkers = [
            label(self.plane, text=words, color=color, weight=weight, ha=side)
            for words, color, weight, side in (
                ("descent", ORANGE_TEXT, "normal", "center"),
                ("Adagrad", BLUE_TEXT, "bold", "left"),
            )
        ]
        self._epsilon = [label(axes, x=0, ha="left", color=GREEN) for axes in panels[1:]]
        self._now = [
            moving_line(axes, transform=axes.get_xaxis_transform(), **_NOW) for axes in panels
        ]
        dots: dict[str, Any] = {"ls": "none", "mec": "white", "mew": 1.0}
        self._here = {
            name: [moving_line(axes, marker, ms=size, color=color, **dots) for axes in axes_of]
            for name, marker, size, color, axes_of in (
                ("descent", "^", 9.5, ORANGE, (self.plane, self.loss, self.rate)),
                ("adagrad", "o", 8, BLUE, (self.plane, self.loss, self.accumulator, self.rate)),
            )
        }
        self._here["adagrad"][2].set_color(VIOLET)
        # Its corners show the dots below it, which would hide all of it.
        self._here["descent"][-1].set_zorder(3)

    def draw(
        self, step: int, ground: Ground, adagrad: Walk, descent: Walk, rates: EffectiveRates
    ) -> None:
        """Set the moving artists: everything over all steps, the paths in the plane up to `step`."""
        if ground is not self._ground:
            self._ground = ground
            self._rings.set_path(_rings(ground))
            self._bottom.set_data([ground.bottom[0]], [ground.bottom[1]])
        steps = np.arange(len(adagrad.above))
        self._start.set_data(*adagrad.weights[:1].T)
        for walk, path, loss in zip((descent, adagrad), self._paths, self._losses, strict=True):
            path.set_data(*_near(walk.weights[: step + 1]).T)
            loss.set_data(steps, _shown(walk.above, LOSSES))
        for line, column in zip(self._sums, rates.accumulator.T, strict=True):
            line.set_data(steps, _shown(column, SUMS))
        for line, column in zip(self._rates, (descent.rates, *rates.effective.T), strict=True):
            line.set_data(steps, _shown(column, RATES))
        self._floor.set_data([0, 1], [rates.floor, rates.floor])
        self._ceiling.set_data(steps, rates.ceiling)
        for line in self._now:
            line.set_data([step, step], [0, 1])
        self._mark(step, adagrad, descent, rates)
        self._name(ground, adagrad, descent, rates)

    def _mark(self, step: int, adagrad: Walk, descent: Walk, rates: EffectiveRates) -> None:
        now = slice(step, step + 1)
        plane, loss, rate = self._here["descent"]
        plane.set_data(*_near(descent.weights[now]).T)
        loss.set_data([step], _shown(descent.above[now], LOSSES))
        rate.set_data([step], _shown(descent.rates[now], RATES))
        plane, loss, accumulator, rate = self._here["adagrad"]
        plane.set_data(*_near(adagrad.weights[now]).T)
        loss.set_data([step], _shown(adagrad.above[now], LOSSES))
        accumulator.set_data([step, step], _shown(rates.accumulator[step], SUMS))
        rate.set_data([step, step], _shown(rates.effective[step], RATES))
        # Adagrad's name is above its path, the other one below: from there they walk to the bottom.
        for words, walk, away in zip(self._walkers, (descent, adagrad), (-0.48, 0.44), strict=True):
            x, y = walk.weights[step]
            inside = step > 0 and abs(x) <= REACH[0] and abs(y + away) < REACH[1] - 0.1
            words.set(
                x=np.clip(x, 1.5 - REACH[0], REACH[0] - 1.5), y=y + away, visible=bool(inside)
            )

    def _name(self, ground: Ground, adagrad: Walk, descent: Walk, rates: EffectiveRates) -> None:
        """Write names at the ends of curves, and beside the start and the bottom."""
        last = len(adagrad.above) - 1
        first, second = ground.weights
        self._directions.set_text(f"→ {first}, ↑ {second}")
        (x, y), (u, v) = adagrad.weights[0], ground.bottom
        x, above = np.clip(x, 0.9 - REACH[0], REACH[0] - 0.9), y < REACH[1] - 0.6
        self._words[0].set(x=x, y=y + (0.42 if above else -0.42))
        right = u < REACH[0] / 2
        self._words[1].set(x=u + (0.25 if right else -0.25), y=v, ha="left" if right else "right")
        self._words[1].set_visible(
            abs(u) < REACH[0] and not any(_is_near(name, u, v) for name in self._walkers)
        )
        named = (
            (
                _shown([descent.above[-1], adagrad.above[-1]], LOSSES),
                ("descent", "Adagrad"),
                (ORANGE_TEXT, BLUE_TEXT),
            ),
            (_shown(rates.accumulator[-1], SUMS), (first, second), (VIOLET_TEXT,) * 2),
            (
                _shown([descent.rates[-1], *rates.effective[-1]], RATES),
                ("descent", first, second),
                (ORANGE_TEXT, BLUE_TEXT, BLUE_TEXT),
            ),
        )
        for ends, (values, words, colors) in zip(self._ends, named, strict=True):
            ends.draw(last, list(values), words, color=colors)
        for said, y in zip(self._epsilon, (rates.floor, rates.ceiling[1]), strict=True):
            inside = min(said.axes.get_ylim()) < y < max(said.axes.get_ylim())
            said.set(y=y * 1.8 if inside else 1.0, text="epsilon" if inside else "")


def _shown(values: Any, ends: tuple[float, float]) -> np.ndarray:
    """The values inside the ends of their axis; NaN where they are out of all bounds."""
    found: np.ndarray = np.clip(np.where(np.isfinite(values), values, np.nan), *ends)
    return found


def _is_near(words: Any, x: float, y: float) -> bool:
    """Whether words in the plane stand where a short name of the point (x, y) would."""
    left, middle = words.get_position()
    return bool(words.get_visible() and abs(left - x) < 2.0 and abs(middle - y) < 0.4)


def _near(values: np.ndarray) -> np.ndarray:
    """The values, NaN from where they are out of all bounds."""
    return np.where(np.abs(values) < FAR, values, np.nan)


def _rings(ground: Ground) -> Path:
    """Nine contours as one path, evenly spaced on a bowl, whose root is nearly straight between
    points of a grid.
    """
    root = np.sqrt(ground.above)
    return contours(ground.x, ground.y, root, float(root.max()) * np.arange(1, 10) / 10)

"""Gradient descent on a bowl: the ball, the step that comes next, and loss and gradient over the
steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.path import Path as Outline

from ..._base.numbers import number, signed
from ...live.drawing.labels import label
from ...live.drawing.lanes import patch
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    OTHERS,
    PALE_GREEN,
    QUIET,
    SELECTED,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels

TOP = 14.0  # the highest loss in the picture
_SHORT = 0.75  # a step below this length is hidden by the ball
_ABOVE = 0.95  # how far above the ball its arrow is drawn then
_LOSSES = 10.0  # the highest in the panel of losses
_ZONES = {  # what each is called under the strip, and its color
    "creeps": ("creeps", "#E9E9E9"),
    "rolls": ("rolls", PALE_GREEN),
    "jumps": ("jumps across", "#E9E9E9"),
    "flies": ("flies off", "#F6D5C2"),
}


class BowlCurves(NamedTuple):
    """Fixed data: the loss (n,) over weights (n,), the best weight, and what comes of every learning rate.

    Fields: zones: (name, first rate, last rate), in order; reference: losses (steps + 1,) at
    `reference_rate`.
    """

    weights: np.ndarray
    loss: np.ndarray
    best: float
    zones: tuple[tuple[str, float, float], ...]
    reference: np.ndarray
    reference_rate: float


class Descended(NamedTuple):
    """A run at one rate, of which `step` steps are done: (steps + 2,) each, one step more than can be done."""

    rate: float
    step: int
    weights: np.ndarray
    loss: np.ndarray
    gradient: np.ndarray


_WIDE_LAYOUT = PanelLayout(
    (WIDE, 4.9), "BL/BG/SS", width_ratios=(1.75, 1), height_ratios=(1, 1, 0.26)
)
_NARROW_LAYOUT = PanelLayout((NARROW, 8.2), "B/S/L/G", height_ratios=(3.2, 0.5, 1.6, 1.6))


class DescentView:
    """The ball on the bowl with the steps done and the next one; loss and gradient; where the rate lies among all."""

    def __init__(self, bowl: BowlCurves, steps: int) -> None:
        self.figure = new_figure(WIDE, 4.9)
        self.bowl, self.loss, self.gradient, self.strip = (
            self.figure.add_subplot() for _ in range(4)
        )
        self._given, self._steps = bowl, steps
        tidy(self.bowl, "Loss of every weight, and the ball's way", "weight", "loss")
        tidy(self.loss, "Loss after each step", "", "")
        tidy(self.gradient, "Length of the gradient", "step", "")
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: the curves beside the bowl, or below it."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, B=self.bowl, L=self.loss, G=self.gradient, S=self.strip)
        self._half_width = 0.12 if narrow else 0.05  # of the strip
        for k, words in enumerate(self._words):  # where the bowl leaves room: below it, or inside
            words.set_position(
                (0, 0.93 * TOP - 1.25 * k) if narrow else (self._given.weights[0] + 0.15, 2.5 - k)
            )
            words.set_horizontalalignment("center" if narrow else "left")

    def _still(self) -> None:
        bowl = self._given
        self.bowl.plot(bowl.weights, bowl.loss, color=OTHER, lw=2.4, zorder=1)
        self.bowl.set(xlim=bowl.weights[[0, -1]], ylim=(-1.3, TOP), yticks=range(0, int(TOP), 4))
        self.bowl.plot([bowl.best] * 2, [-0.35, 0.35], color=BLACK, lw=2)
        looks: dict[str, Any] = {"fontsize": SMALL, "va": "center"}
        self.bowl.text(bowl.best, -0.8, "minimum", color=BLACK, ha="center", **looks)
        for axes, top in ((self.loss, _LOSSES), (self.gradient, self._given.weights[-1])):
            axes.set(
                xlim=(-0.3, self._steps + 0.2),
                ylim=(-0.04 * top, top),
                xticks=range(0, self._steps + 1, 4),
            )
        self.loss.set_yticks(range(0, int(_LOSSES), 4))
        self.gradient.set_yticks(range(0, 6, 2))
        self.loss.tick_params(labelbottom=False)
        self.loss.plot(np.arange(self._steps + 1), bowl.reference, color=OTHER, ls=DASHED, lw=1.2)
        self._still_strip()

    def _still_strip(self) -> None:
        first, last = self._given.zones[0][1], self._given.zones[-1][2]
        self.strip.set(xlim=(first, last), ylim=(-1.5, 1.9))
        self.strip.set_axis_off()
        self._zones = []
        for name, low, high in self._given.zones:
            words, color = _ZONES[name]
            self.strip.axvspan(low, high, 0.39, 0.6, color=color, lw=0)
            middle = ((low + high) / 2, "center")
            at, ha = (low, "left") if low == first else (high, "right") if high == last else middle
            self._zones.append(label(self.strip, x=at, y=-1.0, text=words, ha=ha))

    def _moving(self) -> None:
        axes = self.bowl
        self._chords = moving_line(axes, color=BLUE, lw=OTHERS, zorder=2)
        self._last = moving_line(axes, color=BLUE, lw=SELECTED, zorder=2.2)
        self._been = moving_line(
            axes, "o", ms=6, mfc="white", mec=BLUE, mew=1.4, ls="none", zorder=3
        )
        self._next = moving_line(axes, color=ORANGE, lw=SELECTED, zorder=4.4)
        self._head = patch(axes, {"fc": ORANGE, "ec": "none"})
        self._head.set_zorder(4.5)  # a short step ends on the ball: it is seen there
        self._drop = moving_line(axes, color=OTHER, lw=1.2, ls=":", zorder=2.5)
        self._ghost = moving_line(
            axes, "o", ms=7, mfc="white", mec=OTHER, mew=1.4, ls="none", zorder=3
        )
        self._ball = moving_line(
            axes, "o", ms=14, color=BLUE, mec="white", mew=1.2, ls="none", zorder=4
        )
        self._start = label(axes, color=QUIET, ha="left", text="start")
        self._gone = [
            label(axes, x=0, y=y * TOP, fontsize=LABEL, color=BLUE_TEXT, weight="bold")
            for y in (0.4, 0.33)
        ]
        self._words = [
            label(axes, color=ORANGE_TEXT, weight=weight) for weight in ("bold", "normal", "normal")
        ]
        self._slow = label(
            self.loss, x=self._steps, y=self._given.reference[-1] + 1.6, ha="right", color=QUIET
        )
        self._curves = [
            (
                moving_line(panel, color=color, lw=OTHERS),
                moving_line(panel, color=color, lw=SELECTED),
                moving_line(panel, "o", ms=7, color=color, mec="white", ls="none"),
                label(panel, fontsize=LABEL, color=deep, weight="bold"),
            )
            for panel, color, deep in (
                (self.loss, BLUE, BLUE_TEXT),
                (self.gradient, ORANGE, ORANGE_TEXT),
            )
        ]
        self._here = moving_line(
            self.strip, "o", ms=10, color=BLACK, mec="white", ls="none", clip_on=False
        )
        self._here.set_in_layout(False)  # at the last rate it reaches over the edge
        self._rate = label(self.strip, weight="bold", y=1.35)

    def draw(self, run: Descended) -> None:
        """Set the moving artists."""
        w, loss, k, rate = run.weights, run.loss, run.step, f"rate {number(run.rate)}"
        self._chords.set_data(w[: k + 1], loss[: k + 1])
        self._last.set_data(w[max(k - 1, 0) : k + 1], loss[max(k - 1, 0) : k + 1])
        self._been.set_data(w[:k], loss[:k])
        self._ball.set_data(w[k : k + 1], loss[k : k + 1])
        # The first step leaves to the right, downward or upward: the word is on the other side of
        # it.
        self._start.set_position((w[0] + 0.25, loss[0] + (0.7 if loss[1] <= loss[0] else -0.7)))
        self._draw_next(run)
        for (future, done, dot, words), values in zip(
            self._curves, (loss, np.abs(run.gradient)), strict=True
        ):
            self._draw_curve(future, done, dot, words, values[: self._steps + 1], k)
        self._slow.set_text(
            slow if (slow := f"rate {number(self._given.reference_rate)}") != rate else ""
        )
        self._here.set_data([run.rate], [0.19])
        for words, (_, low, high) in zip(self._zones, self._given.zones, strict=True):
            there = low <= run.rate <= high
            words.set(weight="bold" if there else "normal", color=BLACK if there else QUIET)
        first, last = self.strip.get_xlim()
        half = self._half_width * (last - first)  # of the words, which must not leave the strip
        self._rate.set(x=np.clip(run.rate, first + half, last - half), text=rate)

    def _draw_next(self, run: Descended) -> None:
        """The arrow from the ball, as long as the step, and where it lands."""
        w, loss, k = run.weights, run.loss, run.step
        there, height = float(w[k + 1]), float(loss[k])
        if abs(there - w[k]) < _SHORT:
            height += _ABOVE  # on the ball it would be a spot of orange
        sign = float(np.sign(there - w[k]))
        tip = min(abs(there - w[k]), 0.35) * sign
        self._next.set_data([w[k], there - tip], [height] * 2)
        self._head.set_path(
            Outline([(there, height), (there - tip, height + 0.28), (there - tip, height - 0.28)])
        )
        self._ghost.set_data([there], [loss[k + 1]])
        self._drop.set_data([there] * 2, [height, loss[k + 1]])
        far, slope = number(abs(float(there - w[k])), 2), number(abs(float(run.gradient[k])))
        told = ("next step", "= rate × gradient", f"= {number(run.rate)} × {slope} = {far}")
        away = (
            "above the picture:",
            f"weight {signed(number(float(w[k])))}, loss {number(float(loss[k]))}",
        )
        gone = not loss[k] <= TOP
        for words, texts, shown in ((self._words, told, not gone), (self._gone, away, gone)):
            for one, text in zip(words, texts, strict=True):
                one.set_text(text if shown else "")

    def _draw_curve(
        self, future: Any, done: Any, dot: Any, words: Any, values: np.ndarray, k: int
    ) -> None:
        steps, top = np.arange(len(values)), max(future.axes.get_ylim())
        future.set_data(steps, values)
        done.set_data(steps[: k + 1], values[: k + 1])
        dot.set_data([k], [values[k]])
        right = k > 0.6 * self._steps
        value, beyond = float(values[k]), not values[k] <= top
        left = k + 0.35
        if beyond:  # beside the place where the line leaves the panel
            first = int(np.argmax(~(values <= top)))
            leaves = (
                np.interp(top, values[first - 1 : first + 1], [first - 1, first]) if first else 0
            )
            left, right = float(leaves) + 0.35, False
        words.set(
            x=left, y=0.9 * top if beyond else min(value + 0.09 * top, 0.9 * top),
            text=f"{number(value, 2)}{' ↑' * beyond}", ha="right" if right else "left",
        )  # fmt: skip

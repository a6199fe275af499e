"""A guess drawn by the reader, and beside it what is really so."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from .._base.numbers import number
from ..live.drawing.labels import EndLabels
from ..live.drawing.shapes import segments
from ..live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    tidy,
)

_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "your guess": ("--", {"color": ORANGE, "lw": 1.8, "zorder": 4}),
    "result": ("-", {"color": BLUE, "lw": 2.4, "zorder": 3}),
    "first guess": (":", {"color": OTHER, "lw": 1.6, "zorder": 2.5}),
}


class Quantity(NamedTuple):
    """The description of an axis: a name, a unit ("" for none), its ends, "linear" or "log", and ticks if chosen."""

    name: str
    unit: str
    low: float
    high: float
    scale: str = "linear"
    ticks: Sequence[float] = ()

    @property
    def label(self) -> str:
        """The name, and its unit unless the name says it."""
        return self.name if self.unit in self.name else f"{self.name} ({self.unit})"

    def of(self, value: float) -> str:
        """A value with its unit, rounded to three digits."""
        return (
            f"{number(value)}{self.unit}"
            if self.unit == "%"
            else f"{number(value)} {self.unit}".strip()
        )

    @property
    def middle(self) -> float:
        """The middle of the axis."""
        return (self.low * self.high) ** 0.5 if self.scale == "log" else (self.low + self.high) / 2


class Guess(NamedTuple):
    """A guess and, once it is revealed, the result.

    Attributes:
        x: (k,) where a curve is guessed; empty for a number.
        guess: (k,) or (1,), as it is now.
        first: the guess that was made before the result was seen.
        result: the truth at x, or the number.
        curve: (m, 2) x and truth, finely.
    """

    x: np.ndarray
    guess: np.ndarray
    first: np.ndarray | None = None
    result: np.ndarray | None = None
    curve: np.ndarray | None = None

    @property
    def moved(self) -> bool:
        """Tell whether the guess has been changed."""
        return self.first is not None and not np.array_equal(self.first, self.guess)


class _View:
    """The question over axes that are still empty."""

    height: ClassVar[float]

    def __init__(self, question: str, x: str, y: str) -> None:
        self.figure = new_figure(WIDE, self.height)
        self.axes = tidy(self.figure.add_subplot(), "", x, y)
        self._question = question

    def arrange(self, narrow: bool) -> None:
        """Fit the page."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, self.height)
        self.axes.set_title(
            textwrap.fill(self._question, 44 if narrow else 110),
            loc="left",
            fontsize=LABEL,
            color=BLACK,
        )


class CurveView(_View):
    """A curve sketched through handles (dashed), the result (solid) and the first guess (dotted)."""

    height = 3.6

    def __init__(self, question: str, x: Quantity, y: Quantity) -> None:
        super().__init__(question, x.label, y.label)
        for direction, quantity in (("x", x), ("y", y)):
            _scale(self.axes, direction, quantity, room=0.03)
        self._gaps = moving_line(self.axes, lw=0.8, color=OTHER)
        lines = [moving_line(self.axes, style, **looks) for style, looks in _LOOKS.values()]
        self._guess, self._result, self._first = lines
        self._guess.set(marker="o", markersize=8, mec="white")
        self._names = EndLabels(self.axes, len(_LOOKS))
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page, with room for the names of the curves."""
        super().arrange(narrow)
        grid = GridSpec(1, 2, self.figure, width_ratios=(1, 0.42 if narrow else 0.16))
        self.axes.set_subplotspec(grid[0])

    def draw(self, shown: Guess) -> None:
        """Set the moving artists."""
        self._guess.set_data(shown.x, shown.guess)
        self._name(shown)
        if shown.first is None or shown.result is None or shown.curve is None:
            return
        self._first.set_data(shown.x, shown.first)
        self._first.set_visible(shown.moved)
        self._result.set_data(*shown.curve.T)
        self._gaps.set_data(*segments(shown.x, shown.first, shown.x, shown.result))

    def _name(self, shown: Guess) -> None:
        known = shown.curve is not None
        ends = [shown.guess[-1], shown.curve[-1, 1] if shown.curve is not None else np.nan]
        ends.append(shown.first[-1] if shown.first is not None and shown.moved else np.nan)
        colors, weights = (
            (ORANGE_TEXT, BLUE_TEXT, QUIET),
            ["normal", "bold" if known else "normal", "normal"],
        )
        self._names.draw(shown.x[-1], ends, [*_LOOKS], color=colors, weight=weights)


class NumberView(_View):
    """A number as a line to drag (dashed), the result (solid) and the first guess (dotted), each with its value."""

    height = 2.4

    def __init__(self, question: str, y: Quantity) -> None:
        super().__init__(question, y.label, "")
        _scale(self.axes, "x", y)
        self.axes.set(ylim=(0, 1), yticks=[])
        self.axes.spines["left"].set_visible(False)
        self._number = y
        self._gap = moving_line(self.axes, lw=0.8, color=OTHER)
        self._lines = [moving_line(self.axes, style, **looks) for style, looks in _LOOKS.values()]
        paper = {"fc": "white", "ec": "none", "pad": 1.5}
        text: dict[str, Any] = {
            "color": BLACK,
            "fontsize": LABEL,
            "va": "center",
            "bbox": paper,
            "zorder": 5,
        }
        self._texts = [
            self.axes.annotate(
                "", (y.middle, at), (0, 0), textcoords="offset points", animated=True, **text
            )
            for at in (0.85, 0.4, 0.15)
        ]
        self.arrange(narrow=False)

    def draw(self, shown: Guess) -> None:
        """Set the moving artists."""
        numbers = (shown.guess, shown.result, shown.first if shown.moved else None)
        for line, text, name, value in zip(self._lines, self._texts, _LOOKS, numbers, strict=True):
            text.set_visible(value is not None)
            line.set_visible(value is not None)
            if value is not None:
                line.set_data([value[0]] * 2, [0, 1])
                left = value[0] <= self._number.middle
                text.set(
                    text=f"{name}: {self._number.of(value[0])}", ha="left" if left else "right"
                )
                text.xy, text.xyann = (value[0], text.xy[1]), (7 if left else -7, 0)
        if shown.first is not None and shown.result is not None:
            self._gap.set_data([shown.first[0], shown.result[0]], [0.6, 0.6])


def _scale(axes: Any, direction: str, quantity: Quantity, room: float = 0.0) -> None:
    """The range of a quantity, with some room at its ends and plain numbers at few ticks."""
    axis = axes.xaxis if direction == "x" else axes.yaxis
    low, high = quantity.low, quantity.high
    if quantity.scale == "log":
        more = (high / low) ** room
        ends = low / more, high * more
    else:
        more = (high - low) * room
        ends = low - more, high + more
    axes.set(**{f"{direction}scale": quantity.scale, f"{direction}lim": ends})
    if quantity.scale == "log":
        log_ticks(axis)
    if quantity.ticks:
        axis.set_major_locator(_Chosen(quantity.ticks))


class _Chosen(MaxNLocator):
    """The chosen ticks as long as two of them show, and any round numbers closer by."""

    def __init__(self, ticks: Sequence[float]) -> None:
        super().__init__(4)
        self._chosen = ticks

    def tick_values(self, vmin: float, vmax: float) -> Any:
        shown = [tick for tick in self._chosen if vmin <= tick <= vmax]
        return shown if len(shown) > 1 else super().tick_values(vmin, vmax)

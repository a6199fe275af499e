"""Predict, then look: a guess is drawn on the plot first, and the result joins it when the reader asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from .._base.numbers import number
from ..labs import Lab
from ..live import Button, Description, Drag, Slider
from ..live.controls import Control
from .prediction_picture import CurveView, Guess, NumberView, Quantity

_FINE = 201  # points of a result that is a curve


class Prediction(Lab):
    """Something to guess before it is computed: a curve through handles, or one number.

    A prediction is written by giving the attributes below, `truth` and `said`. The result is not
    computed, so it is nowhere in the page, before *Reveal* is pressed; the guess that stood then is
    kept.

    Attributes:
        name: what `predict` calls it, "clipping.share". label: "Share of clipped steps".
        question: ends in "?".
        discuss: what to talk about afterwards.
        y: what is guessed.
        step: how finely.
        x, at: for a curve, the other axis and the places of the handles.

    Args:
        **guess: where the handles start, `guess_1` and so on.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    discuss: ClassVar[str]
    y: ClassVar[Quantity]
    step: ClassVar[float | None] = None
    x: ClassVar[Quantity | None] = None
    at: ClassVar[Sequence[float]] = ()

    def __init__(self, **guess: Any) -> None:
        self._revealed: tuple[np.ndarray, ...] = ()  # first guess, result, curve
        super().__init__(**guess)

    # What a prediction gives

    def truth(self, x: np.ndarray) -> Any:
        """The result, from the library: at every x, or one number (x is empty then)."""
        raise NotImplementedError(f"{type(self).__name__} must define truth(x)")

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        """One sentence on what the result tells, and what the guess overlooked."""
        raise NotImplementedError(f"{type(self).__name__} must define said(guess, truth)")

    # What a prediction does

    def make_controls(self) -> list[Control]:
        return [*self._handles(), Button("reveal", "Reveal", self.reveal)]

    def compute(self, values: dict[str, Any]) -> Guess:
        return Guess(
            np.asarray(self.at, float), np.array(list(values.values()), float), *self._revealed
        )

    def make_view(self) -> CurveView | NumberView:
        return (
            CurveView(self.question, self.x, self.y)
            if self.x
            else NumberView(self.question, self.y)
        )

    def drags(self, view: CurveView | NumberView) -> list[Drag]:
        if not self.x:
            return [Drag(view.axes, x="guess_1", label="drag your guess")]
        return [Drag(view.axes, y=f"guess_{k}", at=x) for k, x in enumerate(self.at, start=1)]

    def reveal(self) -> None:
        """Compute the result and show it beside the guess that stands now; a guess that nobody made is asked for."""
        if not self._revealed:
            x, guess, *_ = self.compute(self.params)
            if np.array_equal(guess, [handle.value for handle in self._handles()]):
                self.live.say(
                    "A prediction is worth something only if it is made "
                    "before: move your guess first."
                )
                return
            self._revealed = guess, np.atleast_1d(self.truth(x)).astype(float), self._curve()
        self.live.refresh()

    def solved(self) -> tuple[list[str], str]:
        """The result at every handle, and what is said of that guess; for teachers."""
        truth = np.atleast_1d(self.truth(np.asarray(self.at, float))).astype(float)
        at = [f" at {place}" for place in self._places()] or [""]
        return [f"{self.y.of(y)}{place}" for y, place in zip(truth, at, strict=True)], self.said(
            truth, truth
        )

    def describe(self, trace: Guess) -> Description:
        if trace.first is None or trace.result is None:
            how = "Draw your guess in the picture" if self.x else "Drag the line to your guess"
            alt = (
                f"{self.question} Your guess is {self._course(trace.guess)}; "
                "the result is not shown yet."
            )
            return Description(alt, f"{how}, then press Reveal.", self._table(guess=trace.guess))
        columns, apart = (
            {"guess": trace.first, "result": trace.result},
            self._apart(trace.first, trace.result),
        )
        now = ""
        if trace.moved:
            columns["moved to"], now = (
                trace.guess,
                f" Now it is {self._apart(trace.guess, trace.result)}.",
            )
        return Description(
            f"{self.question} Your guess was {self._course(trace.first)}. The result is "
            f"{self._course(trace.result)}.",
            f"Your guess is {apart}. {self.said(trace.first, trace.result)}{now}",
            self._table(**columns),
        )

    def code(self) -> str:
        """The current guess as one line of Python."""
        start = {handle.name: handle.value for handle in self._handles()}
        moved = [
            f", {name}={value!r}" for name, value in self.params.items() if value != start[name]
        ]
        return f"gl.exercises.predict({self.name!r}{''.join(moved)})"

    # Handles and words

    def _handles(self) -> list[Slider]:
        y, scale = self.y, "linear" if self.step else self.y.scale
        one = Slider(
            "guess_1", "Guess", y.low, y.high, y.low, scale, self.step, y.unit, hidden=True
        )
        one = replace(one, value=one.at(one.position(y.middle)))
        several = enumerate(self._places(), start=1)
        return [
            replace(one, name=f"guess_{k}", label=f"Guess at {place}") for k, place in several
        ] or [one]

    def _places(self) -> list[str]:
        return [f"{self.x.name} {self.x.of(x)}" for x in self.at] if self.x else []

    def _table(self, **columns: np.ndarray) -> tuple[tuple[str, str], ...]:
        said = [[f"{name} {self.y.of(y)}" for y in column] for name, column in columns.items()]
        return tuple(
            zip(
                self._places() or [self.y.name],
                map(", ".join, zip(*said, strict=True)),
                strict=True,
            )
        )

    def _curve(self) -> np.ndarray:
        """The result at many x, those of the handles among them."""
        if not self.x:
            return np.empty((0, 2))
        spaced = np.geomspace if self.x.scale == "log" else np.linspace
        x = np.union1d(spaced(self.x.low, self.x.high, _FINE), self.at)
        return np.stack([x, self.truth(x)], axis=1)

    def _course(self, y: np.ndarray) -> str:
        """A number; or where a curve begins, has its top and ends."""
        if not self.x:
            return self.y.of(y[0])
        ends_and_top = sorted({0, int(y.argmax()), len(y) - 1})
        return ", ".join(f"{self.y.of(y[k])} at {self._places()[k]}" for k in ends_and_top)

    def _apart(self, guess: np.ndarray, result: np.ndarray) -> str:
        """The distance of a guess from the result, in the unit of the axis."""
        unit = " percentage points" if self.y.unit == "%" else f" {self.y.unit}".rstrip()
        gaps = np.abs(guess - result)
        most = int(gaps.argmax())
        if self.y.unit == "times":  # a ratio is off by a ratio
            (off,) = guess / result
            return (
                f"{number(max(off, 1 / off))} times too {'large' if off > 1 else 'small'}"
                if off != 1
                else "right"
            )
        if not self.x:
            return f"{number(gaps[0])}{unit} off"
        return (
            f"on average {number(gaps.mean())}{unit} off, most at {self._places()[most]} "
            f"({number(gaps[most])})"
        )

"""What a reader can move: plain, frozen descriptions of controls and of the state they lead to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SCALES = ("linear", "log", "integer")
STEPS_PER_DECADE = 50.0


@dataclass(frozen=True)
class Slider:
    """A number between two ends.

    Args:
        name: the key under which `LiveFigure.values` holds it.
        label: what the reader sees.
        minimum, maximum: the ends, in data units; both can be reached.
        value: where it starts.
        scale: "linear", "log" (equal factors are equal distances) or "integer".
        step: data units for linear and integer scales, steps per decade for log scales.
        unit: shown and read out after the number.

    Raises:
        ValueError: the ends are in the wrong order, a log scale reaches zero, or `value` lies outside.

    >>> limit = Slider("limit", "Limit", 0.01, 1000.0, 1.0, scale="log")
    >>> limit.check(20)
    20.0
    >>> limit.check(-1)
    Traceback (most recent call last):
    ...
    ValueError: limit must be from 0.01 to 1000, got -1
    """

    name: str
    label: str
    minimum: float
    maximum: float
    value: float
    scale: str = "linear"
    step: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ValueError(f"{self.name}: scale must be one of {', '.join(SCALES)}, got {self.scale!r}")
        if not (math.isfinite(self.minimum) and math.isfinite(self.maximum) and self.minimum < self.maximum):
            raise ValueError(f"{self.name}: minimum must be below maximum, got {self.minimum:g} and {self.maximum:g}")
        if self.scale == "log" and self.minimum <= 0:
            raise ValueError(f"{self.name}: a log scale needs a minimum > 0, got {self.minimum:g}")
        if self.step is not None and not 0 < self.step < math.inf:
            raise ValueError(f"{self.name}: step must be > 0, got {self.step:g}")
        self.check(self.value)

    def check(self, value: Any) -> float | int:
        """Give `value` as the number this slider would hold.

        Raises:
            TypeError: `value` is not a number.
            ValueError: it is not a number from minimum to maximum (or not whole, for an integer scale).
        """
        if isinstance(value, bool | str) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
            raise TypeError(f"{self.name} must be a number, got {value!r}")
        number = float(value)
        if not self.minimum <= number <= self.maximum:  # also refuses NaN
            raise ValueError(f"{self.name} must be from {self.minimum:g} to {self.maximum:g}, got {number:g}")
        if self.scale != "integer":
            return number
        if not number.is_integer():
            raise ValueError(f"{self.name} must be a whole number, got {number:g}")
        return int(number)

    def clamp(self, value: Any) -> float | int:
        """Give the nearest value that `check` accepts.

        Raises:
            TypeError, ValueError: there is none (NaN, not a number).
        """
        if isinstance(value, int | float) and not math.isnan(value):
            value = min(max(value, self.minimum), self.maximum)
            value = round(value) if self.scale == "integer" else value
        return self.check(value)

    def positions(self) -> dict[str, Any]:
        """Describe the slider for the browser: ends, scale, number of positions and digits to show."""
        step = self.step or self._default_step()
        if self.scale == "log":
            count = round(math.log10(self.maximum / self.minimum) * step)
            # Neighbouring positions differ by a factor of 10 ** (1 / step): show enough digits to tell them apart.
            digits = 2 + max(1, math.ceil(math.log10(step / 2.3)) - 1)
        else:
            count = math.ceil((self.maximum - self.minimum) / step - 1e-9)
            digits = max(_decimals(step), _decimals(self.minimum))
        return {
            "kind": "slider", "name": self.name, "label": self.label, "unit": self.unit, "scale": self.scale,
            "minimum": self.minimum, "maximum": self.maximum, "step": step, "count": max(1, count), "digits": digits,
        }  # fmt: skip

    def _default_step(self) -> float:
        if self.scale == "log":
            return STEPS_PER_DECADE
        if self.scale == "integer":
            return 1.0
        return 10.0 ** math.floor(math.log10((self.maximum - self.minimum) / 100))


@dataclass(frozen=True)
class Menu:
    """One of a few named choices.

    Args:
        name: the key under which `LiveFigure.values` holds it.
        label: what the reader sees.
        options: (value, label) pairs, or plain strings that are both.
        value: where it starts.

    Raises:
        ValueError: there are no options, or `value` is not one of them.

    >>> Menu("rule", "Rule", ("adagrad", ("sgd", "plain SGD")), "sgd").options
    (('adagrad', 'adagrad'), ('sgd', 'plain SGD'))
    """

    name: str
    label: str
    options: Sequence[Any]
    value: Any

    def __post_init__(self) -> None:
        pairs = tuple((o, o) if isinstance(o, str) else (o[0], str(o[1])) for o in self.options)
        if not pairs:
            raise ValueError(f"{self.name}: a menu needs at least one option")
        object.__setattr__(self, "options", pairs)
        self.check(self.value)

    def check(self, value: Any) -> Any:
        """Give the option equal to `value`; ValueError names the allowed ones."""
        for option, _ in self.options:
            if type(option) is type(value) and option == value:
                return option
        allowed = ", ".join(repr(option) for option, _ in self.options)
        raise ValueError(f"{self.name} must be one of {allowed}, got {value!r}")

    def index(self, value: Any) -> int:
        """Give the place of `value` among the options."""
        return [option for option, _ in self.options].index(self.check(value))


@dataclass(frozen=True)
class Button:
    """Something to press; `press` runs in Python, in a thread of its own, and may take seconds.

    >>> Button("train", "Train 100 steps", lambda: None).label
    'Train 100 steps'
    """

    name: str
    label: str
    press: Callable[[], None]


@dataclass(frozen=True)
class Drag:
    """A part of the picture that moves sliders: the data coordinates under the pointer become their values.

    Args:
        axes: the matplotlib Axes in which the pointer may be dragged; linear or log in the directions used.
        x, y: names of the sliders set by the horizontal and the vertical position.
        label: shown when the pointer rests there. Keys work on the sliders themselves.

    >>> from matplotlib.figure import Figure
    >>> Drag(Figure().add_subplot(), x="limit").y is None
    True
    """

    axes: Any
    x: str | None = None
    y: str | None = None
    label: str = ""

    def __post_init__(self) -> None:
        if self.x is None and self.y is None:
            raise ValueError("a Drag needs the name of a slider: x=, y= or both")


@dataclass(frozen=True)
class Description:
    """The current state in words, for readers who do not see the picture and for those who do.

    Args:
        alt: one sentence that states the key number.
        summary: the short visible read-out.
        table: rows of (name, value).

    >>> Description("The norm is 2.", "norm 2", (("norm", "2"),)).summary
    'norm 2'
    """

    alt: str
    summary: str
    table: tuple[tuple[str, str], ...] = ()


def _decimals(number: float) -> int:
    """Count the decimals that `number` needs, at most 9."""
    text = f"{number:.9f}".rstrip("0")
    return len(text.split(".")[1])

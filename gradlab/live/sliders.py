"""Numbers a reader can move: one handle, or two."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

SCALES = ("linear", "log", "integer")
STEPS_PER_DECADE = 50.0


@dataclass(frozen=True)
class Slider:
    """A number between two ends.

    Args:
        name: the key under which `LiveFigure.values` holds it, and the trait that mirrors it.
        label: what the reader sees.
        minimum, maximum: the ends, in data units; both can be reached.
        value: where it starts.
        scale: "linear", "log" (equal factors are equal distances) or "integer".
        step: data units for linear and integer scales, steps per decade for log scales.
        unit: shown and read out after the number.
        play: whether it can be played like a film.
        hidden: whether it is left out of the row of controls, because a handle in the picture moves
            it.
        folded: whether it stands under "More", with what a first look does not need.

    Raises:
        ValueError: the ends are in the wrong order, a log scale reaches zero, or `value` lies
            outside.

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
    play: bool = False
    hidden: bool = False
    folded: bool = False

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ValueError(
                f"{self.name}: scale must be one of {', '.join(SCALES)}, got {self.scale!r}"
            )
        if not (
            math.isfinite(self.minimum)
            and math.isfinite(self.maximum)
            and self.minimum < self.maximum
        ):
            raise ValueError(
                f"{self.name}: minimum must be below maximum, got {self.minimum:g} and "
                f"{self.maximum:g}"
            )
        if self.scale == "log" and self.minimum <= 0:
            raise ValueError(f"{self.name}: a log scale needs a minimum > 0, got {self.minimum:g}")
        if self.step is not None and not 0 < self.step < math.inf:
            raise ValueError(f"{self.name}: step must be > 0, got {self.step:g}")
        self.check(self.value)

    def check(self, value: Any) -> float | int:
        """Give `value` as the number this slider would hold.

        Raises:
            TypeError: `value` is not a number.
            ValueError: it is not a number from minimum to maximum (or not whole, for an integer
                scale).
        """
        if isinstance(value, bool | str) or not (
            hasattr(value, "__float__") or hasattr(value, "__index__")
        ):
            raise TypeError(f"{self.name} must be a number, got {value!r}")
        number = float(value)
        if not self.minimum <= number <= self.maximum:  # also refuses NaN
            raise ValueError(
                f"{self.name} must be from {self.minimum:g} to {self.maximum:g}, got {number:g}"
            )
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

    def read(self, text: str) -> float | int:
        """Give the value that `text`, from a link or a command line, stands for."""
        return self.check(_number(text, self.name))

    def write(self, value: Any) -> str:
        """Write a value for a link."""
        return repr(value).removesuffix(".0")

    # Positions: the places at which the browser's handle can stand

    @property
    def count(self) -> int:
        """The last position; the first is 0."""
        if self.scale == "log":
            return max(1, round(math.log10(self.maximum / self.minimum) * self._step))
        return max(1, math.ceil((self.maximum - self.minimum) / self._step - 1e-9))

    @property
    def digits(self) -> int:
        """Digits to show: significant ones on a log scale, decimals otherwise."""
        if self.scale == "log":
            # Neighboring positions differ by a factor of 10 ** (1 / step): show enough digits to
            # tell them apart.
            return 2 + max(1, math.ceil(math.log10(self._step / 2.3)) - 1)
        return max(_decimals(self._step), _decimals(self.minimum))

    def at(self, position: int) -> float | int:
        """Give the value at a position."""
        if position <= 0:
            return self.check(self.minimum)
        if position >= self.count:
            return self.check(self.maximum)
        if self.scale == "log":
            return self.shown(
                self.minimum * (self.maximum / self.minimum) ** (position / self.count)
            )
        return self.shown(self.minimum + self._step * position)

    def values(self) -> list[float | int]:
        """Give the value at every position."""
        return [self.at(position) for position in range(self.count + 1)]

    def shown(self, value: float) -> float | int:
        """Give a value with the digits that are shown, between the ends; it may be between two positions.

        >>> slider = Slider("limit", "Limit", 1.0, 1000.0, 20.0, scale="log", step=40)
        >>> slider.shown(72.4631), slider.at(slider.position(72.4631)), slider.shown(2000.0)
        (72.5, 70.8, 1000.0)
        """
        return self.clamp(
            float(f"{value:.{self.digits}g}") if self.scale == "log" else round(value, self.digits)
        )

    def position(self, value: float) -> int:
        """Give the position nearest to a value."""
        if value >= self.maximum:  # the last step may be a shorter one
            return self.count
        if self.scale == "log":
            part = (
                self.count * math.log(value / self.minimum) / math.log(self.maximum / self.minimum)
            )
        else:
            part = (value - self.minimum) / self._step
        return min(max(math.floor(part + 0.5), 0), self.count)

    def key(self, value: float) -> str:
        """Name the position of a value; one between two is named by its bits, which Python and browsers write alike.

        >>> Slider("a", "A", 0.0, 1.0, 0.5, step=0.1).key(0.3), Slider("a", "A", 0.0, 1.0, 0.5, step=0.1).key(0.25)
        ('3', '=3fd0000000000000')
        """
        position = self.position(value)
        return str(position) if self.at(position) == value else self.between(value)

    def between(self, value: float) -> str:
        """Name a value that is at no position, by its bits."""
        return "=" + struct.pack(">d", value).hex()

    def spec(self) -> dict[str, Any]:
        """Describe the slider for the browser."""
        return {
            "kind": "slider",
            "name": self.name,
            "label": self.label,
            "unit": self.unit,
            "scale": self.scale,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "step": self._step,
            "count": self.count,
            "digits": self.digits,
            "play": self.play,
            "hidden": self.hidden,
            "folded": self.folded,
        }

    @property
    def _step(self) -> float:
        if self.step is not None:
            return self.step
        if self.scale == "log":
            return STEPS_PER_DECADE
        if self.scale == "integer":
            return 1.0
        return 10.0 ** math.floor(math.log10((self.maximum - self.minimum) / 100))


@dataclass(frozen=True)
class Range:
    """Two numbers between two ends, the first not above the second; for the arguments see `Slider`.

    Raises:
        ValueError: as for a slider, or the two numbers are in the wrong order.

    >>> Range("steps", "Steps", 0, 300, (10, 50), scale="integer").check([20, 10])
    Traceback (most recent call last):
    ...
    ValueError: steps must be two numbers, the smaller one first, got [20, 10]
    """

    name: str
    label: str
    minimum: float
    maximum: float
    value: tuple[float, float]
    scale: str = "linear"
    step: float | None = None
    unit: str = ""
    folded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", self.check(self.value))

    @property
    def end(self) -> Slider:
        """One of the two numbers, as a slider."""
        return Slider(
            self.name,
            self.label,
            self.minimum,
            self.maximum,
            self.minimum,
            self.scale,
            self.step,
            self.unit,
        )

    def check(self, value: Any) -> tuple[float, float]:
        """Give `value` as two numbers in order; TypeError or ValueError as for a slider."""
        low, high = self._pair(value)
        low, high = self.end.check(low), self.end.check(high)
        if low > high:
            raise ValueError(
                f"{self.name} must be two numbers, the smaller one first, got {value!r}"
            )
        return low, high

    def clamp(self, value: Any) -> tuple[float, float]:
        """Give the nearest value that `check` accepts."""
        low, high = (self.end.clamp(v) for v in self._pair(value))
        return self.check((low, max(low, high)))

    def read(self, text: str) -> tuple[float, float]:
        """Give the value that `text` stands for: two numbers with ~ between them."""
        return self.check([_number(part, self.name) for part in text.split("~")])

    def write(self, value: Any) -> str:
        """Write a value for a link."""
        return "~".join(self.end.write(v) for v in value)

    def key(self, value: Any) -> str:
        """Name the two positions."""
        return "-".join(self.end.key(v) for v in value)

    def spec(self) -> dict[str, Any]:
        """Describe the range for the browser."""
        return self.end.spec() | {"kind": "range", "folded": self.folded}

    def _pair(self, value: Any) -> tuple[Any, Any]:
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
            raise TypeError(f"{self.name} must be two numbers, got {value!r}")
        return value[0], value[1]


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, got {text!r}") from None


def _decimals(number: float) -> int:
    """Count the decimals that `number` needs, at most 9."""
    text = f"{number:.9f}".rstrip("0")
    return len(text.split(".")[1])

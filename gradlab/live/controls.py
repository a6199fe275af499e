"""Controls that a reader can choose, switch, press, and drag: plain, frozen descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .sliders import Range, Slider

PLAIN = (str, int, float, bool, type(None))
MOST_NAMED = 40  # options of a menu that a message spells out


@dataclass(frozen=True)
class Menu:
    """One of a few named choices.

    Args:
        name: the key under which `LiveFigure.values` holds it, and the trait that mirrors it.
        label: what the reader sees.
        options: (value, label) pairs, or plain strings that are both; values are strings, numbers,
            booleans or None.
        value: where it starts.
        folded: as of a slider.

    Raises:
        ValueError: there are no options, or `value` is not one of them.
        TypeError: an option that cannot be written into a message.

    >>> Menu("rule", "Rule", ("adagrad", ("sgd", "plain SGD")), "sgd").options
    (('adagrad', 'adagrad'), ('sgd', 'plain SGD'))
    """

    name: str
    label: str
    options: Sequence[Any]
    value: Any
    folded: bool = False

    def __post_init__(self) -> None:
        pairs = tuple((o, o) if isinstance(o, str) else (o[0], str(o[1])) for o in self.options)
        if not pairs:
            raise ValueError(f"{self.name}: a menu needs at least one option")
        for option, _ in pairs:
            if not isinstance(option, PLAIN):
                raise TypeError(
                    f"{self.name}: an option is a string, number, boolean or None, got {option!r}"
                )
        object.__setattr__(self, "options", pairs)
        self.check(self.value)

    def check(self, value: Any) -> Any:
        """Give the option equal to `value`; ValueError names the allowed ones."""
        return self.values()[self.position(value)]

    clamp = check

    def read(self, text: str) -> Any:
        """Give the option that is written or labeled so."""
        for option, label in self.options:
            if text in (str(option), label):
                return option
        return self.check(text)

    def write(self, value: Any) -> str:
        """Write a value for a link: a text itself, anything else by its label."""
        return value if isinstance(value, str) else self.options[self.position(value)][1]

    def values(self) -> list[Any]:
        """Give all options."""
        return [option for option, _ in self.options]

    def key(self, value: Any) -> str:
        """Name the place of `value` among the options."""
        return str(self.position(value))

    def position(self, value: Any) -> int:
        """Give the place of `value` among the options."""
        for place, option in enumerate(self.values()):
            # 2 and 2.0 are one number in a browser; True and 1 are not one choice
            if isinstance(option, bool) is isinstance(value, bool) and option == value:
                return place
        raise ValueError(f"{self.name} must be one of {self.listed(repr)}, got {value!r}")

    def listed(self, write: Callable[[Any], str] = str) -> str:
        """Give the options in a row; of very many the first ones, and how many more there are."""
        values = self.values()
        more = [f"{len(values) - MOST_NAMED} more"] if len(values) > MOST_NAMED else []
        return ", ".join([*map(write, values[:MOST_NAMED]), *more])

    def spec(self) -> dict[str, Any]:
        """Describe the menu for the browser."""
        return {
            "kind": "menu",
            "name": self.name,
            "label": self.label,
            "options": [list(o) for o in self.options],
            "folded": self.folded,
        }


@dataclass(frozen=True)
class Toggle:
    """Something that is on or off; `folded` as of a slider.

    >>> Toggle("nesterov", "Look ahead", False).check(1)
    Traceback (most recent call last):
    ...
    TypeError: nesterov must be True or False, got 1
    """

    name: str
    label: str
    value: bool
    folded: bool = False

    def __post_init__(self) -> None:
        self.check(self.value)

    def check(self, value: Any) -> bool:
        """Give `value`; TypeError if it is not a boolean."""
        if not isinstance(value, bool):
            raise TypeError(f"{self.name} must be True or False, got {value!r}")
        return value

    clamp = check

    def read(self, text: str) -> bool:
        """Give the value that `text` stands for; ValueError lists what is understood."""
        known = {"1": True, "0": False, "true": True, "false": False}
        if text.lower() not in known:
            raise ValueError(f"{self.name} must be 1, 0, true or false, got {text!r}")
        return known[text.lower()]

    def write(self, value: bool) -> str:
        """Write a value for a link."""
        return str(int(value))

    def values(self) -> list[bool]:
        """Give both values."""
        return [False, True]

    def key(self, value: bool) -> str:
        """Name the position."""
        return str(int(value))

    def position(self, value: bool) -> int:
        """Give the place of `value`."""
        return int(value)

    def spec(self) -> dict[str, Any]:
        """Describe the toggle for the browser."""
        return {"kind": "toggle", "name": self.name, "label": self.label, "folded": self.folded}


@dataclass(frozen=True)
class Button:
    """Something to press; `press` runs in Python, in a thread of its own, for seconds if need be; `folded` as above.

    >>> Button("train", "Train 100 steps", lambda: None).label
    'Train 100 steps'
    """

    name: str
    label: str
    press: Callable[[], None]
    folded: bool = False

    def spec(self) -> dict[str, Any]:
        """Describe the button for the browser."""
        return {"kind": "button", "name": self.name, "label": self.label, "folded": self.folded}


@dataclass(frozen=True)
class Preset:
    """Named settings of some controls, one press away.

    >>> Preset("No limit at all", {"limit": 1000.0}).values
    {'limit': 1000.0}
    """

    label: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Drag:
    """A line or a point to take hold of: the data coordinates under the pointer become the values of sliders.

    Args:
        axes: the matplotlib Axes in which the pointer may be dragged; linear or log in the
            directions used.
        x, y: names of the sliders set by the horizontal and the vertical position; both make a
            point, one a line.
        label: what the handle is called; the sliders' own labels by default.
        at: for one of x and y: the data coordinate in the other direction at which the handle sits,
            in place of a line across the Axes.

    >>> from matplotlib.figure import Figure
    >>> Drag(Figure().add_subplot(), x="limit").y is None
    True
    """

    axes: Any
    x: str | None = None
    y: str | None = None
    label: str = ""
    at: float | None = None

    def __post_init__(self) -> None:
        if self.x is None and self.y is None:
            raise ValueError("a Drag needs the name of a slider: x=, y= or both")
        if self.at is not None and self.x is not None and self.y is not None:
            raise ValueError("a Drag with both x= and y= has no place of its own: leave out at=")


Valued = Slider | Range | Menu | Toggle
Control = Valued | Button


def by_name(controls: Any) -> dict[str, Control]:
    """Name the controls; TypeError for anything else, ValueError for a name used twice."""
    named: dict[str, Control] = {}
    for control in controls:
        if not isinstance(control, Control):
            raise TypeError(
                "controls are Slider, Range, Menu, Toggle or Button objects, got "
                f"{type(control).__name__}"
            )
        if control.name in named:
            raise ValueError(f"two controls are called {control.name!r}: give each its own name")
        named[control.name] = control
    return named


def checked(
    controls: Mapping[str, Control], values: Mapping[str, Any], whose: str = "this figure"
) -> dict[str, Any]:
    """Give `values` as the controls would hold them.

    Raises:
        ValueError, TypeError: an unknown name, or a value its control does not allow; the message
            lists what is.
    """
    valued = {
        name: control for name, control in controls.items() if not isinstance(control, Button)
    }
    for name in values:
        if name not in valued:
            raise ValueError(
                f"{whose} has no control {name!r}; allowed are {', '.join(valued) or 'none'}"
            )
    return {name: valued[name].check(value) for name, value in values.items()}


def check_drags(drags: Iterable[Drag], controls: Mapping[str, Control], figure: Any) -> None:
    """ValueError for a drag that does not fit the figure and its controls."""
    for drag in drags:
        if drag.axes not in figure.axes:
            raise ValueError("the axes of a Drag must belong to the figure")
        for name, axis in ((drag.x, drag.axes.xaxis), (drag.y, drag.axes.yaxis)):
            if name is not None and not isinstance(controls.get(name), Slider):
                sliders = [key for key, control in controls.items() if isinstance(control, Slider)]
                raise ValueError(
                    f"a Drag moves sliders: {name!r} is none of "
                    f"{', '.join(sliders) or '(no sliders)'}"
                )
            if name is not None and axis.get_scale() not in ("linear", "log"):
                raise ValueError(
                    f"a Drag needs a linear or log axis for {name!r}, got {axis.get_scale()!r}"
                )


def key_of(controls: Mapping[str, Control], values: Mapping[str, Any]) -> str:
    """Name a state by the positions of its controls.

    >>> controls = {"limit": Slider("limit", "Limit", 0, 10, 1, step=1), "on": Toggle("on", "On", True)}
    >>> key_of(controls, {"limit": 4.0, "on": True})
    '4,1'
    """
    return ",".join(
        c.key(values[name]) for name, c in controls.items() if not isinstance(c, Button)
    )

"""Parts of a picture that move sliders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .controls import Control, Slider


@dataclass(frozen=True)
class Drag:
    """A line or a point to take hold of: the data coordinates under the pointer become the values of sliders.

    Args:
        axes: the matplotlib Axes in which the pointer may be dragged; linear or log in the directions used.
        x, y: names of the sliders set by the horizontal and the vertical position; both make a point, one a line.
        label: what the handle is called; the sliders' own labels by default.
        at: for one of x and y: the data coordinate in the other direction at which the handle sits, in place of a
            line across the Axes.

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


def check_drags(drags: Iterable[Drag], controls: Mapping[str, Control], figure: Any) -> None:
    """ValueError for a drag that does not fit the figure and its controls."""
    for drag in drags:
        if drag.axes not in figure.axes:
            raise ValueError("the axes of a Drag must belong to the figure")
        for name, axis in ((drag.x, drag.axes.xaxis), (drag.y, drag.axes.yaxis)):
            if name is not None and not isinstance(controls.get(name), Slider):
                sliders = [key for key, control in controls.items() if isinstance(control, Slider)]
                raise ValueError(f"a Drag moves sliders: {name!r} is none of {', '.join(sliders) or '(no sliders)'}")
            if name is not None and axis.get_scale() not in ("linear", "log"):
                raise ValueError(f"a Drag needs a linear or log axis for {name!r}, got {axis.get_scale()!r}")

"""Artists that move, and change only where they are set to something else: what stays as it is isn't drawn again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.text import Text

if TYPE_CHECKING:
    from matplotlib.artist import Artist
else:
    Artist = object  # or its `draw`, which paints nothing, would come before that of a line


class _Sparing(Artist):
    """Setters that pass on only what differs from what the artist has."""

    repeats = True  # for `live.memory`
    _getters: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def set(self, **looks: Any) -> list[Any]:
        """Set several properties; give what their setters gave."""
        return [getattr(self, f"set_{name}")(value) for name, value in looks.items() if self._differs(name, value)]

    def _differs(self, name: str, value: Any) -> bool:
        getter = self._getters.get(name) or getattr(type(self), f"get_{name}", None)
        return name == "data" or getter is None or bool(getter(self) != value)

    def set_visible(self, b: bool) -> None:
        """Show or hide it."""
        if b != self.get_visible():
            super().set_visible(b)


class MovingText(_Sparing, Text):
    """A text."""

    _getters: ClassVar = {"x": lambda text: text.get_position()[0], "y": lambda text: text.get_position()[1]}

    def set_position(self, xy: Any) -> None:
        """Set its place."""
        self.set(x=xy[0], y=xy[1])


class MovingLine(_Sparing, Line2D):
    """A line, or marks."""

    _told: tuple[bytes, bytes] | None = None

    def set_data(self, *args: Any) -> None:
        """Set x and y, as two arguments or as one pair."""
        x, y = args if len(args) > 1 else args[0]
        told = np.asarray(x, float).tobytes(), np.asarray(y, float).tobytes()
        if told != self._told:
            super().set_data(x, y)
            self._told = told

    def set_xdata(self, x: Any) -> None:
        """Set x alone."""
        self._told = None
        super().set_xdata(x)

    def set_ydata(self, y: Any) -> None:
        """Set y alone."""
        self._told = None
        super().set_ydata(y)

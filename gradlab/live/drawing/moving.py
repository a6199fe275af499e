"""Moving artists that count their changes, so that unchanged ones need not be drawn again.

Most artists of a lab stay as they are from one state to the next, but a picture sets all of them
for every state. So the setters here pass on only what differs from what the artist has, and
`changes` counts what was passed on. `live.artist_cache` compares that count with the one at which
it saw the artist drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import matplotlib.artist
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.text import Text

if TYPE_CHECKING:
    from matplotlib.artist import Artist
else:
    # With matplotlib's Artist as a base, its empty `draw` would come before that of a line.
    Artist = object

_set_stale: Any = matplotlib.artist.Artist.stale.fset  # type: ignore[attr-defined]


class Moving(Artist):
    """A moving artist that counts its changes."""

    changes = 0
    _getters: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    @property
    def stale(self) -> bool:
        """Whether the artist has changed since it was drawn last, by any renderer."""
        return bool(super().stale)

    @stale.setter
    def stale(self, value: bool) -> None:
        # matplotlib's setters end with `self.stale = True`, so every change comes by here.
        if value:
            self.changes += 1
        _set_stale(self, value)

    def set(self, **looks: Any) -> list[Any]:
        """Set the properties that differ; return what their setters returned."""
        different = {name: value for name, value in looks.items() if self._differs(name, value)}
        return [getattr(self, f"set_{name}")(value) for name, value in different.items()]

    def _differs(self, name: str, value: Any) -> bool:
        getter = self._getters.get(name) or getattr(type(self), f"get_{name}", None)
        return name == "data" or getter is None or bool(getter(self) != value)

    def set_visible(self, b: bool) -> None:
        """Show or hide it."""
        if b != self.get_visible():
            super().set_visible(b)


class MovingText(Moving, Text):
    """A text."""

    _getters: ClassVar = {
        "x": lambda text: text.get_position()[0],
        "y": lambda text: text.get_position()[1],
    }

    def set_position(self, xy: Any) -> None:
        """Set its place."""
        self.set(x=xy[0], y=xy[1])

    def set_bbox(self, rectprops: Any) -> None:
        """Put it into a box, or out of it."""
        super().set_bbox(rectprops)
        self.stale = True  # which matplotlib leaves as it is


class MovingPath(Moving, PathPatch):
    """A path, filled and edged."""

    _last_path: tuple[bytes, bytes] | None = None

    def set_path(self, path: Any) -> None:
        """Set the path; one that is changed in place has to be set again."""
        codes = b"" if path.codes is None else path.codes.tobytes()
        outline = path.vertices.tobytes(), codes
        if outline != self._last_path:
            super().set_path(path)
            self._last_path = outline
            self.stale = True  # which matplotlib leaves as it is


class MovingLine(Moving, Line2D):
    """A line, or marks."""

    _last_data: tuple[bytes, bytes] | None = None

    def set_data(self, *args: Any) -> None:
        """Set x and y, as two arguments or as one pair."""
        x, y = args if len(args) > 1 else args[0]
        data = np.asarray(x, float).tobytes(), np.asarray(y, float).tobytes()
        if data != self._last_data:
            super().set_data(x, y)
            self._last_data = data

    def set_xdata(self, x: Any) -> None:
        """Set x alone."""
        self._last_data = None
        super().set_xdata(x)

    def set_ydata(self, y: Any) -> None:
        """Set y alone."""
        self._last_data = None
        super().set_ydata(y)

"""Memory of what moving artists drew last: one that is as it was then is not drawn again.

Most of a lab's artists stay as they are from one state to the next, and to draw them is most of the work of a frame.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.text import Annotation, Text


class Mark:
    """Value of `stale` of an artist that was drawn from here: False, and told from any other False.

    matplotlib makes it True when something of the artist is set, and False when any other renderer draws it.
    """

    def __bool__(self) -> bool:
        return False


Pen = tuple[Any, Any]  # the clip and the style that a renderer has set


class Piece(NamedTuple):
    """Record of what one artist drew: operations, the pen and clip that it found and left, and its looks."""

    operations: tuple[bytes, ...]
    found: Pen
    left: Pen
    looks: Hashable


class Memory:
    """Memory of the pieces of artists, as long as all panels stay as they are.

    It holds matplotlib's lines, paths and texts in a panel, and those of other classes that say so by an attribute
    `repeats`: what they draw follows from what is set by their methods, and they make themselves `stale` when it does
    not.
    """

    def __init__(self) -> None:
        self.mark, self._panels, self._pieces = Mark(), b"", dict[Any, Piece]()

    def look(self, figure: Any) -> None:
        """Forget everything if a panel of the figure lies elsewhere, or shows something else."""
        parts = (part for axes in panels(figure.axes) for part in (axes.transAxes, axes.transLimits))
        now = b"".join(part.get_matrix().tobytes() for part in parts)
        if now != self._panels:
            self.mark, self._panels, self._pieces = Mark(), now, {}

    def find(self, artist: Any, found: Pen) -> Piece | None:
        """Return what the artist drew with this pen and clip, if it would draw the same now."""
        piece = self._pieces.get(artist)
        if piece is None or artist.stale is not self.mark or piece.found != found:
            return None
        return piece if piece.looks == _looks(artist) else None

    def keep(self, artist: Any, operations: tuple[bytes, ...], found: Pen, left: Pen) -> None:
        """Remember what the artist has just drawn."""
        kind: Any = type(artist)
        if _repeats(kind) and _stays(artist):
            artist.stale = self.mark
            self._pieces[artist] = Piece(operations, found, left, _looks(artist))


def panels(several: Any) -> Iterator[Axes]:
    """Yield panels, and those within them."""
    for axes in several:
        yield axes
        yield from panels(axes.child_axes)


@cache
def _repeats(kind: type) -> bool:
    """Tell whether what artists of a class draw follows from what is set of them and of their panel."""
    known = issubclass(kind, Line2D | PathPatch | Text) and not issubclass(kind, Annotation)
    return known and (kind.__module__.startswith("matplotlib.") or bool(getattr(kind, "repeats", False)))


def _stays(artist: Any) -> bool:
    """Tell whether an artist has its place from its panel, and no box: other transforms, and boxes, change unseen."""
    axes = artist.axes
    if axes is None or (isinstance(artist, Text) and artist.get_bbox_patch() is not None):
        return False
    transform = artist.get_data_transform() if isinstance(artist, PathPatch) else artist.get_transform()
    return any(transform is one for one in (
        axes.transData, axes.transAxes, axes.get_xaxis_transform(), axes.get_yaxis_transform(),
    ))  # fmt: skip


def _looks(artist: Any) -> Hashable:
    """Return what can change of an artist without making it stale."""
    own = not isinstance(artist, PathPatch) and getattr(artist, "repeats", False)
    if own or not artist.get_visible():
        return None
    if isinstance(artist, Text):
        return hash(artist.get_fontproperties()), artist.get_wrap(), artist.get_bbox_patch() is None
    path = artist.get_path()
    return path.vertices.tobytes(), None if path.codes is None else path.codes.tobytes()

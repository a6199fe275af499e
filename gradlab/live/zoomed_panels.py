"""What a zoomed panel leaves out: names of what is out of sight, and marks beyond the edge.

Direct labels are not clipped, because they may stand beside a panel. When somebody zooms in, what
they name leaves the panel, and they would lie on its neighbors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.spines import Spine
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox, Transform

NEAR = 1.0  # pixels: what is placed at the edge of a panel is in sight
# The spelling since matplotlib 3.11, and the one before.
_SPELLINGS = ("contains_branch_separately", "contains_branch_seperately")
_CONTAINS_BRANCH = next(name for name in _SPELLINGS if hasattr(Transform, name))
# The one private name of matplotlib that live uses. A text a few pixels beside a point in data has
# the transform `transData + offset`. The public `contains_branch` finds what such a chain ends
# with; only this method yields what it begins with. Without it, such a text counts as one that
# does not move with the data, and stays in the picture when its place is zoomed out of sight.
_CHAIN_STARTS = "_iter_break_from_left_to_right"

Directions = tuple[bool, bool]  # x and y


class ZoomedPanels:
    """The panels that show less than at the start, and in which directions.

    In these directions, a text is not drawn while its place in data is out of sight, and anything
    else that is not clipped ends at the panel's edge. What has its place from the panel, such as a
    title, stays where it is.
    """

    def __init__(self, closer: Mapping[Any, Directions]) -> None:
        self._closer = closer

    def __bool__(self) -> bool:
        """Tell whether there are such panels."""
        return bool(self._closer)

    def children(self) -> Iterator[Any]:
        """Yield what is in these panels, but for their edges and ticks."""
        for axes in self._closer:
            yield from (
                child for child in axes.get_children() if not isinstance(child, Axes | Axis | Spine)
            )

    @contextmanager
    def clip(self, artists: Iterable[Any]) -> Iterator[None]:
        """Keep artists to what is in sight, and give them back afterwards what they had."""
        with ExitStack() as undo:
            for artist in artists:
                if artist.axes in self._closer and artist.get_visible() and not _clipped(artist):
                    closer = self._closer[artist.axes]
                    if not isinstance(artist, Text):
                        _end_at_edge(artist, closer, undo)
                    elif _away(artist, closer):
                        undo.callback(artist.set_visible, True)
                        artist.set_visible(False)
            yield


def _clipped(artist: Any) -> bool:
    """Tell whether an artist ends at the edges of its panel by itself; many are to be clipped, but
    nowhere.
    """
    nowhere = artist.get_clip_box() is None and artist.get_clip_path() is None
    return artist.get_clip_on() and not nowhere


def _away(text: Any, closer: Directions) -> bool:
    """Tell whether a text, or what it points to, has a place in data that is out of sight."""
    if isinstance(text, Annotation):
        places: list[Any] = [(text.xy, text.xycoords), (text.xyann, text.anncoords)]
    else:
        places = [(text.get_position(), text.get_transform())]
    low, high = text.axes.bbox.padded(NEAR).get_points()
    for (x, y), coordinates in places:
        each = coordinates if isinstance(coordinates, tuple) else (coordinates,) * 2
        for k, one in enumerate(each):
            to_pixels = text.axes.transData if one == "data" else one
            if closer[k] and _follows(text.axes, to_pixels)[k]:
                at = to_pixels.transform((text.convert_xunits(x), text.convert_yunits(y)))[k]
                if not low[k] <= at <= high[k]:
                    return True
    return False


def _end_at_edge(artist: Any, closer: Directions, undo: ExitStack) -> None:
    """Clip an artist at the edges of its panel, in the directions in which it has its place in
    data.
    """
    places = [artist.get_transform()]
    if hasattr(artist, "get_offset_transform"):  # a collection
        places.append(artist.get_offset_transform())
    follows = [
        any(each) for each in zip(*(_follows(artist.axes, place) for place in places), strict=True)
    ]
    ends = [one and other for one, other in zip(follows, closer, strict=True)]
    if any(ends):
        panel, page = artist.axes.bbox.get_points(), artist.axes.figure.bbox.get_points()
        undo.callback(artist.set_clip_box, artist.get_clip_box())
        undo.callback(artist.set_clip_on, artist.get_clip_on())
        artist.set_clip_box(
            Bbox(
                [
                    [(panel if end else page)[side][k] for k, end in enumerate(ends)]
                    for side in (0, 1)
                ]
            )
        )
        artist.set_clip_on(True)


def _follows(axes: Any, place: Any) -> Directions:
    """Tell in which directions a place, or what it is an offset from, moves with what the panel
    shows.
    """
    if place is axes.transData:
        return True, True
    if not isinstance(place, Transform):  # a word such as "offset points", or another artist
        return False, False
    parts = [place]
    for start, _ in getattr(place, _CHAIN_STARTS, tuple)():
        parts.append(start)
    x, y = zip(*(getattr(part, _CONTAINS_BRANCH)(axes.transData) for part in parts), strict=True)
    return any(x), any(y)

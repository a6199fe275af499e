"""A matplotlib figure split in two: what stays (painted once by Agg) and what moves (recorded for each change)."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import matplotlib.image
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import FigureBase

from .controls import Drag
from .description import Items
from .display_list import Writer
from .lettering import Agg, Recent, text_settings
from .renderer import DisplayListRenderer
from .theme import DarkAgg, Palette
from .zoom import Zoom, fractions
from .zoomed_panels import ZoomedPanels

FAST, SMALL = 1, 9
SIZES = 4  # resolutions for which renderers are kept


class _Canvas(FigureCanvasAgg):
    """A canvas whose layouts measure by a renderer of ours, which remembers the sizes of texts."""

    def __init__(self, figure: Any, get_renderer: Callable[[], Any]) -> None:
        super().__init__(figure)
        self._get_renderer = get_renderer

    def get_renderer(self) -> Any:
        """Return the renderer for the resolution that is set."""
        return self._get_renderer()


class Scene:
    """Draws one figure; moving artists are the children of its Axes (and its own) made with `animated=True`.

    Moving artists lie over everything still, as they do when a picture is blitted. `dark` says
    which colors a dark picture has in place of some light ones; `theme.Palette` finds the others.
    """

    def __init__(self, figure: Any, dark: Mapping[Any, Any] | None = None) -> None:
        self.figure = figure
        self.dpi = float(figure.dpi)
        # Every color word recorded so far, and its dark counterpart.
        self.colors: dict[int, int] = {}
        self.palette, self._zoom = Palette(dark), Zoom(figure)
        # Renderers remember the texts they have laid out; layouts measure by the one that paints.
        self._painters, self._recorders = Recent(SIZES), Recent(SIZES)
        # A notebook's static picture and the first one in its page have the same still parts.
        self._blanks = Recent(1)
        _Canvas(figure, self._painter)
        # The layout is worked out when still parts change, and kept: a frame must fit the still
        # picture below it.
        self._layout = figure.get_layout_engine()
        figure.set_layout_engine("none")
        self._settle()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels."""
        return self._pixels(self.dpi)

    @property
    def zoomed(self) -> bool:
        """Tell whether a panel shows less than at the start."""
        return bool(self._zoom)

    # Pictures

    def still(self, ratio: float, dark: bool = False) -> bytes:
        """Paint the still parts for a screen with `ratio` device pixels per CSS pixel, as PNG bytes."""
        return encoded(self.blank(self.dpi * ratio, dark), FAST)

    def png(self, dpi: float | None, dark: bool = False) -> bytes:
        """Paint everything by Agg, moving parts last, without dates or versions in the file."""
        return encoded(self.whole(dpi, dark))

    def whole(self, dpi: float | None = None, dark: bool = False) -> np.ndarray:
        """Paint everything by Agg, moving parts last: pixels (h, w, 4)."""
        return self.over(self.blank(dpi or self.dpi, dark), dark)

    def blank(self, dpi: float, dark: bool = False) -> np.ndarray:
        """Paint the still parts: pixels (h, w, 4) to paint moving ones over; they are not to be written to."""
        self._at(dpi)
        key = *self._pixels(self.figure.dpi), dark, text_settings()
        still: np.ndarray = self._blanks.find(key, lambda: self._painted(dark))
        return still

    def _painted(self, dark: bool) -> np.ndarray:
        painter = self._painter(dark)
        painter.clear()
        with self._zoomed_panels.clip(self._zoomed_panels.children()):
            self.figure.draw(painter)
        pixels = np.array(painter.buffer_rgba())
        pixels.flags.writeable = False
        return pixels

    def over(self, still: np.ndarray, dark: bool = False) -> np.ndarray:
        """Paint the moving parts over a copy of what `blank` gave."""
        self._at(still.shape[1] / self.figure.get_figwidth())
        painter = self._painter(dark)
        np.asarray(painter.buffer_rgba())[:] = still
        self._draw_moving(lambda artist: artist.draw(painter))
        return np.array(painter.buffer_rgba())

    def frame(self, ratio: float, items: Items | None = None) -> bytes:
        """Record the moving parts as a display list, in light colors, and where the items lie."""
        screen = self._at(self.dpi * ratio)
        recorder = self._recorders.find(
            (*screen, text_settings()), lambda: DisplayListRenderer(*screen)
        )
        recorder.cache.check_panels(self.figure)
        try:
            self._draw_moving(recorder.record)
        finally:
            data = recorder.finish()
        for word in recorder.colors - self.colors.keys():
            self.colors[word] = self.palette.word(word)
        return data if items is None else data + self._places(items, recorder.height)

    def _draw_moving(self, draw: Callable[[Any], None]) -> None:
        """Draw the moving artists, one after the other: some place those that come later."""
        for artist in moving(self.figure):
            if self._zoomed_panels:
                with self._zoomed_panels.clip([artist]):
                    draw(artist)
            else:
                draw(artist)

    def _places(self, items: Items, height: int) -> bytes:
        """Record where the items lie in each panel, on a picture of this height."""
        nowhere = np.full((len(items), 2), np.nan)
        places = []
        for axes in self.axes:
            if axes in items.places:
                points = np.column_stack(
                    [np.asarray(column, float) for column in items.places[axes]]
                )
                places.append(_inside(axes, points, height))
            else:
                places.append(nowhere)
        writer = Writer()
        writer.items(places, list(items.values.values()))
        return writer.finish()

    # Parts of the picture

    @property
    def axes(self) -> list[Axes]:
        """The Axes that `panels` describes: those that are visible and show their axes."""
        return [axes for axes in self.figure.axes if axes.get_visible() and axes.axison]

    def panels(self) -> list[dict[str, Any]]:
        """Say where every panel lies and what it is called."""
        titles = [
            [axes.get_title(loc) for loc in ("center", "left", "right")] for axes in self.axes
        ]
        return [
            _box(axes) | {"label": next(filter(None, t), "")}
            for axes, t in zip(self.axes, titles, strict=True)
        ]

    def area(self, drag: Drag) -> dict[str, Any]:
        """Say where the drag's Axes lies, what its edges mean, and where in the other direction its handle is."""
        area = _box(drag.axes) | {"label": drag.label, "x": None, "y": None, "at": None}
        for key, name, axis in (("x", drag.x, drag.axes.xaxis), ("y", drag.y, drag.axes.yaxis)):
            limits = axis.get_view_interval()
            if name is not None:
                first, last = map(float, limits)
                area[key] = {
                    "name": name,
                    "first": first,
                    "last": last,
                    "log": axis.get_scale() == "log",
                }
            elif drag.at is not None:
                area["at"] = float(fractions(axis, drag.at, limits).clip(0, 1))
        return area

    # Changes

    def zoom(self, panel: int, x: Sequence[float], y: Sequence[float]) -> None:
        """Show a part of a panel, in fractions from its left and bottom; to be called by `rearranged`."""
        self._zoom.to(self.axes[panel], x, y)

    def unzoom(self) -> None:
        """Show all of every panel again; to be called by `rearranged`."""
        self._zoom.back()

    def rearranged(self, change: Callable[[], None]) -> None:
        """Run a change of still parts, and lay the figure out again."""
        change()
        self._settle()

    def _settle(self) -> None:
        self._at(self.dpi)
        self._zoomed_panels = ZoomedPanels(self._zoom.closer())
        if self._layout is not None:
            for axes in self.figure.axes:
                if (place := axes.get_subplotspec()) is not None:
                    # The layout starts from the grid, so that it ends at the same place.
                    axes.set_subplotspec(place)
            with self._zoomed_panels.clip(self._zoomed_panels.children()):
                self._layout.execute(self.figure)
        for axes in self.figure.axes:
            axes.get_xlim()  # limits that follow the data are worked out when they are asked for
            axes.apply_aspect()
        self._blanks.clear()

    def _pixels(self, dpi: float) -> tuple[int, int]:
        """Give width and height at a resolution."""
        width, height = self.figure.get_size_inches() * dpi
        return round(width), round(height)

    def _at(self, dpi: float) -> tuple[int, int, float]:
        """Set the resolution, such that the width is in whole pixels; give width, height and
        resolution.
        """
        dpi = self._pixels(dpi)[0] / self.figure.get_figwidth()
        if self.figure.dpi != dpi:
            self.figure.dpi = dpi
        return (*self._pixels(dpi), dpi)

    def _painter(self, dark: bool = False) -> Agg | DarkAgg:
        """Give an Agg renderer for the resolution that is set, with what was painted last."""
        screen = (*self._pixels(self.figure.dpi), self.figure.dpi)
        make: Callable[..., Any] = partial(DarkAgg, palette=self.palette) if dark else Agg
        painter: Agg | DarkAgg = self._painters.find(
            (*screen, dark, text_settings()), lambda: make(*screen)
        )
        return painter


_zorder = attrgetter("zorder")


def moving(parent: Any) -> Iterator[Any]:
    """Yield the moving artists of a figure in drawing order."""
    # A panel has many parts that stay: they are left out before the others are put in order.
    found = [
        child
        for child in parent.get_children()
        if child.get_animated() or isinstance(child, Axes | FigureBase)
    ]
    for child in sorted(found, key=_zorder):
        if child.get_animated():
            yield child
        elif child.get_visible():
            yield from moving(child)


def usable_ratio(value: Any) -> float:
    """Give a device pixel ratio from 0.5 to 4 in quarters; 1 for anything that is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 1.0
    return min(max(round(value * 4) / 4, 0.5), 4.0)


def _box(axes: Axes) -> dict[str, Any]:
    """Fractions of the figure from the top left."""
    x0, y0, x1, y1 = map(float, axes.get_position().extents)
    return {"left": x0, "top": 1 - y1, "width": x1 - x0, "height": y1 - y0}


def _inside(axes: Axes, points: np.ndarray, height: int) -> np.ndarray:
    """Points in data (n, 2) as pixels from the top left; NaN where an Axes does not show them."""
    pixels = axes.transData.transform(points)
    x0, y0, x1, y1 = axes.bbox.padded(1).extents
    shown = ((pixels >= (x0, y0)) & (pixels <= (x1, y1))).all(axis=1, keepdims=True)
    return np.where(shown, pixels * (1, -1) + (0, height), np.nan)


def encoded(pixels: np.ndarray, level: int = SMALL) -> bytes:
    """Write pixels (h, w, 4) as a PNG without loss, dates or versions."""
    opaque = bool((pixels[..., 3] == 255).all())
    buffer = io.BytesIO()
    unsigned: Any = {"Software": None}  # no version in the file
    matplotlib.image.imsave(
        buffer, pixels[..., :3] if opaque else pixels, format="png", metadata=unsigned,
        pil_kwargs={"compress_level": level},
    )  # fmt: skip
    return buffer.getvalue()

"""A matplotlib figure split in two: what stays (painted once by Agg) and what moves (recorded for each change)."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import Any

import matplotlib.image
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import FigureBase

from .drags import Drag
from .renderer import DisplayListRenderer

FAST, SMALL = 1, 9


class Scene:
    """Draws one figure; moving artists are the children of its Axes (and its own) made with `animated=True`.

    Moving artists lie over everything still, as they do when a picture is blitted.
    """

    def __init__(self, figure: Any, dark: Any = None) -> None:
        self.figure = figure
        self.dpi = float(figure.dpi)
        self._canvas = FigureCanvasAgg(figure)
        self._renderers: dict[float, DisplayListRenderer] = {}
        # The layout is worked out when still parts change, and kept: a frame must fit the still picture below it.
        self._layout = figure.get_layout_engine()
        self.settle()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels."""
        width, height = self.figure.get_size_inches() * self.dpi
        return round(width), round(height)

    def settle(self) -> None:
        """Lay the figure out again."""
        self._at(self.dpi)
        if self._layout is not None:
            self._layout.execute(self.figure)
            self.figure.set_layout_engine("none")
        self._canvas.draw()

    def still(self, ratio: float, dark: bool = False) -> bytes:
        """Paint the still parts for a screen with `ratio` device pixels per CSS pixel, as PNG bytes."""
        self._at(self.dpi * ratio)
        self._canvas.draw()
        return _png(np.asarray(self._canvas.buffer_rgba()), FAST)

    def frame(self, ratio: float, items: Any = None) -> bytes:
        """Record the moving parts as a display list."""
        self._at(self.dpi * ratio)
        renderer = self._renderers.get(ratio)
        if renderer is None:
            width, height = self._canvas.get_width_height(physical=True)
            renderer = self._renderers[ratio] = DisplayListRenderer(width, height, self.figure.dpi)
        try:
            for artist in moving(self.figure):
                artist.draw(renderer)
        finally:
            data = renderer.finish()
        return data

    def png(self, dpi: float | None, dark: bool = False) -> bytes:
        """Paint everything by Agg, moving parts last, without dates or versions in the file."""
        before = self.figure.dpi
        try:
            self._at(dpi or self.dpi)
            self._canvas.draw()
            renderer = self._canvas.get_renderer()
            for artist in moving(self.figure):
                artist.draw(renderer)
            return _png(np.asarray(self._canvas.buffer_rgba()), SMALL)
        finally:
            self._at(before)

    def area(self, drag: Drag) -> dict[str, Any]:
        """Say where the drag's Axes lies (fractions of the figure from the top left) and what its edges mean."""
        x0, y0, x1, y1 = map(float, drag.axes.get_position().extents)
        area: dict[str, Any] = {
            "left": x0, "top": 1 - y1, "width": x1 - x0, "height": y1 - y0,
            "label": drag.label, "x": None, "y": None,
        }  # fmt: skip
        for key, name, axis in (("x", drag.x, drag.axes.xaxis), ("y", drag.y, drag.axes.yaxis)):
            if name is not None:
                first, last = map(float, axis.get_view_interval())
                area[key] = {"name": name, "first": first, "last": last, "log": axis.get_scale() == "log"}
        return area

    zoomed = False
    colours: Any = {}  # noqa: RUF012

    def panels(self) -> list[dict[str, Any]]:
        return []

    def rearranged(self, change: Any) -> None:
        change()
        self.forget()
        self.settle()

    def zoom(self, panel: int, x: Any, y: Any) -> None: ...

    def unzoom(self) -> None: ...

    def forget(self) -> None:
        """Drop what depends on the size of the figure."""
        self._renderers.clear()

    def _at(self, dpi: float) -> None:
        if self.figure.dpi != dpi:
            self.figure.dpi = dpi


def moving(parent: Any) -> Iterator[Any]:
    """Yield the moving artists of a figure in drawing order."""
    for child in sorted(parent.get_children(), key=lambda artist: artist.get_zorder()):
        if child.get_animated():
            yield child
        elif child.get_visible() and isinstance(child, Axes | FigureBase):
            yield from moving(child)


def usable_ratio(value: Any) -> float:
    """Give a device pixel ratio from 0.5 to 4 in quarters; 1 for anything that is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 1.0
    return min(max(round(value * 4) / 4, 0.5), 4.0)


def _png(pixels: np.ndarray, level: int) -> bytes:
    opaque = bool((pixels[..., 3] == 255).all())
    buffer = io.BytesIO()
    unsigned: Any = {"Software": None}  # no version in the file
    matplotlib.image.imsave(
        buffer, pixels[..., :3] if opaque else pixels, format="png", metadata=unsigned,
        pil_kwargs={"compress_level": level},
    )  # fmt: skip
    return buffer.getvalue()

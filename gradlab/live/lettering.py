"""Text as Agg paints it, with its hinting, as a mask of coverage; what was painted before is remembered."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from matplotlib import rcParams
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import fontManager
from matplotlib.text import Text
from matplotlib.textpath import TextToPath

REMEMBERED = 1024  # masks of moving texts, of a figure
LINES = 1024  # texts that are remembered for all figures, with one resolution and one set of settings
MEMORIES = 4  # of such resolutions and settings: a line has some kilobytes
PAD = 4
# Agg places glyphs on a grid of this many parts of a pixel.
PARTS = 64
PRIVATE = ("_get_layout", "_multialignment", "_linespacing")  # what `draw_text` uses of a matplotlib Text
SHAPING = ("get_fontfeatures", "get_language")  # what a Text has from matplotlib 3.11 on
SETTINGS = [name for name in rcParams if name.startswith(("font.", "mathtext.", "text."))]


T = TypeVar("T")


class Recent(OrderedDict[Any, Any]):
    """A memory for the last `most` results.

    >>> recent = Recent(1)
    >>> recent.find("a", lambda: 1), recent.find("a", lambda: 2), recent.find("b", lambda: 3), list(recent)
    (1, 1, 3, ['b'])
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def find(self, key: Any, make: Callable[[], T]) -> T:
        """Give what was made for `key`, making it if need be."""
        try:
            self.move_to_end(key)
            found: T = self[key]
        except KeyError:  # asked first, one that another thread drops at that moment would be missed
            pass
        else:
            return found
        self[key] = made = make()
        if len(self) > self._most:
            self.popitem(last=False)
        return made


Glyph = tuple[np.ndarray, int, int, float]  # its image, left, bottom (downwards) and angle


class TextMemory(NamedTuple):
    """Texts that were measured and painted, by any figure: many have the same numbers on their axes."""

    sizes: Recent  # of texts
    lines: Recent  # as lists of glyphs, from the pixel where they start


_memories = Recent(MEMORIES)


def text_settings() -> str:
    """Write everything that determines how text looks now: matplotlib's settings, and the fonts that there are."""
    return repr([len(fontManager.ttflist), *(rcParams[name] for name in SETTINGS)])


class Agg(RendererAgg):
    """Agg that measures each text once, and lays it out and makes images of its glyphs once.

    A matplotlib Text remembers its size; labels and captions ask every time, and every figure is new to its texts.
    It is for the `text_settings` in force when it was made.
    """

    def __init__(self, width: int, height: int, dpi: float) -> None:
        super().__init__(width, height, dpi)  # type: ignore[no-untyped-call]
        self._settings = text_settings()
        self._memory = _memories.find((dpi, self._settings), lambda: TextMemory(Recent(LINES), Recent(LINES)))

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        """Give width, height and descent in pixels."""
        measure: Callable[..., tuple[float, float, float]] = super().get_text_width_height_descent
        return self._remembered(self._memory.sizes, (s, hash(prop), ismath), lambda: measure(s, prop, ismath))

    def draw_text(
        self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False, mtext: Any = None
    ) -> None:
        """Paint a line that starts at x, y (downwards)."""
        to_parts = angle == 0 and not ismath  # a formula's glyphs start between them, and are rounded one by one
        (left, right), (top, down) = _pixel(x, to_parts), _pixel(y, to_parts)
        key = s, hash(prop), angle, ismath, _shaping(mtext), gc.get_antialiased(), right, down
        draw: Callable[..., None] = super().draw_text

        def paint() -> None:
            draw(gc, x, y, s, prop, angle, ismath, mtext)

        private = "_renderer" in vars(self)  # as matplotlib has it today
        line = self._remembered(self._memory.lines, key, lambda: self._line(paint, left, top)) if private else None
        if line is None:
            paint()
        for image, dx, dy, turned in line or ():
            self._renderer.draw_text_image(image, left + dx, top + dy, turned, gc)

    def _remembered(self, memory: Recent, key: Any, make: Callable[[], T]) -> T:
        """Find something in memory, or make it; it is kept only if the settings are still this renderer's own."""
        if key in memory or text_settings() == self._settings:
            return memory.find(key, make)
        return make()

    def _line(self, paint: Callable[[], None], left: int, top: int) -> list[Glyph] | None:
        """Find what paints a line; None if that is more than glyphs, or this matplotlib has no image of each."""
        renderer, self._renderer = self._renderer, _Noting()
        try:
            paint()
            noted = self._renderer
        finally:
            self._renderer = renderer
        if noted.others or not noted.glyphs:
            return None
        return [(image, x - left, y - top, angle) for image, x, y, angle in noted.glyphs]


class _Noting:
    """Stands in for the compiled part of Agg, and notes the glyphs that it is to paint and whether there are others."""

    def __init__(self) -> None:
        self.glyphs: list[Glyph] = []
        self.others = False

    def draw_text_image(self, image: Any, x: int, y: int, angle: float, _: Any) -> None:
        if isinstance(image, np.ndarray):
            self.glyphs.append((image.copy(), x, y, angle))
        else:
            self.others = True

    def __getattr__(self, _: str) -> Callable[..., None]:
        self.others = True
        return lambda *_, **__: None


def _pixel(place: float, to_parts: bool) -> tuple[int, float]:
    """Find the pixel in which something starts, and where in it; rounded `to_parts`, as Agg rounds what stands upright.

    A place halfway between two parts is left as it is: Agg rounds it to an even one.
    """
    if not to_parts or place * PARTS % 1 == 0.5:
        return math.floor(place), place % 1
    whole, part = divmod(round(place * PARTS), PARTS)
    return whole, part / PARTS


def draw_text(text: Any, renderer: Any) -> None:
    """Draw a text, laid out as the renderer's `layouts` has it: where it stands has no part in that.

    matplotlib's names for it are private; where one of them is another, the text lays itself out every time. Half of a
    lab's texts are empty in most states, and to find that out here is a tenth of the work.
    """
    if not (text.get_text() and text.get_visible()):
        return
    lays_out = type(text).draw is Text.draw and all(hasattr(text, name) for name in PRIVATE)
    form = _form(text) if lays_out else None
    if form is None:
        text.draw(renderer)
        return
    lay_out = text._get_layout
    text._get_layout = lambda asked: renderer.layouts.find(form, lambda: lay_out(asked))
    try:
        text.draw(renderer)
    finally:
        del text._get_layout


def _form(text: Any) -> tuple[Any, ...] | None:
    """All that the layout of a text follows from, on one renderer; None if its place is part of it."""
    if text.get_wrap() or text.get_transform_rotates_text():
        return None
    return (
        text.get_text(), hash(text.get_fontproperties()), text.get_usetex(), text.get_parse_math(), text.get_rotation(),
        text.get_rotation_mode(), text.get_horizontalalignment(), text.get_verticalalignment(),
        text._multialignment, text._linespacing, *_shaping(text),
    )  # fmt: skip


def _shaping(text: Any) -> tuple[Any, Any]:
    """Return the font features and the language of a text; None for each that is not set or not known yet."""
    features, language = (getattr(text, name)() if hasattr(text, name) else None for name in SHAPING)
    return features, language


class Lettering:
    """Measures and paints texts at `dpi` and keeps the last ones: laying a text out is the dearest part of a frame."""

    def __init__(self, dpi: float) -> None:
        self.dpi = dpi
        self.measure = Agg(1, 1, dpi).get_text_width_height_descent
        self._masks = Recent(REMEMBERED)

    def paint(
        self, gc: Any, x: float, y: float, text: str, prop: Any, angle: float, ismath: Any, mtext: Any = None
    ) -> tuple[int, int, np.ndarray]:
        """Give left, top and the coverage (h, w; 0 to 255) of a text that starts at x, y (downwards), as Agg paints it.

        A formula starts at the nearest 64th of a pixel, so that a mask does not depend on which place was asked first.
        `mtext` is the Text that it is the only line of, if it is: Agg shapes it by the features and language of that.
        """
        (left, right), (top, down) = _pixel(x, to_parts=True), _pixel(y, to_parts=True)
        key = (text, hash(prop), angle, ismath, _shaping(mtext), gc.get_antialiased(), gc.get_snap(), right, down)
        dx, dy, mask = self._masks.find(key, lambda: self._fresh(gc, right, down, text, prop, angle, ismath, mtext))
        return left + dx, top + dy, mask

    def _fresh(
        self, gc: Any, x: float, y: float, text: str, prop: Any, angle: float, ismath: Any, mtext: Any
    ) -> tuple[int, int, np.ndarray]:
        width, height, descent = self.measure(text, prop, ismath)
        shaped = self._reach(text, prop, *_shaping(mtext))
        if angle % 360 or shaped:
            reach = math.ceil(max(math.hypot(width, height), shaped)) + PAD
            before, above, size = reach, reach, (2 * reach, 2 * reach)
        else:
            before, above = PAD, math.ceil(height - descent) + PAD
            size = math.ceil(width) + 2 * PAD, above + math.ceil(descent) + PAD
        renderer: Any = Agg(*size, self.dpi)
        pen = renderer.new_gc()
        pen.set_antialiased(gc.get_antialiased())
        pen.set_snap(gc.get_snap())
        if ismath == "TeX":
            renderer.draw_tex(pen, before + x, above + y, text, prop, angle)
        else:
            renderer.draw_text(pen, before + x, above + y, text, prop, angle, ismath, mtext)
        mask: np.ndarray = np.asarray(renderer.buffer_rgba())[..., 3]
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not len(rows):
            return 0, 0, np.zeros((0, 0), np.uint8)
        inked = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].copy()
        return int(columns[0]) - before, int(rows[0]) - above, inked

    def _reach(self, text: str, prop: Any, features: Any, language: Any) -> float:
        """Return how far a line may reach from where it starts, in pixels, beyond what `measure` knows.

        matplotlib measures a line without its features and language, but paints it with them.
        """
        if features is None and language is None:
            return 0.0
        shaper: Any = TextToPath()
        points, _ = shaper.get_text_path(prop, text, features=features, language=language)
        scale: float = prop.get_size_in_points() * self.dpi / 72 / shaper.FONT_SCALE
        # Hinting moves each glyph by less than a pixel from where the path has it.
        return float(np.hypot(*np.abs(points).max(axis=0, initial=0.0))) * scale + len(text)

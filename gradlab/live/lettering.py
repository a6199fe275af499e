"""Text as Agg paints it, with its hinting, as a mask of coverage; what was painted is remembered.

Two results are kept, both by public methods of matplotlib. `Agg` keeps the size of each text,
because labels and captions ask for it every time: without that, a step of a slider takes 1.1 to
1.8 times as long. `Lettering` keeps the mask of each text of a display list: without that, a step
takes 1.04 to 2.1 times as long.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from matplotlib import rcParams
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import fontManager
from matplotlib.textpath import TextToPath

MASKS = 1024  # that are kept, of one figure at one resolution
SIZES = 1024
PAD = 4
# Agg places glyphs on a grid of this many parts of a pixel.
PARTS = 64
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
        except KeyError:
            # Asked first, one that another thread drops at that moment would be missed.
            pass
        else:
            return found
        self[key] = made = make()
        if len(self) > self._most:
            self.popitem(last=False)
        return made


def text_settings() -> str:
    """Write everything that determines how text looks now: matplotlib's settings, and the fonts that there are."""
    return repr([len(fontManager.ttflist), *(rcParams[name] for name in SETTINGS)])


class Agg(RendererAgg):
    """Agg that measures each text once; it is for the `text_settings` in force when it was made."""

    def __init__(self, width: int, height: int, dpi: float) -> None:
        super().__init__(width, height, dpi)  # type: ignore[no-untyped-call]
        self._sizes = Recent(SIZES)

    def get_text_width_height_descent(
        self, s: str, prop: Any, ismath: Any
    ) -> tuple[float, float, float]:
        """Give width, height and descent in pixels."""
        measure: Callable[..., tuple[float, float, float]] = super().get_text_width_height_descent
        return self._sizes.find((s, hash(prop), ismath), lambda: measure(s, prop, ismath))


class Lettering:
    """Measures and paints texts at `dpi`, and keeps their masks.

    It is for the `text_settings` in force when it was made.
    """

    def __init__(self, dpi: float) -> None:
        self.dpi = dpi
        self.measure = Agg(1, 1, dpi).get_text_width_height_descent
        self._masks = Recent(MASKS)

    def paint(
        self,
        gc: Any,
        x: float,
        y: float,
        text: str,
        prop: Any,
        angle: float,
        ismath: Any,
        mtext: Any = None,
    ) -> tuple[int, int, np.ndarray]:
        """Give left, top and the coverage (h, w; 0 to 255) of a text that starts at x, y (downwards), as Agg paints it.

        A formula starts at the nearest 64th of a pixel, so that a mask does not depend on which
        place was asked first. `mtext` is the Text that it is the only line of, if it is: Agg shapes
        it by the features and language of that.
        """
        left, right = _split_pixel(x)
        top, down = _split_pixel(y)
        key = (
            text,
            hash(prop),
            angle,
            ismath,
            _shaping(mtext),
            gc.get_antialiased(),
            gc.get_snap(),
            right,
            down,
        )
        dx, dy, mask = self._masks.find(
            key, lambda: self._fresh(gc, right, down, text, prop, angle, ismath, mtext)
        )
        return left + dx, top + dy, mask

    def _fresh(
        self,
        gc: Any,
        x: float,
        y: float,
        text: str,
        prop: Any,
        angle: float,
        ismath: Any,
        mtext: Any,
    ) -> tuple[int, int, np.ndarray]:
        width, height, descent = self.measure(text, prop, ismath)
        shaped = self._reach(text, prop, *_shaping(mtext))
        if angle % 360 or shaped:
            reach = math.ceil(max(math.hypot(width, height), shaped)) + PAD
            before, above, size = reach, reach, (2 * reach, 2 * reach)
        else:
            before, above = PAD, math.ceil(height - descent) + PAD
            size = math.ceil(width) + 2 * PAD, above + math.ceil(descent) + PAD
        renderer: Any = RendererAgg(*size, self.dpi)  # type: ignore[no-untyped-call]
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
        """Return how far a line may reach from where it starts, in pixels, beyond what `measure`
        knows.

        matplotlib measures a line without its features and language, but paints it with them.
        """
        if features is None and language is None:
            return 0.0
        shaper: Any = TextToPath()
        points, _ = shaper.get_text_path(prop, text, features=features, language=language)
        scale: float = prop.get_size_in_points() * self.dpi / 72 / shaper.FONT_SCALE
        # Hinting moves each glyph by less than a pixel from where the path has it.
        return float(np.hypot(*np.abs(points).max(axis=0, initial=0.0))) * scale + len(text)


def _split_pixel(place: float) -> tuple[int, float]:
    """Find the pixel in which something starts, and where in it, in parts as Agg rounds them.

    A place halfway between two parts is left as it is: Agg rounds it to an even one.
    """
    if place * PARTS % 1 == 0.5:
        return math.floor(place), place % 1
    whole, part = divmod(round(place * PARTS), PARTS)
    return whole, part / PARTS


def _shaping(text: Any) -> tuple[Any, Any]:
    """Return the font features and the language of a text; None for each that is not set or not
    known yet.
    """
    features, language = (
        getattr(text, name)() if hasattr(text, name) else None for name in SHAPING
    )
    return features, language

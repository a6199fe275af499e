"""Text as outlines, with a memory for what was laid out before: numbers on a figure repeat."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from matplotlib.textpath import TextToPath

REMEMBERED = 512

Array = Any


class Outlines:
    """Finds the outline of a text; keeps the last ones used."""

    def __init__(self) -> None:
        self._layout = TextToPath()
        self._known: OrderedDict[tuple[Any, ...], tuple[Array, Array]] = OrderedDict()

    def find(self, text: str, prop: Any, dpi: float, ismath: Any) -> tuple[Array, tuple[Array, Array]]:
        """Give the matrix to pixels (y upwards, start of the base line at 0, 0) and (vertices, codes)."""
        key = (text, hash(prop), ismath)
        path = self._known.pop(key, None)
        if path is None:
            vertices, codes = self._layout.get_text_path(prop, text, ismath=ismath)
            path = np.array(vertices, float).reshape(-1, 2), np.array(codes, np.uint8)
        self._known[key] = path
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        scale = prop.get_size_in_points() * dpi / 72 / self._layout.FONT_SCALE
        return np.diag([scale, scale, 1.0]), path

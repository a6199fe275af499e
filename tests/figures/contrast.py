"""Contrast of what a figure shows with what it stands on, in light and in dark."""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.text import Text

from gradlab.figures import _style, digits, libraries
from gradlab.live.theme import Palette

# What texts stand on where it is not the page.
PAPERS = {
    "libraries": [*libraries.LOOKS.values()], "five adagrads": [*digits.LOOKS.values()],
    "staleness": ["white", _style.PALE_BLUE], "table": ["white", _style.PALE_BLUE],
    "two tables": ["white", _style.PALE_BLUE],
}  # fmt: skip
THEMES = {"light": lambda rgb: tuple(rgb[:3]), "dark": lambda rgb: Palette(_style.DARK).dark(rgb[:3])}


def linear(rgb: tuple[float, ...]) -> np.ndarray:
    c = np.array(rgb)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(theme: str, color: Any, under: Any = "white") -> float:
    """WCAG 2.1's contrast of two colors that are given as they are in light."""
    return _contrast(theme, to_rgb(color), to_rgb(under))


@cache  # a figure has hundreds of texts and marks, and few colors
def _contrast(theme: str, *colors: tuple[float, ...]) -> float:
    low, high = sorted(linear(THEMES[theme](c)) @ [0.2126, 0.7152, 0.0722] for c in colors)
    return float((high + 0.05) / (low + 0.05))


def too_faint(view: Any, theme: str, papers: list[str]) -> list[str]:
    """Return the texts that are hard to read on these papers, and the marks that do not stand out."""

    def drawn(kind: type) -> list[Any]:
        return [artist for artist in view.figure.findobj(kind) if artist.get_visible()]

    def behind(text: Any) -> list[Any]:
        box = text.get_bbox_patch()
        return papers if box is None or not box.get_facecolor()[3] else [box.get_facecolor()[:3]]

    found = [t for t in drawn(Text) if any(contrast(theme, t.get_color(), paper) < 4.5 for paper in behind(t))]
    for line in drawn(Line2D):
        colors = {line.get_color()} if line.get_linestyle() != "None" else set()
        if line.get_marker() != "None":  # a pale mark has an edge that stands out
            face, edge = line.get_markerfacecolor(), line.get_markeredgecolor()
            colors.add(edge if line.get_markeredgewidth() and contrast(theme, edge) > contrast(theme, face) else face)
        if any(contrast(theme, c) < 3 for c in colors - {_style.GRID, _style.FAINT}):
            found.append(line)
    for patch in drawn(PathPatch):  # a pale fill has an edge that stands out
        edge, face = patch.get_edgecolor(), patch.get_facecolor()
        if max(contrast(theme, edge[:3]) if edge[3] else 1, contrast(theme, face[:3])) < 3:
            found.append(patch)
    return [str(artist) for artist in found]

"""Contrast of what a figure shows with what it stands on, in light and in dark."""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.text import Text

from gradlab.labs._adagrad_libraries import picture as digits
from gradlab.labs._clip_libraries import picture as libraries
from gradlab.live.drawing import style as _style
from gradlab.live.theme import Palette

# What texts stand on where it is not the page.
PAPERS = {
    "libraries": [*libraries.LOOKS.values()], "five adagrads": [*digits.LOOKS.values()],
    "staleness": ["white", _style.PALE_BLUE], "table": ["white", _style.PALE_BLUE],
    "two tables": ["white", _style.PALE_BLUE],
}  # fmt: skip
THEMES = {
    "light": lambda rgb: tuple(rgb[:3]),
    "dark": lambda rgb: Palette(_style.DARK).dark(rgb[:3]),
}


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


def too_faint(view: Any, papers: list[str]) -> dict[str, list[str]]:
    """Return, for each theme, the texts that are hard to read on these papers, and the marks that
    do not stand out.
    """
    drawn = [artist for artist in view.figure.findobj() if artist.get_visible()]
    texts, lines, patches = (
        [a for a in drawn if isinstance(a, kind)] for kind in (Text, Line2D, PathPatch)
    )
    found = {}
    for theme in THEMES:
        faint = [
            text
            for text in texts
            if any(contrast(theme, text.get_color(), on) < 4.5 for on in _behind(text, papers))
        ]
        faint += [
            line
            for line in lines
            if any(contrast(theme, color) < 3 for color in _colors(theme, line))
        ]
        faint += [patch for patch in patches if _palest(theme, patch) < 3]
        found[theme] = [str(artist) for artist in faint]
    return found


def _behind(text: Any, papers: list[str]) -> list[Any]:
    if on := getattr(text, "on", None):
        return [on]
    box = text.get_bbox_patch()
    return papers if box is None or not box.get_facecolor()[3] else [box.get_facecolor()[:3]]


def _colors(theme: str, line: Any) -> set[Any]:
    """The colors by which a line is seen: a pale mark has an edge that stands out."""
    colors = {line.get_color()} if line.get_linestyle() != "None" else set()
    if line.get_marker() != "None":
        face, edge = line.get_markerfacecolor(), line.get_markeredgecolor()
        colors.add(
            edge
            if line.get_markeredgewidth() and contrast(theme, edge) > contrast(theme, face)
            else face
        )
    return colors - {_style.GRID, _style.FAINT}


def _palest(theme: str, patch: Any) -> float:
    """The contrast of a patch with the page: a pale fill has an edge that stands out."""
    edge, face = patch.get_edgecolor(), patch.get_facecolor()
    return max(contrast(theme, edge[:3]) if edge[3] else 1, contrast(theme, face[:3]))

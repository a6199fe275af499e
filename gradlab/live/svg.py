"""A matplotlib figure as an SVG inside a page: as sharp as the screen or paper, and as dark as the page around it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from .display_list import color
from .scheduling import drawing
from .theme import Palette

# matplotlib names clips by unrounded numbers, whose last bits depend on what ran before.
_CLIP = re.compile(r'<clipPath id="([^"]+)">(.*?)</clipPath>', re.DOTALL)
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_NAMED = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
# A hundredth of a point is enough; scales, which end in ), keep theirs.
_DIGITS = re.compile(r'(\.\d\d)\d+(?=[ "])')
_LEFT_OUT = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)


def inline_svg(figure: Any, alt: str, name: str, dark: Mapping[str, str] | None = None) -> str:
    """Give the figure as an `<svg>` element with `alt` for those who do not see it.

    Args:
        name: starts every id in it; another one for each picture of a page.
        dark: what some colors become on a dark page; all others have their lightness turned round.

    >>> from matplotlib.figure import Figure
    >>> svg = inline_svg(Figure(figsize=(2, 1)), "Nothing, on white.", "none")
    >>> svg[:69], "light-dark(#ffffff,#111111)" in svg
    ('<svg role="img" aria-label="Nothing, on white." viewBox="0 0 144 72">', True)
    """
    import matplotlib

    buffer = io.StringIO()
    settings: Any = {"svg.hashsalt": f"gradlab {name}", "svg.fonttype": "path"}
    with drawing, matplotlib.rc_context(settings):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    inner = _LEFT_OUT.sub("", text[text.index(">", text.index("<svg")) + 1 :])
    inner = numbered(_DIGITS.sub(r"\1", " ".join(inner.split())))
    inner = _COLOR.sub(_both_themes(Palette(dark)), _NAMED.sub(f"{name}-", inner))
    box = " ".join(f"{72 * inches:g}" for inches in (0, 0, *figure.get_size_inches()))
    return f'<svg role="img" aria-label="{escape(alt)}" viewBox="{box}">{inner}'


def numbered(svg: str) -> str:
    """Name clips by their order, and leave out those that are there already: the same picture has the same bytes.

    >>> numbered('<clipPath id="p81f"><r/></clipPath><clipPath id="p9ac"><r/></clipPath><g clip-path="url(#p9ac)"/>')
    '<clipPath id="clip0"><r/></clipPath><g clip-path="url(#clip0)"/>'
    """
    names: dict[str, str] = {}
    for found in list(_CLIP.finditer(svg)):
        whole, clip, inside = found[0], found[1], found[2]
        if inside in names:
            svg = svg.replace(whole, "")
        svg = svg.replace(clip, names.setdefault(inside, f"clip{len(names)}"))
    return svg


def _both_themes(palette: Palette) -> Any:
    """A placeholder of a color: its light and its dark form, between which the page chooses."""

    def both(found: re.Match[str]) -> str:
        light = found[0]
        red, green, blue = (int(light[k : k + 2], 16) / 255 for k in (1, 3, 5))
        dark = palette.word(color((red, green, blue)))
        return f"light-dark({light},#{dark & 255:02x}{dark >> 8 & 255:02x}{dark >> 16 & 255:02x})"

    return both

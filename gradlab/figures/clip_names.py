"""Names of clips in SVGs: matplotlib makes them of unrounded numbers, whose last bits depend on what ran before."""

from __future__ import annotations

import re

_CLIP = re.compile(r'<clipPath id="([^"]+)">(.*?)</clipPath>', re.DOTALL)


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

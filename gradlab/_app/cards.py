"""The page that leads to all labs: a card with a picture for each, under the notebook that it
belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from .._base import notebooks
from .._base.numbers import counted
from ..live.description import thumbnail

if TYPE_CHECKING:
    from ..labs import Lab

SIZE = 600, 360  # pixels of a picture, twice those of the page

# Where a notebook's Markdown may bring no style, the page is a list with pictures.
STYLE = Path(__file__).with_name("cards.css")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def page(labs: Mapping[str, Callable[[], Lab]], address_of: Callable[[str], str]) -> str:
    """Give the page as the Markdown of one cell.

    Args:
        labs: by name.
        address_of: the address of a notebook of the course by its file name; empty where it is on
            no page.
    """
    groups: dict[str, list[str]] = {}
    for name in labs:
        first, *_ = [*notebooks.find_with_lab(name), ""]
        groups.setdefault(first, []).append(name)
    style, about = STYLE.read_text("utf-8"), "See what happens to a gradient before it is applied."
    parts = [f"<style>\n{style}</style>", "", "# The labs of gradlab", "", about]
    for introduction in notebooks.introductions():
        if names := groups.pop(introduction.file, []):
            parts += ["", *_group(introduction, {name: labs[name] for name in names}, address_of)]
    if rest := [name for names in groups.values() for name in names]:
        parts += ["", "## More labs", "", *_cards({name: labs[name] for name in rest}, {})]
    return "\n".join(parts)


def _group(
    introduction: notebooks.Introduction,
    labs: Mapping[str, Callable[[], Lab]],
    address_of: Callable[[str], str],
) -> Iterator[str]:
    takes = f" ({counted(introduction.minutes, 'minute')})" if introduction.minutes else ""
    yield f"## {introduction.title}"
    yield ""
    address = address_of(introduction.file)
    notebook = f"[Its notebook]({address})" if address else f"Its notebook `{introduction.file}`"
    yield f"{notebook}{takes}{_aims(introduction.aims)}"
    yield ""
    yield from _cards(labs, notebooks.pictures(introduction.file))


def _aims(aims: Iterable[str]) -> str:
    """The aims as words alone, because their links lead to what is beside the notebook, not beside
    this page.
    """
    said = _LINK.sub(r"\1", "; ".join(aims))
    return f" teaches you to {said}." if said else ""


def _cards(labs: Mapping[str, Callable[[], Lab]], pictures: Mapping[str, bytes]) -> Iterator[str]:
    """An HTML block, which in Markdown ends with the first empty line."""
    from ..labs import about

    yield '<ul class="gl-cards">'
    for name, make in labs.items():
        lab = make()
        picture = thumbnail(pictures.get(lab.label) or lab.live.png(), SIZE)
        yield (
            f'<li><a href="{name}.ipynb"><img alt="" src="{picture}"><b>{escape(lab.label)}</b></a>'
            f"<p>{escape(about(make))}</p></li>"
        )
    yield "</ul>"

"""Parts of sections: paragraphs, tables, pictures, and labs that move in the page without a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .._base.html import html_table
from ..live.drawing.style import DARK
from ..live.page import part
from ..live.svg import inline_svg

MOST_BYTES = 1_000_000  # of one lab
OPEN_ROWS = 20  # of a table; what is beyond them waits under a summary


@dataclass(frozen=True)
class Section:
    """A part of the page: what links call it, its heading, the sentence with the key number, what
    makes the rest.

    `is_question`: it is about training that didn't happen, so it isn't among the headlines.
    """

    key: str
    title: str
    sentence: str
    body: Callable[[], str] = str
    is_question: bool = False

    def html(self) -> str:
        """Give it as an element."""
        return (
            f'<section id="{self.key}" aria-labelledby="{self.key}-title">\n<h2 '
            f'id="{self.key}-title">{escape(self.title)}</h2>\n<p '
            f'class="key">{escape(self.sentence)}</p>\n{self.body()}\n</section>'
        )


def paragraph(text: str) -> str:
    """Give plain text as a paragraph."""
    return f"<p>{escape(text)}</p>"


def picture(key: str, draw: Callable[[bool], Any], alt: str) -> str:
    """Give a figure for wide pages and one for narrow ones, of which a page shows the one that
    fits.
    """
    shapes = (("wide", False), ("narrow", True))
    return "".join(
        f'<div class="picture {shape}">{inline_svg(draw(narrow), alt, f"{key}-{shape}", DARK)}</div>\n'
        for shape, narrow in shapes
    )


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Give a table under a summary; the rows beyond the first 20 are under one more."""
    first = _table(caption, head, rows[:OPEN_ROWS])
    rest = rows[OPEN_ROWS:]
    more = (
        _details(f"{len(rest)} more", _table(f"{caption}, continued", head, rest)) if rest else ""
    )
    return _details(caption, first + more)


def moving(lab: Any, states: int, within: dict[str, tuple[float, float]] | None = None) -> str:
    """Give the lab as a part of the page, at most so many states of it; of none its picture and its
    values.
    """
    if not states:
        return _still(lab)
    try:
        return part(lab.live, states, MOST_BYTES, within).html
    finally:
        lab.close()


def _still(lab: Any) -> str:
    """The lab as a picture and its values."""

    def draw(narrow: bool) -> Any:
        view = lab.make_view()
        if hasattr(view, "arrange"):
            view.arrange(narrow)
        lab.draw(view, lab.compute(lab.params))
        for artist in view.figure.findobj():
            artist.set_animated(False)
        return view.figure

    words = lab.description
    return (
        picture(lab.function, draw, words.alt)
        + paragraph(words.summary)
        + table("Values", ("", ""), words.table)
    )


def _details(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{body}</details>\n"


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f'<div class="table">{html_table(caption, head, rows, shows_caption=False)}</div>\n'

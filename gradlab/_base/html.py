"""Tables of words for notebooks and pages."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], shows_caption: bool = True
) -> str:
    """A table whose headers say which row or column they head; where it is too wide, the keys
    scroll it.

    Where a heading shows what the caption says, the caption is for screen readers only.

    >>> html_table("Limits", ["what", "number"], [("lowest", 0)]).count("<th")
    4
    """

    def cell(x: Any, tag: str) -> str:
        return f"<{tag}>{html.escape(str(x))}</{tag.split()[0]}>"

    name = html.escape(caption)
    top = "".join(cell(x, 'th scope="col"') for x in head)
    lines = [
        "".join([cell(first, 'th scope="row"'), *(cell(x, "td") for x in rest)])
        for first, *rest in rows
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = f"<caption>{name}</caption>" if shows_caption else ""
    table = f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return (
        f'<div role="group" aria-label="{name}" tabindex="0" style="overflow-x: auto">{table}</div>'
    )


def text_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of words as text, its columns aligned, under its title.

    >>> print(text_table("Sizes", ("table", "rows"), [("users", "7")]))
    Sizes
      table  rows
      users  7
    """
    lines = [columns, *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns))]
    told = (
        "  ".join(w.ljust(n) for w, n in zip(line, widths, strict=True)).rstrip() for line in lines
    )
    return "\n".join([title, *(f"  {line}" for line in told)])

"""Tables as HTML and as text, for notebooks, pages and terminals."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], shows_caption: bool = True
) -> str:
    """Return an accessible HTML table: headers have a scope, and a wide table scrolls by keyboard.

    Without `shows_caption`, for a table below a heading, only screen readers get the caption.

    >>> html_table("Limits", ["what", "number"], [("lowest", 0)]).count("<th")
    4
    """

    def cell(x: Any, tag: str) -> str:
        return f"<{tag}>{html.escape(str(x))}</{tag.split()[0]}>"

    name = html.escape(caption)
    top = "".join(cell(x, 'th scope="col"') for x in head)
    body = ""
    for first, *rest in rows:
        header = cell(first, 'th scope="row"')
        cells = "".join(cell(x, "td") for x in rest)
        body += f"<tr>{header}{cells}</tr>"
    title = f"<caption>{name}</caption>" if shows_caption else ""
    table = f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return (
        f'<div role="group" aria-label="{name}" tabindex="0" style="overflow-x: auto">{table}</div>'
    )


def text_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text with aligned columns, under its title.

    >>> print(text_table("Sizes", ("table", "rows"), [("users", "7")]))
    Sizes
      table  rows
      users  7
    """
    cells = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [title]
    for row in cells:
        padded = [word.ljust(width) for word, width in zip(row, widths, strict=True)]
        lines.append("  " + "  ".join(padded).rstrip())
    return "\n".join(lines)

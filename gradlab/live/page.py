"""One HTML file that shows a LiveFigure without a kernel: the browser's half of the widget and many states recorded."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from .grid import MOST_STATES
from .saved import parts, script

if TYPE_CHECKING:
    from .figure import LiveFigure

MOST_BYTES = 3_000_000
FOLDER = Path(__file__).parent


def page_html(live: LiveFigure, code: str = "", most: int = MOST_STATES) -> str:
    """Give a page that needs neither kernel nor network, at most 3 MB if the figure itself allows that.

    Args:
        live: the figure, at the state in which the page opens; it is moved about, so let nobody else use it.
        code: the line of Python that shows the same.
        most: states that the page holds.
    """
    title, description = escape(live._label), escape(live.description.alt)
    for part in parts(live, most):
        page = Template((FOLDER / "page.html").read_text("utf-8")).substitute(
            title=title, description=description, figure=part, script=script(),
            code=f'<p id="code">In Python: <code>{escape(code)}</code></p>' if code else "",
            style=(FOLDER / "widget.css").read_text("utf-8"),
        )  # fmt: skip
        if len(page.encode()) <= MOST_BYTES:
            break
    return page

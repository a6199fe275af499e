"""Decks: notebooks whose labs are whole pages, which move without a kernel once
`nbconvert --to slides` has run.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from html import escape
from typing import Any

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_STATES = 60  # that a lab in a deck holds: enough to show, small enough for a projector's laptop
_FRAME = (
    '<iframe title="{title}" srcdoc="{page}" style="width:100%;height:640px;border:0" '
    'loading="lazy"></iframe>'
)


def moving(cells: list[dict[str, Any]]) -> None:
    """Run a notebook's cells here, and put the page of each lab in place of its picture."""
    from ..exercises import Prediction
    from ..labs import Lab
    from ..live.page import page_html

    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        shown = _run("".join(cell["source"]), space)
        # Which a kernel has to answer.
        if isinstance(shown, Lab) and not isinstance(shown, Prediction):
            page, _ = page_html(shown.live, shown.code(), _STATES)
            for output in cell["outputs"]:
                if "text/html" in output.get("data", {}):
                    output["data"]["text/html"] = _FRAME.format(
                        title=escape(shown.label), page=escape(page)
                    )
            shown.close()


def _run(source: str, space: dict[str, Any]) -> Any:
    """Run one cell; the value of its last line, as a notebook would show it."""
    body = ast.parse(_MAGIC.sub(r"\1pass", source)).body
    last = body[-1] if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ast.Module(body[:-1] if last else body, []), "<cell>", "exec"), space)
        return (
            None
            if last is None
            else eval(compile(ast.Expression(last.value), "<cell>", "eval"), space)
        )

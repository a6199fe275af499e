"""What Sphinx and Furo leave undone for readers with a keyboard or a screen reader."""

from __future__ import annotations

import re
from typing import Any

_SCROLLING = re.compile(r'(<pre|<div class="table-wrapper[^"]*")>')  # code and tables that are wider than a phone
_CAPTION = 'class="caption" role="heading"'
_SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
_LIST = {"<dl>": '<span class="sig-rows">', "</dl>": "</span>", "<dd>": '<span class="sig-row">', "</dd>": "</span>"}


def _finish(_app: Any, _page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    body = _SCROLLING.sub(r'\1 tabindex="0">', context.get("body", ""))
    context["body"] = _SIGNATURE.sub(lambda found: _without_list(found[0]), body)
    for name, text in context.items():
        if isinstance(text, str) and _CAPTION in text:
            context[name] = text.replace(_CAPTION, f'{_CAPTION} aria-level="2"')


def _without_list(signature: str) -> str:
    """A signature of several lines is a definition list that defines nothing."""
    return re.sub(r"</?d[ld]>", lambda tag: _LIST[tag[0]], signature)


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("html-page-context", _finish, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The navigation of source pages: resolved once for each depth of folders, because only addresses differ between pages.

None of these pages is in the navigation itself, and resolving it takes longer than everything else about such a page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_SOURCE = "_modules/"  # where sphinx.ext.viewcode writes its pages

_resolved: dict[Any, str] = {}


def _share(_app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    if page.startswith(_SOURCE):
        context["toctree"] = _once(context["toctree"], page.count("/"))


def _once(resolve: Callable[..., str], depth: int) -> Callable[..., str]:
    def toctree(**options: Any) -> str:
        key = depth, *sorted(options.items())
        if key not in _resolved:
            _resolved[key] = resolve(**options)
        return _resolved[key]

    return toctree


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx, for this build alone."""
    _resolved.clear()
    app.connect("html-page-context", _share, priority=100)  # before the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}

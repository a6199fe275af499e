"""The navigation, made of no more than it shows: the titles of pages, which lie in few levels.

Sphinx copies all sections and objects of all pages for each page, then drops them. For source pages, none of which is
in the navigation itself, it is resolved once for each depth of folders: only addresses differ between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sphinx.addnodes import toctree

_SOURCE = "_modules/"  # where sphinx.ext.viewcode writes its pages

_resolved: dict[Any, str] = {}
_titles: dict[str, Any] = {}


def _share(app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    resolve = _of_titles(context["toctree"], app.env)
    context["toctree"] = _once(resolve, page.count("/")) if page.startswith(_SOURCE) else resolve


def _of_titles(resolve: Callable[..., str], env: Any) -> Callable[..., str]:
    def shown(**options: Any) -> str:
        if not options.get("titles_only"):
            return resolve(**options)
        whole, env.tocs = env.tocs, _titles or _shorten(env.tocs)
        try:
            return resolve(**options)
        finally:
            env.tocs = whole

    return shown


def _shorten(contents: dict[str, Any]) -> dict[str, Any]:
    """Fill `_titles` with what is left of the contents of pages without sections: titles, and which pages lie below."""
    for page, whole in contents.items():
        _titles[page] = whole.deepcopy()
        for item in _titles[page].children:
            if len(item) > 1:
                item[1][:] = list(item.findall(toctree))
    return _titles


def _once(resolve: Callable[..., str], depth: int) -> Callable[..., str]:
    def shown(**options: Any) -> str:
        key = depth, *sorted(options.items())
        if key not in _resolved:
            _resolved[key] = resolve(**options)
        return _resolved[key]

    return shown


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx, for this build alone."""
    _resolved.clear()
    _titles.clear()
    app.connect("html-page-context", _share, priority=100)  # before the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""What a page tells of itself to search engines, to those who share it, and at its end to its readers."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from gradlab._base.addresses import BRANCH, on_github

_FIRST = re.compile(r"<p>(.*?)</p>")
_TAG = re.compile(r"<[^>]*>")
_SEARCH = re.compile(r"(Search\.setIndex\()(.*)(\))", re.DOTALL)
_SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
CARD = "cards/02_clipping.png"  # the picture of pages that have none of their own
_LONGEST = 200  # characters of a description that search engines and messengers show
# Where the text of a page is written; of others it is in docstrings, which each name's [source] shows.
_SOURCES = {
    "readme": "README.md", "install": "README.md", "index": "README.md", "cite": "CITATION.cff",
    "changelog": "gradlab/CHANGELOG.md", "contributing": ".github/CONTRIBUTING.md",
    "GLOSSARY": "notebooks/GLOSSARY.md", "TEACHING": "notebooks/TEACHING.md",
}  # fmt: skip


def source(page: str) -> str:
    """Give the file of the repository in which a page is written; nothing for one that is made from the code.

    >>> source("02_clipping"), source("guide/speed"), source("api/gradlab")
    ('notebooks/02_clipping.ipynb', 'notebooks/site/guide/speed.md', '')
    """
    if re.match(r"\d\d_", page):
        return f"notebooks/{page}.ipynb"
    return f"notebooks/site/{page}.md" if page.startswith("guide/") else _SOURCES.get(page, "")


def described(body: str) -> str:
    """Give the first words of a page, for those who have not opened it.

    >>> described("<h1>A</h1><p>Two <em>plain</em> words.</p>")
    'Two plain words.'
    """
    paragraphs = (unescape(_TAG.sub("", found[1])).strip() for found in _FIRST.finditer(body.replace("\n", " ")))
    text = next(filter(None, paragraphs), "")
    return text if len(text) <= _LONGEST else text[: text.rindex(" ", 0, _LONGEST)] + " …"


def _tell(app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    address, metadata = app.config.html_baseurl, context.get("meta") or {}
    context["description"] = metadata.get("description") or described(context.get("body") or "")
    context["repository"] = repository = on_github()
    path = source(page)
    # Services that show a picture ask for it by its whole address, which is known where there is a repository.
    context["picture"] = address + metadata.get("picture", CARD) if repository else ""
    context["edit"] = f"{repository}/edit/{BRANCH}/{path}" if repository and path else ""
    context["top"] = urlsplit(address).path


def _list_pages(app: Any, error: Exception | None) -> None:
    """Write what search engines ask for: the address of every page that is written, not made from source code."""
    if error:
        return
    (app.outdir / ".nojekyll").touch()  # GitHub Pages leaves folders out whose names begin with _ otherwise
    if not app.config.html_baseurl:
        return  # a sitemap holds whole addresses
    ElementTree.register_namespace("", _SITEMAPS)
    root = ElementTree.Element(f"{{{_SITEMAPS}}}urlset")
    for page in sorted(app.env.found_docs - {"404"}):
        place = ElementTree.SubElement(ElementTree.SubElement(root, f"{{{_SITEMAPS}}}url"), f"{{{_SITEMAPS}}}loc")
        place.text = f"{app.config.html_baseurl}{page}.html"
    ElementTree.ElementTree(root).write(app.outdir / "sitemap.xml", "utf-8", xml_declaration=True)
    (app.outdir / "robots.txt").write_text(f"User-agent: *\nSitemap: {app.config.html_baseurl}sitemap.xml\n", "utf-8")


def _lighten_search(app: Any, error: Exception | None) -> None:
    """Leave the entries of the index by letter out of the search: they are the names of objects once more."""
    if error:
        return
    path = app.outdir / "searchindex.js"
    opening, body, closing = _SEARCH.fullmatch(path.read_text("utf-8")).groups()
    found = json.loads(body) | {"indexentries": {}}
    path.write_text(f"{opening}{json.dumps(found, separators=(',', ':'), ensure_ascii=False)}{closing}", "utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("html-page-context", _tell, priority=950)  # when the text is as it will be
    app.connect("build-finished", _list_pages)
    app.connect("build-finished", _lighten_search)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

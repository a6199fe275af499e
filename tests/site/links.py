"""The links of a built site: what its pages load, and which links within it lead nowhere.

Sphinx checks the links that it makes itself. Cards, buttons and labs are HTML of our own, which it
doesn't read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gradlab._base.addresses import LITE

ADDRESSES = {
    "a": "href",
    "link": "href",
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
    "div": "data-page",
}
LOADING = ADDRESSES.keys() - {"a"}


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, the places in it, and its pictures that say nothing.

    >>> page = Page()
    >>> page.feed('<h1 id="top">x</h1><a href="b.html#c">b</a><img src="p.png">')
    >>> page.links, page.loaded, page.anchors, page.silent
    (['b.html#c', 'p.png'], ['p.png'], {'', 'top'}, ['p.png'])
    """

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=lambda: {""})
    silent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {given[name] or "" for name in ("id", "name") if name in given}
        if address := given.get(ADDRESSES.get(tag, "")):
            self.links.append(address)
            if tag in LOADING and given.get("rel") not in ("canonical", "next", "prev"):
                self.loaded.append(address)
            if tag == "img" and not (given.get("alt") or "").strip():
                self.silent.append(address[:80])


def read(site: Path) -> dict[Path, Page]:
    """Read all pages of a built site; JupyterLab's own, which are scripts, are not read."""
    pages = {}
    for path in (
        path for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] != LITE
    ):
        pages[path.resolve()] = page = Page()
        page.feed(path.read_text("utf-8"))
    return pages


def is_external(address: str) -> bool:
    """Whether an address names another host.

    >>> [is_external(a) for a in ("https://a.org", "//a.org/x", "b.html#c", "data:,")]
    [True, True, False, False]
    """
    return bool(urlsplit(address).netloc)


def broken(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield the links within the site that lead nowhere."""
    for path, page in pages.items():
        for address in page.links:
            parts = urlsplit(address)
            if parts.netloc or parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.name}: {address}: there is no such file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.name}: {address}: the page has no such place"

"""Do the links of a built site lead somewhere?

python -m notebooks.site.links OUT            lists links to other hosts; broken ones within the site are an error
python -m notebooks.site.links OUT --fetch    asks the other hosts, too
"""

from __future__ import annotations

import argparse
import sys
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

_GIVES = {
    "a": "href",
    "link": "href",
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
    "div": "data-page",
}
_LOADS = _GIVES.keys() - {"a"}


LIVE = "lite/"  # where notebooks run in the browser; it is not built with every site, so links may lead there


def in_browser(notebook: str, cell: str = "") -> str:
    """The address, from the top of the site, at which a notebook runs in the browser, at one of its cells.

    >>> in_browser("02_clipping"), in_browser("02_clipping", "c7")
    ('lite/lab/index.html?path=02_clipping.ipynb', 'lite/lab/index.html?path=02_clipping.ipynb#cell-id=c7')
    """
    return f"{LIVE}lab/index.html?path={notebook}.ipynb{f'#cell-id={cell}' if cell else ''}"


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
        if address := given.get(_GIVES.get(tag, "")):
            self.links.append(address)
            if tag in _LOADS and given.get("rel") not in ("canonical", "next", "prev"):
                self.loaded.append(address)
            if tag == "img" and not (given.get("alt") or "").strip():
                self.silent.append(address[:80])


def read(site: Path) -> dict[Path, Page]:
    """Read all pages of a built site."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
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
            if parts.path.removeprefix("../").removeprefix("../").startswith(LIVE):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.name}: {address}: there is no such file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.name}: {address}: the page has no such place"


def external(pages: dict[Path, Page]) -> dict[str, list[str]]:
    """Give the links to other hosts, each with the pages that have it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, page in pages.items():
        for address in filter(is_external, page.links):
            found[urldefrag(address).url].append(path.name)
    return dict(sorted(found.items()))


def fetched(address: str) -> str:
    """Ask a host for an address; give what is wrong, or nothing."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=20):
            return ""
    except (urllib.error.URLError, OSError) as error:
        return str(error)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 1 if a link is broken."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.site.links", description="Check the links of a site.")
    parser.add_argument("site", type=Path, metavar="OUT", help="a folder that python -m notebooks.site wrote")
    parser.add_argument("--fetch", action="store_true", help="ask other hosts, too")
    options = parser.parse_args(arguments)
    pages = read(options.site)
    wrong, others = list(broken(pages)), external(pages)
    if options.fetch:
        with ThreadPoolExecutor(8) as pool:
            said = dict(zip(others, pool.map(fetched, others), strict=True))
        wrong += [f"{', '.join(sorted({*others[address]}))}: {address}: {why}" for address, why in said.items() if why]
    else:
        print(*others, sep="\n")
    print(*wrong, sep="\n", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

"""What Sphinx, its extensions and the theme leave to us, as handlers of Sphinx's events.

Docstrings: an indented block is a formula, and a name in backticks is found as it is written there, `gl.clip_by_norm`.
Pages: formulas without a script, code and tables that a keyboard scrolls, descriptions for search engines.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

from gradlab._base.addresses import BRANCH, on_github

from .api import modules

SECTION = re.compile(r"[A-Z]\w*:$")
# Code and tables that are wider than a phone.
SCROLLING = re.compile(r'(<pre|<div class="table-wrapper[^"]*")>')
CAPTION = 'class="caption" role="heading"'
SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
# A link from a source page back to the reference. viewcode gives every name of a file the module of
# the first one, although a file's names may be public in several modules.
BACKLINK = re.compile(r'(api/(gradlab(?:\.\w+)*)\.html#)([\w.]+)')
LIST_TAGS = {
    "<dl>": '<span class="sig-rows">',
    "</dl>": "</span>",
    "<dd>": '<span class="sig-row">',
    "</dd>": "</span>",
}

CARD = "cards/02_clipping.png"  # the picture of pages that have none of their own
LONGEST = 200  # characters of a description that search engines and messengers show
# Where the text of a page is written. Other pages come from docstrings, which each name's [source] shows.
SOURCES = {
    "readme": "README.md",
    "install": "README.md",
    "index": "README.md",
    "cite": "CITATION.cff",
    "changelog": "gradlab/CHANGELOG.md",
    "contributing": ".github/CONTRIBUTING.md",
    "GLOSSARY": "notebooks/GLOSSARY.md",
    "TEACHING": "notebooks/TEACHING.md",
}
navigations: dict[int, Any] = {}  # by depth, in this build alone


# Docstrings


def mark_formulas(_app: Any, what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Mark indented blocks as literal text: they are formulas. The items of a section are none.

    >>> lines = ["Half of x.", "", "    y = x / 2", "", "Args:", "    x: a number."]
    >>> mark_formulas(None, "", "", None, None, lines)
    >>> lines
    ['Half of x.', '', '.. code-block:: text', '', '    y = x / 2', '', 'Args:', '    x: a number.']
    """
    # In the first line of a property napoleon takes what stands before a colon for a type; this one is a comment.
    marked = ["..", ""] if what == "property" else []
    is_item = False
    for line in lines:
        if line and not line.startswith(" "):
            is_item = bool(SECTION.match(line))
        elif line and not is_item and marked and not marked[-1]:
            marked += [".. code-block:: text", ""]
            is_item = True  # until the next line that is not indented
        marked.append(line)
    lines[:] = marked


def find_name(app: Any, env: Any, node: Any, shown: Any) -> Any:
    """Find a public name as docstrings write it: `gl.clip_by_norm`, or a name of a module around theirs."""
    if node.get("reftype") != "obj":
        return None
    name = node["reftarget"].removesuffix("()").removeprefix("gl.").removeprefix("gradlab.")
    place = node.get("py:module") or ""
    python = env.get_domain("py")
    while place:
        if f"{place}.{name}" in python.objects:
            return python.resolve_xref(env, node["refdoc"], app.builder, "obj", f"{place}.{name}", node, shown)
        place = place.rpartition(".")[0]
    return None


# Pages


def write_inline_math(writer: Any, node: Any) -> None:
    """Write a formula as MathML, which every browser sets without a script, a font or another host."""
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def write_block_math(writer: Any, node: Any) -> None:
    """Write a formula that stands alone, where a keyboard can scroll it."""
    writer.body.append(f'<div class="math" tabindex="0">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def share_navigation(_app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Resolve the navigation of source pages once for each depth of folders: only addresses differ between them.

    There are more of them than of all other pages, none of them is in the navigation, and to resolve it for each takes
    as long as everything else.
    """
    if page.startswith("_modules/"):  # where viewcode writes them
        context["toctree"] = navigations.setdefault(page.count("/"), cache(context["toctree"]))


def mend_backlinks(_app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Lead each name of a source page to its entry on the page of its own module."""
    if page.startswith("_modules/"):
        context["body"] = BACKLINK.sub(own_entry, context.get("body", ""))


def own_entry(link: re.Match[str]) -> str:
    """Return the link with the module of its page in front of the name.

    >>> own_entry(BACKLINK.match("api/gradlab.train.html#gradlab.create_global_step"))
    'api/gradlab.train.html#gradlab.train.create_global_step'
    """
    start, module, name = link.groups()
    wrong = max((m for m in modules() if name.startswith(f"{m}.")), key=len)
    return f"{start}{module}.{name.removeprefix(wrong + '.')}"


def make_accessible(_app: Any, _page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Mend what a keyboard or a screen reader trips over."""
    body = SCROLLING.sub(r'\1 tabindex="0">', context.get("body", ""))
    # A signature of several lines is a definition list that defines nothing.
    context["body"] = SIGNATURE.sub(
        lambda signature: re.sub(r"</?d[ld]>", lambda tag: LIST_TAGS[tag[0]], signature[0]), body
    )
    for name, text in context.items():
        if isinstance(text, str) and CAPTION in text:
            context[name] = text.replace(CAPTION, f'{CAPTION} aria-level="2"')


def describe_page(app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Give the template a page's description and picture, its place in the repository, and the site's folder."""
    metadata = context.get("meta") or {}
    repository = on_github()
    source = source_of(page)
    context["description"] = metadata.get("description") or first_words(context.get("body") or "")
    context["repository"] = repository
    # Services that show a picture ask for it by its whole address, which is known where there is a repository.
    context["picture"] = app.config.html_baseurl + metadata.get("picture", CARD) if repository else ""
    context["edit"] = f"{repository}/edit/{BRANCH}/{source}" if repository and source else ""
    context["top"] = urlsplit(app.config.html_baseurl).path


def source_of(page: str) -> str:
    """Return the file of the repository in which a page is written; nothing for one that is made from the code.

    >>> source_of("02_clipping"), source_of("guide/speed"), source_of("api/gradlab")
    ('notebooks/02_clipping.ipynb', 'notebooks/site/guide/speed.md', '')
    """
    if re.match(r"\d\d_", page):
        return f"notebooks/{page}.ipynb"
    if page.startswith("guide/"):
        return f"notebooks/site/{page}.md"
    return SOURCES.get(page, "")


def first_words(body: str) -> str:
    """Return the first words of a page.

    >>> first_words("<h1>A</h1><p>Two <em>plain</em> words.</p>")
    'Two plain words.'
    """
    for paragraph in re.findall(r"<p>(.*?)</p>", body.replace("\n", " ")):
        text = unescape(re.sub("<[^>]*>", "", paragraph)).strip()
        if text:
            return text if len(text) <= LONGEST else text[: text.rindex(" ", 0, LONGEST)] + " …"
    return ""


def list_pages(app: Any, error: Exception | None) -> None:
    """Write for search engines the addresses of all pages but those of source code."""
    base = app.config.html_baseurl
    if error or not base:
        return  # a sitemap holds whole addresses
    places = "".join(f"<url><loc>{base}{page}.html</loc></url>" for page in sorted(app.env.found_docs - {"404"}))
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    (app.outdir / "sitemap.xml").write_text(sitemap, "utf-8")
    (app.outdir / "robots.txt").write_text(f"User-agent: *\nSitemap: {base}sitemap.xml\n", "utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(write_inline_math, None), block_renderers=(write_block_math, None)
    )
    app.connect("autodoc-process-docstring", mark_formulas, priority=400)  # before napoleon
    app.connect("missing-reference", find_name)
    navigations.clear()
    app.connect("html-page-context", share_navigation, priority=100)  # before the theme
    app.connect("html-page-context", mend_backlinks)
    app.connect("html-page-context", make_accessible, priority=900)  # after the theme
    app.connect("html-page-context", describe_page, priority=950)  # when the text is as it will be
    app.connect("build-finished", list_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The first page, with the notebooks as cards; installation, citation, and what is said of no page."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from gradlab._base.addresses import BRANCH, on_binder
from gradlab._base.atomic_files import replaced

from .pages import Notebook, plain

_OPENING = re.compile(r"# gradlab\n(.*?)^## ", re.DOTALL | re.MULTILINE)
_INSTALLING = re.compile(r"^## Two commands\n(.*?)^## ", re.DOTALL | re.MULTILINE)
_BADGES = re.compile(r"^\[!\[.*\n", re.MULTILINE)

_PAGE = """\
# gradlab

{opening}

```{{raw}} html
<nav class="launch" aria-label="Begin">
<a href="{start}.html">Begin the course</a>{launch}</nav>
```

## The course

```{{raw}} html
<div class="cards">{cards}</div>
```

For teachers: [cuts of the course, wrong answers to expect, slides, and grading](TEACHING.md).
The terms of the course: [glossary](GLOSSARY.md).

## The library

- [Installation](install.md): two commands{or_binder}
- [All labs](lab/index.md), each on a page of its own
- [README](readme.md): a tour of the library, your own run
- Guides: {guides}
- [Reference](api/index.rst): every public name, from its docstring; the same {{ref}}`by letter <genindex>`

```{{toctree}}
:hidden:
:caption: Course

{course}
lab/index
GLOSSARY
TEACHING
```

```{{toctree}}
:hidden:
:caption: Library

install
readme
{guide_pages}
api/index
contributing
changelog
cite
```
"""
_INSTALL = """\
# Installation

{binder}{commands}"""
_CITE = """\
# Citation

If gradlab helps your work or your teaching, please cite it:

```bibtex
@software{{gradlab,
  author = {{{{{author}}}}},
  title = {{{{{title}}}}},
  version = {{{version}}},
{url}  license = {{{license}}}
}}
```

The same as {file}, which citation managers read.
"""
NOT_FOUND = """\
---
orphan: true
nosearch: true
---
# No such page

The page you asked for is not here, or no longer. [The first page](index.md) leads to the course, to all labs, and to
the reference; the <a href="search.html">search</a> finds every public name.
"""


def front_page(readme: str, notebooks: Sequence[Notebook], guides: Sequence[Path]) -> str:
    """Give the page in Markdown."""
    found = _OPENING.search(readme)
    if not found:
        raise ValueError("README.md has to open with '# gradlab' and to go on with a section")
    start = notebooks[0]
    binder = on_binder(start.path.name)
    return _PAGE.format(
        opening=_here(_BADGES.sub("", found[1], count=1).strip()), start=start.name,
        launch=f'<a href="{binder}">Open on Binder</a>' if binder else "",
        or_binder=f"; or [Binder]({binder}), where nothing is installed" if binder else "",
        cards="".join(map(_card, notebooks)), course="\n".join(notebook.name for notebook in notebooks),
        guides=", ".join(f"[{_title(guide)}](guide/{guide.name})" for guide in guides),
        guide_pages="\n".join(f"guide/{guide.stem}" for guide in guides),
    )  # fmt: skip


def install_page(readme: str) -> str:
    """Give the README's two commands as a page."""
    found = _INSTALLING.search(readme)
    if not found:
        raise ValueError("README.md has to have a section '## Two commands' that another one follows")
    binder = on_binder("00_start_here.ipynb")
    if binder:
        course = f"[open the course on Binder]({binder})"
        binder = f"Nothing to install: {course}; it starts in some minutes. On your own machine:\n"
    return _INSTALL.format(binder=binder, commands=_here(found[1]))


def cite_page(citation: str) -> str:
    """Give CITATION.cff as a page."""
    fields = dict(re.findall(r'^(?:  - )?([a-z-]+): "?([^"\n]+)"?$', citation, re.MULTILINE))
    address = fields.get("repository-code")  # there is none until the repository is set
    return _CITE.format(
        author=fields["name"],
        title=fields["title"],
        version=fields["version"],
        license=fields["license"],
        url=f"  url = {{{address}}},\n" if address else "",
        file=f"[CITATION.cff]({address}/blob/{BRANCH}/CITATION.cff)" if address else "`CITATION.cff`",
    )


def readme_page(readme: str) -> str:
    """Give the README as a page: a title of its own, pictures from beside it."""
    body = readme.partition("\n")[2]
    return "# README\n" + _here(body)


def guide_page(guide: Path) -> str:
    """Give a guide as a page in a folder of guides."""
    return plain(guide.read_text("utf-8").replace("](../../pictures/", "](../pictures/"))


def _title(guide: Path) -> str:
    return guide.read_text("utf-8").partition("\n")[0].lstrip("# ")


# Where files of the repository are in the site; the longest beginning first.
_MOVED = {
    "notebooks/site/": "", "notebooks/": "", ".github/CONTRIBUTING.md": "contributing.md",
    "gradlab/CHANGELOG.md": "changelog.md", "LICENSE": "LICENSE.txt", "NOTICE": "NOTICE.txt",
}  # fmt: skip


def _here(text: str) -> str:
    """Markdown of the README as it is written beside the pictures."""
    for there, here in _MOVED.items():
        text = text.replace(f"]({there}", f"]({here}")
    return plain(text)


def pictures(notebooks: Sequence[Notebook], folder: Path) -> None:
    """Write the pictures of the cards."""
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in notebooks:
        if found := notebook.picture():
            with replaced(folder / f"{notebook.name}.png") as part:
                part.write_bytes(b64decode(found[1]))


def _card(notebook: Notebook) -> str:
    found = notebook.picture()
    picture = f'<img src="cards/{notebook.name}.png" alt="{found[0]}" loading="lazy">' if found else ""
    time = f"<p><small>{notebook.time}</small></p>" if notebook.time else ""
    return (
        f'<article>{picture}<h3><a href="{notebook.name}.html">{escape(notebook.title)}</a></h3>'
        f"{time}<p>{escape(notebook.about)}</p></article>"
    )

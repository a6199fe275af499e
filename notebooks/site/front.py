"""The first page: what the README opens with, the notebooks as cards, and the way to everything else."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from .pages import Notebook, plain

_OPENING_ENDS = "## Two commands"


def front_page(readme: str, notebooks: Sequence[Notebook]) -> str:
    """Give the page in Markdown."""
    opening = readme.partition(_OPENING_ENDS)[0].strip()
    cards = "".join(map(_card, notebooks))
    course = "\n".join(notebook.name for notebook in notebooks)
    return plain(
        f"{opening}\n\n## The course\n\n```{{raw}} html\n<div class='cards'>{cards}</div>\n```\n\n"
        "## Everything else\n\n- [README](readme.md): installation, a tour of the library, the map of the code, proof "
        "and speed\n- [Reference](api/index.rst): every public name\n- {ref}`genindex`\n\n"
        f"```{{toctree}}\n:hidden:\n:caption: Course\n\n{course}\n```\n\n"
        "```{toctree}\n:hidden:\n:caption: Library\n\nreadme\napi/index\n```\n"
    ).replace("](notebooks/pictures/", "](pictures/")


def readme_page(readme: str) -> str:
    """Give the README as a page: a title of its own, pictures from beside it."""
    body = readme.partition("\n")[2]
    return "# README\n" + plain(body).replace("](notebooks/pictures/", "](pictures/")


def pictures(notebooks: Sequence[Notebook], folder: Path) -> None:
    """Write the pictures of the cards."""
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in notebooks:
        if found := notebook.picture():
            (folder / f"{notebook.name}.png").write_bytes(b64decode(found[1]))


def _card(notebook: Notebook) -> str:
    found = notebook.picture()
    picture = f'<img src="cards/{notebook.name}.png" alt="{found[0]}" loading="lazy">' if found else ""
    time = f"<p><small>{notebook.time}</small></p>" if notebook.time else ""
    return (
        f'<article>{picture}<h3><a href="{notebook.name}.html">{escape(notebook.title)}</a></h3>'
        f"{time}<p>{escape(notebook.about)}</p></article>"
    )

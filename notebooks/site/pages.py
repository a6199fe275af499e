"""Everything that Sphinx reads: notebooks with their labs and questions, pages made from templates in `sources/`."""

from __future__ import annotations

import copy
import inspect
import json
import re
import shutil
from base64 import b64decode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import gradlab as gl
from gradlab._base.addresses import BRANCH, in_browser, on_binder, on_colab

from . import api, asked
from .shown import Shown

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "sources"), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
)
# Where files of the repository are in the site; the longest beginning first.
MOVED = {
    "notebooks/site/": "",
    "notebooks/": "",
    ".github/CONTRIBUTING.md": "contributing.md",
    "gradlab/CHANGELOG.md": "changelog.md",
    "LICENSE": "LICENSE.txt",
    "NOTICE": "NOTICE.txt",
}
REMOTE_IMAGE = re.compile(r"!\[([^\]]*)\]\(https?://[^)]*\)")
TARGET = re.compile(r"^.*\*\*Target\.\*\*.*$", re.MULTILINE)
LAUNCH_LINKS = re.compile(r"\n\n\[Open on Binder\][^\n]*$")
PICTURE = re.compile(r'<img alt="([^"]*)"[^>]*src="data:image/png;base64,([^"]*)"')


class Picture(NamedTuple):
    """A picture in a notebook: its alternative text and the PNG in base 64."""

    alt: str
    png: str


@dataclass(frozen=True)
class Notebook:
    """A saved notebook."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def content(self) -> dict[str, Any]:
        """The notebook as it is saved, each text in one piece."""
        content: dict[str, Any] = json.loads(self.path.read_text("utf-8"))
        for cell in content["cells"]:
            cell["source"] = "".join(cell["source"])
        return content

    @property
    def cells(self) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = self.content["cells"]
        return cells

    @property
    def texts(self) -> list[str]:
        return [cell["source"] for cell in self.cells if cell["cell_type"] == "markdown"]

    @property
    def title(self) -> str:
        return self.texts[0].partition("\n")[0].lstrip("# ")

    @property
    def about(self) -> str:
        """How it begins, after the title: a few plain sentences."""
        return opening(self.texts[0].split("\n\n")[1])

    @property
    def time(self) -> str:
        """How long it takes, as it says itself."""
        found = re.search(r"\*\*Time:?\*\*:? *(\d+(?: to \d+)? minutes)", "".join(self.texts))
        return found[1] if found else ""

    @cached_property
    def picture(self) -> Picture | None:
        """The richest picture: the one whose PNG is the largest."""
        pictures = (Picture(*found) for cell in self.cells for found in PICTURE.findall(html_of(cell)))
        return max(pictures, key=lambda picture: len(picture.png), default=None)

    def page(self, labs: Mapping[int, str], reached: Collection[int] = ()) -> dict[str, Any]:
        """Return the notebook as its page shows it.

        Args:
            labs: addresses of the pages on which labs move, by the cells that show them.
            reached: cells whose target a reader can reach on that page.
        """
        page = copy.deepcopy(self.content)
        page["metadata"]["picture"] = f"cards/{self.name}.png"
        text = page["cells"][0]
        title, _, rest = text["source"].partition("\n")
        # The buttons lead to the same places as the links below the opening.
        buttons = f"```{{raw}} html\n{launchers(self.path.name)}\n```"
        text["source"] = f"{title}\n\n{buttons}\n\n{LAUNCH_LINKS.sub('', rest)}"
        for number, cell in enumerate(page["cells"]):
            if cell["cell_type"] == "markdown":
                text = cell
                text["source"] = plain(text["source"])
                continue
            way, name = asked.asked(cell["source"])
            if way in ("choose", "predict"):
                cell["outputs"] = [output(asked.element(way, name, html_of(cell)))]
            elif way == "check" and cell["outputs"]:
                here = in_browser(self.path.name, cell["id"])
                cell["outputs"].append(output(f'<p><a href="{here}">Write your answer in this browser</a></p>'))
            elif number in labs:
                cell["outputs"] = [output(lab_figure(cell, labs[number]))]
            if "target=" in cell["source"] and not (number in labs and number in reached):
                link = f'<a href="{in_browser(self.path.name)}">Run it in this browser.</a>'
                text["source"] = TARGET.sub(rf"\g<0> {link}", text["source"])
        return page


def opening(paragraph: str, enough: int = 100) -> str:
    """Return the first sentences of a paragraph in Markdown, without its signs.

    >>> opening("A *reader* of [lines](a.ipynb)\\nreads. It learns.", enough=10)
    'A reader of lines reads.'
    """
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", paragraph.replace("\n", " "))
    end = re.compile(r"[.?!](?= |$)").search(words, enough if len(words) > enough else 0)
    return words[: end.end()] if end else words


def plain(text: str) -> str:
    """Return Markdown that runs no cells and loads no badges: the words of a badge say the same.

    >>> plain("[![Open it](https://example.org/badge.svg)][binder]. Run the cell and press a button.")
    '[Open it][binder]. Press a button.'
    """
    return REMOTE_IMAGE.sub(r"\1", text.replace("Run the cell and press", "Press"))


def at_top(text: str) -> str:
    """Return Markdown of the README as it is written at the top of the site."""
    for there, here in MOVED.items():
        text = text.replace(f"]({there}", f"]({here}")
    return plain(text)


def html_of(cell: Mapping[str, Any]) -> str:
    """Return what a cell shows as HTML."""
    outputs = (found.get("data", {}) for found in cell.get("outputs", ()))
    return "".join("".join(data.get("text/html", "")) for data in outputs)


def output(html: str) -> dict[str, Any]:
    """Return an output of a cell that shows some HTML."""
    return {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}


def lab_figure(cell: Mapping[str, Any], address: str | None) -> str:
    """Return what a cell shows; the page at the address takes its place when a reader comes near."""
    moves = f' data-page="{address}"' if address else ""
    return f'<div class="lab"{moves}><div class="output">{html_of(cell)}</div></div>'


def launchers(name: str) -> str:
    """Return the buttons above a notebook."""
    places = {
        "Run in this browser": in_browser(name),
        "Open on Binder": on_binder(name),
        "Open on Colab": on_colab(name),
        "Download": f"notebooks/{name}",
    }
    links = "".join(f'<a href="{escape(address)}">{words}</a>' for words, address in places.items() if address)
    return f'<nav class="launch" aria-label="This notebook elsewhere">{links}</nav>'


def fill(template: str, path: Path, **values: Any) -> None:
    """Write a page from a template."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(TEMPLATES.get_template(template).render(values), "utf-8")


def write(
    folder: Path,
    shown: Mapping[Notebook, Sequence[Shown]],
    addresses: Mapping[Notebook, Mapping[int, str]],
    reached: Mapping[Notebook, Collection[int]],
) -> None:
    """Write all pages.

    Args:
        folder: that Sphinx reads.
        shown: the labs of each notebook.
        addresses: of the pages on which labs move, by cells.
        reached: cells whose target is reached there.
    """
    folder.mkdir()
    for notebook in shown:
        page = notebook.page(addresses[notebook], reached[notebook])
        (folder / notebook.path.name).write_text(json.dumps(page), "utf-8")
    write_texts(folder, list(shown))
    write_labs(folder / "lab", shown, addresses)
    write_reference(folder / "api")


def write_texts(folder: Path, notebooks: Sequence[Notebook], top: Path = ROOT) -> None:
    """Write the first pages, and what is written elsewhere in a checkout whose top is `top`."""
    readme = (top / "README.md").read_text("utf-8")
    first, *sections = readme.partition("\n")[2].split("\n## ")
    install = next(text.partition("\n")[2] for text in sections if text.startswith("Two commands\n"))
    citation = yaml.safe_load((top / "CITATION.cff").read_text("utf-8"))
    binder = on_binder(notebooks[0].path.name)
    guides = sorted((HERE / "guide").glob("*.md"))
    (folder / "guide").mkdir()
    for path in guides:
        text = path.read_text("utf-8").replace("](../../pictures/", "](../pictures/")
        (folder / "guide" / path.name).write_text(plain(text), "utf-8")
    badge = re.compile(r"^\[!\[.*\n", re.MULTILINE)
    first = badge.sub("", first, count=1).strip()
    fill("index.md", folder / "index.md", opening=at_top(first), notebooks=notebooks, guides=guides, binder=binder)
    fill("install.md", folder / "install.md", commands=at_top(install), binder=binder)
    fill("cite.md", folder / "cite.md", citation=citation, repository=citation.get("repository-code"), branch=BRANCH)
    fill("404.md", folder / "404.md")
    (folder / "readme.md").write_text("# README\n" + at_top(readme.partition("\n")[2]), "utf-8")
    contributing = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    (folder / "contributing.md").write_text(contributing.replace("](../notebooks/site/", "]("), "utf-8")
    for path in sorted(HERE.parent.glob("*.md")):
        (folder / path.name).write_text(plain(path.read_text("utf-8")), "utf-8")
    shutil.copy(ROOT / "gradlab" / "CHANGELOG.md", folder / "changelog.md")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder / f"{name}.txt")
    shutil.copytree(HERE.parent / "pictures", folder / "pictures")


def write_labs(
    folder: Path, shown: Mapping[Notebook, Sequence[Shown]], addresses: Mapping[Notebook, Mapping[int, str]]
) -> None:
    """Write a page for each lab, as the course shows it first, and their list."""
    catalog = gl.labs.catalog()
    labels = {name: make().label for name, make in catalog.items()}
    glances = {name: gl.labs.glance(make) for name, make in catalog.items()}
    fill("labs.md", folder / "index.md", labels=labels, glances=glances)
    for name, make in catalog.items():
        label = labels[name]
        begins = f"{label}: "
        notebook, cell = next((n, one.cell) for n, labs in shown.items() for one in labs if one.said.startswith(begins))
        address = addresses[notebook].get(cell)
        figure = lab_figure(notebook.cells[cell], address and f"../{address}")
        about = gl.labs.about(make)
        texts = {"label": label, "glance": glances[name], "about": about}
        fill("lab.md", folder / f"{name}.md", name=name, notebook=notebook, figure=figure, **texts)


def write_reference(folder: Path) -> None:
    """Write a page for each public module, and their list."""
    modules = api.modules()
    summaries = {place: api.summary(module) for place, module in modules.items()}
    fill("modules.rst", folder / "index.rst", summaries=summaries)
    for place, module in modules.items():
        fill(
            "module.rst",
            folder / f"{place}.rst",
            place=place,
            contents=list(api.contents(module)),
            is_documented=api.is_documented,
            isclass=inspect.isclass,
            repr=repr,
        )


def write_cards(notebooks: Sequence[Notebook], folder: Path) -> None:
    """Write the pictures of the cards on the first page."""
    folder.mkdir()
    for notebook in notebooks:
        if notebook.picture:
            (folder / f"{notebook.name}.png").write_bytes(b64decode(notebook.picture.png))

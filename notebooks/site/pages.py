"""Notebooks and the README as Markdown pages: saved outputs stay, labs get the page that moves without a kernel."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from gradlab._base.addresses import in_browser, on_binder, on_colab

from . import asked

_TO_NOTEBOOK = re.compile(r"\]\((\w+)\.ipynb")
_TARGET = re.compile(r"^.*\*\*Target\.\*\*.*$", re.MULTILINE)
_REMOTE_IMAGE = re.compile(r"!\[([^\]]*)\]\(https?://[^)]*\)")  # a badge: its words say the same and ask nobody
_LINKS = re.compile(r"\n\n\[Open on Binder\][^\n]*$")
_PICTURE = re.compile(r'<img alt="([^"]*)"[^>]*src="data:image/png;base64,([^"]*)"')


@dataclass(frozen=True)
class Notebook:
    """A saved notebook."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def cells(self) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = json.loads(self.path.read_text("utf-8"))["cells"]
        return cells

    @property
    def title(self) -> str:
        return self._opening().partition("\n")[0].lstrip("# ")

    @property
    def about(self) -> str:
        """How it begins, after the title: a few plain sentences."""
        return opening(re.split(r"\n\s*\n", self._opening().partition("\n")[2].strip())[0])

    @property
    def time(self) -> str:
        """How long it takes, as it says itself."""
        found = re.search(r"\*\*Time:?\*\*:? *(\d+(?: to \d+)? minutes)", "".join(_texts(self.cells)))
        return found[1] if found else ""

    def picture(self) -> tuple[str, str] | None:
        """The richest picture among the outputs: its alternative text and the PNG in base 64."""
        outputs = (output for cell in self.cells for output in cell.get("outputs", ()))
        htmls = (_joined(output.get("data", {}).get("text/html")) for output in outputs)
        found = [(one[1], one[2]) for html in htmls for one in _PICTURE.finditer(html)]
        return max(found, key=lambda one: len(one[1]), default=None)

    def page(self, labs: Mapping[int, str], reached: Collection[int] = ()) -> str:
        """Give the page in Markdown; `labs` says which cells show a lab whose own page is at this address."""
        missed = self._missed(labs, reached)
        first, *rest = (
            _cell(self.name, missed.get(number, cell), labs.get(number)) for number, cell in enumerate(self.cells)
        )
        title, _, opening = first.partition("\n")
        opening = _LINKS.sub("", opening)  # the buttons above it lead there, too
        told = f"---\npicture: cards/{self.name}.png\n---"
        return "\n\n".join([told, title, _html(_launchers(self.path.name)), opening, *rest])

    def _missed(self, labs: Mapping[int, str], reached: Collection[int]) -> dict[int, dict[str, Any]]:
        """The texts before labs, with links at the targets that their pages cannot reach."""
        found, text = {}, 0
        for number, cell in enumerate(self.cells):
            if cell["cell_type"] != "code":
                text = number
            elif (number not in labs or number not in reached) and "target=" in _joined(cell["source"]):
                source = _joined(self.cells[text]["source"])
                found[text] = self.cells[text] | {"source": _TARGET.sub(lambda at: _live(self.name, at[0]), source)}
        return found

    def _opening(self) -> str:
        return next(_texts(self.cells), "")


def opening(paragraph: str, enough: int = 100) -> str:
    """The first sentences of a paragraph in Markdown, without its signs.

    >>> opening("A *reader* of [lines](a.ipynb)\\nreads. It learns.", enough=10)
    'A reader of lines reads.'
    """
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", paragraph.replace("\n", " "))
    end = re.compile(r"[.?!](?= |$)").search(words, enough if len(words) > enough else 0)
    return words[: end.end()] if end else words


def plain(text: str) -> str:
    """Markdown whose links to notebooks lead to their pages, whose pictures are all here, and that runs no cells.

    >>> plain("[next](02_clipping.ipynb#look) [![Open it](https://example.org/badge.svg)][binder]")
    '[next](02_clipping.md#look) [Open it][binder]'
    >>> plain("Run the cell and press a button.")
    'Press a button.'
    """
    text = text.replace("Run the cell and press", "Press")
    return _REMOTE_IMAGE.sub(r"\1", _TO_NOTEBOOK.sub(r"](\1.md", text))


def _texts(cells: list[dict[str, Any]]) -> Iterator[str]:
    return (_joined(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def _cell(notebook: str, cell: dict[str, Any], lab: str | None) -> str:
    source = _joined(cell["source"])
    if cell["cell_type"] != "code":
        return plain(source)
    way, name = asked.asked(source)
    shown = lab_figure(cell, lab)
    if way in ("choose", "predict"):
        shown = _html(asked.element(way, name, "".join(map(_output, cell["outputs"]))))
    elif way == "check":
        here = in_browser(f"{notebook}.ipynb", cell.get("id", ""))
        link = f'<p><a href="{here}">Write your answer in this browser</a></p>'
        shown += f"\n\n{_html(link)}"
    return "\n\n".join([_fenced("python", source)] * bool(source) + [shown] * bool(cell["outputs"]))


def _live(notebook: str, bullet: str) -> str:
    """A bullet that asks for what only a running notebook can do, with a link to one."""
    return f'{bullet} <a href="{in_browser(f"{notebook}.ipynb")}">Run it in this browser.</a>'


def lab_figure(cell: dict[str, Any], lab: str | None) -> str:
    """What a cell shows; a lab that moves in a page of its own takes its place when a reader comes near."""
    shown = "".join(map(_output, cell["outputs"]))
    return _html(f'<div class="lab" data-page="{lab}">{shown}</div>' if lab else shown)


def _output(output: dict[str, Any]) -> str:
    """An output as HTML: the richest form of a value that needs no kernel, or what was printed."""
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="output">{_joined(data["text/html"])}</div>'
    text = _joined(data.get("text/plain", output.get("text")))
    return f'<pre class="output" tabindex="0">{escape(text.rstrip())}</pre>' if text else ""


def _joined(text: list[str] | str | None) -> str:
    return "".join(text or "")


def _html(text: str) -> str:
    return _fenced("{raw} html", text)


def _fenced(info: str, text: str) -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}{info}\n{text}\n{fence}"


def _launchers(name: str) -> str:
    where = {
        "Run in this browser": in_browser(name), "Open on Binder": on_binder(name),
        "Open on Colab": on_colab(name), "Download": f"notebooks/{name}",
    }  # fmt: skip
    links = "".join(f'<a href="{escape(address)}">{words}</a>' for words, address in where.items() if address)
    return f'<nav class="launch" aria-label="This notebook elsewhere">{links}</nav>'

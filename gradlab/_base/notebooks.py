"""The notebooks that came with gradlab: where they are, what they say of themselves, which of them
holds a lab.
"""

from __future__ import annotations

import importlib.util
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from .extras import how_to_install

START = "00_start_here.ipynb"
_PICTURE = re.compile(
    r'<figure role="group" aria-label="([^"]*)"[^>]*>\s*<img [^>]*src="data:image/png;base64,([^"]+)"'
)


class UsageError(Exception):
    """A command that cannot be carried out; its one line says what was given, what is allowed and
    what to do.
    """


def shipped() -> Path:
    """Give the folder that holds the notebooks that came with gradlab.

    Raises:
        UsageError: this copy of gradlab came without them.
    """
    try:
        spec = importlib.util.find_spec("gradlab.notebooks")
    except ImportError:
        spec = None
    # Without an installation (`python -m gradlab` at the top of a checkout) the folder is not a
    # package yet.
    beside = Path(__file__).parents[2] / "notebooks"
    places = [*map(Path, spec.submodule_search_locations or ())] if spec else []
    for place in (*places, beside):
        if place.is_dir() and (place != beside or in_checkout(beside)):
            return place
    raise UsageError(
        f"this copy of gradlab has no notebooks; install it again: {how_to_install('lab')}"
    )


def in_checkout(folder: Path) -> bool:
    """Tell whether `folder` is the notebooks/ of a checkout, where edits are meant to be kept, not
    a wheel's copy.
    """
    return folder.name == "notebooks" and (folder.parent / "pyproject.toml").is_file()


@dataclass(frozen=True)
class Introduction:
    """The first words of a notebook: its file name, its heading, the minutes it takes (0: not
    said), and its aims.
    """

    file: str
    title: str
    minutes: int
    aims: tuple[str, ...]


def introductions() -> Iterator[Introduction]:
    """Yield the first words of each notebook that came with gradlab."""
    for path in sorted(shipped().glob("*.ipynb")):
        text = "\n".join(_sources(path, "markdown"))
        heading = next((line for line in text.splitlines() if line.startswith("# ")), "# ")
        minutes = re.search(r"\*\*Time\*\* (\d+) minutes", text)
        aims = re.search(r"\*\*What you will be able to do\*\*\n((?:\d+\. .*\n)+)", text)
        listed = re.findall(r"\d+\. (.*?)[;.]?\n", aims[1]) if aims else ()
        yield Introduction(
            path.name, heading[2:].strip(), int(minutes[1]) if minutes else 0, tuple(listed)
        )


def titles() -> Iterator[tuple[str, str]]:
    """Yield (file name, first heading) of each notebook that came with gradlab."""
    yield from ((introduction.file, introduction.title) for introduction in introductions())


def pictures(name: str) -> dict[str, bytes]:
    """Give the pictures of the labs that a notebook was saved with, as PNGs, the first of each by
    its label.
    """
    outputs = (output for cell in _cells(shipped() / name) for output in cell.get("outputs", ()))
    pages = ("".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    found = (match for page in pages for match in _PICTURE.finditer(page))
    return {unescape(match[1]): b64decode(match[2]) for match in reversed([*found])}


def holding(lab: str) -> list[str]:
    """The file names of the notebooks that show a lab, its own before the tour that shows a bit of
    everything.
    """
    called = re.compile(rf"\blabs\.{re.escape(lab)}\(")
    found = [
        path.name
        for path in shipped().glob("*.ipynb")
        if any(map(called.search, _sources(path, "code")))
    ]
    return sorted(found, key=lambda name: (name == START, name))


def _sources(path: Path, kind: str) -> Iterator[str]:
    yield from ("".join(cell["source"]) for cell in _cells(path) if cell["cell_type"] == kind)


def _cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return cells

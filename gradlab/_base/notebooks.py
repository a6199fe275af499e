"""The notebooks that came with gradlab: their folder, introductions, pictures and labs."""

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
    """A command that cannot be carried out; one line says what was given and what to do."""


def find_folder() -> Path:
    """Return the folder of the notebooks that came with gradlab.

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
    locations = (spec.submodule_search_locations or ()) if spec else ()
    for location in locations:
        folder = Path(location)
        if folder.is_dir() and (folder != beside or in_checkout(beside)):
            return folder
    if beside.is_dir() and in_checkout(beside):
        return beside
    raise UsageError(
        f"this copy of gradlab has no notebooks; install it again: {how_to_install('lab')}"
    )


def in_checkout(folder: Path) -> bool:
    """Tell whether `folder` is the notebooks/ of a checkout, not a copy that a wheel installed."""
    return folder.name == "notebooks" and (folder.parent / "pyproject.toml").is_file()


@dataclass(frozen=True)
class Introduction:
    """What the first cells of a notebook say about it."""

    file: str
    title: str
    minutes: int  # 0 if the notebook doesn't say
    aims: tuple[str, ...]


def introductions() -> Iterator[Introduction]:
    """Yield the introduction of each notebook that came with gradlab."""
    for path in sorted(find_folder().glob("*.ipynb")):
        text = "\n".join(_sources(path, "markdown"))
        heading = next((line for line in text.splitlines() if line.startswith("# ")), "# ")
        minutes = re.search(r"\*\*Time\*\* (\d+) minutes", text)
        aims = re.search(r"\*\*What you will be able to do\*\*\n((?:\d+\. .*\n)+)", text)
        yield Introduction(
            file=path.name,
            title=heading[2:].strip(),
            minutes=int(minutes[1]) if minutes else 0,
            aims=tuple(re.findall(r"\d+\. (.*?)[;.]?\n", aims[1])) if aims else (),
        )


def titles() -> Iterator[tuple[str, str]]:
    """Yield (file name, first heading) of each notebook that came with gradlab."""
    for introduction in introductions():
        yield introduction.file, introduction.title


def pictures(name: str) -> dict[str, bytes]:
    """Return the PNGs with which the labs of a notebook were saved, by label; the first of each."""
    pngs: dict[str, bytes] = {}
    for cell in _cells(find_folder() / name):
        for output in cell.get("outputs", ()):
            page = "".join(output.get("data", {}).get("text/html", ""))
            for match in _PICTURE.finditer(page):
                pngs.setdefault(unescape(match[1]), b64decode(match[2]))
    return pngs


def find_with_lab(lab: str) -> list[str]:
    """Return the file names of the notebooks that show a lab, the introductory tour last."""
    call = re.compile(rf"\blabs\.{re.escape(lab)}\(")
    names = [
        path.name
        for path in find_folder().glob("*.ipynb")
        if any(map(call.search, _sources(path, "code")))
    ]
    return sorted(names, key=lambda name: (name == START, name))


def _sources(path: Path, kind: str) -> Iterator[str]:
    for cell in _cells(path):
        if cell["cell_type"] == kind:
            yield "".join(cell["source"])


def _cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return cells

"""The notebooks that came with gradlab: where they are, what they are called, which of them holds a lab."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .extras import how_to_install

START = "00_start_here.ipynb"


class UsageError(Exception):
    """A command that cannot be carried out; its one line says what was given, what is allowed and what to do."""


def shipped() -> Path:
    """Give the folder that holds the notebooks that came with gradlab.

    Raises:
        UsageError: this copy of gradlab came without them.
    """
    try:
        spec = importlib.util.find_spec("gradlab.notebooks")
    except ImportError:
        spec = None
    # Without an installation (`python -m gradlab` at the top of a checkout) the folder is not a package yet.
    beside = Path(__file__).parents[2] / "notebooks"
    places = [*map(Path, spec.submodule_search_locations or ())] if spec else []
    for place in (*places, beside):
        if place.is_dir() and (place != beside or in_checkout(beside)):
            return place
    raise UsageError(f"this copy of gradlab has no notebooks; install it again: {how_to_install('lab')}")


def in_checkout(folder: Path) -> bool:
    """Tell whether `folder` is the notebooks/ of a checkout, where edits are meant to be kept, not a wheel's copy."""
    return folder.name == "notebooks" and (folder.parent / "pyproject.toml").is_file()


def titles() -> Iterator[tuple[str, str]]:
    """Yield (file name, first heading) of each notebook that came with gradlab."""
    for path in sorted(shipped().glob("*.ipynb")):
        text = "\n".join(_sources(path, "markdown"))
        heading = next((line for line in text.splitlines() if line.startswith("# ")), "# ")
        yield path.name, heading[2:].strip()


def holding(lab: str) -> list[str]:
    """The file names of the notebooks that show a lab, its own before the tour that shows a bit of everything."""
    called = re.compile(rf"\blabs\.{re.escape(lab)}\(")
    found = [path.name for path in shipped().glob("*.ipynb") if any(map(called.search, _sources(path, "code")))]
    return sorted(found, key=lambda name: (name == START, name))


def _sources(path: Path, kind: str) -> Iterator[str]:
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    yield from ("".join(cell["source"]) for cell in cells if cell["cell_type"] == kind)

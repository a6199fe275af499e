"""Execute the notebooks and save them as they are published: outputs in, widget views and run
details out.

python -m tests.notebooks.save            writes them
python -m tests.notebooks.save --check    exits 1 if that would change a byte
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_SET_UP = (1, 2)  # cells: the installation, the imports
_NOT_SHOWN = ("## Differences from TensorFlow", "## Sources")
_VIEW = "application/vnd.jupyter.widget-view+json"


def executed(path: Path) -> str:
    """The text of a notebook after a run from top to bottom in a fresh kernel of this Python."""
    notebook = nbformat.read(path, as_version=4)
    settings = {"timeout": 300, "kernel_name": "python3", "store_widget_state": False}
    # A kernel sends what is printed several times a second, so a slow cell's comes in pieces.
    NotebookClient(notebook, coalesce_streams=True, **settings).execute(cwd=str(path.parent))
    return published(notebook)


def published(notebook: Any) -> str:
    """The notebook without anything that differs from run to run: model ids, times, versions of the
    kernel.
    """
    notebook.metadata = nbformat.from_dict(_METADATA)
    for number, cell in enumerate(notebook.cells):
        kept = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        if (kind := slide_type(number, cell)) != "-":
            kept["slideshow"] = {"slide_type": kind}
        cell.metadata = nbformat.from_dict(kept)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(_VIEW, None)
            if "metadata" in output:
                output["metadata"] = nbformat.from_dict({})
    return nbformat.writes(notebook, version=4) + "\n"


def slide_type(number: int, cell: Any) -> str:
    """The place of a cell in a deck: "slide" and "subslide" begin one, "-" goes on, "skip" is not
    shown.
    """
    if cell.cell_type == "code":
        shows_lab = any(
            "<img" in "".join(o.get("data", {}).get("text/html", ""))
            for o in cell.get("outputs", [])
        )
        return "skip" if number in _SET_UP else "subslide" if shows_lab else "-"
    if cell.source.startswith(_NOT_SHOWN):
        return "skip"
    if cell.source.startswith("#"):
        return "slide"
    return "subslide" if re.search(r"^\*\*(Predict|Exercise)\.\*\*", cell.source, re.M) else "-"


def main(arguments: list[str]) -> int:
    changed = []
    for path in sorted(FOLDER.glob("*.ipynb")):
        text = executed(path)
        if text != path.read_text(encoding="utf-8"):
            changed.append(path.name)
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8")
    print(
        f"{'would change' if '--check' in arguments else 'changed'}: {', '.join(changed) or 'nothing'}"
    )
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

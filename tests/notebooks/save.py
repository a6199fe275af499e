"""Execute the notebooks and save them as they are published: outputs in, widget views and run details out.

python -m tests.notebooks.save            writes them
python -m tests.notebooks.save --check    exits 1 if that would change a byte
"""

from __future__ import annotations

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
_VIEW = "application/vnd.jupyter.widget-view+json"


def executed(path: Path) -> str:
    """The text of a notebook after a run from top to bottom in a fresh kernel of this Python."""
    notebook = nbformat.read(path, as_version=4)
    settings = {"timeout": 300, "kernel_name": "python3", "store_widget_state": False}
    # A kernel sends what is printed several times a second, so a slow cell's comes in pieces.
    NotebookClient(notebook, coalesce_streams=True, **settings).execute(cwd=str(path.parent))
    return published(notebook)


def published(notebook: Any) -> str:
    """The notebook without anything that differs from run to run: model ids, times, versions of the kernel."""
    notebook.metadata = nbformat.from_dict(_METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {})
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(_VIEW, None)
            if "metadata" in output:
                output["metadata"] = nbformat.from_dict({})
    return nbformat.writes(notebook, version=4) + "\n"


def main(arguments: list[str]) -> int:
    changed = []
    for path in sorted(FOLDER.glob("*.ipynb")):
        text = executed(path)
        if text != path.read_text(encoding="utf-8"):
            changed.append(path.name)
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8")
    print(f"{'would change' if '--check' in arguments else 'changed'}: {', '.join(changed) or 'nothing'}")
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

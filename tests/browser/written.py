"""Notebooks written for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat

import gradlab as gl

KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def written(path: Path, *sources: str, folded: bool = False) -> Path:
    """Write a notebook with a heading and these cells; give its path."""
    cells = [nbformat.v4.new_markdown_cell("# A heading"), *map(nbformat.v4.new_code_cell, sources)]
    for cell in cells if folded else ():
        cell.metadata["jupyter"] = {"source_hidden": True}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    for k, cell in enumerate(notebook.cells):
        cell.id = f"cell-{k}"  # the same bytes every time
    nbformat.write(notebook, path)
    return path


# Nobody waits for pictures that are made ahead in these pages, and all labs at once would make them
# for minutes.
SETUP = """\
import gradlab as gl
from gradlab.live import frame_cache
frame_cache.MOST_BYTES = 0"""


def every_lab(path: Path, *names: str) -> Path:
    """Write a notebook with every lab, or with those named, a cell for each."""
    return written(path, SETUP, *(f"gl.labs.{name}()" for name in names or gl.labs.catalog()))


# Moved and revealed.
REVEALED = """\
guessed = gl.exercises.predict({name!r})
guessed.set(**{{guess: 0.8 * value for guess, value in guessed.params.items()}})
guessed.reveal()
guessed"""
# How labs begin, for tests that look at all of them after others have moved them.
BEGUN = "begun = {lab: (lab.target, lab.params) for lab in Out.values() if hasattr(lab, 'targets')}"
BEGIN = (
    "[[setattr(lab, 'target', target), lab.set(**at), lab.live.refresh()] for lab, (target, at) "
    "in begun.items()]"
)
OTHERS = """\
from IPython.display import HTML
for text in {texts!r}:
    display(HTML(text))"""


def everything(path: Path, notebooks: Path) -> Path:
    """Write a notebook with every lab, every prediction, and all else that notebooks in a folder
    show as HTML.

    Two predictions are revealed, a number and a curve; the others are as they begin.
    """
    calls = [
        f"gl.labs.{name}({_longest_target(make())})" for name, make in gl.labs.catalog().items()
    ]
    for name in gl.exercises.predictions():
        revealed = name in ("clipping.spikes", "clipping.turn")
        calls.append(REVEALED.format(name=name) if revealed else f"gl.exercises.predict({name!r})")
    return written(
        path, SETUP, *calls, BEGUN, OTHERS.format(texts=_other_html(notebooks)), folded=True
    )


def _longest_target(lab: Any) -> str:
    """What shows the target of a lab that takes most room."""
    longest = max(lab.targets, key=lambda name: len(lab.targets[name].text), default=None)
    return f"target={longest!r}" if longest else ""


def labels() -> set[str]:
    """What the labs and predictions in that notebook are called."""
    predictions = map(gl.exercises.predict, gl.exercises.predictions())
    return {lab.label for lab in (*(make() for make in gl.labs.catalog().values()), *predictions)}


def _other_html(notebooks: Path) -> list[str]:
    """What is saved as HTML in notebooks and is not a lab or a prediction, each once."""
    read = (nbformat.read(path, as_version=4) for path in sorted(notebooks.glob("*.ipynb")))
    outputs: list[Any] = [
        o.get("data", {}) for one in read for cell in one.cells for o in cell.get("outputs", [])
    ]
    known = tuple(f"{label}:" for label in labels())
    found = [
        o["text/html"]
        for o in outputs
        if "text/html" in o and not o["text/plain"].startswith(known)
    ]
    return list(dict.fromkeys(found))

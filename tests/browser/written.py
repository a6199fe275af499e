"""Notebooks written for a test."""

from __future__ import annotations

from pathlib import Path

import nbformat

import gradlab as gl

KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def written(path: Path, *sources: str) -> Path:
    """Write a notebook with a heading and these cells; give its path."""
    cells = [nbformat.v4.new_markdown_cell("# A heading"), *map(nbformat.v4.new_code_cell, sources)]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    for k, cell in enumerate(notebook.cells):
        cell.id = f"cell-{k}"  # the same bytes every time
    nbformat.write(notebook, path)
    return path


# Nobody waits for pictures that are made ahead in these pages, and all labs at once would make them for minutes.
SETUP = """\
import gradlab as gl
from gradlab.live import reel
reel.MOST_BYTES = 0"""


def every_lab(path: Path, *names: str) -> Path:
    """Write a notebook with every lab, or with those named, a cell for each."""
    return written(path, SETUP, *(f"gl.labs.{name}()" for name in names or gl.labs.catalogue()))

"""The notebook on one's own run, asked about another recording."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.notebooks import save

TAG = "recording"  # of the cell that a reader changes


def report_on(recording: Path) -> str:
    """Run the whole notebook on a recording in a file, and give the report that it prints."""
    notebook = nbformat.read(save.FOLDER / "07_your_run.ipynb", as_version=4)
    (cell,) = (cell for cell in notebook.cells if TAG in cell.metadata.get("tags", ()))
    cell.source = f"recording = gl.Recorder.load({str(recording)!r})\nrecording"
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(recording.parent))
    (printed,) = (cell for cell in notebook.cells if "print(gl.Report(recording))" in cell.source)
    return str(printed.outputs[0].text)

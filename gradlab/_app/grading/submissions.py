"""Submissions: students' notebooks, found and read as text. None of their code runs here."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..._base.notebooks import UsageError
from ...exercises.catalog import NOTEBOOKS

_LARGEST_NOTEBOOK = 30_000_000  # bytes
_LARGEST_FILES = 20_000_000  # bytes of all that lies beside a notebook
_MOST_FILES = 100
_DEEPEST = 4  # folders: nbgrader has submitted/NAME/ASSIGNMENT/, an archive one more
_ASKS = re.compile(r"exercises\.\w+\(\s*[\"'](\w+)\.")


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    Args:
        student: the name of a folder or a file; bytes that aren't UTF-8 are written as \\xfc.
        stem: which notebook of the course it is; of one that cannot be read, its own name.
        path: where it is.
        has_folder: whether what lies beside it is this student's.
        cells: its code.
        trouble: why it cannot be read; empty if it can.
    """

    student: str
    stem: str
    path: Path
    has_folder: bool
    cells: tuple[str, ...] = ()
    trouble: str = ""

    def files(self) -> dict[str, str]:
        """Return what lies beside the notebook in the student's own folder, links left out, in base
        64 by name.
        """
        files: dict[str, str] = {}
        left = _LARGEST_FILES
        if not self.has_folder:
            return files
        for path in sorted(self.path.parent.iterdir()):
            if (
                path.suffix == ".ipynb"
                or path.is_symlink()
                or not path.is_file()
                or len(files) == _MOST_FILES
            ):
                continue
            with path.open("rb") as file:
                content = file.read(left + 1)
            if len(content) <= left:
                files[path.name] = base64.b64encode(content).decode()
                left -= len(content)
        return files

    def cell_of(self, exercise: str) -> int | None:
        """Return the number of the last cell that names an exercise."""
        quoted = (f'"{exercise}"', f"'{exercise}'")
        numbers = [
            number for number, cell in enumerate(self.cells) if any(name in cell for name in quoted)
        ]
        return numbers[-1] if numbers else None


def find_submissions(folder: Path) -> list[Submission]:
    """Return the notebooks in a folder: `NAME.ipynb`, or any in `NAME/`, as nbgrader's
    `submitted/NAME/ASSIGNMENT/`.

    Raises:
        UsageError: there are none, or no folder.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; give the one that holds students' notebooks")
    submissions: list[Submission] = []
    first_paths: dict[tuple[str, str], Path] = {}
    for submission in _read_all(folder):
        first = first_paths.setdefault((submission.student, submission.stem), submission.path)
        if first != submission.path:
            twice = f"{submission.stem} is there twice; this file isn't graded: {submission.path}"
            submission = replace(submission, cells=(), trouble=twice)
        submissions.append(submission)
    if not submissions:
        raise UsageError(
            f"{folder} holds no notebooks of the course: expected NAME/*.ipynb or NAME.ipynb"
        )
    return sorted(submissions, key=lambda one: one.student)


def _read_all(folder: Path) -> Iterator[Submission]:
    root = folder.resolve()
    # Not rglob, which fails where folders are nested a thousand deep.
    for path in sorted(
        path for depth in range(_DEEPEST + 1) for path in folder.glob("*/" * depth + "*.ipynb")
    ):
        parts = path.relative_to(folder).parts
        if ".ipynb_checkpoints" in parts:
            continue
        student = parts[0] if len(parts) > 1 else path.stem
        submission = Submission(
            _as_text(student), _as_text(path.stem), path, has_folder=len(parts) > 1
        )
        if path.is_symlink() or not path.resolve().is_relative_to(root):
            yield replace(submission, trouble="it is a link to another file")
        elif not path.is_file():  # a pipe would be waited for
            yield replace(submission, trouble="it is not a file")
        else:
            yield from _read(submission)


def _as_text(name: str) -> str:
    """Return the name of a file as UTF-8 has it. An old archive may hold names in Latin-1."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _read(submission: Submission) -> Iterator[Submission]:
    """Yield a notebook with its cells; nothing for one that asks nothing of the course's."""
    try:
        with submission.path.open("rb") as file:
            text = file.read(_LARGEST_NOTEBOOK + 1)
        if len(text) > _LARGEST_NOTEBOOK:
            raise ValueError("it is too large")
        cells = json.loads(text)["cells"]
        sources = tuple(
            _as_python("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError, MemoryError) as error:
        trouble = f"it cannot be read as a notebook: {type(error).__name__}: {error}"
        yield replace(submission, trouble=trouble[:200])
        return
    if stem := _stem(submission.path, sources):
        yield replace(submission, stem=stem, cells=sources)


def _stem(path: Path, sources: tuple[str, ...]) -> str:
    """Return which notebook of the course it is, by what is asked, or by its name; empty if neither
    says.
    """
    asked = [
        NOTEBOOKS[name] for source in sources for name in _ASKS.findall(source) if name in NOTEBOOKS
    ]
    if asked:
        return max(asked, key=asked.count)
    return path.stem if path.stem in NOTEBOOKS.values() else ""


def _as_python(source: str) -> str:
    """Return a cell without the lines that are for IPython alone."""
    if source.startswith("%%"):
        return ""
    lines = source.split("\n")
    for number, line in enumerate(lines):
        code = line.lstrip()
        if code.startswith(("%", "!")):
            lines[number] = line[: len(line) - len(code)] + "pass"
    return "\n".join(lines)

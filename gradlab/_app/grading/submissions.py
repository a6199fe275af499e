"""Submissions: students' notebooks, found and read as text. None of their code runs here."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..._base.notebooks import UsageError
from ...exercises.catalog import NOTEBOOKS

_LARGEST = 30_000_000  # bytes of a file
_MOST = 100  # files of one student
_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_ASKS = re.compile(r"exercises\.\w+\(\s*[\"'](\w+)\.")


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    Args:
        student: the name of a folder or a file. stem: which notebook of the course it is. path: where it is.
        cells: its code. trouble: why it cannot be read; empty if it can.
    """

    student: str
    stem: str
    path: Path
    cells: tuple[str, ...] = ()
    trouble: str = ""

    def copy_files(self, to: Path) -> None:
        """Copy what lies beside the notebook, links left out, to a folder in which it may run."""
        beside = [path for path in sorted(self.path.parent.iterdir()) if path.is_file() and not path.is_symlink()]
        for path in beside[:_MOST]:
            if path.suffix != ".ipynb" and path.stat().st_size <= _LARGEST:
                shutil.copyfile(path, to / path.name)


def found(folder: Path) -> list[Submission]:
    """The notebooks in a folder: `NAME.ipynb`, or any in `NAME/`, as nbgrader's `submitted/NAME/ASSIGNMENT/` for one.

    Raises: UsageError: there are none, or no folder.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; give the one that holds students' notebooks")
    submissions = list(_each(folder))
    if not submissions:
        raise UsageError(f"{folder} holds no notebooks of the course: expected NAME/*.ipynb or NAME.ipynb")
    seen: dict[tuple[str, str], Path] = {}
    for one in submissions:
        if (other := seen.setdefault((one.student, one.stem), one.path)) != one.path:
            raise UsageError(f"{one.student} has handed in {one.stem} twice: {other} and {one.path}; keep one of them")
    return submissions


def _each(folder: Path) -> Iterator[Submission]:
    root = folder.resolve()
    for path in sorted(folder.rglob("*.ipynb")):
        inside = path.relative_to(folder).parts
        if ".ipynb_checkpoints" in inside:
            continue
        student = inside[0] if len(inside) > 1 else path.stem
        if path.is_symlink() or not path.resolve().is_relative_to(root):
            yield Submission(student, _stem(path, ()), path, trouble="it is a link to another file")
        elif one := _read(student, path):
            yield one


def _read(student: str, path: Path) -> Submission | None:
    """A notebook as a submission; None for one that asks nothing of the course's."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        cells = json.loads(path.read_text("utf-8"))["cells"]
        sources = tuple(_plain("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return Submission(student, _stem(path, ()), path, trouble=f"it cannot be read as a notebook: {error}"[:200])
    stem = _stem(path, sources)
    return Submission(student, stem, path, sources) if stem else None


def _stem(path: Path, sources: tuple[str, ...]) -> str:
    """The notebook of the course: by what is asked, or by its name; empty if neither says."""
    asked = [NOTEBOOKS[name] for source in sources for name in _ASKS.findall(source) if name in NOTEBOOKS]
    if asked:
        return max(asked, key=asked.count)
    return path.stem if path.stem in NOTEBOOKS.values() else ""


def _plain(source: str) -> str:
    """A cell as Python: lines for IPython alone are left out."""
    return "" if source.startswith("%%") else _MAGIC.sub(r"\1pass", source)

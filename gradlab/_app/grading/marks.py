"""Marks: one for each student and exercise, and the files that hold them."""

from __future__ import annotations

import contextlib
import csv
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from ..._base.atomic_files import replaced
from ...exercises import progress
from ...exercises.catalog import EXERCISES, notebook
from ...exercises.drawn import drawn
from ...exercises.questions import Choice
from ...exercises.starters import STARTERS
from .sandbox import FILES, ROOT, Sandbox
from .student import Limits, Student, running
from .submissions import Submission

NOT_TRIED, MISSING, OTHER = "not tried", "not handed in", "not recognized"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet computes


@dataclass(frozen=True)
class Mark:
    """A student's result in one exercise.

    Attributes:
        score: 1 or 0; None for a choice that was only pressed, which isn't part of a notebook.
        mistake: by name, the hint that it has in the course; empty if it is right. said: what else is known.
        tries: as the student's own progress file has it, and not to be believed; None without one.
    """

    student: str
    notebook: str
    exercise: str
    score: int | None
    mistake: str
    said: str
    tries: int | None = None


def marked(one: Submission, sandbox: Sandbox, limits: Limits, seed: int) -> list[Mark]:
    """The marks of one notebook, which runs in a sandbox; again for those left if an answer ends its process."""
    left = [name for name in EXERCISES if notebook(name) == one.stem]
    if one.trouble:
        return [Mark(one.student, one.stem, name, 0, MISSING, one.trouble) for name in left]
    tried, marks = progress(one.path.parent).entries, list[Mark]()
    while left:
        with _prepared(one) as folder, running(one.cells, folder, sandbox, limits) as student:
            for name in list(left):
                tries = tried[name].tries if name in tried else None
                marks.append(_mark(one, name, student, seed, tries))
                left.remove(name)
                if student.answers and student.ended:
                    break
    return marks


@contextlib.contextmanager
def _prepared(one: Submission) -> Iterator[Path]:
    """A scratch folder with a copy of what lies beside the notebook."""
    with tempfile.TemporaryDirectory(prefix="gradlab-grade-") as scratch:
        for name in (FILES, ROOT):
            (Path(scratch) / name).mkdir()
        one.copy_files(Path(scratch) / FILES)
        yield Path(scratch)


def _mark(one: Submission, name: str, student: Student, seed: int, tries: int | None) -> Mark:
    given = one.student, one.stem, name
    troubles = "; ".join(student.troubles)
    if name not in student.answers:
        if isinstance(EXERCISES[name], Choice):
            return Mark(*given, None, "", troubles, tries)
        return Mark(*given, 0, NOT_TRIED, troubles or "its check was not reached", tries)
    exercise = drawn(name, np.random.default_rng([seed, list(EXERCISES).index(name)]))
    try:
        feedback = exercise(student.answers[name])
    except Exception as error:  # what a student's process sends is anything
        return Mark(*given, 0, OTHER, f"{type(error).__name__}: {error}"[:300], tries)
    if feedback.right:
        return Mark(*given, 1, "", "", tries)
    untouched = name in STARTERS and any(STARTERS[name].strip() in source for source in one.cells)
    if untouched:
        return Mark(*given, 0, NOT_TRIED, "", tries)
    return Mark(*given, 0, feedback.mistake or OTHER, feedback.text[:500], tries)


def completed(marks: Iterable[Mark]) -> list[Mark]:
    """The marks, and zeros for who has not handed in a notebook that others have."""
    marks = list(marks)
    there = {(mark.student, mark.notebook) for mark in marks}
    students, stems = (sorted({pair[k] for pair in there}) for k in (0, 1))
    none = [
        Mark(student, stem, name, 0, MISSING, "")
        for student in students
        for stem in stems
        for name in EXERCISES
        if notebook(name) == stem and (student, stem) not in there
    ]
    order = list(EXERCISES)
    return sorted([*marks, *none], key=lambda mark: (mark.student, order.index(mark.exercise)))


def write_csv(path: Path, marks: Sequence[Mark]) -> None:
    """Write one line for each student and exercise."""
    with replaced(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow([field.name for field in fields(Mark)])
        lines.writerows([_safe(cell) for cell in astuple(mark)] for mark in marks)


def _safe(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula, whatever a student called a file or wrote into an error."""
    if not isinstance(cell, str):
        return "" if cell is None else cell
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def mistakes(marks: Sequence[Mark]) -> Iterator[tuple[str, str, list[str]]]:
    """Exercise, mistake, and who made it, the most common first."""
    by: dict[tuple[str, str], list[str]] = {}
    for mark in marks:
        if mark.score == 0 and mark.mistake not in (NOT_TRIED, MISSING):
            by.setdefault((mark.exercise, mark.mistake), []).append(mark.student)
    for (exercise, mistake), students in sorted(by.items(), key=lambda item: -len(item[1])):
        yield exercise, mistake, students

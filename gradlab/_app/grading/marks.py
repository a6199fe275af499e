"""Marks: one for each student and exercise, and the file that holds them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from ..._base.atomic_files import atomic_replace
from ..._base.names import printable
from ...exercises import progress
from ...exercises.catalog import EXERCISES, notebook
from ...exercises.key import chosen
from ...exercises.questions import Choice
from .answers import Question, judge
from .place import Limits, Place, Reply, run_notebook
from .submissions import Submission

NOT_TRIED = "not tried"
MISSING = "not handed in"
UNREADABLE = "cannot be graded"
FAILED = "its cell failed"
OTHER = "not recognized"
NO_ANSWER = (NOT_TRIED, MISSING, UNREADABLE)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet computes
_LONGEST_TEXT = 500
_PROGRESS_FILE = "gradlab_progress.json"
_LARGEST_PROGRESS = 1_000_000  # bytes


@dataclass(frozen=True)
class Mark:
    """A student's result in one exercise.

    Attributes:
        exercise: its name; empty on the one line of a notebook that cannot be graded.
        score: 1 or 0.
        mistake: by name, the hint that it has in the course; empty if it is right.
        said: what else is known.
        tries: as the student's own progress file has it, and not to be believed; None without one.
    """

    student: str
    notebook: str
    exercise: str
    score: int
    mistake: str = ""
    said: str = ""
    tries: int | None = None


def mark_notebook(
    submission: Submission, place: Place, limits: Limits, questions: Mapping[str, Question]
) -> list[Mark]:
    """Run a notebook and return its marks. Whatever is wrong with it is a mark, never an error.

    Args:
        submission: the notebook.
        place: where it runs.
        limits: on time and memory.
        questions: by exercise, of every notebook.
    """
    unreadable = Mark(submission.student, submission.stem, "", 0)
    if submission.trouble:
        return [_finish(unreadable, UNREADABLE, submission.trouble)]
    names = [name for name in EXERCISES if notebook(name) == submission.stem]
    try:
        calls = {name: questions[name].calls for name in names}
        reply = run_notebook(place, limits, submission.cells, submission.files(), calls)
        tries = _read_tries(submission)
        return [_mark(submission, reply, questions[name], name, tries.get(name)) for name in names]
    except Exception as error:  # a class goes on, whatever one student has handed in
        return [_finish(unreadable, UNREADABLE, f"{type(error).__name__}: {error}")]


def _mark(
    submission: Submission, reply: Reply, question: Question, name: str, tries: int | None
) -> Mark:
    mark = Mark(submission.student, submission.stem, name, 0, tries=tries)
    cell = submission.cell_of(name)
    feedback = None
    if name in reply.answers:
        feedback = judge(question, reply.answers[name])
        if feedback.right:
            return replace(mark, score=1)
    if cell is None:
        return _finish(mark, NOT_TRIED, "its check is not in the notebook")
    if is_untouched(submission.cells[cell], name) or (
        feedback is not None and not feedback.is_answer
    ):
        return _finish(mark, NOT_TRIED)
    if feedback is not None:
        return _finish(mark, feedback.mistake or OTHER, feedback.text)
    others = (f"cell {number}: {trouble}" for number, trouble in reply.troubles.items())
    return _finish(mark, FAILED, reply.troubles.get(cell) or reply.end or "; ".join(others))


def _finish(mark: Mark, mistake: str, said: str = "") -> Mark:
    """Return a mark with texts that are whole lines of UTF-8, whatever a student wrote into them."""
    return replace(
        mark, mistake=printable(mistake)[:_LONGEST_TEXT], said=printable(said)[:_LONGEST_TEXT]
    )


def is_untouched(cell: str, name: str) -> bool:
    """Tell whether a cell holds the code that the notebook came with, whatever its comments.

    >>> is_untouched("def norm(grads):\\n    return 0.0\\n\\ngl.exercises.check('start.norm', norm)", "start.norm")
    True
    """
    exercise = EXERCISES[name]
    if isinstance(exercise, Choice):
        return name in chosen(cell)
    lines = [line.rstrip() for line in cell.splitlines()]
    code = [
        line
        for line in lines
        if line and "exercises.check(" not in line and not line.lstrip().startswith("#")
    ]
    return code == exercise.starter.strip().splitlines()


def _read_tries(submission: Submission) -> dict[str, int]:
    """Return how often the student's own progress file says that each exercise was tried."""
    path = submission.path.with_name(_PROGRESS_FILE)
    if not submission.has_folder or path.is_symlink() or not path.is_file():
        return {}
    if path.stat().st_size > _LARGEST_PROGRESS:
        return {}
    entries = progress(path.parent).entries
    return {name: entry.tries for name, entry in entries.items()}


def complete(marks: Iterable[Mark]) -> list[Mark]:
    """Return the marks, and zeros for students who have not handed in a notebook that others have."""
    marks = list(marks)
    there = {(mark.student, mark.notebook) for mark in marks if mark.exercise}
    stems = {mark.notebook for mark in marks}
    missing = [
        Mark(student, notebook(name), name, 0, MISSING)
        for student in {mark.student for mark in marks}
        for name in EXERCISES
        if notebook(name) in stems and (student, notebook(name)) not in there
    ]
    order = list(EXERCISES)
    return sorted(
        [*marks, *missing],
        key=lambda mark: (
            mark.student,
            order.index(mark.exercise) if mark.exercise else -1,
            mark.notebook,
        ),
    )


def write_csv(path: Path, marks: Sequence[Mark]) -> None:
    """Write one line for each mark."""
    with atomic_replace(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow([field.name for field in fields(Mark)])
        lines.writerows([_escape(cell) for cell in astuple(mark)] for mark in marks)


def _escape(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula, whatever a student wrote into a name
    or an error.
    """
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return "" if cell is None else cell


def group_mistakes(marks: Sequence[Mark]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield exercise, mistake, and the students who made it, the most common first."""
    students_by_mistake: dict[tuple[str, str], list[str]] = {}
    for mark in marks:
        if mark.score == 0 and mark.mistake not in NO_ANSWER:
            students_by_mistake.setdefault((mark.exercise, mark.mistake), []).append(mark.student)
    for (exercise, mistake), students in sorted(
        students_by_mistake.items(), key=lambda item: -len(item[1])
    ):
        yield exercise, mistake, students

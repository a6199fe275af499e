"""The class at one look: a page that says which misconception is common, and what each student has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ..._base.atomic_files import atomic_replace
from ...exercises.catalog import EXERCISES
from .marks import NO_ANSWER, Mark, group_mistakes

_STYLE = """\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; }
th, td { border: 1px solid #8888; padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
td.number { text-align: right; }
"""


def write_page(path: Path, marks: Sequence[Mark], seed: int) -> None:
    """Write the page. Inputs were drawn with this seed."""
    students = {mark.student for mark in marks}
    tables = [
        _table_of_mistakes(marks, len(students)),
        _table_of_exercises(marks),
        _table_of_students(marks),
        _table_of_files(marks),
    ]
    summary = f"{len(students)} students, {len(marks)} marks. Inputs drawn with seed {seed}."
    text = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Marks</title>\n<style>{_STYLE}</style>\n'
        f"<h1>Marks</h1>\n<p>{summary}</p>\n{''.join(tables)}</html>\n"
    )
    with atomic_replace(path) as part:
        part.write_text(text, "utf-8")


def _table_of_mistakes(marks: Sequence[Mark], students: int) -> str:
    rows = []
    for exercise, mistake, names in group_mistakes(marks):
        rows.append((exercise, mistake, f"{len(names)} of {students}", ", ".join(names)))
    return _table(
        "Mistakes, the most common first", ("exercise", "mistake", "students", "names"), rows
    )


def _table_of_exercises(marks: Sequence[Mark]) -> str:
    rows = []
    for name in EXERCISES:
        of_exercise = [mark for mark in marks if mark.exercise == name]
        if of_exercise:
            right = sum(mark.score for mark in of_exercise)
            unanswered = sum(mark.mistake in NO_ANSWER for mark in of_exercise)
            rows.append(
                (name, str(right), str(len(of_exercise) - right - unanswered), str(unanswered))
            )
    return _table("Exercises", ("exercise", "right", "wrong", "not tried"), rows)


def _table_of_students(marks: Sequence[Mark]) -> str:
    rows = []
    for student in sorted({mark.student for mark in marks}):
        of_student = [mark for mark in marks if mark.student == student and mark.exercise]
        right = sum(mark.score for mark in of_student)
        others = ", ".join(mark.exercise for mark in of_student if mark.score == 0)
        rows.append((student, f"{right} of {len(of_student)}", others))
    return _table("Students", ("student", "right", "not right"), rows)


def _table_of_files(marks: Sequence[Mark]) -> str:
    """The notebooks that cannot be graded; empty if there are none."""
    rows = [(mark.student, mark.notebook, mark.said) for mark in marks if not mark.exercise]
    return (
        _table("Notebooks that cannot be graded", ("student", "notebook", "why"), rows)
        if rows
        else ""
    )


def _table(caption: str, heads: Iterable[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>\n'
        for first, *cells in rows
    )
    return f'<div class="wide"><table><caption>{escape(caption)}</caption>\n<tr>{head}</tr>\n{body}</table></div>\n'

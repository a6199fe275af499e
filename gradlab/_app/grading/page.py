"""The class at one look: a page that says which misconception is common, and what each student has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ..._base.atomic_files import replaced
from ...exercises.catalog import EXERCISES
from .marks import MISSING, NOT_TRIED, Mark, mistakes

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
    """Write the page. Its inputs were drawn with this seed."""
    students = {mark.student for mark in marks}
    tables = [_by_mistake(marks, len(students)), _by_exercise(marks), _by_student(marks)]
    said = f"{len(students)} students, {len(marks)} marks. Inputs drawn with seed {seed}."
    text = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Marks</title>\n<style>{_STYLE}</style>\n'
        f"<h1>Marks</h1>\n<p>{said}</p>\n{''.join(tables)}</html>\n"
    )
    with replaced(path) as part:
        part.write_text(text, "utf-8")


def _by_mistake(marks: Sequence[Mark], students: int) -> str:
    rows = [
        (exercise, mistake, f"{len(who)} of {students}", ", ".join(who)) for exercise, mistake, who in mistakes(marks)
    ]
    return _table("Mistakes, the most common first", ("exercise", "mistake", "students", "who"), rows)


def _by_exercise(marks: Sequence[Mark]) -> str:
    rows = []
    for name in EXERCISES:
        ours = [mark for mark in marks if mark.exercise == name and mark.score is not None]
        if ours:
            right = sum(mark.score == 1 for mark in ours)
            none = sum(mark.mistake in (NOT_TRIED, MISSING) for mark in ours)
            rows.append((name, str(right), str(len(ours) - right - none), str(none)))
    return _table("Exercises", ("exercise", "right", "wrong", "not tried"), rows)


def _by_student(marks: Sequence[Mark]) -> str:
    rows = []
    for student in sorted({mark.student for mark in marks}):
        ours = [mark for mark in marks if mark.student == student]
        scored = [mark.score for mark in ours if mark.score is not None]
        open_ones = ", ".join(mark.exercise for mark in ours if mark.score == 0)
        rows.append((student, f"{sum(scored)} of {len(scored)}", open_ones))
    return _table("Students", ("student", "right", "not right"), rows)


def _table(caption: str, heads: Iterable[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>\n'
        for first, *cells in rows
    )
    return f'<div class="wide"><table><caption>{escape(caption)}</caption>\n<tr>{head}</tr>\n{body}</table></div>\n'

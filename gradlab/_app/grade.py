"""The command `gradlab grade`: run students' notebooks in a container, then write marks and a page
about the class.
"""

from __future__ import annotations

import argparse
import itertools
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._base.notebooks import UsageError
from .commands import say

if TYPE_CHECKING:
    from .grading.marks import Mark
    from .grading.place import Place

_SMALLEST_MEMORY = 256  # MB
_EPILOG = """\
Each notebook runs from its first cell to its last in a container of its own: without network, without your files, with
limits on time and memory. The functions that it hands to gl.exercises.check are called with inputs drawn for this run,
and their results are compared outside. A letter counts where the notebook holds it: gl.exercises.choose("start.sign",
"b"); `gradlab course --graded` writes copies that ask for it. TEACHING.md says how to build the image. To run notebooks
with nbgrader or Otter instead: `gradlab course --help`.
"""


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    grade = commands.add_parser(
        "grade", help="for teachers: run and mark students' notebooks", epilog=_EPILOG
    )
    grade.add_argument(
        "folder", type=Path, metavar="DIR", help="the notebooks: DIR/NAME/*.ipynb or DIR/NAME.ipynb"
    )
    csv = (
        "the marks; a page about the class is written beside them (default: marks.csv, marks.html)"
    )
    grade.add_argument(
        "-o", "--output", type=Path, default=Path("marks.csv"), metavar="FILE.csv", help=csv
    )
    places = grade.add_mutually_exclusive_group()
    container = "run each notebook in a container of this image: podman:IMAGE or docker:IMAGE"
    places.add_argument("--in", dest="container", metavar="PROGRAM:IMAGE", help=container)
    trust = (
        "run the notebooks on this account, with all its rights: only for "
        "notebooks that you have read"
    )
    places.add_argument("--trust", action="store_true", help=trust)
    seconds = "for a notebook (%(default)g); for one cell a quarter of it"
    grade.add_argument("--seconds", type=float, default=300.0, help=seconds)
    grade.add_argument(
        "--memory", type=int, default=4096, metavar="MB", help="for a notebook (%(default)d)"
    )
    grade.add_argument("--seed", type=int, help="draw the inputs of an earlier run again")
    grade.set_defaults(act=_grade)


def _grade(options: argparse.Namespace) -> None:
    if options.output.suffix != ".csv":
        raise UsageError(f"marks are written to a .csv file, got {options.output}")
    if not options.output.absolute().parent.is_dir():
        raise UsageError(
            f"cannot write {options.output}: there is no folder {options.output.parent}"
        )
    if not options.seconds >= 1 or options.memory < _SMALLEST_MEMORY:
        raise UsageError(f"give at least a second and {_SMALLEST_MEMORY} MB")
    from .grading.answers import draw_question
    from .grading.marks import mark_notebook
    from .grading.place import Limits, check_place
    from .grading.submissions import find_submissions

    submissions = find_submissions(options.folder)
    place = _choose_place(options)
    if warning := check_place(place, options.memory):
        say(f"{place}: {warning}")
    limits = Limits(options.seconds, options.memory)
    seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
    stems = {submission.stem for submission in submissions}
    questions = {name: draw_question(name, seed) for name in _exercises_of(stems)}
    marks: list[Mark] = []
    for student, of_student in itertools.groupby(
        submissions, key=lambda submission: submission.student
    ):
        for submission in of_student:
            new = mark_notebook(submission, place, limits, questions)
            exercises = [mark for mark in new if mark.exercise]
            right = sum(mark.score for mark in exercises)
            result = f"{right} of {len(exercises)}" if exercises else new[0].said
            say(f"{student}  {submission.stem}  {result}")
            marks += new
        # After each student, so that whatever happens later takes nothing back.
        _save(options.output, marks, seed)
    say(f"wrote {options.output} and {options.output.with_suffix('.html')}")


def _choose_place(options: argparse.Namespace) -> Place:
    """Return where notebooks run. Raises UsageError if the teacher didn't say."""
    from .grading.place import THIS_ACCOUNT, Container

    if options.trust:
        if os.name == "nt":
            raise UsageError(
                "--trust needs Linux or macOS; on Windows, give --in docker:IMAGE or --in "
                "podman:IMAGE"
            )
        return THIS_ACCOUNT
    if options.container is None:
        raise UsageError(
            "say where students' code may run: --in podman:IMAGE or --in docker:IMAGE for a "
            "container, or --trust for this account, with all its rights and files; gradlab grade "
            "--help says more"
        )
    program, _, image = options.container.partition(":")
    if program not in ("podman", "docker") or not image or image.startswith("-"):
        raise UsageError(f"--in takes podman:IMAGE or docker:IMAGE, got {options.container!r}")
    return Container(program, image)


def _exercises_of(stems: set[str]) -> list[str]:
    from ..exercises.catalog import EXERCISES, notebook

    return [name for name in EXERCISES if notebook(name) in stems]


def _save(path: Path, marks: Sequence[Mark], seed: int) -> None:
    from .grading.marks import complete, write_csv
    from .grading.page import write_page

    completed = complete(marks)
    try:
        write_csv(path, completed)
        write_page(path.with_suffix(".html"), completed, seed)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or path}: {error.strerror}") from error

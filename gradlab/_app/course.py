"""`gradlab course`: copies of the notebooks for a class, as they are, or for `gradlab grade`,
nbgrader or Otter.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .._base import notebooks
from .._base.atomic_files import atomic_replace
from .._base.notebooks import UsageError
from .commands import say
from .slides import moving

Cell = dict[str, Any]

_NBGRADER_CONFIG = """\
c = get_config()  # nbgrader defines it
c.CourseDirectory.course_id = "gradlab"
c.ExecutePreprocessor.timeout = 300
"""
_OTTER_CONFIG = """\
# ASSIGNMENT CONFIG
export_cell: false
check_all_cell: false"""
_PRESS = "Run the cell and press a button."
_WRITE = "Write your letter in place of `None`, and run the cell."


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    course = commands.add_parser("course", help="for teachers: copies of the notebooks for a class")
    course.add_argument("folder", type=Path, metavar="DIR", help="a new folder for the copies")
    course.add_argument("--no-outputs", action="store_true", help="without what the cells show")
    kinds = course.add_mutually_exclusive_group()
    graded = (
        "for `gradlab grade`: choices ask for a letter in the cell, because "
        "a button's press isn't saved"
    )
    kinds.add_argument("--graded", action="store_true", help=graded)
    kinds.add_argument(
        "--nbgrader",
        action="store_true",
        help="as source/ of an nbgrader course, solved by the key",
    )
    kinds.add_argument(
        "--otter",
        action="store_true",
        help="as master notebooks for `otter assign`, solved by the key",
    )
    slides = (
        "with labs that move in the decks that `jupyter nbconvert --to slides DIR/*.ipynb` makes "
        "(takes minutes)"
    )
    kinds.add_argument("--slides", action="store_true", help=slides)
    course.set_defaults(act=_course)


def _course(options: argparse.Namespace) -> None:
    folder: Path = options.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder: give a new one")
    if options.slides and options.no_outputs:
        raise UsageError("--slides is about what cells show: leave out --no-outputs")
    try:
        for path in sorted(notebooks.find_folder().glob("*.ipynb")):
            to = folder / "source" / path.stem if options.nbgrader else folder
            _write(to / path.name, _copy(path, options))
        if options.nbgrader:
            _write(folder / "nbgrader_config.py", _NBGRADER_CONFIG)
        elif not options.otter:
            for path in sorted(notebooks.find_folder().glob("*.md")):
                _write(folder / path.name, path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror or error}") from error


def _copy(path: Path, options: argparse.Namespace) -> str:
    """The text of a notebook as it was asked for."""
    notebook = json.loads(path.read_text("utf-8"))
    cells: list[Cell] = notebook["cells"]
    if options.nbgrader or options.otter:
        for_class = _for_nbgrader if options.nbgrader else _for_otter
        cells = [new for cell in cells for new in for_class(cell)]
        if options.otter:
            cells.insert(0, _raw(_OTTER_CONFIG) | {"id": "assignment"})
    if options.graded:
        cells = [_ask_for_letter(cell) for cell in cells]
    if options.slides:
        moving(cells)
    if options.no_outputs or options.nbgrader or options.otter:
        cells = [_bare(cell) for cell in cells]
    return json.dumps(notebook | {"cells": cells}, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_replace(path) as part:
        part.write_text(text, "utf-8")
    say(f"wrote {path}")


def _bare(cell: Cell) -> Cell:
    """A cell without what it shows."""
    return cell | {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell


def _for_nbgrader(cell: Cell) -> Iterator[Cell]:
    """Yield a cell; in place of one that asks, a cell to answer in and one that checks and has a
    point.
    """
    question = _question(cell)
    if question is None:
        yield cell
        return
    if question.is_choice:
        # Its buttons say what is right and why; they aren't saved, so a letter is asked for as
        # well.
        yield cell
    grade_id = question.name.replace(".", "-")
    answer = question.with_solution("### ")
    yield _code(f"{grade_id}-answer", answer, grade=False, solution=True, locked=False)
    yield _code(
        f"{grade_id}-test", question.test, grade=True, solution=False, locked=True, points=1
    )


def _for_otter(cell: Cell) -> Iterator[Cell]:
    """Yield a cell; in place of one that asks, a question of Otter's: what to answer, and what
    checks it.
    """
    question = _question(cell)
    if question is None:
        yield cell
        return
    if question.is_choice:
        yield cell
    parts = [
        _raw(f"# BEGIN QUESTION\nname: {question.name.replace('.', '_')}\npoints: 1"),
        _raw("# BEGIN SOLUTION"),
        _plain(question.with_solution("# ")),
        _raw("# END SOLUTION"),
        _raw("# BEGIN TESTS"),
        _plain(question.test),
        _raw("# END TESTS"),
        _raw("# END QUESTION"),
    ]
    for number, part in enumerate(parts):
        yield part | {"id": f"{question.name.replace('.', '-')}-{number}"}


class Question(NamedTuple):
    """An exercise as a tool hands it out.

    Args:
        name: of the exercise.
        start: code that students get; they go on from there.
        solution: the key's code, indented as it follows `start`.
        variable: the name under which the answer is checked.
        is_choice: whether it is answered with a letter.
    """

    name: str
    start: str
    solution: str
    variable: str
    is_choice: bool = False

    def with_solution(self, comment: str) -> str:
        """Return the code with the solution between lines that a tool looks for, which begin with
        `comment`.
        """
        indent = self.solution[: len(self.solution) - len(self.solution.lstrip())]
        begin = f"{indent}{comment}BEGIN SOLUTION"
        end = f"{indent}{comment}END SOLUTION"
        return "\n".join([self.start, begin, self.solution, end])

    @property
    def test(self) -> str:
        """Code that fails unless the answer is right."""
        return (
            f'feedback = gl.exercises.check("{self.name}", {self.variable})\nassert '
            "feedback.right, feedback"
        )


def _question(cell: Cell) -> Question | None:
    """Return what a cell asks; None if it asks nothing."""
    from ..exercises.catalog import EXERCISES
    from ..exercises.key import checked, chosen, value
    from ..exercises.questions import Choice

    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return None
    for name in chosen(source):
        start = f"# The letter of your answer: {_letters(name)}.\nanswer = None"
        return Question(name, start, f'answer = "{value(name)}"', "answer", is_choice=True)
    for name, variable in checked(source):
        exercise = EXERCISES[name]
        # A choice is answered with a letter, not with a variable.
        assert not isinstance(exercise, Choice)
        solution = exercise.solution.strip()
        head, _, body = solution.partition("\n")
        if head.startswith("def "):
            return Question(name, head, body, variable)
        return Question(name, exercise.starter.strip(), solution, variable)
    return None


def _letters(name: str) -> str:
    """Return the letters of a choice as a sentence has them: "a", "b" or "c"."""
    from ..exercises.catalog import EXERCISES
    from ..exercises.questions import Choice

    choice = EXERCISES[name]
    assert isinstance(choice, Choice)
    *letters, last = (f'"{letter}"' for letter in choice.letters)
    return f"{', '.join(letters)} or {last}"


def _ask_for_letter(cell: Cell) -> Cell:
    """Return a cell in which a choice asks for a letter, which is saved with the notebook."""
    from ..exercises.key import chosen

    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return cell | {"source": source.replace(_PRESS, _WRITE)}
    for name in chosen(source):
        asked = f'choose("{name}", None)  # in place of None your letter: {_letters(name)}'
        source = source.replace(f'choose("{name}")', asked)
    return cell | {"source": source}


def _code(grade_id: str, source: str, **settings: Any) -> Cell:
    nbgrader = {
        "schema_version": 3,
        "grade_id": grade_id,
        "task": False,
        "cell_type": "code",
        **settings,
    }
    return _plain(source) | {"id": grade_id, "metadata": {"nbgrader": nbgrader}}


def _plain(source: str) -> Cell:
    return {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }


def _raw(source: str) -> Cell:
    return {"cell_type": "raw", "metadata": {}, "source": source}

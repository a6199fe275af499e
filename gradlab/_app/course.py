"""`gradlab course`: copies of the notebooks for a class: as they are, without outputs, for nbgrader, or for Otter."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._base import notebooks
from .._base.atomic_files import replaced
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


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    course = commands.add_parser("course", help="for teachers: copies of the notebooks for a class")
    course.add_argument("folder", type=Path, metavar="DIR", help="a new folder for the copies")
    course.add_argument("--no-outputs", action="store_true", help="without what the cells show")
    kinds = course.add_mutually_exclusive_group()
    kinds.add_argument("--nbgrader", action="store_true", help="as source/ of an nbgrader course, solved by the key")
    kinds.add_argument("--otter", action="store_true", help="as master notebooks for `otter assign`, solved by the key")
    slides = "with labs that move in the decks that `jupyter nbconvert --to slides DIR/*.ipynb` makes (takes minutes)"
    kinds.add_argument("--slides", action="store_true", help=slides)
    course.set_defaults(act=_course)


def _course(options: argparse.Namespace) -> None:
    folder: Path = options.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder: give a new one")
    if options.slides and options.no_outputs:
        raise UsageError("--slides is about what cells show: leave out --no-outputs")
    try:
        for path in sorted(notebooks.shipped().glob("*.ipynb")):
            to = folder / "source" / path.stem if options.nbgrader else folder
            _write(to / path.name, _copy(path, options))
        if options.nbgrader:
            _write(folder / "nbgrader_config.py", _NBGRADER_CONFIG)
        elif not options.otter:
            for path in sorted(notebooks.shipped().glob("*.md")):
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
    if options.slides:
        moving(cells)
    if options.no_outputs or options.nbgrader or options.otter:
        cells = [_bare(cell) for cell in cells]
    return json.dumps(notebook | {"cells": cells}, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as part:
        part.write_text(text, "utf-8")
    say(f"wrote {path}")


def _bare(cell: Cell) -> Cell:
    """A cell without what it shows."""
    return cell | {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell


def _for_nbgrader(cell: Cell) -> Iterator[Cell]:
    """A cell; one that asks as a cell to answer in, and one that checks and has a point."""
    for name, answer, test in _asked(cell):
        grade_id = name.replace(".", "-")
        yield _code(f"{grade_id}-answer", _region("### ", answer), grade=False, solution=True, locked=False)
        yield _code(f"{grade_id}-test", test, grade=True, solution=False, locked=True, points=1)
        return
    yield cell


def _for_otter(cell: Cell) -> Iterator[Cell]:
    """A cell; one that asks as a question of Otter's: what to answer, and what checks it."""
    for name, answer, test in _asked(cell):
        question = f"# BEGIN QUESTION\nname: {name.replace('.', '_')}\npoints: 1"
        solution = [_raw("# BEGIN SOLUTION"), _plain(_region("# ", answer)), _raw("# END SOLUTION")]
        tests = [_raw("# BEGIN TESTS"), _plain(test), _raw("# END TESTS")]
        for number, part in enumerate([_raw(question), *solution, *tests, _raw("# END QUESTION")]):
            yield part | {"id": f"{name.replace('.', '-')}-{number}"}
        return
    yield cell


def _asked(cell: Cell) -> Iterator[tuple[str, str, str]]:
    """Of a cell that asks something: the exercise, the key's answer as code, and the code that checks it."""
    from ..exercises.key import CODE, checked, chosen, value

    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return
    for name, variable in checked(source):
        yield name, CODE[name].strip(), _test(name, variable)
    for name in chosen(source):
        yield name, f'answer = "{value(name)}"', _test(name, "answer")


def _test(name: str, variable: str) -> str:
    return f'feedback = gl.exercises.check("{name}", {variable})\nassert feedback.right, feedback'


def _parts(answer: str) -> tuple[str, str, str]:
    """An answer as what students get to begin with, what they write, and how far that is indented."""
    head, _, body = answer.partition("\n")
    return (head, textwrap.dedent(body), "    ") if head.startswith("def ") else ("", answer, "")


def _region(comment: str, answer: str) -> str:
    """An answer between the lines that say where a solution begins and ends, for a tool with such comments."""
    head, body, indent = _parts(answer)
    region = textwrap.indent(f"{comment}BEGIN SOLUTION\n{body}\n{comment}END SOLUTION", indent)
    return "\n".join(filter(None, [head, region]))


def _code(grade_id: str, source: str, **settings: Any) -> Cell:
    nbgrader = {"schema_version": 3, "grade_id": grade_id, "task": False, "cell_type": "code", **settings}
    return _plain(source) | {"id": grade_id, "metadata": {"nbgrader": nbgrader}}


def _plain(source: str) -> Cell:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}


def _raw(source: str) -> Cell:
    return {"cell_type": "raw", "metadata": {}, "source": source}

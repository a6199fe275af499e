"""The command `gradlab grade`: every notebook in a sandbox of its own, then marks and a page about the class."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import tempfile
from pathlib import Path
from typing import Any

from .._base.notebooks import UsageError
from .commands import say
from .grading.sandbox import FILES, HIDDEN, ROOT, Sandbox, found, trusting
from .grading.student import Limits, running

_EPILOG = """\
Each notebook runs from its first cell to its last, without network, and sees no file but those beside it. The functions
that it hands to gl.exercises.check are called with inputs drawn for this run; their results are compared outside. A
letter counts where the notebook holds it: gl.exercises.choose("start.sign", "b"). Progress files count for nothing.
"""


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    grade = commands.add_parser("grade", help="for teachers: run and mark students' notebooks", epilog=_EPILOG)
    grade.add_argument("folder", type=Path, metavar="DIR", help="the notebooks: DIR/NAME/*.ipynb or DIR/NAME.ipynb")
    csv = "the marks; a page about the class is written beside them (default: marks.csv, marks.html)"
    grade.add_argument("-o", "--output", type=Path, default=Path("marks.csv"), metavar="FILE.csv", help=csv)
    limits = Limits()
    grade.add_argument(
        "--seconds", type=float, default=limits.seconds, help="for the cells of a notebook (%(default)g)"
    )
    grade.add_argument("--memory", type=int, default=limits.memory, metavar="MB", help="for a process (%(default)d)")
    grade.add_argument("--seed", type=int, help="draw the inputs of an earlier run again")
    grade.add_argument("--trust", action="store_true", help="run without a sandbox: on this account, with its files")
    grade.set_defaults(act=_grade)


def _grade(options: argparse.Namespace) -> None:
    from .grading.marks import completed, marked, write_csv
    from .grading.page import write_page
    from .grading.submissions import found as handed_in

    if os.name == "nt":
        raise UsageError("gradlab grade runs on Linux, and with --trust on macOS; on Windows, run it in WSL")
    if options.output.suffix != ".csv":
        raise UsageError(f"marks are written to a .csv file, got {options.output}")
    if not options.output.absolute().parent.is_dir():
        raise UsageError(f"cannot write {options.output}: there is no folder {options.output.parent}")
    if not options.seconds > 0 or options.memory < 256:
        raise UsageError("give at least a second and 256 MB")
    limits = Limits(options.seconds, options.memory)
    submissions = handed_in(options.folder)
    sandbox = trusting if options.trust else _sandbox(options.folder)
    if os.geteuid() == 0:
        say("as root, Linux doesn't limit how many processes a notebook starts; an ordinary account is safer")
    seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
    marks = []
    for one in submissions:
        ours = marked(one, sandbox, limits, seed)
        scored = [mark.score for mark in ours if mark.score is not None]
        say(f"{one.student}  {one.stem}  {sum(scored)} of {len(scored)}")
        marks += ours
    page = options.output.with_suffix(".html")
    try:
        write_csv(options.output, completed(marks))
        write_page(page, completed(marks), seed)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or options.output}: {error.strerror}") from error
    say(f"wrote {options.output} and {page}")


def _sandbox(folder: Path) -> Sandbox:
    """A sandbox that was tried. Raises: UsageError: there is none here."""
    make = found(lambda make: works(make, folder))
    if make is None:
        raise UsageError(
            "no sandbox works here: install bubblewrap (Linux), or allow user namespaces; "
            "--trust runs the notebooks without one, with all rights of this account"
        )
    return make


def works(make: Sandbox, folder: Path) -> bool:
    """Try a sandbox: nothing of a folder, of the exercises, or of this machine's network is to be reached from it."""
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as scratch:
        for name in (FILES, ROOT):
            (Path(scratch) / name).mkdir()
        tried = [
            "import os, socket, gradlab as gl",
            f"gl.exercises.check('files', os.path.exists({str(folder.resolve())!r}) or os.listdir({str(HIDDEN)!r}))",
            f"gl.exercises.check('network', socket.socket().connect_ex(('127.0.0.1', {server.getsockname()[1]})))",
        ]
        with running(tried, Path(scratch), make, Limits(seconds=30.0)) as student:
            return student.answers.get("files") == [] and bool(student.answers.get("network"))

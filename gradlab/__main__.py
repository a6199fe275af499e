"""The `gradlab` command: hand the words of the command line to the command they name."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import __version__
from ._app import commands, course, dashboard, grade, jupyter, key
from ._base.notebooks import UsageError

_EVERYBODY = (jupyter.add, dashboard.add, commands.add_list, commands.add_run, commands.add_report)
# As `gradlab --help` shows them; the last for teachers.
COMMANDS = (*_EVERYBODY, key.add, course.add, grade.add)
FOR_OTHERS = ("lab", "dashboard")  # hand on what follows --


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 2 for a command that cannot be carried out."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # argparse has no word for "hand the rest to somebody else"; what follows -- belongs to Jupyter.
    ours, theirs = (
        (given[: given.index("--")], given[given.index("--") + 1 :])
        if "--" in given
        else (given, [])
    )
    parser = _parser()
    options, unknown = parser.parse_known_args(ours, argparse.Namespace(extra=theirs))
    if unknown:
        hint = f"; what is for Jupyter follows --: gradlab {options.command} -- {unknown[0]}"
        parser.error(
            f"unrecognized arguments: {' '.join(unknown)}" + hint * (options.command in FOR_OTHERS)
        )
    try:
        if theirs and options.command not in FOR_OTHERS:
            takers = " and ".join(f"`gradlab {name}`" for name in FOR_OTHERS)
            raise UsageError(
                f"arguments after -- go to Jupyter, so only {takers} take them, got {theirs[0]}"
            )
        options.act(options)
        sys.stdout.flush()
    except UsageError as error:
        commands.say(f"gradlab: {error}", sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gradlab", description="See what happens to a gradient before it is applied."
    )
    parser.add_argument("--version", action="version", version=f"gradlab {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())

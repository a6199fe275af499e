"""The student's process: run a notebook's cells, and call the functions that it hands to `check`.

`python -m gradlab._app.grading.inside` reads one request from its standard input and writes lines
of JSON as it goes:

    {"exercise": name, "value": ...}    an answer that isn't a function
    {"exercise": name, "results": [..]} a function: for each call what it returned, or what it raised
    {"cell": number, "trouble": text}   a cell that failed
    {"version": text}                   the end was reached

A line is written as soon as its cell has run, so that nothing later, an endless loop for example,
takes it back.

Nothing here keeps a hostile notebook in bounds: the grader sets limits from outside and trusts no
line. The alarm only ends what loops by mistake, so that the cells after it still run. The module
`gradlab.exercises` is replaced: there is no verdict in this process.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import os
import signal
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from ... import __version__
from .values import Variables, pack, unpack

_EXERCISES = "gradlab.exercises"
_CALL_SECONDS = 5.0
_LONGEST_LINE = 200_000


class OutOfTime(BaseException):
    """A cell or a call takes too long; a student's `except Exception` doesn't catch it."""


def main() -> None:
    """Run one notebook."""
    source, reply = claim_pipes()
    request = json.loads(source.read())
    for name, content in request["files"].items():
        Path(name).write_bytes(base64.b64decode(content))
    sys.path.insert(0, os.getcwd())  # a notebook imports what lies beside it
    answers: dict[str, Any] = {}
    replace_exercises(answers)
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(request["cells"]):
        if trouble := run_cell(cell, number, space, request["cell_seconds"]):
            write(reply, {"cell": number, "trouble": trouble})
        while answers:
            name, answer = answers.popitem()
            write(
                reply, {"exercise": name} | describe_answer(answer, request["calls"].get(name, []))
            )
    write(reply, {"version": __version__})
    os._exit(0)  # a thread that never ends must not hold the grader up


def claim_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return the request and the reply as files of their own; what a notebook prints goes nowhere."""
    source = os.fdopen(os.dup(0), "rb")
    reply = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return source, reply


def write(reply: IO[bytes], message: dict[str, Any]) -> None:
    """Write a line; in place of a result that is too long to be compared, a line that says so."""
    try:
        line = json.dumps(message)
    except (ValueError, RecursionError):  # an integer of 5,000 digits, for example
        line = ""
    if not line or len(line) > _LONGEST_LINE:
        too_long = {"raised": "ValueError", "text": "the result is too large to be compared"}
        line = json.dumps({"exercise": message["exercise"], "results": [too_long]})
    reply.write(line.encode() + b"\n")
    reply.flush()


def replace_exercises(answers: dict[str, Any]) -> None:
    """Put a module in place of the exercises that only notes answers: for each exercise the last,
    or None.
    """

    def note(name: str, answer: Any = None) -> str:
        answers[str(name)] = answer
        return "noted"

    module = types.ModuleType(_EXERCISES)
    module.__dict__.update(check=note, choose=note, __path__=[])
    module.__dict__.update(predict=lambda name, **guess: None, progress=lambda: None)
    sys.modules[_EXERCISES] = module
    vars(sys.modules["gradlab"])["exercises"] = module


def run_cell(source: str, number: int, space: dict[str, Any], seconds: float) -> str:
    """Run a cell, and return what went wrong, if anything."""
    try:
        with limit_time(seconds):
            exec(compile(source, f"<cell {number}>", "exec"), space)
    except OutOfTime:
        return f"it ran for more than {seconds:g} seconds"
    except BaseException as error:
        return f"{type(error).__name__}: {text_of(error)}"
    return ""


@contextlib.contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after some seconds."""

    def ring(*_: Any) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, ring)
    # Again and again, because the first may be swallowed.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def text_of(error: BaseException) -> str:
    """Return an exception's text, which is a student's code as well."""
    try:
        return str(error)[:300]
    except BaseException:
        return "its text cannot be read"


def describe_answer(answer: Any, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an answer's value; of a function what it does when it is called, up to the first
    error.
    """
    if not callable(answer):
        try:
            return {"value": pack(answer, {})}
        except BaseException as error:
            return {"value": f"{type(error).__name__}: {text_of(error)}"}
    results = []
    for call in calls:
        results.append(call_function(answer, call))
        if "raised" in results[-1]:
            break
    return {"results": results}


def call_function(function: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return what a function returns, and what it makes of its arguments; or what it raises."""
    variables: Variables = {}
    arguments = [unpack(argument, variables, make_variable) for argument in call["arguments"]]
    try:
        with limit_time(_CALL_SECONDS), np.errstate(all="ignore"):
            if "scene" in call:
                scene: dict[str, Any] = {"__name__": "scene"}
                exec(call["scene"], scene)
                result = scene["play"](function, *arguments)
            else:
                result = function(*arguments)
            if hasattr(result, "__next__"):
                result = list(result)
            given = pack(copy.copy(result), {})
        return {"given": given, "arguments": [pack(argument, {}) for argument in arguments]}
    except OutOfTime:
        return {"raised": "TimeoutError", "text": f"no result after {_CALL_SECONDS:g} seconds"}
    except BaseException as error:
        return {"raised": type(error).__name__, "text": text_of(error)}


def make_variable(name: str, value: Any) -> Any:
    """Return a variable of the course, which keeps its name."""
    from ...train.variable import Variable, variable_collection  # most notebooks need none

    # Where another variable has this name already, it would get a number.
    with variable_collection():
        return Variable(np.asarray(value), name=name)


if __name__ == "__main__":
    main()

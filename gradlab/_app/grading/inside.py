"""The student's side of `gradlab grade`: run a notebook's cells, then call its functions when asked to.

`python -m gradlab._app.grading.inside` reads one message with the code, answers with what was checked, and then answers
calls until its input ends. The exercises are replaced by stand-ins that note what a notebook hands to `check`: there is
neither a key nor a verdict in this process.
"""

from __future__ import annotations

import contextlib
import copy
import os
import resource
import signal
import sys
import types
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from . import wire

EXERCISES = "gradlab.exercises"
_MEGABYTE = 1 << 20
_PROCESSES = 256  # threads count


class Answers:
    """Answers that the notebook has handed to `check` and `choose`, the last for each name."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    def check(self, name: str, answer: Any) -> str:
        """Note an answer."""
        self.given[str(name)] = answer
        return "noted"

    def choose(self, name: str, answer: Any = None) -> str:
        """Note a letter, if there is one: what a button was pressed for is not in the notebook."""
        return "asked" if answer is None else self.check(name, answer)


class OutOfTime(BaseException):
    """A cell or a call takes too long; no `except Exception` of a student's stops it."""


def main() -> None:
    """Serve one notebook."""
    asked, answers = _channel()
    start = wire.read(asked)
    _limit(int(start["memory"]))
    noted = _stand_in()
    troubles = _run_cells(start["cells"], float(start["seconds"]))
    values = {name: _described(value) for name, value in noted.given.items()}
    wire.write(answers, {"answers": values, "troubles": troubles})
    with contextlib.suppress(wire.BrokenError):
        while True:
            call = wire.read(asked)
            wire.write(answers, _answered(noted.given[call["name"]], call))


def _channel() -> tuple[IO[bytes], IO[bytes]]:
    """The grader's messages and ours to it, on numbers of their own: what a notebook prints goes nowhere."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return asked, answers


def _limit(memory: int) -> None:
    """No more memory than so many MB in a process, no core dumps, no large files, few processes."""
    most = memory * _MEGABYTE
    kinds = [(resource.RLIMIT_AS, most), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 64 * _MEGABYTE)]
    for kind, limit in [*kinds, (resource.RLIMIT_NPROC, _PROCESSES)]:
        soft = resource.getrlimit(kind)[1]
        limit = limit if soft == resource.RLIM_INFINITY else min(limit, soft)
        with contextlib.suppress(OSError, ValueError):  # macOS has some of them in name only
            resource.setrlimit(kind, (limit, limit))


def _stand_in() -> Answers:
    """Put a module in place of the exercises."""
    noted, module = Answers(), types.ModuleType(EXERCISES)
    silent: dict[str, Callable[..., Any]] = {"predict": lambda name, **guess: None, "progress": lambda: None}
    module.__dict__.update(silent, check=noted.check, choose=noted.choose, __path__=[])
    sys.modules[EXERCISES] = module
    vars(sys.modules["gradlab"])["exercises"] = module
    return noted


def _run_cells(cells: list[str], seconds: float) -> list[str]:
    """Run the cells of a notebook one after the other, as many as there is time for; say what went wrong."""
    space: dict[str, Any] = {"__name__": "__main__"}
    troubles = []
    try:
        with _alarm(seconds):
            for number, source in enumerate(cells):
                try:
                    exec(compile(source, f"<cell {number}>", "exec"), space)
                except OutOfTime:
                    raise
                except BaseException as error:
                    troubles.append(f"cell {number}: {type(error).__name__}: {error}"[:300])
    except OutOfTime:
        troubles.append(f"its cells ran for more than {seconds:g} seconds")
    return troubles


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again and again: the first may be swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _described(value: Any) -> dict[str, Any]:
    return {"function": True} if callable(value) else {"value": wire.packed(value, wire.Variables())}


def _answered(function: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return what a function gives, what it raises, and what it makes of its arguments."""
    variables = wire.Variables(_variable)
    arguments = wire.unpacked(call["arguments"], variables)
    try:
        with _alarm(float(call["seconds"])), np.errstate(all="ignore"):
            if scene := call.get("scene"):
                played: dict[str, Any] = {"__name__": "scene"}
                exec(scene, played)
                result = played["play"](function, *arguments)
            else:
                result = function(*arguments)
                result = list(result) if hasattr(result, "__next__") else result
            given = wire.packed(copy.copy(result), variables)
        return {"given": given, "arguments": wire.packed(arguments, variables)}
    except OutOfTime:
        return {"raised": "TimeoutError", "text": f"no result after {call['seconds']:g} seconds"}
    except BaseException as error:
        return {"raised": type(error).__name__, "text": f"{error}"[:300]}


def _variable(name: str, value: Any) -> Any:
    from ...train.variable import Variable  # only here: most notebooks need none

    return Variable(np.asarray(value), name=name)


if __name__ == "__main__":
    main()

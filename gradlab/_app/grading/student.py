"""The grader's side of a student's process: run a notebook in it, and call its functions from here."""

from __future__ import annotations

import builtins
import contextlib
import inspect
import os
import select
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from . import wire
from .sandbox import Sandbox, opened

CALL = 5.0  # seconds for one call
_GRACE = 3.0  # more, until a process that does not end by itself is stopped


@dataclass(frozen=True)
class Limits:
    """Limits on the time and memory of a notebook.

    Args:
        seconds: for all of its cells. memory: MB for a process.
    """

    seconds: float = 120.0
    memory: int = 4096


class Student:
    """A notebook that has run: its answers, and what went wrong in its cells.

    Args:
        process: where it ran. answers: by exercise, a value or a function that runs there. troubles: in words.
    """

    def __init__(self, process: Process, answers: Mapping[str, Any], troubles: Sequence[str]) -> None:
        self._process, self.answers, self.troubles = process, answers, troubles

    @property
    def ended(self) -> bool:
        """True if its process is gone, so that its functions cannot be called any more."""
        return self._process.ended


class Process:
    """A student's process, talked to with a limit on the time of every reply."""

    def __init__(self, command: Sequence[str], scratch: Path) -> None:
        self._process, self._heard = opened(command, scratch), b""

    def asked(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a message and wait for the reply. Raises: BrokenError: none came in time, or no such thing."""
        sent = self._process.stdin
        assert sent is not None
        try:
            wire.write(sent, message)
        except (OSError, ValueError) as error:
            raise wire.BrokenError("its process ended") from error
        return wire.message(self._line(seconds))

    def _line(self, seconds: float) -> bytes:
        """The next line, however slowly it comes, up to a time and a length."""
        heard, end = self._process.stdout, time.monotonic() + seconds
        assert heard is not None
        while b"\n" not in self._heard:
            left = end - time.monotonic()
            if left <= 0 or not select.select([heard], [], [], left)[0]:
                self.stop()
                raise wire.BrokenError(f"no reply after {seconds:g} seconds")
            more = os.read(heard.fileno(), 1 << 16)
            if not more or len(self._heard) > wire.LONGEST:
                self.stop()
                raise wire.BrokenError("its process ended" if not more else "it sent more than a result can hold")
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return line

    @property
    def ended(self) -> bool:
        """True if it is gone."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End it; whatever it started ends with it."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        self._process.wait()


class Remote:
    """A student's function: called here, it runs there. It may also be played in a scene, code that is sent along."""

    def __init__(self, process: Process, name: str) -> None:
        self._process, self._name = process, name

    def __call__(self, *arguments: Any) -> Any:
        return self._asked(arguments)

    def play(self, scene: ModuleType, *arguments: Any) -> Any:
        """Return what `scene.play(function, *arguments)` gives over there."""
        return self._asked(arguments, scene=inspect.getsource(scene))

    def _asked(self, arguments: Sequence[Any], **more: str) -> Any:
        variables = wire.Variables()
        sent = [wire.packed(argument, variables) for argument in arguments]
        message = {"name": self._name, "arguments": sent, "seconds": CALL, **more}
        reply = self._process.asked(message, CALL + _GRACE)
        if "raised" in reply:
            raise _error(str(reply["raised"]), str(reply.get("text", "")))
        for before, after in zip(arguments, wire.unpacked(reply.get("arguments", []), variables), strict=False):
            _follow(before, after)
        return wire.unpacked(reply.get("given"), variables)


def _follow(before: Any, after: Any) -> None:
    """Let an argument here become what it became there."""
    if isinstance(before, list) and isinstance(after, list):
        for old, new in zip(before, after, strict=False):
            _follow(old, new)
        if len(before) != len(after):
            before[:] = after
    elif isinstance(before, np.ndarray) and np.shape(after) == before.shape and before.flags.writeable:
        before[...] = after


def _error(name: str, text: str) -> Exception:
    """An exception of the student's type, as far as it is one of Python's own."""
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = type(name if name.isidentifier() else "Error", (Exception,), {})
    try:
        error: Exception = kind(text)
    except Exception:  # UnicodeDecodeError wants more than a text
        return RuntimeError(f"{name}: {text}")
    return error


@contextlib.contextmanager
def running(cells: Sequence[str], folder: Path, sandbox: Sandbox, limits: Limits) -> Iterator[Student]:
    """A notebook's cells, run in a folder of their own, for as long as its answers are looked at."""
    patience = limits.seconds + 60  # Python's start, and calls
    process = Process(sandbox(folder, patience + 600), folder)
    start = {"cells": list(cells), "seconds": limits.seconds, "memory": limits.memory}
    try:
        yield _started(process, start, patience)
    finally:
        process.stop()


def _started(process: Process, start: dict[str, Any], patience: float) -> Student:
    began = time.monotonic()
    try:
        reply = process.asked(start, patience)
        described, troubles = dict(reply["answers"]), [str(trouble) for trouble in reply["troubles"]]
        values = {
            name: Remote(process, name) if "function" in one else wire.unpacked(one["value"], wire.Variables())
            for name, one in described.items()
        }
    except (wire.BrokenError, KeyError, TypeError, ValueError) as error:
        return Student(process, {}, [f"the notebook could not be run: {error} ({time.monotonic() - began:.0f} s)"])
    return Student(process, values, troubles)

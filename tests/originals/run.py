"""Run one suite against gradlab and count: every case passed, failed, is not applicable or differs
by design.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import sys
import threading
import unittest
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gradlab as gl
from tests.originals.namespaces import StandIn, load
from tests.originals.suites import Source, Suite, entry


@dataclass
class Row:
    """What became of the cases of one file."""

    suite: Suite
    tag: str
    digest: str
    version: str = gl.__version__
    cases: int = 0
    passed: int = 0
    absent: dict[str, str] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)  # what the manifest says and is not so

    @property
    def adds_up(self) -> bool:
        return self.cases == self.passed + len(self.failed) + len(self.absent) + len(self.differs)

    @property
    def is_good(self) -> bool:
        return self.adds_up and not self.failed and not self.wrong


def run(suite: Suite, source: Source) -> Row:
    """Load the file, run each case by itself, and compare with what the manifest says of it."""
    row = Row(suite, source.tag, source.digest)
    stand_in: StandIn = importlib.import_module(
        f"tests.originals.stand_ins.{suite.stand_in}"
    ).STAND_IN
    name = f"original_{suite.origin.name}_{source.digest}"
    used: set[str] = set()
    try:
        module = load(source, stand_in, name)
        for case in _cases(unittest.defaultTestLoader.loadTestsFromModule(module)):
            _count(row, case, source, stand_in, used)
    except (ImportError, OSError) as error:
        # Of the file itself: a case's own are counted as failed.
        row.wrong.append(f"the file can't be loaded: {error!r}")
        return row
    finally:
        sys.modules.pop(name, None)
    stale = [p for p in (*suite.absent, *suite.differs, *suite.fails_there) if p not in used]
    row.wrong += [f"{pattern}: no case has this name" for pattern in stale]
    row.wrong += [
        f"{pattern}: called not applicable, but gradlab has {absent.name}"
        for pattern, absent in suite.absent.items()
        if _has(absent.name)
    ]
    row.wrong += [
        f"{p}: there is no test {x.held_by}"
        for p, x in suite.differs.items()
        if not _is_test(x.held_by)
    ]
    return row


def _count(
    row: Row, case: unittest.TestCase, source: Source, stand_in: StandIn, used: set[str]
) -> None:
    title = f"{type(case).__name__}.{case._testMethodName}"
    row.cases += 1
    if absent := entry(row.suite.absent, title, used):
        row.absent[title] = f"{absent.name}: {absent.reason}"
        return
    why, skipped = _failure(case, stand_in)
    if skipped and why is None:
        row.absent[title] = f"skips itself: {skipped}"
        return
    differs, there = (
        entry(row.suite.differs, title, used),
        entry(row.suite.fails_there, title, used),
    )
    if why is None:
        row.passed += 1
        if differs:
            row.wrong.append(f"{title}: said to differ by design, but it passes")
    elif there and _failure(_theirs(case, source, stand_in), None)[0]:
        row.absent[title] = there
    elif differs:
        row.differs[title] = differs.reason
    else:
        row.failed[title] = why


def _theirs(case: unittest.TestCase, source: Source, stand_in: StandIn) -> unittest.TestCase:
    """The same case, run with the original itself."""
    name = f"{type(case).__module__}_itself"
    suite = load(source, replace(stand_in, prefixes=()), name)
    del sys.modules[name]
    theirs: unittest.TestCase = getattr(suite, type(case).__name__)(case._testMethodName)
    return theirs


def _failure(case: unittest.TestCase, stand_in: StandIn | None) -> tuple[str | None, str | None]:
    """The traceback of a case that failed, and the words of one that skips itself; two None for one
    that passed.
    """
    result = unittest.TestResult()
    around = stand_in.around() if stand_in and stand_in.around else contextlib.nullcontext()
    lost: list[str] = []  # in threads that nobody asks
    with (
        gl.variable_collection(),
        around,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        hook, threading.excepthook = (
            threading.excepthook,
            lambda x: lost.append(f"in a thread: {x.exc_value!r}"),
        )
        try:
            case.run(result)
        finally:
            threading.excepthook = hook
    problems = [text for _, text in (*result.errors, *result.failures)] + lost
    return "\n".join(problems) or None, "; ".join(why for _, why in result.skipped) or None


def _cases(suite: Any) -> Iterator[unittest.TestCase]:
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _cases(part)
        elif part._testMethodName != "test_session":
            # A helper of TensorFlow's TestCase, which skips itself there.
            yield part


def _is_test(held_by: str) -> bool:
    file, _, test = held_by.partition("::")
    path = Path(__file__).parents[2] / file
    return path.is_file() and f"def {test}(" in path.read_text("utf-8")


def _has(name: str) -> bool:
    """Whether gradlab has this public name: `gl.train.YogiOptimizer`, or an argument,
    `gl.clip_by_norm(axes)`.
    """
    path, _, argument = name.removeprefix("gl.").partition("(")
    thing: Any = gl
    for part in path.split("."):
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return not argument or argument.rstrip(")") in inspect.signature(thing).parameters

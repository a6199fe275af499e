"""Progress of a long task: one line, in a terminal or under a notebook's cell, once it has taken two seconds.

Who begins something long says `with shown("run.mp4"):`; loops inside say
`for item in told(items, many):`, one inside another where one is a part of the other. Without the
first nothing is shown, and the loops are plain loops; so it is where nobody looks on: output that
goes to a file, or tests.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

from .._base.names import printable
from .scheduling import shell

QUIET_SECONDS = 2.0
AGAIN_SECONDS = 0.25
CELLS = 20  # of the bar

T = TypeVar("T")


class _Loops(threading.local):
    """The loops that this thread is in, the outermost first: how many items each has done, and of
    how many.
    """

    def __init__(self) -> None:
        self.line: Line | None = None
        self.levels: list[list[int]] = []

    def share(self) -> float:
        """The share of the whole that is done, from 0 to 1."""
        share, part = 0.0, 1.0
        for done, many in self.levels:
            part /= max(many, 1)
            share += part * min(done, many)
        return min(share, 1.0)


_loops = _Loops()


@contextmanager
def shown(what: str) -> Iterator[None]:
    """Show how far the loops inside have come; inside another one of these nothing more is shown."""
    if _loops.line is not None:
        yield
        return
    _loops.line = line = Line(what)
    try:
        yield
    finally:
        _loops.line = None
        line.end()


def told(items: Iterable[T], many: int, first: int = 0) -> Iterator[T]:
    """Yield the items, of `many` in all; the `first` ones were yielded by a loop before this one.

    >>> list(told("ab", 2))
    ['a', 'b']
    """
    level = [first, many]
    _loops.levels.append(level)
    try:
        for item in items:
            yield item
            level[0] += 1
            if _loops.line is not None:
                _loops.line.tell(_loops.share())
    finally:
        if level in _loops.levels:  # a generator may be closed in another thread, by the collector
            _loops.levels.remove(level)


class Line:
    """The line that says it: shown late, renewed now and then, and gone at the end."""

    def __init__(self, what: str) -> None:
        self._what, self._place = printable(what), _place()
        self._begin = self._last = time.monotonic()
        self._told = False

    def tell(self, share: float) -> None:
        """So much is done, from 0 to 1."""
        now = time.monotonic()
        if self._place is None or now < max(
            self._begin + QUIET_SECONDS, self._last + AGAIN_SECONDS
        ):
            return
        self._last, self._told = now, True
        self._place.write(words(self._what, share, now - self._begin))

    def end(self) -> None:
        """It is over, done or not."""
        if self._place is not None and self._told:
            self._place.clear()


def words(what: str, share: float, seconds: float) -> str:
    """The line when a share, from 0 to 1, has taken so many seconds.

    >>> words("run.mp4", 0.5, 4.2)
    'run.mp4  ██████████░░░░░░░░░░  50%, 4 s left'
    """
    done = round(CELLS * share)
    left = f", {seconds * (1 - share) / share:.0f} s left" if share > 0 else ""
    return f"{what}  {'█' * done}{'░' * (CELLS - done)}  {100 * share:.0f}%{left}"


class _Terminal:
    """The last line of a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._width = stream, 0

    def write(self, text: str) -> None:
        encoding = self._stream.encoding or "ascii"  # which may know no blocks
        plain = text.encode(encoding, "replace").decode(encoding)
        self._stream.write(f"\r{plain:{self._width}}")
        self._stream.flush()
        self._width = len(plain)

    def clear(self) -> None:
        self.write("")
        self.write("")  # back to the start of what is empty now


class _Cell:
    """A line under a notebook's cell."""

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def clear(self) -> None:
        self.write("")


def _place() -> _Terminal | _Cell | None:
    """The place in which progress is seen, if there is one."""
    if getattr(shell(), "kernel", None) is not None:
        return _Cell()
    stream = sys.stderr
    return _Terminal(stream) if stream is not None and stream.isatty() else None

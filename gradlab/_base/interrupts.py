"""Ctrl-C at a time of our choosing: what must happen whole, or not at all, is not stopped in between.

Python turns the signal into a KeyboardInterrupt wherever the main thread is at that instant. In a block of `later` the
signal is noted, and its handler runs when the block is over, or at `later.look()` before.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from .forks import in_child

_GLANCE = 0.05


class _Later:
    """`with later:` blocks may be nested; only the main thread gets signals, in others they do nothing."""

    def __init__(self) -> None:
        self._depth, self._pressed, self._owner = 0, False, 0
        self._listener: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> None:
        if not _is_main():
            return
        if self._depth == 0:
            self._listen()
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        if not _is_main():
            return
        self._depth -= 1
        if self._depth == 0 and self._listener is not None:
            self._leave()
            self.look()

    @property
    def glance(self) -> float:
        """Seconds that somebody in a block may wait before the next `look`."""
        return _GLANCE if self._listener is not None and _is_main() else threading.TIMEOUT_MAX

    def look(self) -> None:
        """Let a Ctrl-C come that was pressed since the block began: a KeyboardInterrupt, unless others listen."""
        if self._pressed and _is_main() and self._listener is not None:
            self._pressed = False
            self._listener(signal.SIGINT, None)

    def _listen(self) -> None:
        self._pressed, self._listener, self._owner = False, None, threading.get_ident()
        listener = signal.getsignal(signal.SIGINT)
        if callable(listener):  # else the signal is ignored, or somebody in C has it
            with suppress(ValueError):  # of the main thread of an interpreter within another, which gets no signals
                signal.signal(signal.SIGINT, self._note)
                self._listener = listener  # nothing is raised from the line above on

    def _leave(self) -> None:
        if signal.getsignal(signal.SIGINT) == self._note:  # nobody took its place within the block
            signal.signal(signal.SIGINT, self._listener)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._pressed = True

    def _after_fork(self) -> None:
        """A child has one thread; if that is not the one in a block, nobody will leave it."""
        if self._depth and self._owner != threading.get_ident():
            self._leave()
            self._depth = 0


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


later = _Later()
in_child(later._after_fork)

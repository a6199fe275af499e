"""Listeners to new steps: labs that follow a recorder, files, and clients.

`Outlet` is what files and clients have in common: it hands steps on, at a limited share of the
loop's time.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Protocol, Self

from .._base.time_share import Pace
from ..errors import RecordingWarning, warn

SHARE = 0.01  # of the time, that an outlet takes at most


class Listener(Protocol):
    """Something that hears of steps."""

    def heard(self, rec: Any) -> None:
        """The recorder has more steps than before.

        Called in the loop that is recorded, so it returns at once.
        """


def follow(rec: Any, listener: Listener) -> None:
    """Tell this one of new steps of a recorder, for as long as something else holds it."""
    rec.listeners.add(listener)


def here(rec: Any) -> int:
    """Return how many steps a recorder has, but for those that wait on a device: nothing waits for them."""
    return int(rec.store.next_step)


class Listeners:
    """Of one run, for however many recorders it has: `absorb` returns a new one each time.

    Those that `keep` was called for live until `drop` is; of others there is a weak reference only.
    """

    def __init__(self) -> None:
        self._weak: weakref.WeakSet[Any] = weakref.WeakSet()
        self._kept: list[Listener] = []
        self._telling = False

    def add(self, listener: Listener) -> None:
        """Tell it from now on, for as long as something else holds it."""
        self._weak.add(listener)

    def keep(self, listener: Listener) -> None:
        """Tell it from now on, and hold it."""
        self._kept.append(listener)

    def __reduce__(self) -> tuple[type[Listeners], tuple[()]]:
        """A copy has its own."""
        return Listeners, ()

    def drop(self, listener: Listener) -> None:
        """Tell it no more."""
        self._weak.discard(listener)
        self._kept = [one for one in self._kept if one is not listener]

    def __iter__(self) -> Iterator[Listener]:
        yield from [*self._kept, *self._weak]

    def __len__(self) -> int:
        return len(self._kept) + len(self._weak)

    def tell(self, rec: Any) -> None:
        """Tell all of them; not again while one of them is busy with it."""
        if self._telling or not len(self):
            return
        self._telling = True
        try:
            for listener in self:
                listener.heard(rec)
        finally:
            self._telling = False


class Outlet:
    """Hands on the steps of a recorder every so many seconds; a context manager. Not in TensorFlow.

    It takes at most a share of the time of the loop, and the last time: what waits is handed on by
    `flush` and `close`, and at the end of the process. One that fails does not end the training: it
    warns, once, and tries again later; `close` warns of what is left.

    Attributes:
        recorder: the one whose steps these are; of a traced run the one that `absorb` returned
            last.
        seconds_spent: what all of it has taken so far.
    """

    def __init__(self, recorder: Any, seconds: float, name: str, share: float = SHARE) -> None:
        self.recorder, self._name = recorder, name
        self._pace = Pace(
            share if seconds else 1.0, seconds
        )  # after each step, if somebody wants that
        self._guard = threading.RLock()
        self._warned = False
        self.closed = False
        recorder.listeners.keep(self)
        atexit.register(self.close)

    @property
    def seconds_spent(self) -> float:
        return self._pace.spent

    def _write(self, rec: Any) -> None:
        """Hand on what is new. What raises is done again later, from where it came to."""
        raise NotImplementedError(f"{type(self).__name__} must define _write(self, rec)")

    def _finish(self) -> None:
        """Let go of the file or the client, after the last step."""

    def _left(self) -> str:
        """Return what is not handed on yet, in words; empty if nothing is."""
        raise NotImplementedError(f"{type(self).__name__} must define _left(self)")

    def heard(self, rec: Any) -> None:
        """The recorder has more steps; `rec` is it, or the one that took its place."""
        if not self._pace.due:
            self.recorder = rec
            return
        with self._guard:
            self.recorder = rec
            self._try()

    def flush(self) -> None:
        """Hand on all steps so far."""
        with self._guard:
            if not self.closed:
                self.recorder.flush()  # steps that wait on a device come first
                self._try()

    def close(self) -> None:
        """Hand on the last steps, and hear of no more."""
        with self._guard:
            if self.closed:
                return
            self.flush()
            self.closed = True
            self.recorder.listeners.drop(self)
            atexit.unregister(self.close)
            try:
                self._finish()
            except Exception as error:
                self._warn(error)
            if left := self._left():
                warn(f"{self._name} is closed, and {left}; the recorder has them", RecordingWarning)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _try(self) -> None:
        with self._pace.spending():
            try:
                self._write(self.recorder)
            except Exception as error:
                self._warn(error)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            warn(
                f"{self._name} failed, {type(error).__name__}: {error}. The recorder keeps its "
                f"steps, and they are tried again; so far {self._left() or 'nothing is lost'}",
                RecordingWarning,
            )

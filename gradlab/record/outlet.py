"""Outlets: what files and clients that receive a recorder's steps have in common."""

from __future__ import annotations

import atexit
import threading
from typing import Self

from .._base.pace import Pace
from ..errors import RecordingWarning, warn
from .buckets import Buckets

SHARE = 0.01  # of the time, that an outlet takes at most


class Outlet:
    """Hands on the steps of a recorder every so many seconds; a context manager. Not in TensorFlow.

    It takes at most a share of the time of the loop, and the last time: what waits is handed on by `flush` and `close`,
    and at the end of the process. One that fails does not end the training: it warns, once, and tries again later;
    `close` warns of what is left.

    Attributes:
        recorder: the one whose steps these are; of a traced run the one that `absorb` returned last.
        seconds_spent: what all of it has taken so far.
    """

    def __init__(self, recorder: Buckets, seconds: float, name: str, share: float = SHARE) -> None:
        self.recorder, self._name = recorder, name
        self._pace = Pace(share if seconds else 1.0, seconds)  # after each step, if somebody wants that
        self._guard = threading.RLock()
        self._warned = False
        self.closed = False
        recorder.listeners.keep(self)
        atexit.register(self.close)

    @property
    def seconds_spent(self) -> float:
        return self._pace.spent

    def _write(self, rec: Buckets) -> None:
        """Hand on what is new. What raises is done again later, from where it came to."""
        raise NotImplementedError(f"{type(self).__name__} must define _write(self, rec)")

    def _finish(self) -> None:
        """Let go of the file or the client, after the last step."""

    def _left(self) -> str:
        """Return what is not handed on yet, in words; empty if nothing is."""
        raise NotImplementedError(f"{type(self).__name__} must define _left(self)")

    def heard(self, rec: Buckets) -> None:
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
                f"{self._name} failed, {type(error).__name__}: {error}. The recorder keeps its steps, and they are "
                f"tried again; so far {self._left() or 'nothing is lost'}",
                RecordingWarning,
            )

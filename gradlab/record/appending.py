"""A recording on disk that grows while it is recorded, and can be read at any time."""

from __future__ import annotations

import os
import weakref
from os import PathLike
from typing import Any

import numpy as np

from .._base.log import Log
from .._base.numbers import counted
from ..errors import InvalidArgumentError, RecordingWarning, warn
from . import each, file, pieces
from .buckets import LOCK, Buckets
from .merge import Columns
from .outlet import Outlet

_TIMES = 2  # as long as all of a recording its later pieces may be, before it is written as one again

_OPEN: weakref.WeakValueDictionary[str, Appended] = weakref.WeakValueDictionary()  # in this process, by path


class Appended(Outlet):
    """A file to which the steps of a recorder are appended; `Recorder.append_to` makes it. Not in TensorFlow.

    Each piece is what has changed since the last one, in a frame with checksums, and once pieces have become longer
    than the recording the file is replaced by one piece, so that it stays a few times as large as one of `save`.

    Attributes:
        path: of the file. steps: how many are in it.
    """

    def __init__(self, recorder: Buckets, path: str | PathLike[str], seconds: float, sync: bool) -> None:
        self.path = os.path.abspath(os.fsdecode(os.fspath(path)))
        if self.path.endswith(".npz"):
            raise InvalidArgumentError(f"a file that grows is no .npz, got {self.path}; call it run.rec, say")
        if (earlier := _OPEN.get(self.path)) and not earlier.closed:
            earlier.close()
            warn(f"{self.path} was appended to already; that is closed now", RecordingWarning)
        self.steps, self._sync = 0, sync
        self._log: Log | None = Log(self.path, sync)
        try:
            _check_continues(recorder, self.path)
        except BaseException:
            self._log.close()
            raise
        self._last: tuple[dict[str, Any], Columns] | None = None
        self._whole = 0  # bytes of the file when its first piece was all
        super().__init__(recorder, seconds, f"appending to {self.path}")
        _OPEN[self.path] = self
        self.heard(recorder)

    def _write(self, rec: Buckets) -> None:
        now = parts_now(rec)
        if now is None or (self._last is not None and self._last[0] == now[0]):
            return
        try:
            self._put(now)
        except BaseException:
            self._finish()
            self._log, self._last = None, None  # what is in the file is not known for certain
            raise
        self._last, self.steps = now, now[0]["seen"]

    def _put(self, now: tuple[dict[str, Any], Columns]) -> None:
        if self._log is None:
            self._log = Log(self.path, self._sync)
        if self._last is None or self._log.size > (1 + _TIMES) * self._whole:
            self._log.restart(*pieces.first(*now))
            self._whole = self._log.size
        else:
            self._log.append(*pieces.later(self._last, now))

    def _finish(self) -> None:
        if self._log is not None:
            self._log.close()

    def _left(self) -> str:
        missing = vars(self.recorder)["seen"] - self.steps
        return f"{counted(missing, 'step')} are not in the file" if missing > 0 else ""

    def __repr__(self) -> str:
        return f"<Appended: {counted(self.steps, 'step')} in {self.path}>"


def parts_now(rec: Buckets) -> tuple[dict[str, Any], Columns] | None:
    """Return what `file.parts` has of the steps that do not wait on a device; None before the first."""
    with LOCK:
        rec._settle()
        mine = vars(rec)
        if rec._layout is None or not mine["seen"]:
            return None
        return file.parts(rec._layout, mine["_data"], mine["seen"], mine["stride"], rec.missing_steps)


def _check_continues(rec: Buckets, path: str) -> None:
    """ValueError unless what is in a file are steps of this recorder; of those it does not have, a warning."""
    found = file.load_pieces(path)
    if found is None:
        return
    layout, data, seen, *_ = found
    own = parts_now(rec)
    steps = 0 if own is None else min(own[0]["seen"], seen)
    if own is None or tuple(own[0]["names"]) != layout.names or not _agree(own[1]["each"], data["each"], steps):
        raise InvalidArgumentError(
            f"{path} holds {counted(seen, 'step')} of another run. Go on with that one, rec = Recorder.load(path) and "
            "rec.append_to(path), give another path, or delete the file"
        )
    if seen > steps:
        warn(
            f"{path} has {counted(seen - steps, 'step')} more than this recorder, which is that of step {steps}; they "
            "are replaced by those to come",
            RecordingWarning,
        )


def _agree(mine: np.ndarray, other: np.ndarray, steps: int) -> bool:
    """Tell whether two runs have the same first steps, as far as both know them."""
    if len(mine) != len(other):
        return False
    a, b = mine[:, :steps], other[:, :steps]
    both = ~(each.lost(a) | each.lost(b))
    return np.array_equal(a[:, both], b[:, both], equal_nan=True)

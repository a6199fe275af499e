"""A stream: each step of a recorder once, in order, to one destination."""

from __future__ import annotations

import os
import time
from os import PathLike
from typing import Any

import numpy as np

from ..._base.numbers import counted
from ...errors import RecordingWarning, warn
from .. import step_totals
from ..buckets import Buckets
from ..listeners import Outlet
from ..store import LOCK
from . import json_lines, mlflow, tensorboard, wandb
from .sink import Sink, Steps

_AT_ONCE = 0.25  # seconds of steps that have queued up, before the loop goes on
_KNOWN = (
    'a path that ends in .jsonl, "tensorboard:FOLDER", "wandb", "mlflow", a SummaryWriter, or a '
    "run of one of them"
)


class Stream(Outlet):
    """Steps on their way to a file or a client; `Recorder.stream` makes it. Not in TensorFlow.

    Attributes:
        sent: how many steps have been sent, or were there before.
        lost: how many of them nobody knows any more, since a traced state had no room for them when
            it was absorbed.
    """

    def __init__(self, recorder: Buckets, to: Any, seconds: float, share: float) -> None:
        self._sink, self.lost, self._hurry, self._stopped = _opened(to), 0, False, False
        self._last: np.ndarray | None = None  # what was sent of the last step
        try:
            self.sent = self._begin(recorder)
        except BaseException:
            self._sink.close()
            raise
        super().__init__(recorder, seconds, f"the stream to {self._sink.name}", share)
        self.heard(recorder)

    def heard(self, rec: Buckets) -> None:
        self._hurry = True
        try:
            super().heard(rec)
        finally:
            self._hurry = False

    def _begin(self, rec: Buckets) -> int:
        """Return how many steps need not be sent."""
        there = self._sink.begin(steps := _steps(rec, 0))
        if there is not None and there > len(steps):
            warn(
                f"{self._sink.name} has {counted(there, 'step')} and this recorder {len(steps)}: "
                f"steps {len(steps)} to {there - 1} there stay those of the run before",
                RecordingWarning,
            )
        return len(steps) if there is None else there

    def _write(self, rec: Buckets) -> None:
        if self._stopped:
            return
        if self._is_other(rec):
            self._stopped = True
            raise ValueError("the recorder holds another run now; make another stream for it")
        steps, end = _steps(rec, self.sent), time.monotonic() + _AT_ONCE
        for start in range(0, len(steps), self._sink.most):
            if self._hurry and time.monotonic() > end:
                break
            self._send(
                {name: x[start : start + self._sink.most] for name, x in steps.columns.items()}
            )
        self._sink.flush()

    def _send(self, columns: dict[str, np.ndarray]) -> None:
        """A few steps; where some are lost, those between them."""
        numbers = np.stack([*columns.values()])
        lost = step_totals.lost(numbers)
        for part in np.split(np.arange(len(lost)), np.flatnonzero(np.diff(lost)) + 1):
            if lost[part[0]]:
                self._lose(len(part))
            else:
                self._sink.write(Steps(self.sent, {name: x[part] for name, x in columns.items()}))
            self.sent += len(part)
            self._last = numbers[:, part[-1]]

    def _lose(self, steps: int) -> None:
        if not self.lost:
            warn(
                f"{self._name} leaves out {counted(steps, 'step')} from step {self.sent} on, of "
                "which a traced state no longer has the numbers; call absorb more often, or give "
                "the recorder a larger ring",
                RecordingWarning,
            )
        self.lost += steps

    def _is_other(self, rec: Buckets) -> bool:
        """Tell whether the last step that was sent is another one now."""
        if self._last is None:
            return False
        with LOCK:
            every = rec.store.columns["each"][:, : rec.store.seen]
            if every.shape[1] < self.sent:
                return False
            now = every[:, self.sent - 1]
        known = step_totals.GLOBAL
        return bool(
            step_totals.LOST not in (now[known], self._last[known])
            and not np.array_equal(now, self._last, equal_nan=True)
        )

    def _finish(self) -> None:
        self._sink.close()

    def _left(self) -> str:
        missing = self.recorder.store.seen - self.sent
        return (
            f"{counted(missing, 'step')} {'was' if missing == 1 else 'were'} not sent"
            if missing > 0
            else ""
        )

    def __repr__(self) -> str:
        return f"<Stream: {counted(self.sent, 'step')} to {self._sink.name}>"


def _steps(rec: Buckets, first: int) -> Steps:
    """Return those from a number on that do not wait on a device."""
    store = rec.store
    if store.layout is None:
        return Steps(first, {})
    with LOCK:
        store.flush()
        every = store.columns["each"][:, first : store.seen].copy()
    return Steps(first, dict(zip(step_totals.names(store.layout.scalars), every, strict=True)))


def _opened(to: Any) -> Sink:
    """The destination that somebody names or gives."""
    if isinstance(to, str | PathLike):
        name = os.fsdecode(os.fspath(to))
        if name.endswith(".jsonl"):
            return json_lines.JsonLines(to)
        if name.startswith("tensorboard:") and name != "tensorboard:":
            return tensorboard.in_folder(name.partition(":")[2])
        if name in ("wandb", "mlflow"):
            return wandb.current() if name == "wandb" else mlflow.current()
        raise ValueError(f"cannot stream to {name!r}; give {_KNOWN}")
    if hasattr(to, "add_scalar"):
        return tensorboard.TensorBoard(to)
    if hasattr(to, "define_metric") and hasattr(to, "log"):
        return wandb.WeightsAndBiases(to)
    if isinstance(getattr(getattr(to, "info", None), "run_id", None), str):
        return mlflow.MLflow(to.info.run_id)
    raise TypeError(f"cannot stream to a {type(to).__name__}; give {_KNOWN}")

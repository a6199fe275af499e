"""Which batches of a Keras 3 model a recorded step is made of, how long they took, and their loss."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np


class Batches:
    """The loss of each batch of `fit`, and how long it took, from when callbacks are told that it begins.

    Attributes:
        loss, seconds: by batch, over all epochs; either may be known before the other.
        executed: how many batches there were when the last one began, or the epoch ended.
    """

    def __init__(self) -> None:
        self.loss: list[float] = []
        self.seconds: list[float] = []
        self.executed = 0
        self._start_epoch()

    def add(self, seconds: float) -> None:
        """A batch that took so long."""
        self.seconds.append(seconds)
        self.executed += 1

    def _start_epoch(self) -> None:
        # The execution under way: its first batch, the time.
        self._begun: tuple[int, float] | None = None
        self._earlier, self._end = len(self.seconds), 0

    def begin(self, batch: int) -> None:
        """Batch number `batch` of this epoch begins, and with it an execution of one or several."""
        now = time.perf_counter()
        if self._begun is not None:
            start, then = self._begun
            self.seconds += [(now - then) / (batch - start)] * (batch - start)
        self.executed = self._earlier + batch
        self._begun = batch, now

    def end(self, batch: int) -> None:
        """Note that a batch has ended, from any thread and in any order."""
        self._end = max(self._end, batch + 1)

    def end_epoch(self) -> None:
        """All batches of this epoch have ended."""
        # Else one began for which there was no data.
        if self._begun is not None and self._begun[0] < self._end:
            self.begin(self._end)
        self.executed = len(self.seconds)
        self._start_epoch()

    def align(self) -> None:
        """The next loss is that of the next batch, even if there were batches without a step of Keras's."""
        missing = [math.nan] * (self.executed - len(self.loss))
        self.loss = [*self.loss, *missing][: self.executed]

    def of(self, some: Sequence[int]) -> tuple[float, float]:
        """Mean loss and seconds in all of these batches; NaN where they are not known."""
        losses = (self.loss[k] if k < len(self.loss) else math.nan for k in some)
        return math.fsum(losses) / len(some), math.fsum(self.seconds[k] for k in some)


class Made:
    """Batches of each step: those since the last update, or a single one that a loss scaler skipped.

    An optimizer counts the batches it took. Those it skipped are steps, so with them the batches
    can be numbered.

    Args:
        taken: how many batches the optimizer has taken so far.
    """

    def __init__(self, taken: int) -> None:
        self._pending: list[int] = []  # batches that are accumulated
        self.restart(taken, 0)

    def restart(self, taken: int, batch: int) -> None:
        """Number from `batch` on, which is the next, however many there seemed to be."""
        self._first, self._next, self._skipped = taken - batch, batch, 0

    def of(self, before: np.ndarray, skipped: np.ndarray) -> list[list[int]]:
        """Of n steps, given how many batches were taken before the last one of each, and which were skipped."""
        found = []
        for b, is_skipped in zip(before.tolist(), skipped.tolist(), strict=True):
            last = b - self._first + self._skipped
            self._pending += range(self._next, last)
            found.append([last] if is_skipped else [*self._pending, last])
            self._pending = self._pending if is_skipped else []
            self._next, self._skipped = last + 1, self._skipped + is_skipped
        return found

    def count(self, taken: int) -> int:
        """Return how many batches there were, as the optimizer has it now."""
        return taken - self._first + self._skipped

"""Which batches of a Keras 3 model a recorded step is made of, how long they took, and their loss."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np


class Batches:
    """How long each batch of `fit` took, and its loss, from what callbacks are told: when it begins, and running means.

    Attributes:
        loss, seconds: by batch, over all epochs.
        executed: how many batches there were when the last one began, or the epoch ended.
    """

    def __init__(self) -> None:
        self.loss: list[float] = []
        self.seconds: list[float] = []
        self.executed = 0
        self._start_epoch()

    def add(self, loss: float, seconds: float) -> None:
        """A batch of which both are known."""
        self.loss.append(loss)
        self.seconds.append(seconds)
        self.executed += 1

    def _start_epoch(self) -> None:
        self._begun: list[tuple[int, float]] = []  # of executions whose loss is not known: their first batch, the time
        self._earlier = len(self.loss)
        self._means: dict[int, float] = {}  # by last batch of an execution; other threads may write here
        self._total = 0.0

    def begin(self, batch: int) -> None:
        """Batch number `batch` of this epoch begins."""
        self.executed = self._earlier + batch
        self._begun.append((batch, time.perf_counter()))
        self._settle()

    def end(self, batch: int, mean: float) -> None:
        """The mean loss of this epoch after that batch; NaN where there is none. In any thread and any order."""
        self._means[batch] = mean

    def end_epoch(self) -> None:
        """All batches of this epoch have ended."""
        end = max(self._means, default=-1) + 1
        if self._begun and self._begun[-1][0] < end:  # else one began for which there was no data
            self.begin(end)
        self._settle()
        self.executed = len(self.loss)
        self._start_epoch()

    def of(self, some: Sequence[int]) -> tuple[float, float]:
        """Mean loss and seconds in all of these batches."""
        return math.fsum(self.loss[k] for k in some) / len(some), math.fsum(self.seconds[k] for k in some)

    def _settle(self) -> None:
        """An execution has one or several batches; they share what is known of it."""
        while len(self._begun) > 1 and (end := self._begun[1][0]) - 1 in self._means:
            (start, then), (_, now) = self._begun.pop(0), self._begun[0]
            total, count = self._means[end - 1] * end, end - start
            self.loss += [(total - self._total) / count] * count
            self.seconds += [(now - then) / count] * count
            self._total = total


class Made:
    """What each step is made of: the batches since the last update, but the one alone that a loss scaler skipped.

    An optimizer counts the batches it took. Those it skipped are steps, so with them the batches can be numbered.

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
        """How many batches there were, as the optimizer has it now."""
        return taken - self._first + self._skipped

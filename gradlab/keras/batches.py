"""How long each batch of `fit` took, and its loss, from what callbacks are told: when it begins, and running means."""

from __future__ import annotations

import math
import time


class Batches:
    """Numbers of each batch since training began, as far as they are known.

    Attributes:
        loss, seconds: by batch, over all epochs.
    """

    def __init__(self) -> None:
        self.loss: list[float] = []
        self.seconds: list[float] = []
        self._start_epoch()

    def _start_epoch(self) -> None:
        self._begun: list[tuple[int, float]] = []  # of executions whose loss is not known: their first batch, the time
        self._means: dict[int, float] = {}  # by last batch of an execution; other threads may write here
        self._total = 0.0

    def begin(self, batch: int) -> None:
        """Batch number `batch` of this epoch begins."""
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
        self._start_epoch()

    def of(self, last: int, count: int) -> tuple[float, float]:
        """Mean loss and seconds in all, of `count` batches up to number `last`."""
        some = slice(max(0, last + 1 - count), last + 1)
        return math.fsum(self.loss[some]) / len(self.loss[some]), math.fsum(self.seconds[some])

    def _settle(self) -> None:
        """An execution has one or several batches; they share what is known of it."""
        while len(self._begun) > 1 and (end := self._begun[1][0]) - 1 in self._means:
            (start, then), (_, now) = self._begun.pop(0), self._begun[0]
            total, count = self._means[end - 1] * end, end - start
            self.loss += [(total - self._total) / count] * count
            self.seconds += [(now - then) / count] * count
            self._total = total

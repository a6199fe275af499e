"""How often something may be done beside what really matters, so that it takes no more than a share of the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Pace:
    """Says when it may be done again: after `seconds`, and later if it took long.

        due:  now - end of the last one >= max(seconds, (1 / share - 1) * what the last one took)

    Whoever asks often thus spends at most `share` of the time, and the last one.

    Args:
        share: of the time, at most; above 0, up to 1. seconds: between two, at least.
        clock: seconds, of an arbitrary start.

    Attributes:
        spent: seconds that all of them took.

    >>> now = iter([0.0, 3.0, 50.0, 301.0])
    >>> pace = Pace(0.01, 0.0, lambda: next(now))
    >>> with pace.spending():
    ...     pass
    >>> pace.spent, pace.due, pace.due
    (3.0, False, True)
    """

    def __init__(self, share: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.share, self.seconds, self._clock = share, seconds, clock
        self.spent = 0.0
        self._next = float("-inf")

    @property
    def due(self) -> bool:
        """Whether it may be done now."""
        return self._clock() >= self._next

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Measure what is done in the block."""
        start = self._clock()
        try:
            yield
        finally:
            end = self._clock()
            self.spent += end - start
            self._next = end + max(self.seconds, (1 / self.share - 1) * (end - start))

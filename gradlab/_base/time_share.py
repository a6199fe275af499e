"""The pace of side work, so that it takes no more than a share of the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Pace:
    """Says when it may be done again: after `seconds`, and not while it has taken more than its
    share of the time.

        credit after dt seconds = min(burst, credit + dt share / (1 - share)), less what it takes;  due: credit >= 0

    A caller that asks often thus spends at most `share` of any stretch of time, and `burst`, and
    the last one.

    Args:
        share: of the time, above 0; 1 is all of it.
        seconds: between two, at least.
        burst: seconds that it may take at once after a rest, and at the start, so that it begins
            without delay.
        clock: seconds, of an arbitrary start.

    Attributes:
        spent: seconds that all of them took.

    >>> now = 0.0
    >>> pace = Pace(0.01, 0.0, clock=lambda: now)
    >>> with pace.spending():
    ...     now = 3.0
    >>> pace.spent, pace.due
    (3.0, False)
    >>> now = 301.0
    >>> pace.due
    True
    """

    def __init__(
        self,
        share: float,
        seconds: float,
        burst: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.share, self.seconds, self.burst, self._clock = share, seconds, burst, clock
        self.spent = 0.0
        self._credit, self._end = burst, float("-inf")

    @property
    def due(self) -> bool:
        """True if it may be done now."""
        now = self._clock()
        return now >= self._end + self.seconds and (self.share >= 1 or self._credit_at(now) >= 0)

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Measure what is done in the block."""
        start = self._clock()
        try:
            yield
        finally:
            end = self._clock()
            self.spent += end - start
            if self.share < 1:
                self._credit = self._credit_at(start) - (end - start)
            self._end = end

    def _credit_at(self, now: float) -> float:
        return min(self.burst, self._credit + (now - self._end) * self.share / (1 - self.share))

"""A limit on the share of time that side work takes, such as drawing beside training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Pace:
    """A token bucket that says when work is due again.

        credit after dt idle seconds = min(burst, credit + dt * share / (1 - share))
        credit after work of dt seconds = credit - dt
        due: credit >= 0, and `seconds` have passed since the last work

    In any period a caller that asks often thus spends at most `share` of the time, plus `burst`,
    plus one run of the work.

    Args:
        share: of the time, above 0; 1 is all of it.
        seconds: the least time between two runs of the work.
        burst: seconds of credit at the start and after a rest, so that work begins without delay.
        clock: returns seconds.

    Attributes:
        spent: seconds of work so far.

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
        self.share = share
        self.seconds = seconds
        self.burst = burst
        self.spent = 0.0
        self._clock = clock
        self._credit = burst
        self._end = float("-inf")  # of the last work

    @property
    def due(self) -> bool:
        """Whether the work may be done now."""
        now = self._clock()
        return now >= self._end + self.seconds and (self.share >= 1 or self._credit_at(now) >= 0)

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count the time of the block as work."""
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

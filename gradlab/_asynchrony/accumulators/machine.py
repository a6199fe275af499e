"""The accumulator as a state machine: it knows no lock, no clock and no thread, and it never waits."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple, Protocol

from ..._base.errors import CancelledError, InvalidArgumentError


class Receipt(NamedTuple):
    """What became of a gradient. True if it was accepted.

    `count` is the number of gradients with this one; `served` is the taker who got their mean because of it, or None.
    """

    accepted: bool
    local_step: int
    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    served: Waiter | None = None

    @property
    def kept(self) -> bool:
        """The former name of `accepted`."""
        return self.accepted

    @property
    def comparison(self) -> str:
        """Why: the gradient's step beside the accumulator's, "2 < 3"."""
        return f"{self.local_step} {'>=' if self.accepted else '<'} {self.step}"

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        served = f", served={self.served}" if self.served else ""
        return f"Receipt(accepted={self.accepted}, comparison={self.comparison!r}, count={self.count}{served})"


class Peek(NamedTuple):
    """What is in an accumulator: its step, the number of gradients, their sum, and what a take would return now.

    `sum` and `value` are None while nothing is counted. `row_counts` (sparse only) has one entry for each row of them:
    how many gradients contained it.
    """

    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    sum: Any
    value: Any
    row_counts: Any = None


class Waiting(NamedTuple):
    """Why a taker waits. `dropped` counts the gradients dropped since it came, by local step; `position` 1 is next."""

    taker: Waiter
    needs: int
    has: int
    position: int
    dropped: dict[int, int]
    text: str


class Sum(Protocol):
    """What the machine adds up: dense arrays or rows; `count` is the number of gradients.

    Ctrl-C may strike whenever a call returns; so count and sum change together, with no call in between.
    """

    count: int

    def add(self, gradient: Any) -> None:
        """Add a gradient, or begin with it; what does not fit raises and changes nothing."""

    def take(self) -> Any:
        """The mean or sum, which nobody else will change; then there is none."""

    def peek(self) -> tuple[Any, ...]:
        """Copies of the sum and of what `take` would return; of the rows' counts if there are any."""


class Waiter:
    """Somebody who wants the mean of at least `needs` gradients."""

    def __init__(self, needs: int) -> None:
        self.needs, self.done = needs, False
        self.value: Any = None
        self.error: Exception | None = None
        self.dropped: Counter[int] = Counter()

    def settle(self, value: Any = None, error: Exception | None = None) -> None:
        """Give it what it waits for, or the error that ends the wait."""
        self.value, self.error, self.done = value, error, True


class Machine:
    """Step, count, sum and the queue of takers. A method that raises has changed nothing."""

    def __init__(self, total: Sum) -> None:
        self._sum, self.step = total, 0
        self.takers: deque[Waiter] = deque()

    @property
    def count(self) -> int:
        """How many gradients are there."""
        return self._sum.count

    def apply(self, gradient: Any, local_step: int) -> Receipt:
        """Accept the gradient iff `local_step >= step`; one that is dropped is not looked at."""
        step = self.step
        if local_step < step:
            for taker in self.takers:
                taker.dropped[local_step] += 1
            return Receipt(False, local_step, step, self.count)
        total = self._sum
        total.add(gradient)
        return Receipt(True, local_step, step, total.count, self._serve() if self.takers else None)

    def request(self, taker: Waiter) -> None:
        """Queue up; who is next and finds enough gradients is served at once."""
        if taker.needs < 1:
            raise InvalidArgumentError(f"num_required must be at least 1, got {taker.needs}")
        self.takers.append(taker)
        self._serve()

    def try_take(self, num_required: int) -> Any:
        """The value, or None: too few gradients, or somebody is already waiting."""
        taker = Waiter(num_required)
        self.request(taker)
        self.cancel(taker)
        return taker.value

    def cancel(self, taker: Waiter, error: Exception | None = None) -> bool:
        """Take it out of the queue, where it consumes nothing, and look at the next; False if it was done already."""
        if taker.done:
            return False
        if taker not in self.takers:
            raise ValueError("this taker waits for another accumulator")
        self.takers.remove(taker)
        taker.settle(error=error or CancelledError("the take was canceled"))
        self._serve()
        return True

    def close(self, error: Exception) -> None:
        """End all waits with this error."""
        while self.takers:
            self.takers.popleft().settle(error=error)

    def peek(self) -> Peek:
        """What is inside, unchanged."""
        return Peek(self.step, self.count, *(self._sum.peek() if self.count else (None, None)))

    def why(self) -> list[Waiting]:
        """One record for each taker, the next one first."""
        return [
            Waiting(taker, taker.needs, self.count, k + 1, dict(taker.dropped), self._text(taker, k))
            for k, taker in enumerate(self.takers)
        ]

    def _serve(self) -> Waiter | None:
        """Only the head is considered, and a take empties the count: there is at most one to serve."""
        if not self.takers or self.count < self.takers[0].needs:
            return None
        value = self._sum.take()
        self.step += 1
        taker = self.takers.popleft()
        taker.settle(value)
        return taker

    def _text(self, taker: Waiter, ahead: int) -> str:
        text = f"needs {taker.needs}, has {self.count}, position {ahead + 1}"
        if ahead:
            text += f" behind one that needs {self.takers[0].needs}"
        total = sum(taker.dropped.values())
        if not total:
            return text
        steps = ", ".join(f"{step} (the default)" if step == 0 else str(step) for step in sorted(taker.dropped))
        had = f"all had local_step {steps}" if len(taker.dropped) == 1 else f"local_step was {steps}"
        return f"{text}; {total} gradient{'s' * (total > 1)} dropped since: {had}, step is {self.step}"

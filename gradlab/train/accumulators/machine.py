"""The accumulator as a state machine: it knows no lock, no clock and no thread, and it never waits."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple, Protocol

from ..._base.numbers import counted
from ...errors import CancelledError, InvalidArgumentError


class Receipt(NamedTuple):
    """The verdict on a gradient. True if it was accepted.

    `count` is the number of gradients with this one; `served` is the taker who got their mean because of it, or None.
    """

    accepted: bool
    local_step: int
    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    served: Waiter | None = None

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
    """The content of an accumulator: its step, the number of gradients, their sum, and what a take would return now.

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
    """The sum that the machine keeps, of dense arrays or rows; `count` is the number of gradients.

    Ctrl-C may strike whenever a call returns; so count and sum change together, with no call in between.
    """

    count: int

    @property
    def round(self) -> Any:
        """The current sum, as `restore` takes it; it isn't written to after a `take` while it is in use."""

    def add(self, gradient: Any) -> None:
        """Add a gradient, or begin with it; what does not fit raises and changes nothing."""

    def take(self) -> Any:
        """The mean or sum, which nobody else will change; then there is none."""

    def restore(self, taker: Waiter) -> bool:
        """Put `taker.round` back, before what has come since, and make it None; False if the two do not fit."""
        ...

    def peek(self) -> tuple[Any, ...]:
        """Copies of the sum and of what `take` would return; of the rows' counts if there are any."""
        ...


class Waiter:
    """Somebody who wants the mean of at least `needs` gradients.

    A value is safe with the waiter while somebody holds that. Where nobody does before the value is handed on,
    `claimed` is False until it was, and `left` becomes True if it never will be: then its gradients go back. Both are
    plain attributes, because a thread stopped by Ctrl-C may be stopped again by the next one.
    """

    claimed, left = True, False

    def __init__(self, needs: int) -> None:
        self.needs, self.done = needs, False
        self.value: Any = None
        self.error: Exception | None = None
        self.round: Any = None  # the gradients of the value, and the step they were taken at
        self.step = 0
        self.dropped: Counter[int] = Counter()

    def settle(self, value: Any = None, error: Exception | None = None) -> None:
        """Give it what it waits for, or the error that ends the wait."""
        self.value, self.error, self.done = value, error, True
        self.ring()

    def ring(self) -> None:
        """Tell it that it may be done."""


class Machine:
    """Step, count, sum and the queue of takers. A method that raises has changed nothing."""

    def __init__(self, total: Sum) -> None:
        self._sum, self.step = total, 0
        self.takers: deque[Waiter] = deque()
        self.loose: list[Waiter] = []  # takers that had not claimed their value when they were last looked at

    @property
    def count(self) -> int:
        """The number of gradients in the accumulator."""
        return self._sum.count

    def apply(self, gradient: Any, local_step: int) -> Receipt:
        """Accept the gradient iff `local_step >= step`; one that is dropped is not looked at."""
        if self.loose:
            self.tidy()
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
        if not taker.claimed:
            self.loose.append(taker)
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
        taker.settle(error=error or CancelledError("the take was cancelled"))
        self._serve()
        return True

    def tidy(self) -> None:
        """Put back what was taken for those who left without it, and serve whom Ctrl-C kept from being served."""
        for taker in tuple(self.loose):
            if taker.left and taker.round is not None:
                if self.step == taker.step + 1:
                    self.step = taker.step
                if not self._sum.restore(taker):
                    continue  # after the next take
            if taker.left or taker.claimed:
                self.loose.remove(taker)
        self._serve()

    def close(self, error: Exception) -> None:
        """End all waits with this error."""
        for taker in tuple(self.takers):
            if not taker.done:
                taker.settle(error=error)
        self.takers.clear()

    def peek(self) -> Peek:
        """Return what is inside, unchanged."""
        return Peek(self.step, self.count, *(self._sum.peek() if self.count else (None, None)))

    def why(self) -> list[Waiting]:
        """One record for each taker, the next one first."""
        return [
            Waiting(taker, taker.needs, self.count, k + 1, dict(taker.dropped), self._text(taker, k))
            for k, taker in enumerate(self.takers)
        ]

    def _serve(self) -> Waiter | None:
        """Only the head is considered, and a take empties the count: there is at most one to serve."""
        self._dismiss()
        if not self.takers or self.count < self.takers[0].needs:
            return None
        taker, step, round_ = self.takers[0], self.step, self._sum.round
        value = self._sum.take()  # and no call before the taker has it: see `Sum`
        taker.value, taker.round, taker.step, taker.done = value, None if taker.claimed else round_, step, True
        self.step = step + 1
        self.takers.popleft()
        taker.ring()
        return taker

    def _dismiss(self) -> None:
        """Let those out of the queue who need not wait there."""
        if any(taker.done or taker.left for taker in self.takers):
            self.takers = deque(taker for taker in self.takers if not (taker.done or taker.left))

    def _text(self, taker: Waiter, ahead: int) -> str:
        text = f"needs {taker.needs}, has {self.count}, position {ahead + 1}"
        if ahead:
            text += f" behind one that needs {self.takers[0].needs}"
        total = sum(taker.dropped.values())
        if not total:
            return text
        steps = ", ".join(f"{step} (the default)" if step == 0 else str(step) for step in sorted(taker.dropped))
        had = f"all had local_step {steps}" if len(taker.dropped) == 1 else f"local_step was {steps}"
        return f"{text}; {counted(total, 'gradient')} dropped since: {had}, step is {self.step}"

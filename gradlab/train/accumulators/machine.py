"""The conditional accumulator as a state machine, without locks, clocks and threads.

    apply(gradient, local_step)   adds the gradient if local_step >= step, otherwise drops it
    request(take)                 queues a take
    cancel(take)                  removes it

A take is served when it is first in the queue and `count >= num_required`. It gets the mean (or
sum) of all gradients counted; then the sum is empty and `step` is 1 higher. Takes are served
strictly in order of arrival: one that needs few gradients waits behind one that needs many, as in
TensorFlow.

A take that is served calls its `notify`. `kernel.py` holds a lock around each call, and its takes
(`Taker`) wake the threads that wait for them in `notify`.

The invariant: after each method the first take of the queue, if there is one, needs more gradients
than are counted. A method that raises has changed nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple, Protocol

from ..._base.numbers import counted
from ...errors import CancelledError, InvalidArgumentError


class Receipt(NamedTuple):
    """The verdict on a gradient. True if it was accepted.

    `count` is the number of gradients including this one. `served` is the take that this gradient
    completed, or None.
    """

    accepted: bool
    local_step: int
    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    served: PendingTake | None = None

    @property
    def comparison(self) -> str:
        """The comparison of steps that decided, the gradient's first: "2 < 3"."""
        sign = ">=" if self.accepted else "<"
        return f"{self.local_step} {sign} {self.step}"

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        text = f"accepted={self.accepted}, comparison={self.comparison!r}, count={self.count}"
        if self.served is not None:
            text += f", served={self.served}"
        return f"Receipt({text})"


class Peek(NamedTuple):
    """A copy of the content of an accumulator.

    `value` is what a take would return now. `sum` and `value` are None while nothing is counted.
    `row_counts` (sparse only) has one entry per row: how many gradients contained it.
    """

    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    sum: Any
    value: Any
    row_counts: Any = None


class Waiting(NamedTuple):
    """Why a take waits.

    `dropped` counts the gradients dropped since it was queued, by local step. `position` 1 is
    served next.
    """

    taker: PendingTake
    needs: int
    has: int
    position: int
    dropped: dict[int, int]
    text: str


class Sum(Protocol):
    """The sum of the gradients of a round, dense or sparse. `count` is their number."""

    count: int

    def add(self, gradient: Any) -> None:
        """Add a gradient. One that does not fit raises and changes nothing."""

    def take(self) -> Any:
        """Return the mean or sum, which belongs to the caller, and become empty."""

    def peek(self) -> tuple[Any, ...]:
        """Return copies of the sum and of what `take` would return, and any counts of rows."""
        ...


class PendingTake:
    """A `take_grad` in the queue. Once `done`, it has a value or an error for good."""

    def __init__(self, num_required: int) -> None:
        self.num_required = num_required
        self.done = False
        self.value: Any = None
        self.error: Exception | None = None
        self.dropped: Counter[int] = Counter()  # gradients dropped while it waited, by local step

    def finish(self, value: Any = None, error: Exception | None = None) -> None:
        """End the wait with a value or an error."""
        self.value = value
        self.error = error
        self.done = True
        self.notify()

    def notify(self) -> None:
        """Wake the threads that wait for this take; here nothing, because only `Taker` has them."""


class Machine:
    """Step, count, sum, and the queue of pending takes."""

    def __init__(self, total: Sum) -> None:
        self._sum = total
        self.step = 0
        self.queue: deque[PendingTake] = deque()

    @property
    def count(self) -> int:
        """The number of gradients in the sum."""
        return self._sum.count

    def apply(self, gradient: Any, local_step: int) -> Receipt:
        """Accept the gradient if `local_step >= step`; otherwise drop it without any check."""
        step = self.step
        if local_step < step:
            # Counted only for `why_waiting`. It can thus name the usual cause of a hang: a worker
            # that never reads the step, so that all its gradients are stale.
            for take in self.queue:
                take.dropped[local_step] += 1
            return Receipt(False, local_step, step, self.count)
        self._sum.add(gradient)
        count = self._sum.count  # now, because serving a take empties the sum
        return Receipt(True, local_step, step, count, self._serve_first())

    def request(self, take: PendingTake) -> None:
        """Queue a take. It is served at once if it is first and there are enough gradients."""
        _check_num_required(take.num_required)
        self.queue.append(take)
        self._serve_first()

    def try_take(self, num_required: int) -> Any:
        """Return a value, or None if there are too few gradients or another take waits."""
        _check_num_required(num_required)
        if self.queue or self.count < num_required:
            return None
        return self._take()

    def cancel(self, take: PendingTake, error: Exception | None = None) -> bool:
        """End a wait with an error. Nothing is consumed. Return False if it was done already."""
        if take.done:
            return False
        if take not in self.queue:
            raise ValueError("this taker waits for another accumulator")
        self.queue.remove(take)
        take.finish(error=error or CancelledError("the take was cancelled"))
        self._serve_first()  # the next one may need fewer gradients
        return True

    def close(self, error: Exception) -> None:
        """End every wait with this error."""
        while self.queue:
            self.queue.popleft().finish(error=error)

    def peek(self) -> Peek:
        """Return a copy of the content."""
        if self.count == 0:
            return Peek(self.step, 0, None, None)
        return Peek(self.step, self.count, *self._sum.peek())

    def why_waiting(self) -> list[Waiting]:
        """Return one record for each pending take, the next one first."""
        return [self._explain(take, position) for position, take in enumerate(self.queue, start=1)]

    def _serve_first(self) -> PendingTake | None:
        """Serve the first take of the queue if there are enough gradients. Return it, or None.

        One at most is served: it empties the sum, and the next one needs at least one gradient.
        """
        if not self.queue or self.count < self.queue[0].num_required:
            return None
        value = self._take()
        take = self.queue.popleft()
        take.finish(value)
        return take

    def _take(self) -> Any:
        value = self._sum.take()
        self.step += 1
        return value

    def _explain(self, take: PendingTake, position: int) -> Waiting:
        text = f"needs {take.num_required}, has {self.count}, position {position}"
        if position > 1:
            text += f" behind one that needs {self.queue[0].num_required}"
        if take.dropped:
            text += f"; {self._explain_dropped(take.dropped)}"
        return Waiting(take, take.num_required, self.count, position, dict(take.dropped), text)

    def _explain_dropped(self, dropped: Counter[int]) -> str:
        """Say how many gradients were dropped and why."""
        # 0 is the default of `apply_grad`, so the caller most likely forgot to pass a local_step.
        names = [f"{step} (the default)" if step == 0 else str(step) for step in sorted(dropped)]
        steps = ", ".join(names)
        reason = f"all had local_step {steps}" if len(names) == 1 else f"local_step was {steps}"
        return (
            f"{counted(dropped.total(), 'gradient')} dropped since: {reason}, step is {self.step}"
        )


def _check_num_required(num_required: int) -> None:
    if num_required < 1:
        raise InvalidArgumentError(f"num_required must be at least 1, got {num_required}")

"""SyncReplicasOptimizer in virtual time: the order of pushes, the gradients of each update, the waits for tokens.

Unlike `simulated`, which decides by the rules of `Ledger`, this drives gradlab's own
`SyncReplicasOptimizer`, with its token queue and accumulators. Only the times of the events are
made up here.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..train import GradientDescentOptimizer, SyncReplicasOptimizer
from ..train.global_step import get_or_create_global_step
from ..train.variable import Variable, variable_collection
from .speeds import Speeds

_CHIEF = -1  # in place of a worker's number


@dataclass
class Turn:
    """One gradient of one worker: times in ticks, -1 if still to come; `accepted` is None until it is pushed."""

    worker: int
    began: int
    local_step: int
    ended: int = -1
    accepted: bool | None = None
    released: int = -1  # when the worker got its token


@dataclass(frozen=True)
class Moment:
    """The state after an event.

    Attributes:
        time: in ticks.
        event: in words.
        step: the global step.
        tokens: in the queue.
        count: gradients in the accumulators.
        waiting: workers in line for a token, the next one first.
        updates: (time, gradients) of all updates so far.
        turns: of all workers so far, as they are at this time.
    """

    time: int
    event: str
    step: int
    tokens: tuple[int, ...]
    count: int
    waiting: tuple[int, ...]
    updates: tuple[tuple[int, int], ...]
    turns: tuple[Turn, ...] = field(repr=False)


def sync_rounds(
    workers: int,
    aggregate: int,
    start_tokens: int,
    speeds: Speeds,
    moments: int,
    chief: int = 0,
    seed: int = 0,
) -> list[Moment]:
    """Return the first moments of synchronous training; it ends early if no worker can continue.

    Args:
        workers: n.
        aggregate: k, the gradients that the chief waits for.
        start_tokens: in the queue at the start.
        speeds: of the workers; crashes have no effect.
        moments: the number of pushes and updates to follow.
        chief: ticks from the k-th gradient to the take; gradients pushed in the meantime are
            averaged in.
        seed: of the speeds.

    Not in TensorFlow. Source: `tf.compat.v1.train.SyncReplicasOptimizer`, TensorFlow 2.21, whose
    decisions these are.

    >>> run = sync_rounds(2, 2, 0, Speeds(spread=0.0, slow={1: 2.0}), 3)
    >>> [moment.event for moment in run]
    ['all begin', 'worker 1 pushes, accepted', 'worker 2 pushes, accepted', 'update 1, mean of 2']
    """
    ticks = speeds.ticks(seed, workers, moments + 1)
    return _Run(workers, aggregate, start_tokens, ticks, chief).follow(moments)


class _Run:
    """The optimizer, and a queue of the events that are due."""

    def __init__(
        self, workers: int, aggregate: int, start_tokens: int, ticks: np.ndarray, chief: int
    ) -> None:
        with variable_collection():
            self._variable = Variable([0.0], name="v")
            self._step = get_or_create_global_step()
            self._optimizer = SyncReplicasOptimizer(
                GradientDescentOptimizer(1.0), aggregate, workers
            )
            self._optimizer.build(self._gradient(), self._step)
        self._optimizer.put_tokens(start_tokens)
        self._ticks = ticks.tolist()
        self._chief_delay = chief
        self._aggregate = aggregate
        self._is_chief_due = False
        self._turns: list[Turn] = []
        self._takers: dict[int, Any] = {}  # workers that wait for a token
        self._updates: list[tuple[int, int]] = []
        # A heap of (time, order within the time, worker or chief).
        self._due: list[tuple[int, int, int]] = []
        self._numbers = [0] * workers  # of each worker's next gradient
        for worker in range(workers):
            self._begin(worker, 0)

    def follow(self, most: int) -> list[Moment]:
        """Return the state at the start and after each of at most this many events."""
        moments = [self._moment(0, "all begin")]
        while self._due and len(moments) <= most:
            time, _, worker = heapq.heappop(self._due)
            event = self._take(time) if worker == _CHIEF else self._push(worker, time)
            moments.append(self._moment(time, event))
        return moments

    def _begin(self, worker: int, time: int) -> None:
        self._turns.append(Turn(worker, time, self._optimizer.local_step(worker)))
        end = time + self._ticks[worker][self._numbers[worker]]
        heapq.heappush(self._due, (end, 1, worker))
        self._numbers[worker] += 1

    def _push(self, worker: int, time: int) -> str:
        """Push a worker's gradient, and ask for its token."""
        accepted = self._optimizer.push(self._gradient(), worker).accepted
        turn = self._last_turn(worker)
        turn.ended = time
        turn.accepted = accepted
        self._takers[worker] = self._optimizer.request_token(worker)
        self._release(time)
        if not self._is_chief_due and self._count() >= self._aggregate:
            self._is_chief_due = True
            # Without a delay the chief comes before any other push of this time, with one after all
            # of them.
            order = 2 if self._chief_delay else 0
            heapq.heappush(self._due, (time + self._chief_delay, order, _CHIEF))
        return f"worker {worker + 1} pushes, {'accepted' if accepted else 'dropped'}"

    def _take(self, time: int) -> str:
        """Let the chief take the mean and update."""
        self._is_chief_due = False
        count = self._count()
        update = self._optimizer.try_sync()
        self._updates.append((time, count))
        self._release(time)
        return f"update {update.step if update else 0}, mean of {count}"

    def _release(self, time: int) -> None:
        """Let each worker with a token begin its next gradient."""
        for worker, taker in list(self._takers.items()):
            if taker.done:
                del self._takers[worker]
                self._last_turn(worker).released = time
                self._begin(worker, time)

    def _last_turn(self, worker: int) -> Turn:
        return next(turn for turn in reversed(self._turns) if turn.worker == worker)

    def _gradient(self) -> list[tuple[np.ndarray, Variable]]:
        return [(np.ones(1, np.float32), self._variable)]

    def _count(self) -> int:
        (accumulator,) = self._optimizer.accumulators.values()
        return accumulator.num_accumulated()

    def _moment(self, time: int, event: str) -> Moment:
        return Moment(
            time=time,
            event=event,
            step=int(self._step),
            tokens=self._optimizer.tokens,
            count=self._count(),
            waiting=tuple(self._takers),
            updates=tuple(self._updates),
            turns=tuple(replace(turn) for turn in self._turns),
        )

"""SyncReplicasOptimizer in virtual time: who pushes when, what an update is made of, who waits for a token."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..train import GradientDescentOptimizer, SyncReplicasOptimizer
from ..train.variable import Variable, get_or_create_global_step, variable_collection
from .speeds import Speeds

_CHIEF = -1


@dataclass
class Turn:
    """One gradient of one worker: times in ticks, -1 for what has not come yet; `accepted` once it is pushed."""

    worker: int
    began: int
    local_step: int
    ended: int = -1
    accepted: bool | None = None
    released: int = -1  # when the worker got its token


@dataclass(frozen=True)
class Moment:
    """The state after an event.

    Args:
        time: in ticks. event: what has happened, in words. tokens: in the queue. count: gradients in the accumulators.
        waiting: workers in line for a token, the next one first. updates: (time, gradients) of all so far.
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
    workers: int, aggregate: int, start_tokens: int, speeds: Speeds, moments: int, chief: int = 0, seed: int = 0
) -> list[Moment]:
    """The first moments of synchronous training; a last one ends early if no worker can continue.

    Args:
        workers: n. aggregate: k, the gradients that the chief waits for. start_tokens: in the queue at the start.
        speeds: of the workers; their crashes are not looked at. moments: how many pushes and updates to follow.
        chief: ticks from the k-th gradient to the take; what comes in the meantime is averaged in. seed: of the speeds.

    Not in TensorFlow. Source: `tf.compat.v1.train.SyncReplicasOptimizer`, TensorFlow 2.21, whose decisions these are.

    >>> run = sync_rounds(2, 2, 0, Speeds(spread=0.0, slow={1: 2.0}), 3)
    >>> [moment.event for moment in run]
    ['all begin', 'worker 1 pushes, accepted', 'worker 2 pushes, accepted', 'update 1, mean of 2']
    """
    return _Run(workers, aggregate, start_tokens, speeds.ticks(seed, workers, moments + 1), chief).moments(moments)


class _Run:
    def __init__(self, workers: int, aggregate: int, start_tokens: int, ticks: np.ndarray, chief: int) -> None:
        with variable_collection():
            self._v, self._step = Variable([0.0], name="v"), get_or_create_global_step()
            self._opt = SyncReplicasOptimizer(GradientDescentOptimizer(1.0), aggregate, workers)
            self._opt.build(self._pairs(), self._step)
        self._opt.put_tokens(start_tokens)
        self._ticks, self._delay, self._aggregate, self._chief_due = ticks.tolist(), chief, aggregate, False
        self._turns: list[Turn] = []
        self._takers: dict[int, Any] = {}
        self._updates: list[tuple[int, int]] = []
        self._due: list[tuple[int, int, int]] = []
        self._numbers = [0] * workers
        for worker in range(workers):
            self._begin(worker, 0)

    def _pairs(self) -> list[tuple[np.ndarray, Variable]]:
        return [(np.ones(1, np.float32), self._v)]

    def moments(self, most: int) -> list[Moment]:
        found = [self._moment(0, "all begin")]
        while self._due and len(found) <= most:
            time, _, who = heapq.heappop(self._due)
            found.append(self._moment(time, self._take(time) if who == _CHIEF else self._push(who, time)))
        return found

    def _begin(self, worker: int, time: int) -> None:
        self._turns.append(Turn(worker, time, self._opt.local_step(worker)))
        heapq.heappush(self._due, (time + self._ticks[worker][self._numbers[worker]], 1, worker))
        self._numbers[worker] += 1

    def _push(self, worker: int, time: int) -> str:
        turn = next(t for t in reversed(self._turns) if t.worker == worker)
        turn.ended, turn.accepted = time, self._opt.push(self._pairs(), worker).accepted
        self._takers[worker] = self._opt.request_token(worker)
        self._release(time)
        if not self._chief_due and self._count() >= self._aggregate:
            self._chief_due = True
            heapq.heappush(self._due, (time + self._delay, 0 if not self._delay else 2, _CHIEF))
        return f"worker {worker + 1} pushes, {'accepted' if turn.accepted else 'dropped'}"

    def _take(self, time: int) -> str:
        self._chief_due = False
        count, update = self._count(), self._opt.try_sync()
        self._updates.append((time, count))
        self._release(time)
        return f"update {update.step if update else 0}, mean of {count}"

    def _release(self, time: int) -> None:
        """Let each worker with a token begin its next gradient."""
        for worker, taker in list(self._takers.items()):
            if taker.done:
                del self._takers[worker]
                turn = next(t for t in reversed(self._turns) if t.worker == worker)
                turn.released = time
                self._begin(worker, time)

    def _count(self) -> int:
        (accumulator,) = self._opt.accumulators.values()
        return accumulator.num_accumulated()

    def _moment(self, time: int, event: str) -> Moment:
        turns = tuple(Turn(**vars(turn)) for turn in self._turns)
        return Moment(
            time,
            event,
            int(self._step),
            self._opt.tokens,
            self._count(),
            tuple(self._takers),
            tuple(self._updates),
            turns,
        )

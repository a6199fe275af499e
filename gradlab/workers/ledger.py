"""Steps and clocks: everything a server decides without looking at a weight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .._base.numbers import counted
from ..errors import DeadlockError
from ..train.staleness import is_accepted

# What a worker asks of the server, in the order of a round.
READ, RECORD, CHECK, UPDATE, LEAVE, JOIN = range(6)
MOVES = ("read", "record", "check", "update", "leave", "join")
# Who accepts what: see `Experiment`.
POLICIES = ("apply", "drop", "wait", "damp", "compensate", "backup")


class Round(NamedTuple):
    """The record of one gradient. Steps count updates; times are the engine's. Not in TensorFlow.

    >>> r = Round(0, 0, began=0, ended=9, read=4, recorded=4, checked=5, applied_to=6, moved=True)
    >>> r.accepted, r.checked - r.recorded, r.applied_to - r.read  # staleness as it was seen, and as it was
    (True, 1, 2)
    """

    worker: int
    number: int  # of this worker's gradients, from 0
    began: int  # time of the read
    ended: int  # time of the check
    read: int  # step of the weights it was computed from
    recorded: int  # step the worker noted: what staleness is measured by
    checked: int  # step at the check
    applied_to: int  # step at the update, before it; -1 if dropped
    moved: bool  # whether the step went up

    @property
    def accepted(self) -> bool:
        return self.applied_to >= 0


class Ledger:
    """The server without its weights. A worker's round is read, record, check, update; times come from the engine.

    - "drop" accepts if and only if step - recorded <= staleness; a drop does not advance the step.
    - "wait" accepts all, but lets a worker begin only while it is at most `staleness` gradients ahead of the slowest.
    - "backup" accepts gradients of the current step only; the step goes up once `aggregate` of them are there, and who
      has handed one in waits for that.
    - "apply", "damp" and "compensate" accept all.

    Not in TensorFlow; "drop" is `DropStaleGradientOptimizer`'s rule.

    >>> ledger = Ledger(workers=2, policy="drop", staleness=0, aggregate=1)
    >>> for worker in (0, 1):
    ...     ledger.read(worker)
    ...     ledger.record(worker)
    >>> for worker in (0, 1):
    ...     print(ledger.check(worker), ledger.update(worker), ledger.step)
    True True 1
    False False 1
    """

    def __init__(self, workers: int, policy: str, staleness: int, aggregate: int) -> None:
        self.policy, self.staleness = policy, 0 if policy == "backup" else staleness
        self.aggregate = aggregate if policy == "backup" else 1
        self._drops = policy in ("drop", "backup")
        self.step = self.dropped = self.gathered = 0
        self.clock = [0] * workers  # gradients handed in, accepted or not
        self.read_at, self.recorded, self.checked = [-1] * workers, [0] * workers, [0] * workers
        self.began, self.ended = [0] * workers, [0] * workers
        self.accepted = [True] * workers  # by each worker's last check
        self.alive = set(range(workers))
        self.rounds: list[Round] = []

    def copy(self) -> Ledger:
        """One that goes its own way from here."""
        new = object.__new__(Ledger)
        new.__dict__ |= {k: x.copy() if isinstance(x, list | set) else x for k, x in vars(self).items()}
        return new

    def may_read(self, worker: int) -> bool:
        """Tell whether the worker may begin its next gradient, or has to wait."""
        if self.policy == "wait":
            return self.clock[worker] - min(self.clock[k] for k in self.alive) <= self.staleness
        return self.policy != "backup" or self.read_at[worker] < self.step

    def read(self, worker: int, time: int = 0) -> None:
        self.read_at[worker], self.began[worker] = self.step, time

    def record(self, worker: int, time: int = 0) -> None:
        self.recorded[worker] = self.step

    def check(self, worker: int, time: int = 0) -> bool:
        """Tell whether the worker's gradient is accepted."""
        self.checked[worker], self.ended[worker] = self.step, time
        accepted = not self._drops or bool(is_accepted(self.step - self.recorded[worker], self.staleness))
        self.accepted[worker] = accepted
        return accepted

    def completes(self, worker: int) -> bool:
        """Tell whether the worker's update will raise the step."""
        return self.accepted[worker] and self.gathered + 1 >= self.aggregate

    def update(self, worker: int, time: int = 0) -> bool:
        """Settle the worker's gradient as its check decided; True if the step goes up."""
        number, step, moved = self.clock[worker], self.step, self.completes(worker)
        accepted = self.accepted[worker]
        self.clock[worker] = number + 1
        if moved:
            self.step, self.gathered = step + 1, 0
        elif accepted:
            self.gathered += 1
        else:
            self.dropped += 1
        self.rounds.append(
            Round(
                worker, number, self.began[worker], self.ended[worker], self.read_at[worker], self.recorded[worker],
                self.checked[worker], step if accepted else -1, moved,
            )
        )  # fmt: skip
        return moved

    def leave(self, worker: int, time: int = 0) -> None:
        """The worker died; its gradient in hand is lost, and counts as handed in."""
        self.alive.discard(worker)
        self.clock[worker] += 1

    def join(self, worker: int, time: int = 0) -> None:
        """The worker is back. It catches up with the slowest, so that no worker has to wait for what is lost."""
        others = [self.clock[k] for k in self.alive]
        self.clock[worker] = max(self.clock[worker], min(others, default=0))
        self.alive.add(worker)
        self.read_at[worker] = -1

    def deadlock(self, waiting: Iterable[int]) -> DeadlockError:
        """The error to raise where only these are left, and none of them may read."""
        return DeadlockError(
            f"no worker can go on after {counted(len(self.rounds), 'gradient')}: waiting are "
            f"{', '.join(map(str, sorted(waiting))) or 'nobody'}, alive are {sorted(self.alive)}; {self.gathered} of "
            f"{self.aggregate} gradients of step {self.step} are there"
        )

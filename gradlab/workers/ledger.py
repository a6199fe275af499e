"""Steps and clocks: everything that a server decides without looking at a weight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .._base.numbers import counted
from ..errors import DeadlockError
from ..train.staleness import is_accepted

# What a worker asks of the server, in the order of a round.
READ, RECORD, CHECK, UPDATE, LEAVE, JOIN = range(6)
MOVES = ("read", "record", "check", "update", "leave", "join")
# How stale gradients are treated: see `Experiment`.
POLICIES = ("apply", "drop", "wait", "damp", "compensate", "backup")


class Round(NamedTuple):
    """The record of one gradient. Steps count updates; times are the engine's. Not in TensorFlow.

    >>> r = Round(0, 0, began=0, ended=9, read=4, recorded=4, checked=5, applied_to=6, moved=True)
    >>> r.accepted, r.checked - r.recorded, r.applied_to - r.read  # recorded staleness, and true staleness
    (True, 1, 2)
    """

    worker: int
    number: int  # of this worker's gradients, from 0
    began: int  # time of the read
    ended: int  # time of the check
    read: int  # step of the weights it was computed from
    recorded: int  # step that the worker noted: staleness is measured from it
    checked: int  # step at the check
    applied_to: int  # step at the update, before it; -1 if dropped
    moved: bool  # whether the step went up

    @property
    def accepted(self) -> bool:
        return self.applied_to >= 0


class Ledger:
    """The server without its weights.

    A worker's round is read, record, check, update; times come from the engine.

    - "drop" accepts if and only if step - recorded <= staleness; a dropped gradient does not
      advance the step.
    - "wait" accepts all, but lets a worker begin only while it is at most `staleness` gradients
      ahead of the slowest.
    - "backup" accepts gradients of the current step only. The step goes up once `aggregate` of them
      were accepted, and a worker that has handed one in waits for that.
    - "apply", "damp" and "compensate" accept all.

    Not in TensorFlow; "drop" is the rule of `DropStaleGradientOptimizer`.

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
        self.policy = policy
        self.staleness = 0 if policy == "backup" else staleness
        self.aggregate = aggregate if policy == "backup" else 1
        self._drops = policy in ("drop", "backup")
        self.step = 0
        self.dropped = 0
        self.gathered = 0  # gradients accepted since the step went up
        self.clock = [0] * workers  # gradients handed in, accepted or not
        self.read_at = [-1] * workers  # step of each worker's last read
        self.recorded = [0] * workers
        self.checked = [0] * workers
        self.began = [0] * workers
        self.ended = [0] * workers
        self.accepted = [True] * workers  # by each worker's last check
        self.alive = set(range(workers))
        self.rounds: list[Round] = []

    def copy(self) -> Ledger:
        """Return a ledger with the same state, which changes independently."""
        new = object.__new__(Ledger)
        new.__dict__ |= {
            k: x.copy() if isinstance(x, list | set) else x for k, x in vars(self).items()
        }
        return new

    def may_read(self, worker: int) -> bool:
        """Tell whether the worker may begin its next gradient, or has to wait."""
        if self.policy == "wait":
            return self.clock[worker] - min(self.clock[k] for k in self.alive) <= self.staleness
        return self.policy != "backup" or self.read_at[worker] < self.step

    def handle(self, move: int, worker: int, time: int = 0) -> None:
        """Make one move of a log."""
        getattr(self, MOVES[move])(worker, time)

    def read(self, worker: int, time: int = 0) -> None:
        self.read_at[worker] = self.step
        self.began[worker] = time

    def record(self, worker: int, time: int = 0) -> None:
        self.recorded[worker] = self.step

    def check(self, worker: int, time: int = 0) -> bool:
        """Tell whether the worker's gradient is accepted."""
        self.checked[worker] = self.step
        self.ended[worker] = time
        accepted = not self._drops or bool(
            is_accepted(self.step - self.recorded[worker], self.staleness)
        )
        self.accepted[worker] = accepted
        return accepted

    def will_raise_step(self, worker: int) -> bool:
        """Tell whether the worker's update will raise the step."""
        return self.accepted[worker] and self.gathered + 1 >= self.aggregate

    def update(self, worker: int, time: int = 0) -> bool:
        """Count the worker's gradient as its check decided; True if the step goes up."""
        moved = self.will_raise_step(worker)
        accepted = self.accepted[worker]
        this_round = Round(
            worker=worker,
            number=self.clock[worker],
            began=self.began[worker],
            ended=self.ended[worker],
            read=self.read_at[worker],
            recorded=self.recorded[worker],
            checked=self.checked[worker],
            applied_to=self.step if accepted else -1,
            moved=moved,
        )
        self.rounds.append(this_round)
        self.clock[worker] += 1
        if moved:
            self.step += 1
            self.gathered = 0
        elif accepted:
            self.gathered += 1
        else:
            self.dropped += 1
        return moved

    def leave(self, worker: int, time: int = 0) -> None:
        """Note that the worker died; the gradient that it was computing is lost, and counts as handed in."""
        self.alive.discard(worker)
        self.clock[worker] += 1

    def join(self, worker: int, time: int = 0) -> None:
        """Note that the worker is back.

        It catches up with the slowest, so that no worker waits for what is lost.
        """
        others = [self.clock[k] for k in self.alive]
        self.clock[worker] = max(self.clock[worker], min(others, default=0))
        self.alive.add(worker)
        self.read_at[worker] = -1

    def deadlock_error(self, waiting: Iterable[int]) -> DeadlockError:
        """Return the error to raise where only these workers are left, and none of them may read."""
        waiting_names = ", ".join(map(str, sorted(waiting))) or "nobody"
        return DeadlockError(
            f"no worker can go on after {counted(len(self.rounds), 'gradient')}: waiting are "
            f"{waiting_names}, alive are {sorted(self.alive)}; {self.gathered} of {self.aggregate} "
            f"gradients of step {self.step} are there"
        )

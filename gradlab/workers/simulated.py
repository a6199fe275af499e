"""Virtual time: who speaks next is who is done first; ties go to the lower worker. Nothing waits, nothing varies."""

from __future__ import annotations

import dataclasses
import heapq

from .experiment import Experiment
from .ledger import CHECK, JOIN, LEAVE, READ, RECORD, UPDATE, Ledger
from .plain import decide_plain, is_plain
from .replays import replay
from .trace import Trace
from .worker import Piece, worker


def run(experiment: Experiment) -> Trace:
    """The trace of an experiment in virtual time: first who does what when, then the arithmetic in that order.

    Raises: DeadlockError: everybody who is left waits for somebody who is not.

    >>> from gradlab.workers import Bowl
    >>> run(Experiment(Bowl(), workers=2, gradients=4)).rounds["worker"].tolist()
    [1, 0, 1, 0]
    """
    trace = decide(experiment)
    return dataclasses.replace(trace, weights=replay(experiment, trace))


def decide(experiment: Experiment) -> Trace:
    """Timing and decisions alone: the trace without its weights."""
    return decide_plain(experiment) if is_plain(experiment) else one_by_one(experiment)


def one_by_one(experiment: Experiment) -> Trace:
    """`decide` for every experiment: a queue of pieces by the time at which they are due."""
    e, log = experiment, []
    ledger = Ledger(e.workers, e.policy, e.staleness, e.aggregate)
    does = {
        READ: ledger.read, RECORD: ledger.record, CHECK: ledger.check, UPDATE: ledger.update, LEAVE: ledger.leave,
        JOIN: ledger.join,
    }  # fmt: skip
    lives = [worker(e, k, ticks) for k, ticks in enumerate(e.ticks())]
    due: list[tuple[int, int, Piece]] = []
    blocked: dict[int, Piece] = {}

    def go_on(k: int, now: int) -> None:
        piece = next(lives[k], None)
        if piece is not None:
            heapq.heappush(due, (now + piece.ticks, k, piece))

    for k in range(e.workers):
        go_on(k, 0)
    while due and len(ledger.rounds) < e.gradients:
        now, k, piece = heapq.heappop(due)
        if piece.moves[0] == READ and not ledger.may_read(k):
            blocked[k] = piece
            continue
        for move in piece.moves:
            does[move](k, now)
            log.append((move, k, now))
        go_on(k, now)
        if blocked and piece.moves[-1] in (UPDATE, LEAVE):
            for other in sorted(k for k in blocked if ledger.may_read(k)):
                heapq.heappush(due, (now, other, blocked.pop(other)))
    if len(ledger.rounds) < e.gradients:
        raise ledger.deadlock(blocked)
    return Trace.of(e, "simulated", "ticks", log, ledger.rounds, {})

"""Virtual time: who speaks next is who is done first; ties go to the lower worker. Nothing waits, nothing varies."""

from __future__ import annotations

import heapq

from ..errors import DeadlockError
from .experiment import Experiment
from .ledger import CHECK, JOIN, LEAVE, READ, RECORD, UPDATE, Ledger, Round
from .replay import replay
from .trace import Trace
from .worker import Piece, worker

Log = list[tuple[int, int, int]]  # move, worker, time


def run(experiment: Experiment) -> Trace:
    """The trace of an experiment in virtual time: first who does what when, then the arithmetic in that order."""
    log, rounds = decide(experiment)
    trace = Trace.of(experiment, "simulated", "ticks", log, rounds, {})
    return Trace.of(experiment, "simulated", "ticks", log, rounds, replay(experiment, trace))


def decide(experiment: Experiment) -> tuple[Log, list[Round]]:
    """Timing and decisions alone: every move with its time, and what became of each gradient."""
    e = experiment
    ledger, log = Ledger(e.workers, e.policy, e.staleness, e.aggregate), []
    does = {
        READ: ledger.read, RECORD: ledger.record, CHECK: ledger.check, UPDATE: ledger.update, LEAVE: ledger.leave,
        JOIN: ledger.join,
    }  # fmt: skip
    lives = [worker(e, k, ticks) for k, ticks in enumerate(e.ticks().tolist())]
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
        raise DeadlockError(_why(ledger, blocked))
    return log, ledger.rounds


def _why(ledger: Ledger, blocked: dict[int, Piece]) -> str:
    waiting = ", ".join(map(str, sorted(blocked))) or "nobody"
    return (
        f"no worker can go on after {len(ledger.rounds)} gradients: waiting are {waiting}, alive are "
        f"{sorted(ledger.alive)}; {ledger.gathered} of {ledger.aggregate} gradients of step {ledger.step} are there"
    )

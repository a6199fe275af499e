"""Virtual time: who speaks next is who is done first; ties go to the lower worker. Nothing waits, nothing varies."""

from __future__ import annotations

import dataclasses
import heapq

import numpy as np

from ..staleness import is_fresh
from .experiment import Experiment
from .ledger import CHECK, JOIN, LEAVE, READ, RECORD, UPDATE, Ledger
from .replay import replay
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
    e = experiment
    plain = e.atomic and e.step_first and not e.speeds.crashes
    return all_at_once(e) if plain and e.policy not in ("wait", "backup") else one_by_one(e)


def one_by_one(experiment: Experiment) -> Trace:
    """`decide` for every experiment: a queue of pieces by the time at which they are due."""
    e, log = experiment, []
    ledger = Ledger(e.workers, e.policy, e.staleness, e.aggregate)
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
        raise ledger.deadlock(blocked)
    return Trace.of(e, "simulated", "ticks", log, ledger.rounds, {})


def all_at_once(experiment: Experiment) -> Trace:
    """`decide` where nobody waits and a gradient is one piece: then who comes when is known before what is decided."""
    e = experiment
    who, ended = _arrivals(e)
    fresh = np.ones(len(who), bool)
    if e.policy == "drop":
        fresh = np.array(_freshness(who.tolist(), e.workers, e.staleness), bool)
    step = np.cumsum(fresh)  # after each gradient
    own = np.argsort(who, kind="stable")  # the same gradients, worker by worker
    begins = np.r_[True, np.diff(who[own]) != 0][: len(own)]  # whether it is its worker's first
    place = np.arange(len(own))
    before = np.r_[0, own[:-1]][: len(own)]  # the gradient that the same worker handed in before
    columns = {
        "worker": who[own], "number": place - np.maximum.accumulate(np.where(begins, place, 0)),
        "began": np.where(begins, 0, ended[before]), "ended": ended[own], "read": np.where(begins, 0, step[before]),
    }  # fmt: skip
    rounds = {name: np.empty(len(own), np.int64) for name in columns}
    for name, column in columns.items():
        rounds[name][own] = column
    checked = step - fresh
    rounds |= {
        "recorded": rounds["read"], "checked": checked, "applied_to": np.where(fresh, checked, -1),
        "moved": fresh.astype(np.int64),
    }  # fmt: skip
    moves, times = _moves(e.workers, who, ended)
    return Trace(e, "simulated", "ticks", moves, times, rounds, {})


def _arrivals(e: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """Who hands in each gradient, and when. One integer says both, and sorts as time does, then worker."""
    count = e.gradients // e.workers + 16
    while True:
        keys = np.cumsum(e.ticks(count), axis=1) * e.workers + np.arange(e.workers)[:, None]
        known = keys[keys <= keys[:, -1].min()]  # what somebody does after the last draw may come earlier than these
        if len(known) >= e.gradients:
            known.sort()
            ended, who = np.divmod(known[: e.gradients], e.workers)
            return who, ended
        count *= 2


def _freshness(who: list[int], workers: int, limit: int) -> list[bool]:
    """What `Ledger` decides of each gradient, if each worker reads as soon as it has handed one in."""
    step, recorded, fresh = 0, [0] * workers, []
    for k in who:
        fresh.append(kept := is_fresh(step - recorded[k], limit))
        recorded[k] = step = step + kept
    return fresh


def _moves(workers: int, who: np.ndarray, ended: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Everybody reads at 0; then a gradient is handed in and the next is begun, save for the last."""
    if not len(who):
        return np.empty((0, 2), np.int32), np.empty(0, np.int64)
    everybody = np.arange(workers)
    move = np.r_[np.tile([READ, RECORD], workers), np.tile([CHECK, UPDATE, READ, RECORD], len(who))][:-2]
    worker = np.r_[np.repeat(everybody, 2), np.repeat(who, 4)][:-2]
    times = np.r_[np.zeros(2 * workers, np.int64), np.repeat(ended, 4)][:-2]
    return np.stack([move, worker], axis=1).astype(np.int32), times

"""Timing and decisions where nothing comes between a read and its note, or a check and its update, and nobody dies.

Then a run is a sequence of entries: a worker reads, or it hands a gradient in. Each is one integer that says when, who
and which, and all that a trace holds follows from them and from which gradients were accepted.
"""

from __future__ import annotations

import heapq

import numpy as np

from ..train.staleness import is_accepted
from .experiment import Experiment
from .ledger import CHECK, READ, RECORD, UPDATE
from .trace import Trace


def is_plain(experiment: Experiment) -> bool:
    """Tell whether `decide_plain` can handle the experiment."""
    return experiment.atomic and experiment.step_first and not experiment.speeds.crashes


def decide_plain(experiment: Experiment) -> Trace:
    """Decide as `simulated.one_by_one` does, some ten times faster."""
    e = experiment
    if e.gradients == 0:
        return _trace(e, np.empty(0, np.int64), np.empty(0, bool))
    waits = e.policy in ("wait", "backup")
    return _trace(e, *(_in_turns(e) if waits else _as_they_come(e)))


def _as_they_come(e: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """Entries and verdicts if no worker waits: when who comes is known before anything is decided."""
    count = e.gradients // e.workers + 16
    while True:
        ends = np.cumsum(e.ticks(count), axis=1) * e.workers + np.arange(e.workers)[:, None]
        known = ends[ends <= ends[:, -1].min()]  # what somebody does after the last draw may come before the others
        if len(known) >= e.gradients:
            break
        count *= 2
    known.sort()
    handed_in = known[: e.gradients]
    accepted = _verdicts(e, (handed_in % e.workers).tolist()) if e.policy == "drop" else np.ones(e.gradients, bool)
    pairs = np.stack([2 * handed_in, 2 * handed_in + 1], axis=1).ravel()[:-1]  # whoever handed in reads at once
    return np.concatenate([2 * np.arange(e.workers) + 1, pairs]), accepted


def _verdicts(e: Experiment, who: list[int]) -> np.ndarray:
    step, recorded, accepted = 0, [0] * e.workers, []
    for k in who:
        accepted.append(taken := is_accepted(step - recorded[k], e.staleness))
        recorded[k] = step = step + taken
    return np.array(accepted, bool)


def _in_turns(e: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """Entries and verdicts if workers wait: one may read while its mark is below the bar.

    Under "wait" marks are gradients handed in, and the bar is just over `staleness` above the lowest; under "backup"
    marks are the steps read last, and the bar is the step now.
    """
    n, backup = e.workers, e.policy == "backup"
    most = e.gradients // e.aggregate if backup else min(e.gradients, e.gradients // n + e.staleness)
    ticks = [iter(row) for row in e.ticks(most + 3).tolist()]
    mark, bar = ([-1] * n, 0) if backup else ([0] * n, e.staleness + 1)
    due = list(range(n))  # time * n + worker, a heap
    reads, blocked = [True] * n, list[int]()
    entries, accepted, present = [], list[bool](), 0
    while len(accepted) < e.gradients:
        key = due[0]
        k = key % n
        if reads[k]:
            if mark[k] >= bar:
                heapq.heappop(due)
                blocked.append(k)
                continue
            entries.append(2 * key + 1)
            reads[k] = False
            if backup:
                mark[k] = bar
            heapq.heapreplace(due, key + next(ticks[k]) * n)
            continue
        entries.append(2 * key)
        reads[k] = True  # at the same time, so that its place in the heap is the same
        before = bar
        if backup:
            accepted.append(taken := is_accepted(bar - mark[k], 0))
            present += taken
            if present == e.aggregate:
                present, bar = 0, bar + 1
        else:
            accepted.append(True)
            mark[k] += 1
            if mark[k] + e.staleness == before:
                bar = min(mark) + e.staleness + 1
        if bar > before and blocked:
            for other in blocked:
                heapq.heappush(due, key - k + other)
            blocked.clear()
    return np.array(entries, np.int64), np.array(accepted, bool)


def _trace(e: Experiment, entries: np.ndarray, accepted: np.ndarray) -> Trace:
    """All that follows from entries (time * workers + worker) * 2 + whether it reads, and from what was accepted."""
    keys, reads = entries >> 1, (entries & 1).astype(bool)
    time, who = np.divmod(keys, e.workers)
    aggregate = e.aggregate if e.policy == "backup" else 1
    moved = accepted & (np.cumsum(accepted) % aggregate == 0)
    step = np.zeros(len(entries), np.int64)
    step[~reads] = moved
    step = np.cumsum(step)  # after each entry
    own = np.argsort(
        who.astype(np.min_scalar_type(e.workers)), kind="stable"
    )  # each worker's: read, hand in, read, ...
    before, place = np.empty_like(own), np.empty_like(own)
    before[own[1:]] = own[:-1]
    counts = np.bincount(who, minlength=e.workers)
    place[own] = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
    there = np.flatnonzero(~reads)
    read = before[there]
    checked = step[there] - moved
    rounds = {
        "worker": who[there], "number": place[there] // 2, "began": time[read], "ended": time[there],
        "read": step[read], "recorded": step[read], "checked": checked, "applied_to": np.where(accepted, checked, -1),
        "moved": moved.astype(np.int64),
    }  # fmt: skip
    moves = np.empty((len(entries), 2, 2), np.int32)
    moves[:, 0, 0], moves[:, 1, 0] = np.where(reads, READ, CHECK), np.where(reads, RECORD, UPDATE)
    moves[:, :, 1] = who[:, None]
    return Trace(e, "simulated", "ticks", moves.reshape(-1, 2), np.repeat(time, 2), rounds, {})

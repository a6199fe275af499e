"""Schedules of three workers move by move, made by the server itself, with an event in words for each move."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ..figures.sequence import Event
from ..workers import CHECK, READ, RECORD, UPDATE, Bowl, Experiment, Server, Trace
from ..workers.experiment import worker
from ..workers.replays import step

WORKERS = 3
_LETTERS = {"R": READ, "N": RECORD, "C": CHECK, "U": UPDATE}
# What a scheduler would like to run, move by move; where moves are one piece, the later ones come along.
SCHEDULES = {
    "checks": ("all check, then all update", "1R 1N 2R 2N 3R 3N 1C 2C 3C 1U 2U 3U"),
    "notes": ("steps noted late", "1R 2R 3R 1N 1C 1U 2N 2C 2U 3N 3C 3U"),
    "both": ("noted late, checked together", "1R 2R 3R 1N 1C 1U 2N 3N 2C 3C 2U 3U"),
    "turns": ("one after the other", "1R 1N 1C 1U 2R 2N 2C 2U 3R 3N 3C 3U"),
}


class Play(NamedTuple):
    """A whole schedule: its trace, an event for each move, and the first weight in each version."""

    trace: Trace
    events: tuple[Event, ...]
    versions: tuple[tuple[int, float], ...]  # (moves made, weight)


@functools.lru_cache(maxsize=64)
def played(schedule: str, threshold: int, atomic: bool, step_first: bool) -> Play:
    """Every wish of the schedule in turn, with what is one piece with it."""
    e = Experiment(
        Bowl(), workers=WORKERS, staleness=threshold, gradients=WORKERS, atomic=atomic, step_first=step_first
    )
    server, log, events, versions = Server(e), list[tuple[int, int, int]](), list[Event](), [(0, _weight(e.start()))]
    pieces = [list(worker(e, k, [1])) for k in range(WORKERS)]
    for wish in SCHEDULES[schedule][1].split():
        k = int(wish[0]) - 1
        if not pieces[k] or pieces[k][0].moves[0] != _LETTERS[wish[1]]:
            continue  # it came along with an earlier one
        for n, move in enumerate(pieces[k].pop(0).moves):
            before = server.step
            step(server, move, k, len(log))
            log.append((move, k, len(log)))
            events.append(Event(k, *_told(server, move, k), joined=n > 0))
            if server.step > before:
                versions.append((len(log), _weight(server.weights)))
    return Play(
        Trace.of(e, "schedule", "moves", log, server.ledger.rounds, server.weights), tuple(events), tuple(versions)
    )


def _told(server: Server, move: int, k: int) -> tuple[str, str]:
    """Kind and words of the move that worker k has just made."""
    ledger = server.ledger
    if move == READ:
        return "read", f"reads v{ledger.read_at[k]}"
    if move == RECORD:
        return "note", f"notes {ledger.recorded[k]}"
    if move == CHECK:
        passed = ledger.accepted[k]
        sign = "≤" if passed else ">"
        return ("passed" if passed else "failed"), f"{ledger.checked[k]}−{ledger.recorded[k]} {sign} {ledger.staleness}"
    return ("updated", f"now v{ledger.step}") if ledger.accepted[k] else ("dropped", "is dropped")


def _weight(weights: Any) -> float:
    return float(weights["w"][0])

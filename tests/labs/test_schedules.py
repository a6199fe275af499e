"""Schedules of the races: traces that replay, pieces that stay whole, words that say what the server did."""

import itertools

import pytest

from gradlab.labs._schedules import SCHEDULES, WORKERS, played
from gradlab.workers import MOVES, replay

SWITCHES = [*itertools.product((False, True), repeat=2)]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("atomic", "step_first"), SWITCHES)
def test_every_schedule_is_a_trace_that_replays(schedule: str, atomic: bool, step_first: bool) -> None:
    trace = played(schedule, 0, atomic, step_first).trace
    assert len(trace.moves) == 4 * WORKERS and len(trace) == WORKERS
    for k in range(WORKERS):
        mine = [MOVES[move] for move, who in trace.moves.tolist() if who == k]
        assert mine == ["read", "record", "check", "update"]
    assert replay(trace.experiment, trace)["w"].tolist() == trace.weights["w"].tolist()
    steps = trace.moves.tolist()
    for k in range(WORKERS):
        if atomic:
            assert steps.index([3, k]) == steps.index([2, k]) + 1
        if step_first:
            assert steps.index([1, k]) == steps.index([0, k]) + 1


def test_events_say_what_the_server_did() -> None:
    words = [event.words for event in played("notes", 0, True, True).events]
    assert words[:4] == ["reads v0", "notes 0", "reads v0", "notes 0"]
    assert words[-4:] == ["1−0 > 0", "is dropped", "1−0 > 0", "is dropped"]
    joined = [event.joined for event in played("notes", 0, True, False).events]
    assert sum(joined) == WORKERS

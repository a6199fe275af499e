"""The lab of races: every move is the server's, the switches make the races vanish, and all orders
are counted.
"""

import itertools

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.numbers import percent
from gradlab.labs._staleness_races.lab import SCHEDULES, WORKERS, StalenessRacesTrace, played
from gradlab.workers import MOVES, Bowl, Experiment, explore, replay


def seen(**params: object) -> StalenessRacesTrace:
    lab = gl.labs.staleness_races(**params)
    return lab.compute(lab.params)


@pytest.mark.exhaustive
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_with_both_switches_nothing_is_too_old_or_recorded_wrong(schedule: str) -> None:
    for threshold in (0, 1, 2):
        trace = seen(schedule=schedule, atomic=True, step_first=True, threshold=threshold)
        assert trace.too_old == 0
        np.testing.assert_array_equal(
            trace.by_worker("staleness"), trace.by_worker("true_staleness")
        )


@pytest.mark.parametrize(
    ("schedule", "atomic", "step_first", "races"),
    [
        ("checks", False, True, True),
        ("checks", False, False, True),
        ("checks", True, False, False),
        ("notes", True, False, True),
        ("notes", False, False, True),
        ("notes", False, True, False),
        ("both", True, False, True),
        ("both", False, True, False),
        ("turns", False, False, False),
    ],
)
def test_each_race_needs_its_own_switch_off(
    schedule: str, atomic: bool, step_first: bool, races: bool
) -> None:
    trace = seen(schedule=schedule, atomic=atomic, step_first=step_first)
    assert (trace.too_old > 0) is races


def test_ages_appear_when_gradients_are_settled() -> None:
    early, late = seen(event=9), seen(event=12)
    assert early.by_worker("true_staleness").tolist() == [-1, -1, -1]
    assert seen(event=10).by_worker("true_staleness").tolist() == [0, -1, -1]
    assert late.by_worker("true_staleness").tolist() == [0, 1, 2]
    assert late.by_worker("staleness").tolist() == [0, 0, 0]
    # Each from the first weights.
    assert [n for _, n in late.play.versions] == pytest.approx([1, 0.9, 0.8, 0.7])


def test_all_orders_are_those_of_explore() -> None:
    trace = seen(threshold=1, atomic=True)
    found = explore(Experiment(Bowl(), workers=WORKERS, staleness=1, step_first=False))
    here = trace.outcomes[True, False]
    assert (here.interleavings, here.too_stale) == (found.interleavings, found.too_stale)
    words = gl.labs.staleness_races(threshold=1, atomic=True).description
    assert (
        f"in {percent(found.too_stale / found.interleavings)} of {found.interleavings:,} orders"
        in words.alt
    )
    assert trace.outcomes[True, True].too_stale == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Limit 0 fails: 2 accepted gradients are up to 2 updates stale."),
        ({"event": 11}, "Limit 0 fails: an accepted gradient is 1 update stale."),
        ({"event": 10}, "2 gradients have passed their checks and are too stale by now."),
        ({"event": 0}, "Before the first move no gradient is applied."),
        (
            {"schedule": "both", "atomic": True, "step_first": True},
            "Limit 0 holds: 2 of 3 gradients are dropped.",
        ),
        ({"schedule": "turns"}, "Limit 0 holds: all 3 gradients are accepted, none too stale."),
        (
            {"schedule": "notes", "threshold": 1},
            "Limit 1 fails: an accepted gradient is 2 updates stale.",
        ),
    ],
)
def test_the_sentence_says_whether_the_limit_holds(settings: dict[str, object], said: str) -> None:
    lab = gl.labs.staleness_races(**settings)
    trace = lab.compute(lab.params)
    assert lab.description.summary == said
    assert ("fails" in said) == (trace.too_old > 0) and ("passed" in said) == (
        trace.doomed > 0 and not trace.too_old
    )


def test_words_say_the_move_and_the_verdict() -> None:
    alt = gl.labs.staleness_races(event=12).description.alt
    assert "Move 12 of 12, worker 3: now v3. 3 of 3 accepted, the oldest 2 over the limit." in alt
    table = dict(gl.labs.staleness_races(event=10).description.table)
    assert table["worker 1"] == "accepted, staleness 0, recorded 0"
    assert table["worker 2"] == "not settled"
    assert table["weights"] == "v0 1, v1 0.9"


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.staleness_races()
    traces = {label: lab.compute({**lab.params, **values}) for label, values in lab.presets.items()}
    assert {label: trace.too_old for label, trace in traces.items()} == {
        "Check, check, update": 2,
        "A step noted late": 2,
        "Both races": 2,
        "Repaired": 0,
        "Luck": 0,
    }


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("over", {"schedule": "notes", "threshold": 1}, {"threshold": 2}),
        ("over", {"schedule": "notes", "threshold": 1}, {"step_first": True}),
        ("caught", {"event": 10}, {"event": 9}),
        ("caught", {"event": 11}, {"event": 12}),
        ("caught", {"event": 10}, {"atomic": True}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.staleness_races(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached."), lab.description.goal
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


SWITCHES = [*itertools.product((False, True), repeat=2)]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("atomic", "step_first"), SWITCHES)
def test_every_schedule_is_a_trace_that_replays(
    schedule: str, atomic: bool, step_first: bool
) -> None:
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

"""The adapter of SyncReplicasOptimizer notices every deviation, and says so where it does not
understand.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.conformance.adapters import sync_replicas
from tests.conformance.runner import quietly
from tests.conformance.scenarios import OWN_GOLDEN, Scenario, Unsupported, load_file

BACKUP = next(s for s in load_file(OWN_GOLDEN / "sync.json") if s.id == "sync.backup_late")
EVENTS = [
    {**call, **seen, "event": call["do"]}
    for call, seen in zip(BACKUP.calls, next(iter(BACKUP.data["expected"].values())), strict=True)
]


def run(**data: Any) -> list[str]:
    return quietly(sync_replicas.differences, Scenario("f.json", "sync_replicas", "x", data))


def test_events_and_calls_are_two_ways_to_tell_the_same() -> None:
    assert run(setup=BACKUP.data["setup"], events=EVENTS) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("finished", ["w1"]),
        ("sync_finished", None),
        ("global_step", 2),
        ("variable", [-1.5, -0.25]),
        ("tokens_in_queue", 0),
        ("num_accumulated", 1),
        ("local_steps", [1, 1, 1]),
        ("workers_blocked", ["w0"]),
        ("sync_blocked", True),
        ("w1_error", {"class": "ValueError"}),
    ],
)
def test_every_key_counts(key: str, value: Any) -> None:
    events = copy.deepcopy(EVENTS)
    update = next(event for event in events if event["sync_finished"])
    update[key] = value
    (found,) = run(setup=BACKUP.data["setup"], events=events)
    assert key in found


@pytest.mark.parametrize(
    ("key", "value"),
    [("tokens_per_step", 2), ("accumulator_class", "SparseConditionalAccumulator")],
)
def test_what_is_said_of_the_setup_counts(key: str, value: Any) -> None:
    (found,) = run(setup={**BACKUP.data["setup"], key: value}, events=EVENTS)
    assert key in found


@pytest.mark.parametrize(
    ("setup", "event"),
    [
        ({"weather": "fair"}, {}),
        ({"gradient_kind": "wooden"}, {}),
        ({"inner_optimizer": "gut_feeling"}, {}),
        ({}, {"event": "coffee_break"}),
        ({}, {"mood": "good"}),
    ],
)
def test_what_is_unknown_is_unsupported(setup: Any, event: Any) -> None:
    with pytest.raises(Unsupported):
        run(setup={**BACKUP.data["setup"], **setup}, events=[{**EVENTS[0], **event}])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("get_chief_queue_runner before apply_gradients", {"error": "ValueError"}),
        ("get_init_tokens_op() before apply_gradients", {"error": "ValueError"}),
        (
            "make_session_run_hook(is_chief=True): begin() before apply_gradients",
            {"error": "ValueError"},
        ),
        ("apply_gradients: all gradients are None", {"error": "ValueError"}),
        ("replicas_to_aggregate=5, total_num_replicas=2: get_init_tokens_op(3)", {"out": 3}),
        ("SyncReplicasOptimizer(GradientDescent, 2, 4): get_init_tokens_op()", {"out": "an op"}),
        (
            "SyncReplicasOptimizer(Adam,2) introspection",
            {"out": {"tokens_per_step": 2, "accumulators": 1}},
        ),
        ("an embedding gradient", {"out": {"accumulator_class": "SparseConditionalAccumulator"}}),
    ],
)
def test_observations_are_understood_by_their_words(words: str, told: Any) -> None:
    told = {"error": {"class": told["error"], "family": "builtin"}} if "error" in told else told
    assert run(do=words, **told) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("apply_gradients with an empty list", {"error": {"class": "TypeError"}}),
        ("apply_gradients with an empty list", {"out": "built"}),
        ("SyncReplicasOptimizer(Momentum,3,5) introspection", {"out": {"tokens_per_step": 3}}),
    ],
)
def test_observations_can_fail(words: str, told: Any) -> None:
    assert len(run(do=words, **told)) == 1


@pytest.mark.parametrize(
    "told",
    [
        {"do": "the weather is fine", "out": "ok"},
        {"do": "a gradient of unknown type", "mood": "good"},
        {"do": "SyncReplicasOptimizer(Momentum,3,5) introspection", "out": {"mood": "good"}},
    ],
)
def test_other_observations_are_unsupported(told: Any) -> None:
    with pytest.raises(Unsupported):
        run(**told)

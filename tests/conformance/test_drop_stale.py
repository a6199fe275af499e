"""The adapter of stale gradients passes what is right, notices what is wrong, and knows what it
does not know.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.conformance import runner
from tests.conformance.scenarios import Scenario, Unsupported

V = {"init": [0.0, 1.0], "shape": [2]}
TARGETS = {
    "kind": "0.5*scale*sum((v-t)^2), summed over variables",
    "scale": 1.0,
    "targets": {"v": [4.0, -3.0]},
}
SETUP = {
    "variables": {"v": V},
    "dtype": "float32",
    "loss": TARGETS,
    "inner_optimizer": "sgd",
    "inner_args": {"learning_rate": 0.5},
    "staleness": 0,
    "workers": ["w0", "w1"],
    "global_step_dtype": "int64",
    "resource_variables": False,
    "via": "compute_apply",
    "comparison_hint": "bit-exact for dense float32",
}
START = {"global_step": 0, "stale_counter": 0.0, "variables": {"v": [0.0, 1.0]}, "slots": {}}
ONCE = {**START, "global_step": 1, "variables": {"v": [2.0, -1.0]}}
DROPPED = {**ONCE, "stale_counter": 1.0}
EVENTS: list[dict[str, Any]] = [
    {"event": "initial", **START},
    {"event": "compute", "worker": "w0", "local_step": 0, "gradients": {"v": [-4.0, 4.0]}},
    {"event": "compute", "worker": "w1", "local_step": 0, "gradients": {"v": [-4.0, 4.0]}},
    {"event": "apply", "worker": "w0", "staleness": 0, "accepted": True, "returned": 0.0, **ONCE},
    {
        "event": "apply",
        "worker": "w1",
        "staleness": 1,
        "accepted": False,
        "returned": 1.0,
        **DROPPED,
    },
    {"event": "set_global_step", "value": 5, **DROPPED, "global_step": 5},
]
SUMMARY = {"tag": "Gradient_staleness_percentage", "value": 0.1666666716337204}


def schedule(**changed: Any) -> dict[str, Any]:
    return copy.deepcopy(
        {"id": "T", "setup": SETUP, "events": EVENTS, "summary_at_end": SUMMARY, **changed}
    )


def found(data: dict[str, Any], group: str = "drop_stale") -> list[str]:
    return runner.differences(Scenario("f.json", group, "x", data))


def test_what_is_right_passes() -> None:
    assert found(schedule()) == []


WRONG = [
    (k, key)
    for k, event in enumerate(EVENTS)
    for key in event
    if key not in ("event", "worker", "value", "slots")
]


@pytest.mark.parametrize(("k", "key"), WRONG)
def test_anything_wrong_in_an_event_is_noticed(k: int, key: str) -> None:
    data = schedule()
    told = data["events"][k][key]
    data["events"][k][key] = (
        {"v": [-4.0, 4.5]} if isinstance(told, dict) else not told if key == "accepted" else 7
    )
    assert found(data)


def test_a_wrong_summary_is_noticed() -> None:
    assert found(schedule(summary_at_end={**SUMMARY, "value": 0.2}))
    assert found(schedule(summary_at_end={**SUMMARY, "tag": "Other"}))


def test_slots_are_compared_from_the_start() -> None:
    momentum = {
        **SETUP,
        "inner_optimizer": "momentum",
        "inner_args": {"learning_rate": 0.5, "momentum": 0.5},
    }
    right = [{**EVENTS[0], "slots": {"momentum/v": [0.0, 0.0]}}, *EVENTS[1:3]]
    right += [{**EVENTS[3], "slots": {"momentum/v": [-4.0, 4.0]}}]
    data = {"setup": momentum, "events": right, "summary_at_end": None}
    assert found(schedule(**data)) == []
    for k, slots in ((0, {}), (0, {"momentum/v": [0.0, 1.0]}), (3, {"momentum/v": [-4.0, 5.0]})):
        wrong = [{**event, "slots": slots} if j == k else event for j, event in enumerate(right)]
        assert found(schedule(**{**data, "events": wrong}))


@pytest.mark.parametrize(
    "staleness", [{"staleness": 1}, {"staleness": "int64 tensor 1"}, {"staleness": True}]
)
def test_forms_of_the_threshold(staleness: dict[str, Any]) -> None:
    kept = {**EVENTS[4], "accepted": True, "returned": 0.0, "stale_counter": 0.0, "global_step": 2}
    kept["variables"] = {"v": [4.0, -3.0]}
    assert (
        found(
            schedule(setup={**SETUP, **staleness}, events=[*EVENTS[:4], kept], summary_at_end=None)
        )
        == []
    )


def test_minimize_where_nothing_comes_in_between() -> None:
    events = [EVENTS[k] for k in (0, 1, 3)]
    assert (
        found(schedule(setup={**SETUP, "via": "minimize"}, events=events, summary_at_end=None))
        == []
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"setup": {**SETUP, "luck": 1}},
        {"setup": {**SETUP, "via": "magic"}},
        {"setup": {**SETUP, "inner_optimizer": "mystery"}},
        {"setup": {**SETUP, "loss": {"kind": "sum of luck"}}},
        {"setup": {**SETUP, "comparison_hint": "by eye"}},
        {"setup": {**SETUP, "staleness": "some"}},
        {"events": [{"event": "juggle"}]},
        {"events": [{"event": "initial", "luck": 1}]},
    ],
)
def test_what_a_schedule_may_not_hold(changed: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        found(schedule(**changed))


def observed(do: str, **told: Any) -> list[str]:
    return found({"do": do, **told}, "drop_stale.observations")


TYPE, VALUE, ATTRIBUTE = (
    {"error": {"class": f"{kind}Error", "family": "builtin"}}
    for kind in ("Type", "Value", "Attribute")
)


@pytest.mark.parametrize(
    ("do", "told"),
    [
        ("staleness=0.5", TYPE),
        ("staleness='1'", TYPE),
        ("staleness=None", VALUE),
        ("staleness=-3", {"out": "built"}),
        ("staleness as an int32 tensor with an int32 global step", {"out": "built"}),
        ("staleness as an int32 tensor with the default int64 global step", TYPE),
        ("only None gradients", VALUE),
        ("no global step in the graph", ATTRIBUTE),
        ("minimize(loss) without global_step", VALUE),
        ("a second apply_gradients in the same graph", VALUE),
        (
            "apply_gradients a second time with variable reuse",
            {"out": {"returned": 0.0, "stale_counter": 0.0}},
        ),
        (
            "minimize(loss, global_step) run 2 times",
            {"out": {"returned": [0.0, 0.0], "v": [1.5, 1.75]}},
        ),
        (
            "another variable at 3 as global_step",
            {"out": {"returned": 1.0, "other": 3, "graph_global_step": 0}},
        ),
        (
            "another variable at 0 as global_step",
            {"out": {"returned": 0.0, "other": 1, "v": [1.0, 1.5]}},
        ),
        ("Adam's beta powers and their names", {"out": ["cond/beta1_power", "cond/beta2_power"]}),
        (
            "a wrapper in a wrapper",
            {"out": {"returned": 0.0, "one_counter": True, "global_step": 1}},
        ),
    ],
)
def test_observations(do: str, told: dict[str, Any]) -> None:
    assert observed(do, **told) == []
    wrong = {"error": {"class": "KeyError"}} if "error" in told else {"out": "something else"}
    assert observed(do, **wrong)


def test_what_an_observation_may_not_tell() -> None:
    for do, told in (
        ("it rains", {"out": 1}),
        ("staleness=1", {"luck": 1}),
        ("another variable", {"out": 1}),
        ("a wrapper in a wrapper", {"out": {"luck": 1}}),
    ):
        with pytest.raises(Unsupported):
            observed(do, **told)


CHECK = {
    "scenario": "T",
    "identical_to_single_graph_run": True,
    "workers": 2,
    "stale_counter_device": "/job:ps/task:0",
}


def cross_check(**changed: Any) -> list[str]:
    return found({**CHECK, "named": schedule(), **changed}, "drop_stale.cluster_cross_check")


@pytest.mark.parametrize("named", [None, schedule()])
def test_cross_checks(named: Any) -> None:
    assert cross_check(named=named) == []


def test_a_wrong_cross_check_is_noticed() -> None:
    assert cross_check(identical_to_single_graph_run=False)
    assert cross_check(workers=3)
    with pytest.raises(Unsupported):
        cross_check(luck=1)

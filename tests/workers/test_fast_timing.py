"""Decisions in bulk are those of the event loop."""

from typing import Any

import pytest
from hypothesis import given, settings

from gradlab.workers import POLICIES, Bowl, Crash, Experiment, Speeds
from gradlab.workers.fast_timing import can_decide_fast, decide_fast
from gradlab.workers.simulated import decide_by_events
from tests.workers.experiments import experiments, same


@pytest.mark.parametrize("policy", POLICIES)
def test_traces_are_equal(policy: str) -> None:
    @settings(max_examples=100)
    @given(experiments(policy, is_fast=True))
    def check(e: Experiment) -> None:
        same(decide_fast(e), decide_by_events(e))

    check()


@pytest.mark.parametrize(
    "settings_",
    [
        {},
        {"staleness": 2},
        {"policy": "wait", "staleness": 3},
        {"policy": "backup", "aggregate": 3},
    ],
)
@pytest.mark.parametrize("slow", [{}, {0: 1000.0, 1: 1000.0, 2: 1000.0}, {4: 0.01}])
def test_traces_of_long_runs_are_equal(settings_: dict[str, Any], slow: dict[int, float]) -> None:
    e = Experiment(
        Bowl(), workers=5, gradients=3000, speeds=Speeds(slow=slow, stall=0.1), **settings_
    )
    same(decide_fast(e), decide_by_events(e))


def test_a_limit_that_no_worker_reaches_costs_nothing() -> None:
    e = Experiment(Bowl(), policy="wait", gradients=50)
    same(decide_fast(e.with_(staleness=10**12)), decide_fast(e.with_(staleness=50)))


def test_races_and_crashes_are_decided_by_events() -> None:
    e = Experiment(Bowl())
    assert can_decide_fast(e)
    assert not can_decide_fast(e.with_(atomic=False)) and not can_decide_fast(
        e.with_(step_first=False)
    )
    assert not can_decide_fast(e.with_(speeds=Speeds(crashes=(Crash(0, 0, 0),))))

"""Long runs of accumulators and of SyncReplicasOptimizer against plain models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

import gradlab as gl
from tests.faults.fault import Fault
from tests.train.accumulators.test_machine import AgainstTheModel as OfAccumulators
from tests.train.sync_replicas.test_against_a_model import AgainstTheModel as OfReplicas


def against_a_model(
    machine: type[RuleBasedStateMachine], examples: int, folder: Path, seed: int
) -> str:
    """So many random sequences of calls, mistakes, deaths and ends of waits among them."""
    seeded: Any = hypothesis.seed(seed)(type(machine.__name__, (machine,), {}))
    few = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=60,
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate],
    )
    try:
        with gl.variable_collection():
            run_state_machine_as_test(seeded, settings=few)
    except (Exception, pytest.fail.Exception) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _model(name: str, machine: type[RuleBasedStateMachine]) -> Fault:
    short, long = (partial(against_a_model, machine, examples) for examples in (5, 50))
    return Fault(
        f"50 sequences (in CI 5) of calls of {name}, against a plain model", short, 1, long=long
    )


FAULTS = [
    _model("accumulators", OfAccumulators),
    _model("SyncReplicasOptimizer", OfReplicas),
]

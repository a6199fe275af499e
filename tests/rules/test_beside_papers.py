"""Rules of papers beside the numbers of their authors' code, which `golden/library/tensor_rules.json`
holds: on average at least as near to their float64 runs as their float32 runs are.

A scenario has `class`, `arguments` of the original, `seed`, `shape` and `steps` of the `inputs`, and
the weights after the last step of a run in `float32` and of one in `float64`. Recorded in 2026 by
nikhilvyas/SOAP a1e5535, facebookresearch/schedule_free 70785b5 and tensorflow/recommenders cf1dafa,
the first with float32 exchanged for float64 in its decompositions of the float64 run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.rules.relative_error import inputs, relative_error, run, run_jit

GOLDEN = Path(__file__).parents[1] / "golden" / "library" / "tensor_rules.json"
SCENARIOS = json.loads(GOLDEN.read_text("utf-8"))


def _soap(arguments: dict[str, Any]) -> gl.rules.Rule:
    beta1, beta2 = arguments.get("betas", (0.95, 0.95))
    return gl.rules.SOAP(
        beta1,
        beta2,
        arguments.get("shampoo_beta"),
        arguments.get("eps", 1e-8),
        arguments.get("precondition_frequency", 10),
        arguments.get("max_precond_dim", 10000),
    )


def _schedule_free_sgd(arguments: dict[str, Any]) -> gl.rules.Rule:
    return gl.rules.ScheduleFreeSGD(
        arguments.get("momentum", 0.9),
        arguments.get("warmup_steps", 0),
        arguments.get("r", 0.0),
        arguments.get("weight_lr_power", 2.0),
    )


def _clippy_adagrad(arguments: dict[str, Any]) -> gl.rules.Rule:
    accumulates = "after"
    if arguments.get("clip_accumulator_update"):
        accumulates = "clipped"
    if arguments.get("use_standard_accumulator_update"):
        accumulates = "before"
    return gl.rules.ClippyAdagrad(
        arguments.get("initial_accumulator_value", 0.1),
        arguments.get("variable_relative_threshold", 0.1),
        arguments.get("accumulator_relative_threshold", 0.0),
        arguments.get("absolute_threshold", 1e-7),
        arguments.get("epsilon", 1e-7),
        accumulates,
    )


RULES = {
    "SOAP": _soap,
    "ScheduleFreeSGD": _schedule_free_sgd,
    "ClippyAdagrad": _clippy_adagrad,
}


@pytest.mark.parametrize("name", RULES)
def test_the_mean_error_is_at_most_that_of_the_authors_code(name: str) -> None:
    """A mean, because the error of a single run of few numbers is as random as its roundings."""
    theirs, on_numpy, under_jit = [], [], []
    for scenario in _scenarios(name):
        rule, *run_of = _given(scenario)
        exact = np.array(scenario["float64"])
        theirs.append(relative_error(np.array(scenario["float32"]), exact))
        on_numpy.append(relative_error(run(rule, *run_of)[-1], exact))
        under_jit.append(relative_error(run_jit(rule, *run_of)[-1], exact))

    assert np.mean(on_numpy) <= np.mean(theirs), (on_numpy, theirs)
    assert np.mean(under_jit) <= np.mean(theirs), (under_jit, theirs)


@pytest.mark.parametrize("name", RULES)
def test_a_float64_run_is_that_of_the_authors_code(name: str) -> None:
    for scenario in _scenarios(name):
        rule, *run_of = _given(scenario)

        # What a rule shares between weights is float32 whatever their dtype.
        got = run(rule, *run_of, np.float64)[-1]
        np.testing.assert_allclose(got, scenario["float64"], rtol=1e-7, atol=1e-7)


def _scenarios(name: str) -> list[Any]:
    return [scenario for scenario in SCENARIOS if scenario["class"] == name]


def _given(scenario: Any) -> tuple[gl.rules.Rule, float, np.ndarray, np.ndarray]:
    """Return the rule of a scenario, its learning rate, weights and gradients."""
    arguments = scenario["arguments"]
    rule = RULES[scenario["class"]](arguments)
    rate = arguments.get("lr", arguments.get("learning_rate"))
    w, gradients = inputs(scenario["seed"], tuple(scenario["shape"]), scenario["steps"])
    return rule, rate, w, gradients


def test_every_rule_is_in_the_scenarios() -> None:
    assert {scenario["class"] for scenario in SCENARIOS} == RULES.keys()

"""Every scenario of every golden file, run by gradlab: one test per scenario.

    python -m pytest tests/conformance                    the project's own files, tests/golden/*.json
    python -m pytest tests/conformance --golden DIR       the files in DIR

A scenario that no adapter knows is reported as `unsupported`, which is neither passed nor failed.
"""

from __future__ import annotations

import pytest

from tests.conformance import runner
from tests.conformance.adapters import clip, ops
from tests.conformance.scenarios import Scenario, Unsupported, load_directory
from tests.conformance.summary import UNSUPPORTED, golden_directory


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    scenarios = load_directory(golden_directory(metafunc.config))
    if metafunc.function is test_scenario:
        metafunc.parametrize("scenario", scenarios, ids=_name)
    elif metafunc.function is test_scenario_on_jax:
        on_jax = [s for s in scenarios if clip.on_jax(s)]
        metafunc.parametrize("scenario", on_jax, ids=lambda s: f"{_name(s)}[jax]")
    elif metafunc.function is test_rule_under_jit:
        rules = [s for s in scenarios if ops.on_jax(s)]
        metafunc.parametrize("scenario", rules, ids=lambda s: f"{_name(s)}[jax]")


def _name(scenario: Scenario) -> str:
    return f"{scenario.file.removesuffix('.json')}/{scenario.id}"


@pytest.mark.every_case
def test_scenario(scenario: Scenario, record_property: pytest.FixtureRequest) -> None:
    record_property("golden", (scenario.file, scenario.group, scenario.id))
    _check(scenario, lambda: runner.differences(scenario))


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
def test_scenario_on_jax(
    scenario: Scenario, jit: bool, record_property: pytest.FixtureRequest
) -> None:
    record_property(
        "golden", (f"{scenario.file} on JAX", scenario.group, f"{scenario.id}[jax{'.jit' * jit}]")
    )
    _check(scenario, lambda: runner.quietly(clip.jax_differences, scenario, jit))


def test_rule_under_jit(scenario: Scenario, record_property: pytest.FixtureRequest) -> None:
    record_property(
        "golden", (f"{scenario.file} on JAX", scenario.group, f"{scenario.id}[jax.jit]")
    )
    _check(scenario, lambda: runner.quietly(ops.jax_differences, scenario))


def _check(scenario: Scenario, run) -> None:
    try:
        found = run()
    except Unsupported as unknown:
        pytest.skip(f"{UNSUPPORTED}{unknown}")
    note = scenario.data.get("note") or scenario.data.get("title") or ""
    assert not found, "\n".join([f"{scenario.file} {scenario.id}: {note}", *found])

"""Training ops beside TensorFlow: each scenario of `golden/library/training_ops.json` is played by
gradlab.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance import library
from tests.conformance.decode import dtype

pytestmark = pytest.mark.every_case

FILE = "training_ops.json"
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    scenarios = library.load(metafunc.config, FILE)
    is_of_dtypes = "dtypes" in metafunc.fixturenames
    chosen = [s for s in scenarios if s["id"].endswith("/registered_dtypes") is is_of_dtypes]
    metafunc.parametrize("dtypes" if is_of_dtypes else "scenario", chosen, ids=lambda s: s["id"])


def test_an_op_does_what_tensorflow_does(scenario: dict[str, Any]) -> None:
    op = getattr(gl.raw_ops, scenario["op"])
    variables = make_variables(scenario)
    after = scenario.get("expected", {}).get("after_each_step", [])
    failing = scenario.get("error", {}).get("at_step")

    for k, step in enumerate(scenario["steps"]):
        arguments = read_arguments(scenario, step)
        if k == failing:
            before = {name: v.numpy() for name, v in variables.items()}
            with pytest.raises(gl.errors.InvalidArgumentError):
                op(**variables, **arguments)
            assert all(
                np.array_equal(v.numpy(), before[name], equal_nan=True)
                for name, v in variables.items()
            )
            return
        result = op(**variables, **arguments)
        assert result is (None if scenario["op"].startswith("Resource") else variables["var"])
        for name, expected in after[k].items():
            deviation = library.deviation(expected, variables[name].numpy(), scenario["compare"])
            assert not deviation, f"{scenario['id']}, step {k}, {name}: {deviation}"


def test_an_op_takes_the_dtypes_that_tensorflow_has_kernels_for(dtypes: dict[str, Any]) -> None:
    taken = {name for name in DTYPES if takes(dtypes["op"], name)}

    assert taken == set(dtypes["expected"]["dtypes_on_cpu"])


def make_variables(scenario: dict[str, Any]) -> dict[str, gl.Variable]:
    return {
        name: gl.Variable(library.value(x), name=name) for name, x in scenario["inputs"].items()
    }


def read_arguments(scenario: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    given = {**scenario["args"], **scenario["args"].get("attrs", {}), **step}
    return {name: library.value(x) for name, x in given.items() if name != "attrs"}


def takes(name: str, kind: str) -> bool:
    """Tell whether an op takes variables of a dtype."""
    op = getattr(gl.raw_ops, name)
    rows = np.ones((2, 2), dtype(kind))
    arguments: dict[str, Any] = {}
    for parameter in inspect.signature(op).parameters.values():
        if parameter.name in SLOTS:
            arguments[parameter.name] = gl.Variable(rows)
        elif parameter.name in SPECIAL:
            arguments[parameter.name] = SPECIAL[parameter.name]
        elif parameter.name in ("grad", "delta"):
            arguments[parameter.name] = rows
        elif parameter.default is parameter.empty:
            arguments[parameter.name] = 1.0
    try:
        op(**arguments)
    except gl.errors.DTypeError:
        return False
    return True


SLOTS = {
    "var",
    "accum",
    "accum_update",
    "linear",
    "m",
    "v",
    "vhat",
    "ms",
    "mg",
    "mom",
    "gradient_accumulator",
    "gradient_squared_accumulator",
}
SPECIAL = {"indices": np.array([0, 1]), "global_step": 1, "lr_power": -0.5}

"""SparseCore preprocessing beside TensorFlow: each line of `golden/library/sparsecore_ops.json`.

`tests/golden/sparsecore_ops_oracle.py` recorded it, and compares more batches that it draws.
"""

from __future__ import annotations

from typing import Any

import pytest

import gradlab as gl
from tests.conformance import library
from tests.golden import sparsecore_ops_oracle

FILE = "sparsecore_ops.json"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    scenarios = library.load(metafunc.config, FILE)
    if "scenario" in metafunc.fixturenames:
        metafunc.parametrize("scenario", scenarios, ids=lambda s: s["id"])


@pytest.mark.every_case
def test_an_op_does_what_tensorflow_does(scenario: dict[str, Any]) -> None:
    op = getattr(gl.raw_ops, scenario["op"])
    arguments = {name: read(x) for name, x in scenario["args"].items()}
    if "error" in scenario:
        with pytest.raises(getattr(gl.errors, scenario["error"])):
            op(**arguments)
        return

    outputs = sparsecore_ops_oracle.cut(op(**arguments)._asdict())

    assert list(outputs) == list(scenario["expected"])
    for name, expected in scenario["expected"].items():
        # Equal as text: each bit of a float is in it.
        assert sparsecore_ops_oracle.encode(outputs[name]) == expected, name


def test_all_outcomes_are_among_them(request: pytest.FixtureRequest) -> None:
    scenarios = library.load(request.config, FILE)
    ops = {s["op"] for s in scenarios}
    assert {s["op"] for s in scenarios if "error" in s} == ops - {
        "ConvertToListOfSparseCoreCooTensors"
    }
    assert {s["op"] for s in scenarios if "expected" in s} == ops
    minibatches = [
        s["expected"]["num_minibatches_per_sc"]["values"]
        for s in scenarios
        if "num_minibatches_per_sc" in s.get("expected", {})
    ]
    assert [1] in minibatches
    assert max(minibatches) > [1]


def read(x: Any) -> Any:
    """Return an argument from its line."""
    return [read(item) for item in x] if isinstance(x, list) else library.value(x)

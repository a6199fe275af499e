"""Decays by name and moving averages beside TensorFlow: scenarios of `train_v1.json`.

An average of a tensor, which only TensorFlow's graphs have, is reported as `unsupported`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance import library
from tests.conformance.summary import UNSUPPORTED

pytestmark = pytest.mark.every_case

FILE = "train_v1.json"
AVERAGE = "ExponentialMovingAverage"
# TensorFlow's graph optimizer multiplies by 1 / decay_steps, which rounds differently in float16
# from eager TensorFlow. Its bits are ours.
ROUNDED_IN_GRAPHS = ("inverse_time_decay/plain_float16_rate", "polynomial_decay/plain_float16_rate")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    scenarios = library.load(metafunc.config, FILE)
    chosen = [s for s in scenarios if _kind(s) in metafunc.fixturenames]
    metafunc.parametrize(
        next(name for name in KINDS if name in metafunc.fixturenames), chosen, ids=lambda s: s["id"]
    )


KINDS = ("decay", "average", "few_lines")


def _kind(scenario: dict[str, Any]) -> str:
    if scenario["op"] != AVERAGE:
        return "decay"
    if "scenario" in scenario["args"]:
        return "few_lines"
    return "average"


def test_a_decay_has_tensorflows_rates(decay: dict[str, Any]) -> None:
    arguments = dict(decay["args"]["kwargs"])
    kind = decay["args"].get("learning_rate_dtype", "float")
    if "learning_rate" in arguments and kind != "float":
        arguments["learning_rate"] = np.dtype(kind).type(arguments["learning_rate"])
    step = gl.Variable(np.zeros((), decay["args"].get("step_dtype", "int64")), trainable=False)
    function = getattr(gl.train, decay["op"])
    arguments.setdefault("x" if decay["op"].startswith("piecewise") else "global_step", step)
    if "error" in decay:
        with pytest.raises(getattr(__import__("builtins"), decay["error"]["type"])):
            function(**arguments)()
        return

    rate = function(**arguments)
    rates = []
    for at in decay["steps"]:
        step.assign(np.asarray(at["global_step"], step.dtype))
        rates.append(rate())

    if decay["steps"]:
        compare = decay["compare"]
        if decay["id"] in ROUNDED_IN_GRAPHS:
            compare = {"kind": "ulp", "ulp": 4, "atol": 0.0}
        assert not library.deviation(decay["expected"]["values"], np.array(rates), compare)


def test_an_average_moves_as_tensorflows(average: dict[str, Any]) -> None:
    arguments = average["args"]
    if arguments["of"] != "v":
        pytest.skip(OF_TENSORS)
    values = [library.value(x) for x in average["inputs"]["values"]]
    counts = average["inputs"].get("num_updates")
    in_graph = arguments["mode"] == "graph"

    with gl.Graph().as_default() if in_graph else gl.variable_collection():
        v = gl.Variable(values[0], name="v")
        count = None if counts is None else gl.Variable(0, trainable=False, name="count")
        ema = gl.train.ExponentialMovingAverage(arguments["decay"], count, **arguments["kwargs"])
        operation = ema.apply([v])
        states = [(ema.average(v).numpy(), v.numpy())]
        for k in range(1, len(values)):
            v.load(values[k])
            if count is not None:
                count.load(counts[k - 1])
            operation.run() if in_graph else ema.apply([v])
            states.append((ema.average(v).numpy(), v.numpy()))
        names = (
            ema.average_name(v),
            {name: x.name for name, x in ema.variables_to_restore([v]).items()},
        )

    expected = average["expected"]["initial_and_after_each_step"]
    for wanted, (mean, value) in zip(
        expected[-len(states) :], states[-len(expected) :], strict=True
    ):
        assert not library.deviation(wanted["average"], mean, average["compare"])
        assert not library.deviation(wanted["variable"], value, average["compare"])
    assert names[0] == average["expected"]["names"]["average_name"]
    if "variables_to_restore" in average["expected"]["names"]:
        restored = {
            name: saved.removesuffix(":0") for name, saved in names[1].items() if name != "count"
        }
        assert restored == average["expected"]["names"]["variables_to_restore"]


def test_names_are_tensorflows(few_lines: dict[str, Any]) -> None:
    if few_lines["args"]["scenario"] == "debias_tensor_names":
        pytest.skip(OF_TENSORS)
    play = SCENARIOS[few_lines["args"]["scenario"]]
    with gl.Graph().as_default() as graph:
        found = play(graph)
    expected = few_lines["expected"]
    assert {name: x for name, x in found.items() if name in expected} == {
        name: x for name, x in expected.items() if name in found
    }
    assert found.keys() & expected.keys()


OF_TENSORS = f"{UNSUPPORTED}graphs have no tensors here: an average is of Variables"


def twice(graph: gl.Graph) -> dict[str, Any]:
    v = gl.Variable([1.0], name="v")
    ema = gl.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    ema.apply([v])
    return {"raises": None, "global_variables": names_of(graph)}


def restore_list(graph: gl.Graph) -> dict[str, Any]:
    a = gl.Variable([1.0], name="a")
    b = gl.Variable([2.0], name="b")
    ema = gl.train.ExponentialMovingAverage(0.9)
    assert b in list(graph)
    return {
        "variables_to_restore_a": restored(ema, [a]),
        "variables_to_restore_default": restored(ema),
    }


def before_apply(graph: gl.Graph) -> dict[str, Any]:
    alive = [gl.Variable([1.0], name="a"), gl.Variable([2.0], name="c", trainable=False)]
    assert list(graph) == alive
    return {"variables_to_restore_default": restored(gl.train.ExponentialMovingAverage(0.9))}


def two_named(graph: gl.Graph) -> dict[str, Any]:
    return two_averages("ExponentialMovingAverage", "Other")


def two_same_name(graph: gl.Graph) -> dict[str, Any]:
    return two_averages("ExponentialMovingAverage", "ExponentialMovingAverage")


def two_averages(*names: str) -> dict[str, Any]:
    v = gl.Variable([1.0], name="v")
    averages = [gl.train.ExponentialMovingAverage(0.9, name=name) for name in names]
    for ema in averages:
        ema.apply([v])
    found = [ema.average_name(v) for ema in averages]
    return {"average_names": found, "op_names": found}


def scoped(graph: gl.Graph) -> dict[str, Any]:
    v = gl.Variable([1.0], name="s/v")
    ema = gl.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    return {"average_name": ema.average_name(v), "variables_to_restore": restored(ema, [v])}


def empty(graph: gl.Graph) -> dict[str, Any]:
    return {"type": type(gl.train.ExponentialMovingAverage(0.9).apply([])).__name__}


def restored(
    ema: gl.train.ExponentialMovingAverage, averaged: list[gl.Variable] | None = None
) -> dict[str, str]:
    return {
        name: v.name.removesuffix(":0") for name, v in ema.variables_to_restore(averaged).items()
    }


def names_of(graph: gl.Graph) -> list[str]:
    return [v.name.removesuffix(":0") for v in graph]


SCENARIOS = {
    "twice": twice,
    "restore_list": restore_list,
    "before_apply": before_apply,
    "two_named": two_named,
    "two_same_name": two_same_name,
    "scoped": scoped,
    "empty": empty,
}

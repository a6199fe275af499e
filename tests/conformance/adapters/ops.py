"""Training ops of TensorFlow and updates of SparseCore: the rule that the table names, step by
step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradlab import IndexedSlices, tpu
from gradlab._base.gradient_types import check_shape
from gradlab.rules import dense_and_sparse
from tests.conformance import compare, decode
from tests.conformance.ops import SPARSECORE, STATIC, TPU_OPTIMIZERS, Op, known, training_op
from tests.conformance.runner import attempt, replay
from tests.conformance.scenarios import Scenario, Unsupported

Arrays = dict[str, np.ndarray]
Way = Callable[..., Any]  # how steps are taken: as they are, or compiled


JAX_TOLERANCE = "largest 4"


def plainly(f: Callable[..., Any], *args: Any) -> Any:
    return f(*args)


def accepts(scenario: Scenario) -> bool:
    return (scenario.group in RUNS and "inputs" in scenario.data) or scenario.group == "ops"


def differences(scenario: Scenario) -> list[str]:
    if scenario.group == "ops":
        return replay(scenario, lambda _: [run_call(call) for call in scenario.calls])
    return against(scenario, RUNS[scenario.group](scenario.data))


def run_call(call: dict[str, Any], way: Way = plainly) -> Any:
    if call["do"] != "op":
        raise Unsupported(f"verb {call['do']!r}")
    return own_op(call, way)


def against(scenario: Scenario, actual: Any) -> list[str]:
    return compare.differences(
        scenario.data["expected"], actual, scenario.data["compare"], scenario.id
    )


def on_jax(scenario: Scenario) -> bool:
    """Can the scenario be repeated under jit: float32, and nothing is refused by its values."""
    if scenario.group == "ops" and not scenario.id.endswith((".dense", ".sparse")):
        return False
    return scenario.group in (
        "training_op_dense",
        "training_op_sparse",
        "ops",
    ) and "'error'" not in str(scenario.data)


def jax_differences(scenario: Scenario, tolerance: str = JAX_TOLERANCE) -> list[str]:
    """Deviations of the same steps under jit."""
    relaxed = replace(scenario, data={**scenario.data, "compare": tolerance})
    if scenario.group == "ops":
        return replay(relaxed, lambda _: [run_call(call, jitted) for call in scenario.calls])
    return against(relaxed, training(scenario.data, jitted))


# --- training ops ---------------------------------------------------------------------------------


def training(data: dict[str, Any], way: Way = plainly) -> dict[str, Any]:
    """The state after each step."""
    inputs = data["inputs"]
    indices = inputs.get("indices", [None] * len(inputs["grads"]))
    grads = [_gradient(array(g), rows) for g, rows in zip(inputs["grads"], indices, strict=True)]
    hyper = {**inputs["hyper"], **inputs.get("hyper_per_step", {})}
    summed = inputs.get("pre_sum_duplicates", False)
    return {
        "after_each_step": steps(
            training_op(inputs["op"]), start(inputs), grads, hyper, way, summed
        )
    }


def own_op(call: dict[str, Any], way: Way = plainly) -> dict[str, Any]:
    """The output of a call `op` of gradlab's own files: slots are given by the number that fills
    them.
    """
    var = decode.array(call["var"])
    state = {"var": var, **{name: np.full_like(var, x) for name, x in call["slots"].items()}}
    states = steps(training_op(call["op"]), state, decode.value(call["grads"]), call["hyper"], way)
    if refused := [x for x in states if isinstance(x, compare.Raised)]:
        return refused[0]
    return {"steps": states[-1:] if call.get("last") else states}


def steps(
    op: Op, state: Arrays, grads: list[Any], hyper: Any, way: Way, summed: bool = False
) -> list[Any]:
    """The state after each step, or what was raised; hyperparameters that are lists have a number
    for each step.
    """
    if missing := set(op.slots) ^ (state.keys() - {"var"}):
        raise Unsupported(f"slots {sorted(missing)} of {op.rule}")

    def run(state: Arrays, grads: list[Any]) -> list[Any]:
        found = []
        for k, g in enumerate(grads):
            values = {name: x[k] if isinstance(x, list) else x for name, x in hyper.items()}
            new = attempt(lambda: step(op, state, g, values, summed))  # noqa: B023
            state = state if isinstance(new, compare.Raised) else new
            found.append(new)
        return found

    return way(run, state, grads)


def step(op: Op, state: Arrays, g: Any, values: dict[str, Any], summed: bool) -> Arrays:
    w, slots = state["var"], tuple(state[name] for name in op.slots)
    check_shape(g, tuple(w.shape), "var")
    sparse = isinstance(g, IndexedSlices)
    rule, rate = op.make(values, int(np.prod(w.shape[1:])) if sparse else None)
    update = (
        (dense_and_sparse.rows if summed else dense_and_sparse.each)
        if sparse
        else dense_and_sparse.dense
    )
    return named(op, *update(rule, w, slots, g, rate))


def _gradient(values: np.ndarray, rows: list[int] | None) -> Any:
    return values if rows is None else IndexedSlices(values, np.array(rows, np.int32))


def jitted(f: Callable[..., Any], *args: Any) -> Any:
    """All steps compiled as one."""
    import jax

    return jax.tree.map(np.asarray, jax.jit(f)(*jax.tree.map(jax.numpy.asarray, args)))


def named(op: Op, w: Any, slots: tuple[Any, ...]) -> Arrays:
    return {"var": w, **dict(zip(op.slots, slots, strict=True))}


def start(inputs: dict[str, Any]) -> Arrays:
    return {"var": array(inputs["var"]), **{name: array(x) for name, x in inputs["slots"].items()}}


def array(x: Any) -> np.ndarray:
    """float32 unless the file says otherwise: this schema writes nested lists, or arrays with a
    dtype.
    """
    return decode.array(x) if decode.is_array(x) else np.array(decode.numbers(x), np.float32)


# --- SparseCore and TPU tables --------------------------------------------------------------------


def sparsecore(data: dict[str, Any]) -> dict[str, Any]:
    """The state after each step, all rows touched; weights are clipped last."""
    inputs = data["inputs"]
    op, state, fixed = (
        known(SPARSECORE, inputs["optimizer"], "SparseCore optimizer"),
        start(inputs),
        inputs["static"],
    )
    limits = fixed.get("min_value"), fixed.get("max_value")
    if unknown := fixed.keys() - STATIC.keys() - {"min_value", "max_value"}:
        raise Unsupported(f"static arguments {sorted(unknown)}")
    static = {STATIC[name]: x for name, x in fixed.items() if name in STATIC}
    found = []
    for g, row in zip(inputs["grads"], inputs["hyper_per_step"], strict=True):
        rule, rate = op.make({str(k): x for k, x in enumerate(row)})
        rule = type(rule)(**{**_fields(rule), **static})
        slots = tuple(state[name] for name in op.slots)
        table = tpu.Table("t", *state["var"].shape, rule, weight_limits=limits)
        state = named(op, *tpu.update_table(table, state["var"], slots, array(g), rate))
        found.append(state)
    return {"after_each_step": found}


def slot_init(data: dict[str, Any]) -> dict[str, Any]:
    """What a table holds at first: the names, their order and the values.

    Scenarios do not tell the initial accumulator; it is read off the first entry, and all others
    must follow.
    """
    inputs, values = data["inputs"], data["expected"]["values"]
    op = known(TPU_OPTIMIZERS, inputs["optimizer"], "TPU optimizer")
    rule, _ = op.make({"lr": 0.0})
    if "initial_accumulator_value" in _fields(rule):
        rule = type(rule)(
            **{**_fields(rule), "initial_accumulator_value": np.ravel(values["accumulators"])[0]}
        )
    w = np.ones((inputs["vocabulary_size"], inputs["dim"]), np.float32)
    names = ("parameters", *op.slots)
    return {"order": list(names), "values": dict(zip(names, (w, *rule.init(w)), strict=True))}


def _fields(rule: Any) -> dict[str, Any]:
    return {name: x for name, x in rule.get_config().items() if name != "rule"}


RUNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "training_op_dense": training,
    "training_op_sparse": training,
    "sparsecore_optimizer": sparsecore,
    "slot_init": slot_init,
}

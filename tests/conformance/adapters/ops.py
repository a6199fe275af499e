"""Training ops of TensorFlow and updates of SparseCore: the rule that the table names, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradlab import IndexedSlices, apply, tpu
from gradlab.pairs import check_shape

from .. import compare, decode
from ..ops import SPARSECORE, STATIC, TPU_OPTIMIZERS, Op, known, training_op
from ..runner import attempt
from ..scenarios import Scenario, Unsupported

Arrays = dict[str, np.ndarray]


def accepts(scenario: Scenario) -> bool:
    return scenario.group in RUNS and "inputs" in scenario.data


def differences(scenario: Scenario) -> list[str]:
    return against(scenario, RUNS[scenario.group](scenario.data))


def against(scenario: Scenario, actual: Any) -> list[str]:
    return compare.differences(scenario.data["expected"], actual, scenario.data["compare"], scenario.id)


def on_jax(scenario: Scenario) -> bool:
    """Can the scenario be repeated under jit, where nothing is refused by its values."""
    return scenario.group in ("training_op_dense", "training_op_sparse") and "'error'" not in str(scenario.data)


def jax_differences(scenario: Scenario, tolerance: str) -> list[str]:
    """Deviations of the same steps under jit."""
    relaxed = Scenario(scenario.file, scenario.group, scenario.id, {**scenario.data, "compare": tolerance})
    return against(relaxed, training(scenario.data, jitted))


# --- training ops ----------------------------------------------------------------------------------------------------


def training(data: dict[str, Any], run: Callable[..., Any] = lambda f, *args: f(*args)) -> dict[str, Any]:
    """The state after each step; `run` calls the update, so that it may compile it."""
    inputs = data["inputs"]
    op, state = training_op(inputs["op"]), start(inputs)
    if missing := set(op.slots) ^ (state.keys() - {"var"}):
        raise Unsupported(f"slots {sorted(missing)} of {inputs['op']}")
    found = []
    for k, g in enumerate(inputs["grads"]):
        values = {**inputs["hyper"], **{name: x[k] for name, x in inputs.get("hyper_per_step", {}).items()}}
        indices = inputs["indices"][k] if "indices" in inputs else None
        new = attempt(lambda: step(op, state, array(g), indices, values, inputs, run))  # noqa: B023
        if not isinstance(new, compare.Raised):
            state = new
        found.append(new)
    return {"after_each_step": found}


def step(
    op: Op, state: Arrays, g: np.ndarray, indices: list[int] | None, values: dict[str, Any], inputs: Any, run: Any
) -> Arrays:
    rule, rate = op.make(values, indices is not None)
    w, slots = state["var"], tuple(state[name] for name in op.slots)
    if indices is None:
        return named(op, *run(lambda *args: apply.dense(rule, *args, rate), w, slots, g))
    rows = IndexedSlices(g, np.array(indices, np.int32), w.shape)
    check_shape(rows, w.shape, "var")
    way = apply.rows if inputs.get("pre_sum_duplicates") else apply.each
    return named(op, *run(lambda *args: way(rule, *args, rate), w, slots, rows))


def jitted(f: Callable[..., Any], *args: Any) -> Any:
    import jax

    return jax.tree.map(np.asarray, jax.jit(f)(*jax.tree.map(jax.numpy.asarray, args)))


def named(op: Op, w: Any, slots: tuple[Any, ...]) -> Arrays:
    return {"var": w, **dict(zip(op.slots, slots, strict=True))}


def start(inputs: dict[str, Any]) -> Arrays:
    return {"var": array(inputs["var"]), **{name: array(x) for name, x in inputs["slots"].items()}}


def array(x: Any) -> np.ndarray:
    """float32 unless the file says otherwise: this schema writes nested lists, or arrays with a dtype."""
    return decode.array(x) if decode.is_array(x) else np.array(decode.numbers(x), np.float32)


# --- SparseCore and TPU tables ---------------------------------------------------------------------------------------


def sparsecore(data: dict[str, Any]) -> dict[str, Any]:
    """The state after each step, all rows touched; weights are clipped last."""
    inputs = data["inputs"]
    op, state, fixed = known(SPARSECORE, inputs["optimizer"], "SparseCore optimizer"), start(inputs), inputs["static"]
    limits = fixed.get("min_value"), fixed.get("max_value")
    if unknown := fixed.keys() - STATIC.keys() - {"min_value", "max_value"}:
        raise Unsupported(f"static arguments {sorted(unknown)}")
    static = {STATIC[name]: x for name, x in fixed.items() if name in STATIC}
    found = []
    for g, row in zip(inputs["grads"], inputs["hyper_per_step"], strict=True):
        rule, rate = op.make({str(k): x for k, x in enumerate(row)})
        rule = type(rule)(**{**_fields(rule), **static})
        slots = tuple(state[name] for name in op.slots)
        state = named(op, *tpu.update(rule, state["var"], slots, array(g), rate, weight_limits=limits))
        found.append(state)
    return {"after_each_step": found}


def slot_init(data: dict[str, Any]) -> dict[str, Any]:
    """What a table holds at first: the names, their order and the values.

    Scenarios do not tell the initial accumulator; it is read off the first entry, and all others must follow.
    """
    inputs, values = data["inputs"], data["expected"]["values"]
    op = known(TPU_OPTIMIZERS, inputs["optimizer"], "TPU optimizer")
    rule, _ = op.make({"lr": 0.0})
    if "initial_accumulator_value" in _fields(rule):
        rule = type(rule)(**{**_fields(rule), "initial_accumulator_value": np.ravel(values["accumulators"])[0]})
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

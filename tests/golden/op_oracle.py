"""Run one training op of TensorFlow, again and again, on variables of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.tensorflow_values import Json, array, encode, tensorflow, value

INTEGERS = ("global_step",)


def run(call: Json) -> Json:
    """The state after each step, or with `last` after the last one."""
    tf = tensorflow()
    var = array(call["var"])
    slots = {name: np.full_like(var, x) for name, x in call["slots"].items()}
    state = {name: tf.Variable(x) for name, x in {"var": var, **slots}.items()}
    found = []
    for k, g in enumerate(call["grads"]):
        hyper = {name: x[k] if isinstance(x, list) else x for name, x in call["hyper"].items()}
        apply(tf, call["op"], state, value(g), hyper)
        found.append({name: encode(v.numpy()) for name, v in state.items()})
    return {"steps": found[-1:] if call.get("last") else found}


def apply(tf: Any, op: str, state: dict[str, Any], g: Any, hyper: Json) -> None:
    """One step of `op`, by its name without "ResourceApply" or "ResourceSparseApply"."""
    dtype = state["var"].dtype
    numbers = {
        name: x if isinstance(x, bool) else tf.constant(x, _dtype(tf, name, dtype))
        for name, x in hyper.items()
    }
    handles = {name: v.handle for name, v in state.items()}
    if hasattr(g, "indices"):
        kernel, given = (
            getattr(tf.raw_ops, f"ResourceSparseApply{op}"),
            {"grad": g.values, "indices": g.indices},
        )
    else:
        # The op of plain descent has its own name for the gradient.
        kernel, given = getattr(tf.raw_ops, f"ResourceApply{op}"), {DELTA.get(op, "grad"): g}
    kernel(**handles, **numbers, **given)


DELTA = {"GradientDescent": "delta", "ProximalGradientDescent": "delta"}


def _dtype(tf: Any, name: str, dtype: Any) -> Any:
    return tf.int64 if name in INTEGERS else dtype

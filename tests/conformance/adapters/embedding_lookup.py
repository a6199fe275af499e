"""Lookups of whole samples: TensorFlow's own ops with their gradients, and what a served model
looks up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradlab import tpu
from gradlab.tpu.update import row_sums
from tests.conformance.adapters.ops import against
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario

KEYS = {"output", "grad_table", "grad_weights", "grad_slices"}


def accepts(scenario: Scenario) -> bool:
    return scenario.group in ("embedding_lookup_sparse", "serving_lookup")


def differences(scenario: Scenario) -> list[str]:
    run = sparse if scenario.group == "embedding_lookup_sparse" else serving
    found: Any = attempt(lambda: run(scenario))
    wanted = scenario.data["expected"]
    return against(
        scenario,
        {k: x for k, x in found.items() if k in wanted} if isinstance(found, dict) else found,
    )


def sparse(scenario: Scenario) -> dict[str, Any]:
    """Output and gradients of the op; the name of the source tells the safe one."""
    inputs = scenario.data["inputs"]
    ids = (
        np.array(inputs["indices"], np.int64).reshape(-1, 2),
        np.array(inputs["values"], np.int64),
    )
    options = {"combiner": inputs["combiner"], "max_norm": inputs.get("max_norm")}
    op: Callable[..., Any] = tpu.embedding_lookup_sparse
    if "safe_embedding_lookup_sparse" in scenario.data["source"]:
        op, options["default_id"] = tpu.safe_embedding_lookup_sparse, inputs.get("default_id")

    def output(table: Any, weights: Any) -> Any:
        return op(table, (*ids, inputs["dense_shape"]), weights, **options)

    table = jnp.asarray(inputs["table"], jnp.float32)
    weights = None if inputs["weights"] is None else jnp.asarray(inputs["weights"], jnp.float32)
    result, back = jax.vjp(output, table, weights)
    grad_table, grad_weights = back(jnp.asarray(inputs["upstream"], jnp.float32)[: result.shape[0]])
    found = {"output": result, "grad_table": grad_table, "grad_weights": grad_weights}
    slices = scenario.data["expected"].get("grad_slices")
    if slices is not None:  # the rows that were looked up, in the order of the original
        found["grad_slices"] = {
            "values": grad_table[np.array(slices["indices"], int)],
            "indices": slices["indices"],
        }
    return found


def serving(scenario: Scenario) -> dict[str, Any]:
    """The tables of a served model, whose output shape says what the samples are."""
    inputs = scenario.data["inputs"]
    table = np.array(inputs["table"], np.float32)
    plan = tpu.Plan(
        (tpu.Table("t", *table.shape, combiner=inputs["combiner"]),), (_feature(inputs),)
    )
    state, ids = (
        tpu.create(plan, [table]),
        tpu.ids_of(plan.features[0], inputs["input"], inputs["weights"]),
    )
    (output,), dedup = tpu.lookup(state, tpu.make_batch(plan, {"f": ids}))
    (sums,) = row_sums(plan, [jnp.asarray(inputs["upstream"]).reshape(output.shape)], dedup)
    shape = inputs["output_shape"] or output.shape[:-1]
    return {
        "output": output.reshape(*shape, -1),
        "grad_table": jnp.zeros(table.shape).at[sums.ids].add(sums.sums),
    }


def _feature(inputs: dict[str, Any]) -> tpu.Feature:
    count = len(inputs["input"])
    length = inputs["max_sequence_length"]
    if inputs["output_shape"]:
        length = (
            math.prod(inputs["output_shape"]) // count
            if math.prod(inputs["output_shape"]) > count
            else 0
        )
    return tpu.Feature("f", 0, (count, length) if length else (count,), length)

"""Documented formulas of the TPU embedding: quantization, coordinates, dedup data, clipped updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab import IndexedSlices, tpu
from gradlab.rules import dense_and_sparse
from tests.conformance.adapters.ops import against
from tests.conformance.ops import TRAINING_OPS
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "derived"


def differences(scenario: Scenario) -> list[str]:
    inputs = scenario.data["inputs"]
    for names, run in RUNS.items():
        if inputs.keys() == set(names.split()):
            return against(scenario, attempt(lambda run=run: run(inputs)))
    raise Unsupported(f"a formula of {sorted(inputs)}")


def quantize(inputs: dict[str, Any]) -> dict[str, Any]:
    x = np.array(inputs["x"], np.float64)
    return {"y": tpu.quantize(x, inputs["lower"], inputs["upper"], inputs["num_buckets"])}


def coordinates(inputs: dict[str, Any]) -> dict[str, Any]:
    return tpu.coo_rows(**inputs)._asdict()


def dedup(inputs: dict[str, Any]) -> dict[str, Any]:
    mask = inputs["tuple_mask"]
    kinds = [np.uint32 if kind == 0 else np.float64 for kind, _ in mask]
    elements = [np.array(x, kind) for x, kind in zip(inputs["tuple"], kinds, strict=True)]
    integers, floats = tpu.split_dedup(elements, mask, float_type=np.float64)
    merged = tpu.merge_dedup(integers, floats, mask)
    return {
        "integer_tensor": integers,
        "float_tensor": floats,
        "merged_back": merged,
        "size": tpu.dedup_size(mask),
    }


def clip_accumulated(inputs: dict[str, Any]) -> dict[str, Any]:
    """All gradients are for row 0."""
    w, accum = np.array(inputs["var"]), np.array(inputs["accum"])
    values = np.array(inputs["grads_for_same_row"])
    g = IndexedSlices(values, np.zeros(len(values), np.int32), w.shape)
    rule, rate = TRAINING_OPS["Adagrad"].make({"lr": inputs["lr"]})
    limits = tuple(inputs["gradient_clip"]), tuple(inputs["weight_clip"])
    table = tpu.Table("t", *w.shape, rule, gradient_limits=limits[0], weight_limits=limits[1])
    w, slots = tpu.update_table(table, w, (accum,), g, rate)
    return {"var": w, "accum": slots[0]}


def frequencies(inputs: dict[str, Any]) -> dict[str, Any]:
    rule = gl.rules.FrequencyEstimator(**inputs["params"])
    w = np.full((inputs["rows"], 1), rule.max_delta)
    slots, found = rule.init(w), []
    for step in inputs["steps"]:
        g = IndexedSlices(np.zeros((len(step["ids"]), 1)), np.array(step["ids"]), w.shape)
        w, slots = dense_and_sparse.rows(rule, w, slots, g, step["global_step"])
        found.append({"parameters": w[:, 0], "last_hit_step": slots[0][:, 0]})
    return {"after_each_step": found}


# What the inputs are called says which formula it is.
RUNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "x lower upper num_buckets": quantize,
    "sample_ids values weights sample_count combiner": coordinates,
    "tuple tuple_mask": dedup,
    "var accum grads_for_same_row gradient_clip weight_clip lr": clip_accumulated,
    "params steps rows": frequencies,
}

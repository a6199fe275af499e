"""Sparse updates of other libraries on embedding tables: what the same rule of gradlab makes of the
same lookups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab import IndexedSlices, tpu
from gradlab.rules import dense_and_sparse
from tests.conformance.adapters.ops import against, array
from tests.conformance.scenarios import Scenario, Unsupported

POOLING = {"MEAN": "mean", "SUM": "sum"}


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "anchor"


def differences(scenario: Scenario) -> list[str]:
    inputs = scenario.data["inputs"]
    for start, run in RUNS.items():
        if scenario.id.startswith(start):
            return against(
                scenario,
                {"after_each_step": run(inputs, len(scenario.data["expected"]["after_each_step"]))},
            )
    raise Unsupported(f"anchor {scenario.id!r}")


def lion(inputs: dict[str, Any], steps: int) -> list[Any]:
    hyper, w, found = inputs["hyper"], array(inputs["var"]), []
    rule = gl.rules.Lion(hyper["b1"], hyper["b2"])
    slots = rule.init(w)
    for g in inputs["grads"]:
        w, slots = dense_and_sparse.dense(rule, w, slots, array(g), hyper["learning_rate"])
        found.append({"var": w, "mu": slots[0]})
    return found


def sparse_adam(inputs: dict[str, Any], steps: int) -> list[Any]:
    """PyTorch's bags are means; bias is corrected by the step, whichever rows it touches.

    In double precision, for PyTorch subtracts its betas from 1 before it rounds them to float32.
    """
    (beta1, beta2), w, found = inputs["betas"], array(inputs["table"]).astype(np.float64), []
    rule = gl.rules.Adam(beta1, beta2, inputs["eps"], bias_correction=False)
    slots = rule.init(w)
    for t in range(1, steps + 1):
        rate = inputs["lr"] * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        w, slots = dense_and_sparse.rows(rule, w, slots, gradient(inputs, "mean"), rate)
        found.append({"var": w.astype(np.float32)})
    return found


def fbgemm_adagrad(inputs: dict[str, Any], steps: int) -> list[Any]:
    rule = gl.rules.Adagrad(0.0, inputs["eps"])
    pooling, w, found = POOLING[inputs["pooling"]], array(inputs["table"]), []
    slots = rule.init(w)
    for _ in range(steps):
        output = pooled(w, inputs, pooling)
        w, slots = dense_and_sparse.rows(rule, w, slots, gradient(inputs, pooling), inputs["lr"])
        found.append({"output": output, "var": w, "state": slots[0][None, None]})
    return found


def fbgemm_rowwise_adagrad(inputs: dict[str, Any], steps: int) -> list[Any]:
    """One accumulator for each row: the mean of the squares of its gradient."""
    rule, w, found = (
        gl.rules.Adagrad(0.0, inputs["eps"], update_slots=False),
        array(inputs["table"]),
        [],
    )
    pooling, squares = POOLING[inputs["pooling"]], np.zeros((len(w), 1), w.dtype)
    slices = gradient(inputs, pooling)
    g = IndexedSlices(slices.values, slices.indices, w.shape).to_dense()
    for _ in range(steps):
        output, squares = pooled(w, inputs, pooling), squares + (g * g).mean(1, keepdims=True)
        moved, _ = rule(w, (np.broadcast_to(squares, w.shape),), g, inputs["lr"])
        w = np.where(squares > 0, moved, w)
        found.append({"output": output, "var": w, "state": squares.reshape(1, 1, -1)})
    return found


def fbgemm_sgd(inputs: dict[str, Any], steps: int) -> list[Any]:
    pooling, w, found = POOLING[inputs["pooling"]], array(inputs["table"]), []
    for _ in range(steps):
        output = pooled(w, inputs, pooling)
        w, _ = dense_and_sparse.rows(
            gl.rules.StochasticGradientDescent(), w, (), gradient(inputs, pooling), inputs["lr"]
        )
        found.append({"output": output, "var": w})
    return found


def lookups(inputs: dict[str, Any], pooling: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample, id and gain of each lookup."""
    samples = np.repeat(np.arange(len(inputs["ids"])), [len(ids) for ids in inputs["ids"]])
    ids = np.array([i for row in inputs["ids"] for i in row], np.int32)
    return samples, ids, tpu.combiner_gains(samples, None, len(inputs["ids"]), pooling)


def gradient(inputs: dict[str, Any], pooling: Any) -> IndexedSlices:
    samples, ids, gains = lookups(inputs, pooling)
    return IndexedSlices(gains[:, None] * array(inputs["upstream"])[samples], ids)


def pooled(w: np.ndarray, inputs: dict[str, Any], pooling: Any) -> np.ndarray:
    samples, ids, gains = lookups(inputs, pooling)
    output = np.zeros((len(inputs["ids"]), w.shape[1]), w.dtype)
    np.add.at(output, samples, gains[:, None] * w[ids])
    return output


# What the name begins with.
RUNS: dict[str, Callable[[dict[str, Any], int], list[Any]]] = {
    "optax/lion": lion,
    "torch/sparse_adam": sparse_adam,
    "fbgemm/exact_adagrad": fbgemm_adagrad,
    "fbgemm/exact_rowwise_adagrad": fbgemm_rowwise_adagrad,
    "fbgemm/exact_sgd": fbgemm_sgd,
}

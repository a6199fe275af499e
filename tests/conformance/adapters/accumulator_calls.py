"""The calls of an accumulator's scenario: arguments read, and handed to a method or, where they
were fed, to a kernel.

A fed argument is one whose shape TensorFlow's Python does not know, so that only the kernel checks
it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import decode

Call = dict[str, Any]
FED = ("dynamic", "fed", "local_step_fed", "num_required_fed")
FIELDS = {
    *(
        "op",
        "note",
        "notes",
        "taker",
        "timeout_ms",
        "ms",
        "times",
        "threads",
        "grads",
        "num_required",
    ),
    *(
        "grad",
        "grad_dtype",
        "grad_shape_if_empty",
        "local_step",
        "local_step_defaulted",
        "local_step_dtype",
    ),
    *("new_global_step", "new_global_step_dtype", "local_steps"),
    *(
        "indices",
        "indices_dtype",
        "values",
        "values_dtype",
        "values_shape_if_empty",
        "grad_shape",
        *FED,
    ),
}


def array(x: Any, dtype: np.dtype, shape: list[int] | None) -> np.ndarray:
    with np.errstate(over="ignore"):
        found = np.asarray(decode.numbers(x), np.float64).astype(dtype)
    return found if shape is None else found.reshape(shape)


def local_step(call: Call) -> dict[str, Any]:
    """Nothing where the call left it to its default."""
    given = "local_step" in call and not call.get("local_step_defaulted")
    if not given:
        return {}
    step = decode.numbers(call["local_step"])
    return {
        "local_step": np.asarray(step, call["local_step_dtype"])
        if "local_step_dtype" in call
        else step
    }


def gradient(call: Call, dtype: np.dtype) -> np.ndarray:
    given = decode.dtype(call["grad_dtype"]) if "grad_dtype" in call else dtype
    return array(call["grad"], given, call.get("grad_shape_if_empty"))


def rows(call: Call, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, Any]:
    """Indices, values and shape of a sparse gradient."""
    given = decode.dtype(call["values_dtype"]) if "values_dtype" in call else dtype
    values = array(call["values"], given, call.get("values_shape_if_empty"))
    indices = np.asarray(call["indices"], call.get("indices_dtype", np.int64))
    return indices, values, call.get("grad_shape")


def apply_dense(acc: Any, call: Call, dtype: np.dtype) -> Any:
    grad, step = gradient(call, dtype), local_step(call)
    if not any(call.get(k) for k in FED):
        return acc.apply_grad(grad, **step)
    step = {"local_step": np.asarray(step.get("local_step", 0), np.int64)}
    return gl.raw_ops.ResourceAccumulatorApplyGradient(
        handle=acc.accumulator_ref, gradient=grad, **step
    )


def apply_sparse(acc: Any, call: Call, dtype: np.dtype) -> Any:
    indices, values, shape = rows(call, dtype)
    step = local_step(call)
    if call["op"].endswith("indexed_slices_grad"):
        return acc.apply_indexed_slices_grad(_slices(values, indices, shape), **step)
    if not any(call.get(k) for k in FED):
        return acc.apply_grad(indices, values, shape, **step)
    return gl.raw_ops.SparseAccumulatorApplyGradient(
        handle=acc.accumulator_ref,
        local_step=np.asarray(step.get("local_step", 0), np.int64),
        gradient_indices=indices.astype(np.int64),
        gradient_values=values,
        gradient_shape=np.asarray([] if shape is None else shape, np.int64),
        has_known_shape=shape is not None,
    )


def _slices(values: np.ndarray, indices: np.ndarray, shape: Any) -> Any:
    """IndexedSlices; parts that do not fit each other are none here, but they are in TensorFlow."""
    try:
        return gl.IndexedSlices(values, indices, shape)
    except gl.errors.InvalidArgumentError:
        return SimpleNamespace(values=values, indices=indices, dense_shape=shape)


def take(acc: Any, call: Call, timeout: float | None) -> Any:
    """A method's take; a fed number that is none goes to the kernel, which refuses it without
    waiting.
    """
    required = decode.numbers(call["num_required"])
    if call.get("num_required_fed") or call.get("fed"):
        sparse = isinstance(acc, gl.SparseConditionalAccumulator)
        kernel = (
            gl.raw_ops.SparseAccumulatorTakeGradient
            if sparse
            else gl.raw_ops.ResourceAccumulatorTakeGradient
        )
        if np.ndim(required):
            return kernel(
                handle=acc.accumulator_ref,
                num_required=np.asarray(required, np.int32),
                dtype=acc.dtype,
            )
    slices = call["op"].endswith("indexed_slices_grad")
    return (acc.take_indexed_slices_grad if slices else acc.take_grad)(required, timeout=timeout)


def take_until(acc: Any, call: Call, is_over: Callable[[], bool]) -> Any:
    """A take with a limit in the scenario's own time, so that a slow machine changes nothing."""
    taker = acc.request(decode.numbers(call["num_required"]))
    while not (taker.done or is_over()):
        time.sleep(0.002)
    try:
        return taker.result(timeout=0.0)
    finally:
        taker.cancel()  # as a take does whose time is up


def set_global_step(acc: Any, call: Call) -> None:
    step = decode.numbers(call["new_global_step"])
    step = (
        np.asarray(step, call["new_global_step_dtype"]) if "new_global_step_dtype" in call else step
    )
    if not call.get("fed"):
        acc.set_global_step(step)
    else:
        kernel = gl.raw_ops.ResourceAccumulatorSetGlobalStep
        kernel(handle=acc.accumulator_ref, new_global_step=np.asarray(step, np.int64))

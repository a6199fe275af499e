"""Calls that kill TensorFlow's process, told in a few words: here each raises and changes nothing."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

SIZES = {"empty": 0, "zero": 0, "no": 0, "one": 1, "two": 2, "three": 3, "four": 4}
SIZE = re.compile(
    rf"\b({'|'.join(SIZES)}|\d+)\b(?=[ -](?:elements?|entry|entries|vector|num|local|global|new))"
)
SHAPE = re.compile(r"(?<=shape )\[[\d, ]*\]")
DTYPE = re.compile(r"\b(?:bfloat16|float16|float32|float64|int32|int64)\b")
Act = Callable[[Any], Any]


def differences(scenario: Scenario) -> list[str]:
    title = scenario.data["title"].lower()
    in_graph = "graph" in title or "sparse" in title  # where TensorFlow has sparse ones
    graph = gl.Graph().as_default() if in_graph else contextlib.nullcontext()
    with graph:
        return _differences(*told(title))


def _differences(acc: Any, act: Act) -> list[str]:
    is_sparse = isinstance(acc, gl.SparseConditionalAccumulator)
    one = np.ones(1, acc.dtype)
    acc.apply_grad(*([[0], one] if is_sparse else [one]))
    before = acc.peek()
    got = attempt(lambda: act(acc))
    raised = isinstance(got, Raised) and isinstance(got.error, gl.errors.InvalidArgumentError)
    found = [] if raised else [f"expected InvalidArgumentError, got {got!r}"]
    after = acc.peek()
    found += (
        [] if after[:2] == before[:2] else [f"(step, count) went from {before[:2]} to {after[:2]}"]
    )
    taken = acc.take_grad(1, timeout=0.0)
    same = np.array_equal(taken.values if is_sparse else taken, one)
    return found if same else [*found, f"what was in it became {taken}"]


def told(title: str) -> tuple[Any, Act]:
    """The accumulator, and what is done to it."""
    own = re.search(rf"({DTYPE.pattern}) (?:sparse )?accumulator", title)
    dtype = own[1] if own else "float32"
    other = next((d for d in DTYPE.findall(title) if d != dtype), "float64")
    kind = gl.SparseConditionalAccumulator if "sparse" in title else gl.ConditionalAccumulator
    acc = kind(dtype, [1], "one name for two", strict="tf")
    act = next((act for words, act in ACTS.items() if re.search(words, title)), None)
    if act is None:
        raise Unsupported(f"process abort {title!r}")
    return acc, lambda acc: act(acc, np.dtype(other), shape(title))


def shape(title: str) -> tuple[int, ...]:
    """Of what should have been a scalar."""
    if found := SHAPE.search(title):
        return tuple(int(n) for n in re.findall(r"\d+", found[0]))
    sizes = [SIZES.get(word, word) for word in SIZE.findall(title)]
    return (int(sizes[0]) if sizes else 0 if "empty" in title else 2,)


def another_dtype_of_one_name(acc: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    other = type(acc)(dtype, [1], "one name for two", strict="tf")
    one = np.ones(1, dtype)
    return other.apply_grad(
        *([[0], one] if isinstance(acc, gl.SparseConditionalAccumulator) else [one])
    )


def take_of_many(acc: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    return _take(acc, num_required=np.ones(shape, np.int32), dtype=acc.dtype)


def take_of_another_dtype(acc: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    return _take(acc, num_required=np.int32(1), dtype=dtype)


def _take(acc: Any, **given: Any) -> Any:
    is_sparse = isinstance(acc, gl.SparseConditionalAccumulator)
    op = (
        gl.raw_ops.SparseAccumulatorTakeGradient
        if is_sparse
        else gl.raw_ops.ResourceAccumulatorTakeGradient
    )
    return op(handle=acc.accumulator_ref, **given)


def set_to_many(acc: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    op = gl.raw_ops.ResourceAccumulatorSetGlobalStep
    return op(handle=acc.accumulator_ref, new_global_step=np.zeros(shape, np.int64))


def apply_at_many(acc: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    return _apply(acc, np.ones(1, acc.dtype), np.zeros(shape, np.int64))


def apply_another_dtype(acc: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    if isinstance(acc, gl.SparseConditionalAccumulator):
        return acc.apply_grad([0], np.ones(1, dtype))
    return _apply(acc, np.ones(1, dtype), np.int64(0))


def _apply(acc: Any, gradient: np.ndarray, step: Any) -> Any:
    if not isinstance(acc, gl.SparseConditionalAccumulator):
        op = gl.raw_ops.ResourceAccumulatorApplyGradient
        return op(handle=acc.accumulator_ref, local_step=step, gradient=gradient)
    return gl.raw_ops.SparseAccumulatorApplyGradient(
        handle=acc.accumulator_ref,
        local_step=step,
        gradient_indices=np.zeros(1, np.int64),
        gradient_values=gradient,
        gradient_shape=np.zeros(0, np.int64),
        has_known_shape=False,
    )


# The first whose words the title has.
ACTS: dict[str, Callable[[Any, np.dtype, tuple[int, ...]], Any]] = {
    r"shared_name|same name|one name": another_dtype_of_one_name,
    r"num_required": take_of_many,
    r"set_global_step|new_global_step": set_to_many,
    r"local_step": apply_at_many,
    r"\btake": take_of_another_dtype,
    r"gradient|apply|values": apply_another_dtype,
}

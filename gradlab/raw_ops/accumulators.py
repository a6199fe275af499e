"""Conditional accumulators: dense ones by "resource" handles or, as older graphs have them, by "string_ref" handles,
and those of rows; and how all of them read what they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._base.arrays import Array, as_array
from ..errors import InvalidArgumentError, NotFoundError
from ..train.accumulators import Receipt, SparseGradient
from ..train.accumulators.arguments import read_any, read_step
from ..train.accumulators.kernel import DENSE, SPARSE, Kernel, Spec, kernel_for

RESOURCE, REF = "resource", "string_ref"
_Op = TypeVar("_Op", bound=Callable[..., Any])


class Handle(NamedTuple):
    """Says which accumulator an op is about; `dtype` is the type of the handle itself."""

    kernel: Kernel
    dtype: str

    def __repr__(self) -> str:
        return f"<gradlab.raw_ops.Handle {self.kernel.name!r} dtype={self.dtype}>"


def op(function: _Op) -> _Op:
    """Give an op its TensorFlow name as OP_NAME."""
    function.OP_NAME = function.__name__  # type: ignore[attr-defined]
    return function


def make(
    kind: str, handle_type: str, dtype: Any, shape: Any, container: Any, shared_name: Any, reduction: Any, name: Any
) -> Handle:
    """The common part of the constructors."""
    for what, x in (("container", container), ("shared_name", shared_name)):
        if x is not None and not isinstance(x, str):
            raise TypeError(f"{what} must be a string or None, got {x!r}")
    if isinstance(shape, list | tuple):
        shape = [None if n == -1 else n for n in shape]
    spec = Spec.read(kind, dtype, shape, reduction, strict=None)
    shared = f"{container}/{shared_name}" if container and shared_name else shared_name or ""
    return Handle(kernel_for(spec, shared, name or kind), handle_type)


def kernel_of(handle: Any, handle_type: str, kind: str | None = None) -> Kernel:
    """The accumulator that a handle means, if the op may have it."""
    if handle is None:
        raise ValueError("handle is None; give what a constructor of gl.raw_ops returned")
    if isinstance(handle, Kernel):  # the accumulator_ref of an object
        handle = Handle(handle, RESOURCE if handle.spec.kind == DENSE else REF)
    if not isinstance(handle, Handle):
        raise TypeError(f"handle must be a handle of gl.raw_ops or an accumulator_ref, got {type(handle).__name__}")
    if handle.dtype != handle_type:
        raise TypeError(
            f"this op takes a handle of type {handle_type}, got a {handle.dtype}; "
            "Resource... ops and the others do not go together"
        )
    kernel, is_kind = handle.kernel, handle.kernel.spec.kind
    if kind is not None and is_kind != kind:
        error = NotFoundError if kind == DENSE else InvalidArgumentError  # TensorFlow's classes
        words = {DENSE: "dense", SPARSE: "sparse"}
        raise error(f"this op is for {words[kind]} accumulators, {kernel.name} is {words[is_kind]}")
    return kernel


def take(kernel: Kernel, num_required: Any, dtype: Any) -> Any:
    """The common part of the takes."""
    if dtype is None:
        raise TypeError(f"dtype is None; give the accumulator's, {kernel.dtype}")
    return kernel.take(read_integer(num_required, "num_required"), dtype)


def read_integer(x: Any, what: str) -> Any:
    """Read a scalar integer that the kernel accepts: a Python number must be one, an array is cast."""
    if x is None:
        raise ValueError(f"{what} is None; give an integer")
    if isinstance(x, float | str | bytes) and not isinstance(x, np.generic):
        raise TypeError(f"{what} must be an integer, got {x!r}")
    return read_integers(x, what) if isinstance(x, list | tuple) else read_step(x, what)


def read_integers(x: Any, what: str) -> np.ndarray:
    """An array of int64."""
    array = np.asarray(as_array(x, what))
    if array.size and array.dtype.kind not in "biu":
        raise TypeError(f"{what} must be integers, got {array.dtype}")
    return array.astype(np.int64)


@op
def ResourceConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """A dense accumulator, as `gl.ConditionalAccumulator`; the handle is a "resource".

    Args: as there; -1 in `shape` is an unknown size. Equal shared_names of one container are one accumulator.

    Source: `tf.raw_ops.ResourceConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[2])
    >>> ResourceAccumulatorApplyGradient(handle=handle, local_step=0, gradient=[1.0, 2.0]).count
    1
    >>> ResourceAccumulatorTakeGradient(handle=handle, num_required=1, dtype="float32").tolist()
    [1.0, 2.0]
    """
    return make(DENSE, RESOURCE, dtype, shape, container, shared_name, reduction_type, name)


@op
def ResourceAccumulatorApplyGradient(
    *, handle: Any, local_step: Any, gradient: Any, name: str | None = None
) -> Receipt:
    """sum = sum + gradient, count + 1, if local_step >= global step; else nothing.

    Raises: InvalidArgumentError for another dtype or shape and for a `local_step` that isn't a scalar.

    Source: `tf.raw_ops.ResourceAccumulatorApplyGradient`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[1])
    >>> ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=3)
    >>> ResourceAccumulatorApplyGradient(handle=handle, local_step=2, gradient=[1.0]).comparison
    '2 < 3'
    """
    return kernel_of(handle, RESOURCE, DENSE).apply(
        read_any(gradient, "gradient"), read_integer(local_step, "local_step")
    )


@op
def ResourceAccumulatorTakeGradient(*, handle: Any, num_required: Any, dtype: Any, name: str | None = None) -> Array:
    """Wait for `num_required` gradients, return their mean (or sum), start a new round: global step + 1.

    Raises: InvalidArgumentError for another dtype than the accumulator's and a `num_required` below 1 or no scalar;
    DeadlockError as `take_grad`.

    Source: `tf.raw_ops.ResourceAccumulatorTakeGradient`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[])
    >>> receipts = [ResourceAccumulatorApplyGradient(handle=handle, local_step=0, gradient=g) for g in (1.0, 3.0)]
    >>> float(ResourceAccumulatorTakeGradient(handle=handle, num_required=2, dtype="float32"))
    2.0
    """
    taken: Array = take(kernel_of(handle, RESOURCE, DENSE), num_required, dtype)
    return taken


@op
def ResourceAccumulatorNumAccumulated(*, handle: Any, name: str | None = None) -> np.int32:
    """The number of gradients counted since the last take.

    Source: `tf.raw_ops.ResourceAccumulatorNumAccumulated`, TensorFlow 2.21 (2026).

    >>> int(ResourceAccumulatorNumAccumulated(handle=ResourceConditionalAccumulator(dtype="float32", shape=[1])))
    0
    """
    return np.int32(kernel_of(handle, RESOURCE).num_accumulated())


@op
def ResourceAccumulatorSetGlobalStep(*, handle: Any, new_global_step: Any, name: str | None = None) -> None:
    """global step = new_global_step, lower ones too; what is counted stays.

    Raises: InvalidArgumentError for anything that isn't a scalar.

    Source: `tf.raw_ops.ResourceAccumulatorSetGlobalStep`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[1])
    >>> ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=-2)
    >>> handle.kernel.step
    -2
    """
    kernel_of(handle, RESOURCE).set_global_step(read_integer(new_global_step, "new_global_step"))


@op
def ConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """`ResourceConditionalAccumulator` of older graphs; the handle is a "string_ref".

    Source: `tf.raw_ops.ConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> ConditionalAccumulator(dtype="float32", shape=[1], shared_name="mine")
    <gradlab.raw_ops.Handle 'mine' dtype=string_ref>
    """
    return make(DENSE, REF, dtype, shape, container, shared_name, reduction_type, name)


@op
def AccumulatorApplyGradient(*, handle: Any, local_step: Any, gradient: Any, name: str | None = None) -> Receipt:
    """`ResourceAccumulatorApplyGradient` for a "string_ref" handle.

    Source: `tf.raw_ops.AccumulatorApplyGradient`, TensorFlow 2.21 (2026).

    >>> handle = ConditionalAccumulator(dtype="float32", shape=[1])
    >>> AccumulatorApplyGradient(handle=handle, local_step=5, gradient=[1.0]).accepted
    True
    """
    return kernel_of(handle, REF, DENSE).apply(read_any(gradient, "gradient"), read_integer(local_step, "local_step"))


@op
def AccumulatorTakeGradient(*, handle: Any, num_required: Any, dtype: Any, name: str | None = None) -> Array:
    """`ResourceAccumulatorTakeGradient` for a "string_ref" handle.

    Source: `tf.raw_ops.AccumulatorTakeGradient`, TensorFlow 2.21 (2026).

    >>> handle = ConditionalAccumulator(dtype="float32", shape=[1], reduction_type="SUM")
    >>> receipts = [AccumulatorApplyGradient(handle=handle, local_step=0, gradient=[g]) for g in (1.0, 3.0)]
    >>> AccumulatorTakeGradient(handle=handle, num_required=2, dtype="float32").tolist()
    [4.0]
    """
    taken: Array = take(kernel_of(handle, REF, DENSE), num_required, dtype)
    return taken


@op
def AccumulatorNumAccumulated(*, handle: Any, name: str | None = None) -> np.int32:
    """`ResourceAccumulatorNumAccumulated` for a "string_ref" handle, dense or sparse.

    Source: `tf.raw_ops.AccumulatorNumAccumulated`, TensorFlow 2.21 (2026).

    >>> from gradlab.raw_ops import SparseConditionalAccumulator
    >>> int(AccumulatorNumAccumulated(handle=SparseConditionalAccumulator(dtype="float32", shape=None)))
    0
    """
    return np.int32(kernel_of(handle, REF).num_accumulated())


@op
def AccumulatorSetGlobalStep(*, handle: Any, new_global_step: Any, name: str | None = None) -> None:
    """`ResourceAccumulatorSetGlobalStep` for a "string_ref" handle, dense or sparse.

    Source: `tf.raw_ops.AccumulatorSetGlobalStep`, TensorFlow 2.21 (2026).

    >>> from gradlab.raw_ops import SparseConditionalAccumulator
    >>> handle = SparseConditionalAccumulator(dtype="float32", shape=None)
    >>> AccumulatorSetGlobalStep(handle=handle, new_global_step=7)
    >>> handle.kernel.step
    7
    """
    kernel_of(handle, REF).set_global_step(read_integer(new_global_step, "new_global_step"))


@op
def SparseConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """An accumulator of rows, as `gl.SparseConditionalAccumulator`; the handle is a "string_ref".

    Source: `tf.raw_ops.SparseConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> SparseConditionalAccumulator(dtype="float32", shape=[4, 1]).dtype
    'string_ref'
    """
    return make(SPARSE, REF, dtype, shape, container, shared_name, reduction_type, name)


@op
def SparseAccumulatorApplyGradient(
    *,
    handle: Any,
    local_step: Any,
    gradient_indices: Any,
    gradient_values: Any,
    gradient_shape: Any,
    has_known_shape: bool,
    name: str | None = None,
) -> Receipt:
    """Add rows if local_step >= global step; `gradient_shape` counts only if `has_known_shape`.

    Shapes: indices (n,), values (n, ...), gradient_shape (rank,). Raises: InvalidArgumentError for parts that do not
    fit each other or the accumulator, and for another dtype.

    Source: `tf.raw_ops.SparseAccumulatorApplyGradient`, TensorFlow 2.21 (2026).

    >>> handle = SparseConditionalAccumulator(dtype="float32", shape=[4, 1])
    >>> rows = dict(gradient_indices=[2], gradient_values=[[3.0]], gradient_shape=[], has_known_shape=False)
    >>> SparseAccumulatorApplyGradient(handle=handle, local_step=0, **rows).count
    1
    """
    if not isinstance(has_known_shape, bool):
        raise TypeError(f"has_known_shape must be True or False, got {has_known_shape!r}")
    shape = read_integers(gradient_shape, "gradient_shape")
    rows = read_integers(gradient_indices, "gradient_indices"), read_any(gradient_values, "gradient_values")
    gradient = SparseGradient(*rows, shape if has_known_shape else None)
    return kernel_of(handle, REF, SPARSE).apply(gradient, read_integer(local_step, "local_step"))


@op
def SparseAccumulatorTakeGradient(
    *, handle: Any, num_required: Any, dtype: Any, name: str | None = None
) -> SparseGradient:
    """Like `AccumulatorTakeGradient`; returns (indices, values, shape), each row divided by its own count.

    Source: `tf.raw_ops.SparseAccumulatorTakeGradient`, TensorFlow 2.21 (2026).

    >>> handle = SparseConditionalAccumulator(dtype="float32", shape=[4, 1])
    >>> rows = dict(gradient_indices=[2], gradient_values=[[3.0]], gradient_shape=[], has_known_shape=False)
    >>> receipt = SparseAccumulatorApplyGradient(handle=handle, local_step=0, **rows)
    >>> taken = SparseAccumulatorTakeGradient(handle=handle, num_required=1, dtype="float32")
    >>> taken.indices.tolist(), taken.values.tolist(), taken.shape.tolist()
    ([2], [[3.0]], [4, 1])
    """
    taken: SparseGradient = take(kernel_of(handle, REF, SPARSE), num_required, dtype)
    return taken

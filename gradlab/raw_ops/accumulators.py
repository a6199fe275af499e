"""Ops of conditional accumulators, dense and sparse.

`Resource...` ops take dense accumulators by handles of type "resource". The others are of older
graphs and take handles of type "string_ref", dense or sparse. Each op checks its handle and its
integers with the functions at the end, and calls a `Kernel`, which checks shapes and dtypes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import Array, as_array
from ..errors import InvalidArgumentError, NotFoundError
from ..train.accumulators import Receipt, SparseGradient
from ..train.accumulators.arguments import read_any, read_step
from ..train.accumulators.kernel import DENSE, SPARSE, Kernel, Spec, kernel_for

RESOURCE = "resource"
REF = "string_ref"


class Handle(NamedTuple):
    """The reference to an accumulator; `dtype` is the type of the handle itself."""

    kernel: Kernel
    dtype: str

    def __repr__(self) -> str:
        return f"<gradlab.raw_ops.Handle {self.kernel.name!r} dtype={self.dtype}>"


def ResourceConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """Return a "resource" handle to a dense accumulator, as `gl.ConditionalAccumulator` is.

    Args:
        dtype: of the gradients.
        shape: of the gradients; None is unknown, and so is a size of -1.
        container: where `shared_name` is looked up.
        shared_name: accumulators of one shared name in one container are the same one.
        reduction_type: "MEAN" or "SUM".
        name: of the accumulator, in error messages.

    Source: `tf.raw_ops.ResourceConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[2])
    >>> ResourceAccumulatorApplyGradient(handle=handle, local_step=0, gradient=[1.0, 2.0]).count
    1
    >>> ResourceAccumulatorTakeGradient(handle=handle, num_required=1, dtype="float32").tolist()
    [1.0, 2.0]
    """
    return _make_accumulator(
        DENSE, RESOURCE, dtype, shape, container, shared_name, reduction_type, name
    )


def ResourceAccumulatorApplyGradient(
    *, handle: Any, local_step: Any, gradient: Any, name: str | None = None
) -> Receipt:
    """Add a gradient to the sum, and 1 to the count, if local_step >= global step; drop it otherwise.

    Args:
        handle: what `ResourceConditionalAccumulator` returned.
        local_step: the step of the weights that the gradient is of, a scalar integer.
        gradient: an array of the accumulator's dtype and shape.
        name: ignored.

    Raises:
        InvalidArgumentError: another dtype or shape, or a `local_step` that isn't a scalar.

    Source: `tf.raw_ops.ResourceAccumulatorApplyGradient`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[1])
    >>> ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=3)
    >>> ResourceAccumulatorApplyGradient(handle=handle, local_step=2, gradient=[1.0]).comparison
    '2 < 3'
    """
    kernel = _check_handle(handle, RESOURCE, DENSE)
    return kernel.apply(read_any(gradient, "gradient"), _read_integer(local_step, "local_step"))


def ResourceAccumulatorTakeGradient(
    *, handle: Any, num_required: Any, dtype: Any, name: str | None = None
) -> Array:
    """Wait for `num_required` gradients, return their mean (or sum), add 1 to the global step.

    Args:
        handle: what `ResourceConditionalAccumulator` returned.
        num_required: the number of gradients to wait for, a scalar integer.
        dtype: the accumulator's.
        name: ignored.

    Raises:
        InvalidArgumentError: another dtype, or a `num_required` that is below 1 or isn't a scalar.
        DeadlockError: no gradient can come, as in `take_grad`.

    Source: `tf.raw_ops.ResourceAccumulatorTakeGradient`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[])
    >>> receipts = [ResourceAccumulatorApplyGradient(handle=handle, local_step=0, gradient=g) for g in (1.0, 3.0)]
    >>> float(ResourceAccumulatorTakeGradient(handle=handle, num_required=2, dtype="float32"))
    2.0
    """
    taken: Array = _take(_check_handle(handle, RESOURCE, DENSE), num_required, dtype)
    return taken


def ResourceAccumulatorNumAccumulated(*, handle: Any, name: str | None = None) -> np.int32:
    """Return the number of gradients counted since the last take.

    Source: `tf.raw_ops.ResourceAccumulatorNumAccumulated`, TensorFlow 2.21 (2026).

    >>> int(ResourceAccumulatorNumAccumulated(handle=ResourceConditionalAccumulator(dtype="float32", shape=[1])))
    0
    """
    return np.int32(_check_handle(handle, RESOURCE).num_accumulated())


def ResourceAccumulatorSetGlobalStep(
    *, handle: Any, new_global_step: Any, name: str | None = None
) -> None:
    """Set the global step, to a lower one too; gradients that are counted stay.

    Raises:
        InvalidArgumentError: `new_global_step` isn't a scalar.

    Source: `tf.raw_ops.ResourceAccumulatorSetGlobalStep`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[1])
    >>> ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=-2)
    >>> handle.kernel.step
    -2
    """
    _check_handle(handle, RESOURCE).set_global_step(
        _read_integer(new_global_step, "new_global_step")
    )


def ConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """Return a "string_ref" handle to a dense accumulator.

    Args: as in `ResourceConditionalAccumulator`.

    Source: `tf.raw_ops.ConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> ConditionalAccumulator(dtype="float32", shape=[1], shared_name="mine")
    <gradlab.raw_ops.Handle 'mine' dtype=string_ref>
    """
    return _make_accumulator(DENSE, REF, dtype, shape, container, shared_name, reduction_type, name)


def AccumulatorApplyGradient(
    *, handle: Any, local_step: Any, gradient: Any, name: str | None = None
) -> Receipt:
    """Add a gradient, as `ResourceAccumulatorApplyGradient` does, by a "string_ref" handle.

    Args and raises: as there.

    Source: `tf.raw_ops.AccumulatorApplyGradient`, TensorFlow 2.21 (2026).

    >>> handle = ConditionalAccumulator(dtype="float32", shape=[1])
    >>> AccumulatorApplyGradient(handle=handle, local_step=5, gradient=[1.0]).accepted
    True
    """
    kernel = _check_handle(handle, REF, DENSE)
    return kernel.apply(read_any(gradient, "gradient"), _read_integer(local_step, "local_step"))


def AccumulatorTakeGradient(
    *, handle: Any, num_required: Any, dtype: Any, name: str | None = None
) -> Array:
    """Take a mean or sum, as `ResourceAccumulatorTakeGradient` does, by a "string_ref" handle.

    Args and raises: as there.

    Source: `tf.raw_ops.AccumulatorTakeGradient`, TensorFlow 2.21 (2026).

    >>> handle = ConditionalAccumulator(dtype="float32", shape=[1], reduction_type="SUM")
    >>> receipts = [AccumulatorApplyGradient(handle=handle, local_step=0, gradient=[g]) for g in (1.0, 3.0)]
    >>> AccumulatorTakeGradient(handle=handle, num_required=2, dtype="float32").tolist()
    [4.0]
    """
    taken: Array = _take(_check_handle(handle, REF, DENSE), num_required, dtype)
    return taken


def AccumulatorNumAccumulated(*, handle: Any, name: str | None = None) -> np.int32:
    """Return the number of gradients since the last take, by a "string_ref" handle of either kind.

    Source: `tf.raw_ops.AccumulatorNumAccumulated`, TensorFlow 2.21 (2026).

    >>> int(AccumulatorNumAccumulated(handle=SparseConditionalAccumulator(dtype="float32", shape=None)))
    0
    """
    return np.int32(_check_handle(handle, REF).num_accumulated())


def AccumulatorSetGlobalStep(*, handle: Any, new_global_step: Any, name: str | None = None) -> None:
    """Set the global step, to a lower one too, by a "string_ref" handle of either kind.

    Raises:
        InvalidArgumentError: `new_global_step` isn't a scalar.

    Source: `tf.raw_ops.AccumulatorSetGlobalStep`, TensorFlow 2.21 (2026).

    >>> handle = SparseConditionalAccumulator(dtype="float32", shape=None)
    >>> AccumulatorSetGlobalStep(handle=handle, new_global_step=7)
    >>> handle.kernel.step
    7
    """
    _check_handle(handle, REF).set_global_step(_read_integer(new_global_step, "new_global_step"))


def SparseConditionalAccumulator(
    *,
    dtype: Any,
    shape: Any,
    container: str | None = "",
    shared_name: str | None = "",
    reduction_type: str | None = "MEAN",
    name: str | None = None,
) -> Handle:
    """Return a "string_ref" handle to an accumulator of rows, as `gl.SparseConditionalAccumulator` is.

    Args: as in `ResourceConditionalAccumulator`.

    Source: `tf.raw_ops.SparseConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> SparseConditionalAccumulator(dtype="float32", shape=[4, 1]).dtype
    'string_ref'
    """
    return _make_accumulator(
        SPARSE, REF, dtype, shape, container, shared_name, reduction_type, name
    )


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
    """Add rows if local_step >= global step; drop them otherwise.

    Args:
        handle: what `SparseConditionalAccumulator` returned.
        local_step: the step of the weights that the gradient is of, a scalar integer.
        gradient_indices: integers, (n,).
        gradient_values: of the accumulator's dtype, (n, ...).
        gradient_shape: integers, (rank,); ignored unless `has_known_shape`.
        has_known_shape: whether `gradient_shape` is the shape of the gradient.
        name: ignored.

    Raises:
        InvalidArgumentError: parts that do not fit each other or the accumulator, or another dtype.

    Source: `tf.raw_ops.SparseAccumulatorApplyGradient`, TensorFlow 2.21 (2026).

    >>> handle = SparseConditionalAccumulator(dtype="float32", shape=[4, 1])
    >>> rows = dict(gradient_indices=[2], gradient_values=[[3.0]], gradient_shape=[], has_known_shape=False)
    >>> SparseAccumulatorApplyGradient(handle=handle, local_step=0, **rows).count
    1
    """
    if not isinstance(has_known_shape, bool):
        raise TypeError(f"has_known_shape must be True or False, got {has_known_shape!r}")
    shape = _read_integers(gradient_shape, "gradient_shape")
    gradient = SparseGradient(
        _read_integers(gradient_indices, "gradient_indices"),
        read_any(gradient_values, "gradient_values"),
        shape if has_known_shape else None,
    )
    kernel = _check_handle(handle, REF, SPARSE)
    return kernel.apply(gradient, _read_integer(local_step, "local_step"))


def SparseAccumulatorTakeGradient(
    *, handle: Any, num_required: Any, dtype: Any, name: str | None = None
) -> SparseGradient:
    """Take (indices, values, shape) of the rows; a mean divides each row by its own count.

    Args and raises: as in `ResourceAccumulatorTakeGradient`.

    Source: `tf.raw_ops.SparseAccumulatorTakeGradient`, TensorFlow 2.21 (2026).

    >>> handle = SparseConditionalAccumulator(dtype="float32", shape=[4, 1])
    >>> rows = dict(gradient_indices=[2], gradient_values=[[3.0]], gradient_shape=[], has_known_shape=False)
    >>> receipt = SparseAccumulatorApplyGradient(handle=handle, local_step=0, **rows)
    >>> taken = SparseAccumulatorTakeGradient(handle=handle, num_required=1, dtype="float32")
    >>> taken.indices.tolist(), taken.values.tolist(), taken.shape.tolist()
    ([2], [[3.0]], [4, 1])
    """
    taken: SparseGradient = _take(_check_handle(handle, REF, SPARSE), num_required, dtype)
    return taken


def _make_accumulator(
    kind: str,
    handle_type: str,
    dtype: Any,
    shape: Any,
    container: Any,
    shared_name: Any,
    reduction_type: Any,
    name: Any,
) -> Handle:
    """Return a handle to a new accumulator, or to the one of that container and shared name."""
    for argument, value in (("container", container), ("shared_name", shared_name)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{argument} must be a string or None, got {value!r}")
    if isinstance(shape, list | tuple):
        shape = [None if size == -1 else size for size in shape]
    spec = Spec.read(kind, dtype, shape, reduction_type, strict=None)
    shared = shared_name or ""
    if container and shared_name:
        shared = f"{container}/{shared_name}"
    return Handle(kernel_for(spec, shared, name or kind), handle_type)


def _check_handle(handle: Any, handle_type: str, kind: str | None = None) -> Kernel:
    """Return the accumulator of a handle; refuse another type of handle or kind of accumulator."""
    if handle is None:
        raise ValueError("handle is None; give what a constructor of gl.raw_ops returned")
    if isinstance(handle, Kernel):
        # The `accumulator_ref` of an accumulator object.
        handle = Handle(handle, RESOURCE if handle.spec.kind == DENSE else REF)
    if not isinstance(handle, Handle):
        raise TypeError(
            "handle must be a handle of gl.raw_ops or an accumulator_ref, got "
            f"{type(handle).__name__}"
        )
    if handle.dtype != handle_type:
        raise TypeError(
            f"this op takes a handle of type {handle_type}, got a {handle.dtype}; "
            "Resource... ops and the others do not go together"
        )
    kernel = handle.kernel
    actual_kind = kernel.spec.kind
    if kind is not None and actual_kind != kind:
        # Dense and sparse ops of TensorFlow raise different classes.
        error = NotFoundError if kind == DENSE else InvalidArgumentError
        adjectives = {DENSE: "dense", SPARSE: "sparse"}
        raise error(
            f"this op is for {adjectives[kind]} accumulators, {kernel.name} is "
            f"{adjectives[actual_kind]}"
        )
    return kernel


def _take(kernel: Kernel, num_required: Any, dtype: Any) -> Any:
    """Take the mean or sum of an accumulator; the op must be given its dtype."""
    if dtype is None:
        raise TypeError(f"dtype is None; give the accumulator's, {kernel.dtype}")
    return kernel.take(_read_integer(num_required, "num_required"), dtype)


def _read_integer(value: Any, argument: str) -> Any:
    """Return a scalar integer for the kernel; a Python number must be one, an array is cast."""
    if value is None:
        raise ValueError(f"{argument} is None; give an integer")
    if isinstance(value, float | str | bytes) and not isinstance(value, np.generic):
        raise TypeError(f"{argument} must be an integer, got {value!r}")
    if isinstance(value, list | tuple):
        return _read_integers(value, argument)
    return read_step(value, argument)


def _read_integers(values: Any, argument: str) -> np.ndarray:
    """Return an array of int64."""
    array = np.asarray(as_array(values, argument))
    if array.size and array.dtype.kind not in "biu":
        raise TypeError(f"{argument} must be integers, got {array.dtype}")
    return array.astype(np.int64)

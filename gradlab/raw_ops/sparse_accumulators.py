"""Accumulators of rows, by "string_ref" handles."""

from __future__ import annotations

from typing import Any

from .._asynchrony.accumulators import Receipt, SparseGradient
from .._asynchrony.accumulators.arguments import read_any
from .._asynchrony.accumulators.kernel import SPARSE
from .handles import REF, Handle, kernel_of, make, op, read_integer, read_integers, take


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
    """As `AccumulatorTakeGradient`; returns (indices, values, shape), each row divided by how often it came.

    Source: `tf.raw_ops.SparseAccumulatorTakeGradient`, TensorFlow 2.21 (2026).

    >>> handle = SparseConditionalAccumulator(dtype="float32", shape=[4, 1])
    >>> rows = dict(gradient_indices=[2], gradient_values=[[3.0]], gradient_shape=[], has_known_shape=False)
    >>> receipt = SparseAccumulatorApplyGradient(handle=handle, local_step=0, **rows)
    >>> taken = SparseAccumulatorTakeGradient(handle=handle, num_required=1, dtype="float32")
    >>> taken.indices.tolist(), taken.values.tolist(), taken.shape.tolist()
    ([2], [[3.0]], [4, 1])
    """
    return take(kernel_of(handle, REF, SPARSE), num_required, dtype)

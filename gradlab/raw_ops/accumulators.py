"""Dense accumulators by "string_ref" handles; two of the ops are for sparse ones, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._asynchrony.accumulators import Receipt
from .._asynchrony.accumulators.arguments import read_any
from .._asynchrony.accumulators.kernel import DENSE
from .._base.arrays import Array
from .handles import REF, Handle, kernel_of, make, op, read_integer, take


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
    >>> kept = [AccumulatorApplyGradient(handle=handle, local_step=0, gradient=[g]) for g in (1.0, 3.0)]
    >>> AccumulatorTakeGradient(handle=handle, num_required=2, dtype="float32").tolist()
    [4.0]
    """
    return take(kernel_of(handle, REF, DENSE), num_required, dtype)


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

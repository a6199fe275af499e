"""Dense accumulators by "resource" handles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._asynchrony.accumulators import Receipt
from .._asynchrony.accumulators.arguments import read_any
from .._asynchrony.accumulators.kernel import DENSE
from .._base.arrays import Array
from .handles import RESOURCE, Handle, kernel_of, make, op, read_integer, take


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

    Raises: InvalidArgumentError for another dtype or shape and for a `local_step` that is no scalar.

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
    >>> kept = [ResourceAccumulatorApplyGradient(handle=handle, local_step=0, gradient=g) for g in (1.0, 3.0)]
    >>> float(ResourceAccumulatorTakeGradient(handle=handle, num_required=2, dtype="float32"))
    2.0
    """
    return take(kernel_of(handle, RESOURCE, DENSE), num_required, dtype)


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

    Raises: InvalidArgumentError for what is no scalar.

    Source: `tf.raw_ops.ResourceAccumulatorSetGlobalStep`, TensorFlow 2.21 (2026).

    >>> handle = ResourceConditionalAccumulator(dtype="float32", shape=[1])
    >>> ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=-2)
    >>> handle.kernel.step
    -2
    """
    kernel_of(handle, RESOURCE).set_global_step(read_integer(new_global_step, "new_global_step"))

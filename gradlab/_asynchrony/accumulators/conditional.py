"""ConditionalAccumulator: dense gradients."""

from __future__ import annotations

from typing import Any

from ..._base.arrays import Array
from ..._base.errors import DTypeError, InvalidArgumentError
from ..._base.slices import IndexedSlices
from .arguments import is_compatible, read_array, shown
from .base import ConditionalAccumulatorBase
from .machine import Receipt
from .spec import DENSE


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean of gradients that are fresh enough: kept iff `local_step >= global_step`, added in order of arrival.

        apply: sum += grad; count += 1           take: mean = sum / count; count = 0; global_step += 1

    Args:
        dtype: float16, bfloat16, float32 or float64; the sum is rounded to it after every addition.
        shape: of the gradients; None, or entries that are None, leave it to the first gradient of a round.
        shared_name: accumulators of one collection with one shared_name are one.
        name: for messages.
        reduction_type: "MEAN" or "SUM".
        strict: "tf" does as TensorFlow does where that is a trap: without a graph, accumulators without a shared_name
            that are made alike are one, which goes with the first of them; a step in a vector of one raises and counts.
        sum_dtype: what to add in, if not in `dtype`: float32 keeps a float16 sum from sticking or overflowing.

    Raises: UnsupportedDTypeError, InvalidArgumentError, TypeError for other dtypes, shapes, reductions and names.

    NumPy stays NumPy, JAX stays JAX; gradients are copied, and what was taken never changes. Calls happen at once, in
    a `gl.Graph` too. Differs from TensorFlow: `apply_grad` tells what became of the gradient, `take_grad` has a time
    limit and Ctrl-C ends it, what kills TensorFlow's process is an InvalidArgumentError; bfloat16; and the methods that
    look inside. Source: `tf.compat.v1.ConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> acc = ConditionalAccumulator("float32", shape=(2,))
    >>> acc.apply_grad([1.0, 2.0], local_step=0).kept, acc.apply_grad([3.0, 6.0], local_step=0).count
    (True, 2)
    >>> acc.take_grad(2).tolist(), acc.global_step
    ([2.0, 4.0], 1)
    >>> late = acc.apply_grad([9.0, 9.0], local_step=0)
    >>> late.kept, late.comparison, acc.try_take(1)
    (False, '0 < 1', None)
    """

    _KIND = DENSE

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str | None = "conditional_accumulator",
        reduction_type: str | None = "MEAN",
        *,
        strict: str | None = None,
        sum_dtype: Any = None,
    ) -> None:
        super().__init__(dtype, shape, shared_name, name, reduction_type, strict, sum_dtype)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Receipt:
        """Add a gradient if `local_step >= global_step`, else drop it; the receipt says which, and why.

        Args:
            grad: array of this dtype; numbers, lists and NumPy arrays are cast; IndexedSlices are made dense.
            local_step: the global step that the gradient was computed at, as 2 or 2.0.

        Raises:
            InvalidArgumentError: `grad` does not fit the shape, `local_step` is no scalar.
            DTypeError: a JAX array or a Variable of another dtype; strings; a `local_step` of 1.5 (TensorFlow and
                `strict` make it 1). ValueError: None, ragged lists.
        """
        if isinstance(grad, IndexedSlices):
            grad = self._densified(grad)
        gradient = read_array(grad, self.dtype, "grad")
        if gradient.shape != self._shape and not is_compatible(gradient.shape, self._shape):
            raise InvalidArgumentError(f"grad must have shape {shown(self._shape)}, got {gradient.shape}")
        return self._kernel.apply(gradient, self._read_step(local_step, "local_step"))

    def take_grad(self, num_required: int, name: str | None = None, *, timeout: float | None = None) -> Array:
        taken = super().take_grad(num_required, name, timeout=timeout)
        if not self._in_graph and not is_compatible(taken.shape, self._shape):  # TensorFlow notices now, and it is gone
            raise InvalidArgumentError(
                f"what was taken has shape {taken.shape}, this accumulator {shown(self._shape)} under one shared_name"
            )
        return taken

    def _densified(self, grad: IndexedSlices) -> Array:
        if grad.dtype != self.dtype:
            raise DTypeError(f"these IndexedSlices have dtype {grad.dtype}, the accumulator {self.dtype}")
        return grad.to_dense()

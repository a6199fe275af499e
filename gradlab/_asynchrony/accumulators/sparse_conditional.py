"""SparseConditionalAccumulator: gradients of some rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.errors import DTypeError
from ..._base.slices import IndexedSlices
from ..._variables.variable import current_collection
from .arguments import read_any, read_array
from .base import ConditionalAccumulatorBase
from .machine import Receipt
from .sparse import SparseGradient
from .spec import SPARSE


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean of sparse gradients that are fresh enough: kept iff `local_step >= global_step`.

        apply: row[i] += values[k] for i = indices[k]; count[i] += 1
        take:  row[i] / count[i]  (mean="row", TensorFlow's)   or   row[i] / number of gradients  (mean="gradient")

    Args:
        dtype, shared_name, name, reduction_type, strict, sum_dtype: as for ConditionalAccumulator.
        shape: of the whole tensor; None and () mean unknown.
        mean: "row" divides each row by the number of gradients that contained it, "gradient" by the number of all, as
            the dense accumulator does.

    `strict="tf"` merges rows as TensorFlow does, which believes that indices are sorted and distinct, and lets negative
    ones and a grad_shape that contradicts the rows pass; outside a Graph it is a RuntimeError, as there. Otherwise rows
    of one index are summed first and count once, and what contradicts is refused. Source:
    `tf.compat.v1.SparseConditionalAccumulator`, TensorFlow 2.21 (2026).

    >>> acc = SparseConditionalAccumulator("float32", shape=(4, 1))
    >>> acc.apply_grad([0, 1], [[2.0], [4.0]]), acc.apply_grad([1, 3], [[8.0], [6.0]]).count
    (Receipt(kept=True, comparison='0 >= 0', count=1), 2)
    >>> acc.peek().row_counts.tolist()
    [1, 2, 1]
    >>> mean = acc.take_grad(2)
    >>> mean.indices.tolist(), mean.values.ravel().tolist(), mean.shape.tolist()
    ([0, 1, 3], [2.0, 6.0, 6.0], [4, 1])
    """

    _KIND = SPARSE

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str | None = "sparse_conditional_accumulator",
        reduction_type: str | None = "MEAN",
        *,
        mean: str = "row",
        strict: str | None = None,
        sum_dtype: Any = None,
    ) -> None:
        if strict == "tf" and not current_collection().graph:
            raise RuntimeError(
                "TensorFlow has sparse accumulators in graphs only: make it within `with gl.Graph().as_default():`, or "
                'leave out strict="tf"'
            )
        super().__init__(dtype, shape, shared_name, name, reduction_type, strict, sum_dtype, mean)

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any = ...,  # required: the default is for who gives IndexedSlices alone
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Receipt:
        """Add rows if `local_step >= global_step`, else drop them without looking at them.

        Args:
            grad_indices: (n,) integers.
            grad_values: (n, ...) rows of this dtype; lists and NumPy arrays are cast (not with `strict`).
            grad_shape: of the whole tensor, if known.
            local_step: the global step that the gradient was computed at, as 2 or 2.0.

        Raises:
            InvalidArgumentError: parts that do not fit each other, the shape, or the rows counted so far.
            DTypeError: indices or steps that are not integers, rows of another dtype. ValueError: None.
        """
        if isinstance(grad_indices, IndexedSlices) or grad_values is ...:
            raise TypeError("apply_grad needs grad_indices and grad_values; apply_indexed_slices_grad IndexedSlices")
        what = "grad_values"
        values = read_any(grad_values, what) if self._strict else read_array(grad_values, self.dtype, what)
        shape = None if grad_shape is None else _integers(grad_shape, "grad_shape", self._strict)
        gradient = SparseGradient(_integers(grad_indices, "grad_indices", self._strict), values, shape)
        return self._kernel.apply(gradient, self._read_step(local_step, "local_step"))

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None) -> Receipt:
        """`apply_grad` of the parts of IndexedSlices; anything without them is an AttributeError."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step)

    def take_indexed_slices_grad(
        self, num_required: int, name: str | None = None, *, timeout: float | None = None
    ) -> IndexedSlices:
        """`take_grad` as IndexedSlices. Where the accumulator has no first size their dense_shape is None; with
        `strict` it begins with -1, as in TensorFlow."""
        taken = self.take_grad(num_required, name, timeout=timeout)
        shape = tuple(taken.shape.tolist())
        return IndexedSlices(taken.values, taken.indices, shape if self._strict or min(shape) >= 0 else None)


def _integers(x: Any, what: str, strict: bool) -> Any:
    """int64; TensorFlow cuts off what is behind the point."""
    array = np.asarray(read_any(x, what))
    if array.size and array.dtype.kind not in ("biuf" if strict else "iu"):
        raise DTypeError(f"{what} must be integers, got {array.dtype}")
    with np.errstate(invalid="ignore"):
        return array.astype(np.int64)

"""IndexedSlices: the gradient of a gather, some rows of a tensor.

Rows that are named twice are summed by `sum_duplicates` in `arrays.py`. What a rule does with them
is in `rules/dense_and_sparse.py`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DTypeError, InvalidArgumentError
from .arrays import Array, as_array, is_jax, is_traced, namespace, precision


@dataclass(frozen=True, eq=False)
class IndexedSlices:
    """Rows `values[k]` that belong at `indices[k]` of a tensor of shape `dense_shape`.

    The tensor meant is `zeros(dense_shape)` with `tensor[indices[k]] += values[k]` for every k; an
    index may repeat.

    Args:
        values: (n, ...) array, NumPy or JAX.
        indices: (n,) integer array.
        dense_shape: shape of the whole tensor, or None if unknown.

    Raises:
        InvalidArgumentError: `values` and `indices` differ in length.
        DTypeError: the indices are not integers.

    A function that applies the slices to a tensor checks whether indices and rows fit it. Source:
    `tf.IndexedSlices`, TensorFlow 2.21 (2026).

    >>> IndexedSlices([[1.0, 2.0], [3.0, 4.0]], [2, 2], (4, 2)).to_dense()[2].tolist()
    [4.0, 6.0]
    """

    values: Array
    indices: Array
    dense_shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        register()
        values = _to_array(self.values, "values")
        indices = _to_array(self.indices, "indices")
        if math.prod(indices.shape) == 0 and not np.issubdtype(indices.dtype, np.integer):
            indices = indices.astype(np.int32)
        if not np.issubdtype(indices.dtype, np.integer):
            raise DTypeError(f"indices must be integers, got {indices.dtype}")
        if len(indices.shape) != 1 or len(values.shape) < 1 or values.shape[0] != indices.shape[0]:
            raise InvalidArgumentError(
                f"values of shape {values.shape} need one index for each row, got indices of "
                f"shape {indices.shape}"
            )
        shape = None if self.dense_shape is None else tuple(int(n) for n in self.dense_shape)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "dense_shape", shape)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.dense_shape

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self.values)

    @property
    def one_each(self) -> bool:
        """Tell whether rows have one element; TensorFlow has separate kernels for them."""
        return math.prod(self.values.shape[1:]) == 1

    def with_values(self, values: Array) -> IndexedSlices:
        """Return slices of the same rows with other values, as a clip does."""
        return IndexedSlices(values, self.indices, self.dense_shape)

    def with_parts(self, values: Any, indices: Any) -> IndexedSlices:
        """Return slices of the same tensor, unchecked: the parts may be placeholders for arrays."""
        return _rebuild(self.dense_shape, (values, indices))

    def check_rows(self, num_rows: int, name: str) -> None:
        """Refuse indices outside [0, num_rows) (InvalidArgumentError), unless they are traced."""
        if is_traced(self.indices) or self.indices.shape[0] == 0:
            return
        indices = np.asarray(self.indices)
        if indices.min() < 0 or indices.max() >= num_rows:
            first = int(np.argmax((indices < 0) | (indices >= num_rows)))
            raise InvalidArgumentError(
                f"indices of {name} must be in [0, {num_rows}), got "
                f"{indices[first]} at position {first}"
            )

    def to_dense(self) -> Array:
        """Return the whole tensor, rows of one index summed; ValueError without a `dense_shape`."""
        parts: tuple[Any, Any] = (self.values, self.indices)
        for part in parts:
            if _is_described(part):
                dense: Array = part._compute_in_runs(_sum_rows, self)
                return dense
        return _sum_rows(self)


def _sum_rows(slices: IndexedSlices) -> Array:
    shape = slices.dense_shape
    if shape is None:
        raise ValueError("these IndexedSlices have no dense_shape; give one to make them dense")
    if tuple(slices.values.shape[1:]) != shape[1:]:
        raise InvalidArgumentError(
            f"rows of shape {slices.values.shape[1:]} do not fit dense_shape {shape}"
        )
    slices.check_rows(shape[0], "the slices")
    if is_jax(slices.values):
        with precision(slices.dtype):
            zeros: Any = namespace(slices.values).zeros(shape, slices.dtype)
            sums: Array = zeros.at[slices.indices].add(slices.values)
            return sums
    dense = np.zeros(shape, slices.dtype)
    np.add.at(dense, np.asarray(slices.indices), np.asarray(slices.values))
    return dense


def _to_array(x: Any, name: str) -> Any:
    """Return an array, or a tensor of a Graph as it is, which has a shape and a dtype too."""
    return x if _is_described(x) else as_array(x, name)


def _is_described(x: Any) -> bool:
    """Tell whether this is a tensor of a Graph whose value isn't known yet."""
    return bool(getattr(x, "is_described", False))


def register() -> None:
    """Make IndexedSlices a JAX pytree as soon as JAX is there; its shape is static."""
    jax = sys.modules.get("jax")
    if jax is None or getattr(IndexedSlices, "_registered", False):
        return
    IndexedSlices._registered = True  # type: ignore[attr-defined]
    jax.tree_util.register_pytree_node(
        IndexedSlices, lambda s: ((s.values, s.indices), s.dense_shape), _rebuild
    )


def _rebuild(dense_shape: tuple[int, ...] | None, leaves: Any) -> IndexedSlices:
    """Make slices without checks: JAX rebuilds trees around placeholders and batched arrays."""
    values, indices = leaves
    slices = object.__new__(IndexedSlices)
    object.__setattr__(slices, "values", values)
    object.__setattr__(slices, "indices", indices)
    object.__setattr__(slices, "dense_shape", dense_shape)
    return slices

"""The sum of sparse gradients: rows, their indices, and how many gradients contained each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._base.arrays import Array, flush, is_jax, namespace, precision, quiet, sum_duplicates
from ..._base.errors import InvalidArgumentError
from .arguments import Shape, is_compatible, shown
from .merge import is_sorted, union, walk


class SparseGradient(NamedTuple):
    """Rows `values[k]` at `indices[k]` of a tensor of this shape: int64 (n,), (n, ...), int64 (rank,).

    Coming out of a take, the first entry of `shape` is -1 where the accumulator has not been told. Going in, `shape`
    may be None.
    """

    indices: Array
    values: Array
    shape: Array | None = None

    @property
    def dtype(self) -> Any:
        return self.values.dtype


class SparseSum:
    """Rows of one index are added in order of arrival. The mean divides each row by `row_counts` or by the number of
    gradients (`by_row=False`).

    `strict` merges as TensorFlow does, which believes that indices are sorted, distinct and not negative. Otherwise
    the rows of one gradient are sorted and those of one index summed first, so that they count as one.
    """

    def __init__(
        self, dtype: np.dtype[Any], shape: Shape, is_mean: bool, sum_dtype: np.dtype[Any], by_row: bool, strict: bool
    ) -> None:
        self._dtype, self._shape = dtype, shape or None  # () means no constraint here
        self._is_mean, self._sum_dtype, self._by_row, self._strict = is_mean, sum_dtype, by_row, strict
        self._indices = self._counts = np.zeros(0, np.int64)
        self._rows: Array = None
        self.count = 0

    def add(self, gradient: SparseGradient) -> None:
        """What TensorFlow checks, in its order, then one merge."""
        self._check(gradient, self._rows.shape[1:] if self.count else None)
        indices, rows = self._in_order(np.array(gradient.indices, np.int64), gradient.values)
        if not self.count:
            counts = np.ones(indices.size, np.int64)
            self._indices, self._rows, self._counts, self.count = indices, rows, counts, 1
            return
        merged, to_a, to_b = (walk if self._strict else union)(self._indices, indices)
        counts = np.bincount(to_a, self._counts, merged.size).astype(np.int64)
        counts[to_b] += 1
        total, places, sums = self._merged(rows, to_a, to_b)
        if is_jax(total):
            total = _written(total, places, sums)
        else:
            total[places] = sums  # in place, and no call from here on
        self._indices, self._rows, self._counts, self.count = merged, total, counts, self.count + 1

    def take(self) -> SparseGradient:
        """The next round starts with new arrays."""
        value = self._reduced(self.count)
        self.count = 0
        return value

    def peek(self) -> tuple[SparseGradient, SparseGradient, np.ndarray]:
        """Sum, mean so far, and for each row how many gradients contained it."""
        rows = self._rows if is_jax(self._rows) else self._rows.copy()
        return self._result(rows), self._reduced(self.count), self._counts.copy()

    @quiet
    def _reduced(self, count: int) -> SparseGradient:
        rows = self._rows
        with precision(self._sum_dtype):
            if self._is_mean:
                divisor = self._counts if self._by_row else np.full(self._counts.shape, count)
                divisor = divisor.astype(self._sum_dtype).reshape(-1, *[1] * (rows.ndim - 1))
                rows = self._flushed(self._flushed(rows) / namespace(rows).asarray(divisor))
            return self._result(rows.astype(self._dtype))

    def _result(self, rows: Array) -> SparseGradient:
        size = -1 if self._shape is None or self._shape[0] is None else self._shape[0]
        return SparseGradient(self._indices.copy(), rows, np.array([size, *rows.shape[1:]], np.int64))

    def _in_order(self, indices: np.ndarray, values: Array) -> tuple[np.ndarray, Array]:
        """Indices and rows of one gradient, as copies."""
        with precision(self._sum_dtype), np.errstate(all="ignore"):
            rows = namespace(values).array(values, self._sum_dtype, copy=True)
            if self._strict or is_sorted(indices):
                return indices, rows
            order = np.argsort(indices, kind="stable")
            if is_sorted(indices[order]):
                return indices[order], rows[order]
            if is_jax(rows):
                distinct, place = np.unique(indices, return_inverse=True)
                return distinct, namespace(rows).zeros((distinct.size, *rows.shape[1:]), rows.dtype).at[place].add(rows)
            return sum_duplicates(indices, rows)

    def _merged(self, rows: Array, to_a: np.ndarray, to_b: np.ndarray) -> tuple[Array, np.ndarray, Array]:
        """Where rows that only one side has are copied, the places of those of both, and their sums.

        The first is the buffer of now if there is no new index.
        """
        size = max(to_a.max(initial=-1), to_b.max(initial=-1)) + 1
        xp, known = namespace(self._rows, rows), np.zeros(size, bool)
        known[to_a] = True
        both = np.flatnonzero(known[to_b])
        with precision(self._sum_dtype), np.errstate(all="ignore"):
            merged = xp.asarray(self._rows)
            if size > self._indices.size:
                merged = xp.empty((size, *rows.shape[1:]), self._sum_dtype)
                merged = _written(_written(merged, to_b, rows), to_a, self._rows)
            places = to_b[both]
            return merged, places, self._flushed(self._flushed(merged[places]) + self._flushed(rows[both]))

    def _flushed(self, x: Array) -> Array:
        """TensorFlow's kernels take denormal numbers for 0."""
        return flush(x if is_jax(x) else x.copy()) if self._strict else x

    def _check(self, gradient: SparseGradient, inner: tuple[int, ...] | None) -> None:
        """`inner` is the shape of the rows counted so far, if there are any."""
        indices, values, shape = gradient
        if indices.ndim != 1 or values.ndim < 1 or values.shape[0] != indices.shape[0]:
            raise InvalidArgumentError(
                f"grad_values of shape {values.shape} need one index for each row, "
                f"got grad_indices of shape {indices.shape}"
            )
        if shape is not None:
            self._check_shape(tuple(np.ravel(shape).tolist()), indices, values)
        self._check_indices(np.asarray(indices), self._shape[0] if self._shape else None, "the accumulator")
        if inner is not None and values.shape[1:] != inner:
            raise InvalidArgumentError(f"the rows counted so far have shape {inner}, got rows of {values.shape[1:]}")
        if inner is None or not self._strict:
            self._check_declared(values.shape)

    def _check_shape(self, shape: tuple[int, ...], indices: Array, values: Array) -> None:
        if self._shape is not None and not is_compatible(shape[: len(self._shape)], self._shape):
            raise InvalidArgumentError(f"the accumulator has shape {shown(self._shape)}, got grad_shape {shape}")
        if self._strict:  # TensorFlow looks no further
            return
        if shape[1:] != values.shape[1:] or not shape:
            raise InvalidArgumentError(f"rows of shape {values.shape[1:]} do not fit grad_shape {shape}")
        self._check_indices(np.asarray(indices), shape[0], "grad_shape")

    def _check_indices(self, indices: np.ndarray, size: int | None, whose: str) -> None:
        wrong = np.zeros(indices.shape, bool) if self._strict else indices < 0
        if size is not None:
            wrong |= indices >= size
        if wrong.any():
            limit = f"in [0, {size}), as {whose} says" if size is not None else "at least 0"
            k = int(np.argmax(wrong))
            raise InvalidArgumentError(f"grad_indices must be {limit}; got {indices[k]} at position {k}")

    def _check_declared(self, shape: tuple[int, ...]) -> None:
        """Behind the first axis; TensorFlow lets more axes pass than were declared."""
        if self._shape is None:
            return
        inner = shape[1 : len(self._shape)] if self._strict else shape[1:]
        if not is_compatible(inner, self._shape[1:]):
            raise InvalidArgumentError(f"rows of shape {shape[1:]} do not fit the shape {shown(self._shape)}")


def _written(x: Array, places: np.ndarray, rows: Array) -> Array:
    """`x` with these rows: NumPy's x itself."""
    if is_jax(x):
        return x.at[places].set(rows)
    x[places] = rows
    return x

"""The sum of sparse gradients, one after another: rows, their indices, and their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._base.arrays import (
    Array,
    flush_denormals,
    is_jax,
    namespace,
    precision,
    quiet,
    sum_duplicates,
)
from ...errors import InvalidArgumentError
from .arguments import Shape, is_compatible, shown

# The indices of the result, and where the rows of a and of b go.
Places = tuple[np.ndarray, np.ndarray, np.ndarray]


def union(a: np.ndarray, b: np.ndarray) -> Places:
    """For sorted indices without duplicates.

    >>> [x.tolist() for x in union(np.array([1, 3]), np.array([2, 3]))]
    [[1, 2, 3], [0, 2], [1, 2]]
    """
    place = np.searchsorted(a, b)
    known = place < a.size
    known[known] = a[place[known]] == b[known]
    new = b[~known]
    to_a = np.arange(a.size) + np.searchsorted(new, a)
    return np.insert(a, place[~known], new), to_a, place + np.cumsum(~known) - ~known


def walk(a: np.ndarray, b: np.ndarray) -> Places:
    """TensorFlow's walk with two pointers: the same for such lists.

    It assumes that they are, and makes of others

    >>> [x.tolist() for x in walk(np.array([2, 0]), np.array([0, 2]))]
    [[0, 2, 0], [1, 2], [0, 1]]
    """
    if is_sorted(a) and is_sorted(b):
        return union(a, b)
    left, right = a.tolist(), b.tolist()
    indices: list[int] = []
    to_a, to_b, i, j = [], [], 0, 0
    while i < len(left) and j < len(right):
        lower = min(left[i], right[j])
        both = left[i] == right[j]
        if both or left[i] == lower:
            to_a.append(len(indices))
            i += 1
        if both or right[j] == lower:
            to_b.append(len(indices))
            j += 1
        indices.append(lower)
    rest = len(indices)
    to_a += range(rest, rest + len(left) - i)
    to_b += range(rest, rest + len(right) - j)  # of the two rests one is empty
    return tuple(np.array(x, np.int64) for x in (indices + left[i:] + right[j:], to_a, to_b))  # type: ignore[return-value]


def is_sorted(indices: np.ndarray) -> bool:
    """Tell whether they grow from each to the next."""
    return bool(np.all(indices[1:] > indices[:-1]))


class SparseGradient(NamedTuple):
    """Rows `values[k]` at `indices[k]` of a tensor of this shape: int64 (n,), (n, ...), int64 (rank,).

    Coming out of a take, the first entry of `shape` is -1 where the accumulator has not been told.
    Going in, `shape` may be None.
    """

    indices: Array
    values: Array
    shape: Array | None = None

    @property
    def dtype(self) -> Any:
        return self.values.dtype


class SparseSum:
    """Rows of one index are added in order of arrival. The mean divides each row by `row_counts` or
    by the number of gradients (`by_row=False`).

    `strict` merges as TensorFlow does, which assumes that indices are sorted, distinct and not
    negative. Otherwise the rows of one gradient are sorted and those of one index summed first, so
    that they count as one.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        shape: Shape,
        is_mean: bool,
        sum_dtype: np.dtype[Any],
        by_row: bool,
        strict: bool,
    ) -> None:
        self._dtype, self._shape = dtype, shape or None  # () means no constraint here
        self._is_mean, self._sum_dtype, self._by_row, self._strict = (
            is_mean,
            sum_dtype,
            by_row,
            strict,
        )
        self._indices = self._counts = np.zeros(0, np.int64)
        self._rows: Any = None
        self.count = 0

    def add(self, gradient: SparseGradient) -> None:
        """Make TensorFlow's checks in its order, then merge once."""
        self._check(gradient, self._rows.shape[1:] if self.count else None)
        indices, rows = self._in_order(np.array(gradient.indices, np.int64), gradient.values)
        if not self.count:
            counts = np.ones(indices.size, np.int64)
            self._indices, self._rows, self._counts, self.count = indices, rows, counts, 1
            return
        merged, to_a, to_b = (walk if self._strict else union)(self._indices, indices)
        counts = np.bincount(to_a, self._counts, merged.size).astype(np.int64)
        counts[to_b] += 1
        total, places, sums = self._merged(self._rows, rows, to_a, to_b)
        self._indices = merged
        self._rows = _written(total, places, sums)
        self._counts = counts
        self.count += 1

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
        return SparseGradient(
            self._indices.copy(), rows, np.array([size, *rows.shape[1:]], np.int64)
        )

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
                named, place = np.unique(indices, return_inverse=True)
                zeros: Any = namespace(rows).zeros((named.size, *rows.shape[1:]), rows.dtype)
                return named, zeros.at[place].add(rows)
            distinct, summed = sum_duplicates(indices, rows)
            return np.asarray(distinct), summed

    def _merged(
        self, known: Array, rows: Array, to_a: np.ndarray, to_b: np.ndarray
    ) -> tuple[Array, np.ndarray, Array]:
        """The destinations of rows that only one side has, the places of those of both, and their
        sums.

        The first is the buffer of the known rows if there is no new index.
        """
        size = max(to_a.max(initial=-1), to_b.max(initial=-1)) + 1
        xp, is_known = namespace(known, rows), np.zeros(size, bool)
        is_known[to_a] = True
        both = np.flatnonzero(is_known[to_b])
        with precision(self._sum_dtype), np.errstate(all="ignore"):
            merged = xp.asarray(known)
            if size > known.shape[0]:
                merged = xp.empty((size, *rows.shape[1:]), self._sum_dtype)
                merged = _written(_written(merged, to_b, rows), to_a, known)
            places = to_b[both]
            return (
                merged,
                places,
                self._flushed(self._flushed(merged[places]) + self._flushed(rows[both])),
            )

    def _flushed(self, x: Array) -> Array:
        """TensorFlow's kernels take denormal numbers for 0."""
        return flush_denormals(x if is_jax(x) else x.copy()) if self._strict else x

    def _check(self, gradient: SparseGradient, inner: tuple[int, ...] | None) -> None:
        """`inner` is the shape of the rows counted so far, if there are any."""
        indices, values, shape = gradient
        if indices.ndim != 1 or values.ndim < 1 or values.shape[0] != indices.shape[0]:
            raise InvalidArgumentError(
                f"{_uneven(indices, values)}: grad_values of shape {values.shape} need one index "
                f"for each row, got grad_indices of shape {indices.shape}"
            )
        if shape is not None:
            self._check_shape(tuple(np.ravel(shape).tolist()), indices, values)
        self._check_indices(
            np.asarray(indices), self._shape[0] if self._shape else None, "the accumulator"
        )
        if inner is not None and values.shape[1:] != inner:
            words = mismatch("values", values.shape, (values.shape[0], *inner), exactly=True)
            raise InvalidArgumentError(
                f"{words}: the rows counted so far have shape {inner}, got rows of "
                f"{values.shape[1:]}"
            )
        if inner is None or not self._strict:
            self._check_declared(values.shape)

    def _check_shape(self, shape: tuple[int, ...], indices: Array, values: Array) -> None:
        if self._shape is not None and not is_compatible(shape[: len(self._shape)], self._shape):
            words = mismatch("shape", shape, self._shape)
            raise InvalidArgumentError(
                f"{words}: the accumulator has shape {shown(self._shape)}, got grad_shape {shape}"
            )
        if self._strict or not shape:  # TensorFlow looks no further; () means no constraint here
            return
        if shape[1:] != values.shape[1:]:
            raise InvalidArgumentError(
                f"rows of shape {values.shape[1:]} do not fit grad_shape {shape}"
            )
        self._check_indices(np.asarray(indices), shape[0], "grad_shape")

    def _check_indices(self, indices: np.ndarray, size: int | None, whose: str) -> None:
        wrong = np.zeros(indices.shape, bool) if self._strict else indices < 0
        if size is not None:
            wrong |= indices >= size
        if wrong.any():
            limit = f"in [0, {size}), as {whose} says" if size is not None else "at least 0"
            k = int(np.argmax(wrong))
            words = (
                f"Shape mismatch: index of slice {k} exceeded limits of shape; index is "
                f"{indices[k]} exceeded {size}"
            )
            words = f"{words}: " if size is not None and indices[k] >= size else ""
            raise InvalidArgumentError(
                f"{words}grad_indices must be {limit}; got {indices[k]} at position {k}"
            )

    def _check_declared(self, shape: tuple[int, ...]) -> None:
        """Behind the first axis.

        Rows may have more axes than were declared, in TensorFlow always.
        """
        if self._shape is None:
            return
        is_prefix = self._strict or None in self._shape
        inner = shape[1 : len(self._shape)] if is_prefix else shape[1:]
        if not is_compatible(inner, self._shape[1:]):
            words = mismatch("values", shape, (None, *self._shape[1:]))
            raise InvalidArgumentError(
                f"{words}: rows of shape {shape[1:]} do not fit the shape {shown(self._shape)}"
            )


def _uneven(indices: Array, values: Array) -> str:
    """TensorFlow's words for indices and rows that are not one each."""
    if indices.ndim != 1:
        return f"Input indices should be vector but received shape: {indices.shape}"
    if values.ndim < 1:
        return "Values cannot be 0-dimensional."
    return f"Expected {indices.shape[0]} non-empty input values, got {values.shape[0]}"


def mismatch(
    what: str, got: Sequence[int], expected: Sequence[int | None], exactly: bool = False
) -> str:
    """TensorFlow's words for a shape that is not the one expected, or does not begin with it.

    >>> mismatch("values", (1, 3), (None, 2)), mismatch("shape", (2,), (2, 2))
    ('Shape mismatch: expected values dim 1 to be 2, got 3', 'Shape mismatch: expected shape rank at least 2, got 1')
    """
    if len(got) < len(expected) or (exactly and len(got) != len(expected)):
        at_least = "" if exactly else "at least "
        return f"Shape mismatch: expected {what} rank {at_least}{len(expected)}, got {len(got)}"
    pairs = enumerate(zip(got, expected, strict=False))
    wrong = next(((k, n, size) for k, (n, size) in pairs if size not in (None, n)), None)
    if wrong is None:  # more axes than were declared
        return f"Shape mismatch: expected {what} rank {len(expected)}, got {len(got)}"
    return f"Shape mismatch: expected {what} dim {wrong[0]} to be {wrong[2]}, got {wrong[1]}"


def _written(x: Array, places: np.ndarray, rows: Array) -> Array:
    """`x` with these rows: NumPy's x itself."""
    if is_jax(x):
        return x.at[places].set(rows)
    x[places] = rows
    return x

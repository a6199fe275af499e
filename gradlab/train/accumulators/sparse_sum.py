"""The running sum of sparse gradients: rows, their indices, and their counts.

A `SparseSum` holds one round, as `DenseSum` does: `_rows[k]` is the sum of the rows at index
`_indices[k]`, and `_counts[k]` is the number of gradients that contained it. Indices are sorted and
distinct.

`add` merges a gradient in two steps. `union` computes the indices of the result, and where in it
the rows of each side go. Then rows that only one side has are copied there, and rows of both are
added, in order of arrival. Everything that may raise comes before the first write to the state.

With strict="tf" it merges as TensorFlow's kernel does. The kernel assumes that the indices of a
gradient are sorted and distinct. Where they aren't, `walk` has the kernel's result.
"""

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
from .arguments import Shape, format_shape, is_compatible


class Places(NamedTuple):
    """The indices of a merged gradient, and at which of them the rows of a and of b go."""

    indices: np.ndarray
    of_a: np.ndarray
    of_b: np.ndarray


def union(a: np.ndarray, b: np.ndarray) -> Places:
    """Merge indices that are sorted and distinct.

    >>> [x.tolist() for x in union(np.array([1, 3]), np.array([2, 3]))]
    [[1, 2, 3], [0, 2], [1, 2]]
    """
    place = np.searchsorted(a, b)  # of each index of b in a
    is_in_a = place < a.size
    is_in_a[is_in_a] = a[place[is_in_a]] == b[is_in_a]
    is_new = ~is_in_a
    new = b[is_new]
    # An index moves up by the number of new indices below it.
    of_a = np.arange(a.size) + np.searchsorted(new, a)
    of_b = place + np.cumsum(is_new) - is_new
    return Places(np.insert(a, place[is_new], new), of_a, of_b)


def walk(a: np.ndarray, b: np.ndarray) -> Places:
    """Merge indices as TensorFlow's kernel does, by a walk with two pointers.

    It equals `union` for sorted and distinct indices. For others TensorFlow's result is

    >>> [x.tolist() for x in walk(np.array([2, 0]), np.array([0, 2]))]
    [[0, 2, 0], [1, 2], [0, 1]]
    """
    if is_sorted(a) and is_sorted(b):
        return union(a, b)
    left = a.tolist()
    right = b.tolist()
    indices: list[int] = []
    of_a: list[int] = []
    of_b: list[int] = []
    i = 0
    j = 0
    while i < len(left) and j < len(right):
        lower = min(left[i], right[j])
        is_in_a = left[i] == lower
        is_in_b = right[j] == lower
        if is_in_a:
            of_a.append(len(indices))
            i += 1
        if is_in_b:
            of_b.append(len(indices))
            j += 1
        indices.append(lower)
    # Of the two rests one is empty.
    end = len(indices)
    of_a += range(end, end + len(left) - i)
    of_b += range(end, end + len(right) - j)
    indices += left[i:] + right[j:]
    return Places(np.array(indices, np.int64), np.array(of_a, np.int64), np.array(of_b, np.int64))


def is_sorted(indices: np.ndarray) -> bool:
    """Tell whether indices are sorted and distinct."""
    return bool(np.all(indices[1:] > indices[:-1]))


class SparseGradient(NamedTuple):
    """Rows `values[k]` at `indices[k]` of a tensor of this shape.

    `indices` is int64 (n,), `values` (n, ...), `shape` int64 (rank,).

    A take returns a `shape` whose first entry is -1 if the accumulator doesn't know it. In a
    gradient to apply, `shape` may be None.
    """

    indices: Array
    values: Array
    shape: Array | None = None

    @property
    def dtype(self) -> Any:
        return self.values.dtype


class SparseSum:
    """The sum of sparse gradients since the last take.

    Args:
        dtype: of the gradients and of the result.
        shape: the declared shape of the whole tensor; () means unknown, as in TensorFlow.
        is_mean: whether `take` divides.
        sum_dtype: what rows are added in.
        by_row: divide each row by the number of gradients that contained it, not by that of all.
        strict: merge as TensorFlow does, without a check that indices are sorted, distinct and not
            negative. Otherwise rows of one index are summed first, so that they count as one.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        shape: Shape,
        *,
        is_mean: bool,
        sum_dtype: np.dtype[Any],
        by_row: bool,
        strict: bool,
    ) -> None:
        self._dtype = dtype
        self._shape = shape or None
        self._is_mean = is_mean
        self._sum_dtype = sum_dtype
        self._by_row = by_row
        self._strict = strict
        self._indices = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.int64)
        self._rows: Any = None
        self.count = 0

    def add(self, gradient: SparseGradient) -> None:
        """Check a gradient in TensorFlow's order of checks, then merge it into the sum."""
        self._check(gradient, self._rows.shape[1:] if self.count else None)
        indices, rows = self._sort(np.array(gradient.indices, np.int64), gradient.values)
        if not self.count:
            self._indices = indices
            self._rows = rows
            self._counts = np.ones(indices.size, np.int64)
            self.count = 1
            return
        merge = walk if self._strict else union
        places = merge(self._indices, indices)
        counts = np.bincount(places.of_a, self._counts, places.indices.size).astype(np.int64)
        counts[places.of_b] += 1
        total, common_places, sums = self._merge_rows(self._rows, rows, places)
        self._indices = places.indices
        self._rows = _write_rows(total, common_places, sums)
        self._counts = counts
        self.count += 1

    def take(self) -> SparseGradient:
        """Return the mean (or sum) and start the next round, with new arrays."""
        value = self._reduce()
        self.count = 0
        return value

    def peek(self) -> tuple[SparseGradient, SparseGradient, np.ndarray]:
        """Return the sum, the mean so far, and for each row how many gradients contained it."""
        rows = self._rows if is_jax(self._rows) else self._rows.copy()
        return self._make_result(rows), self._reduce(), self._counts.copy()

    @quiet
    def _reduce(self) -> SparseGradient:
        """Return the mean or the sum in the accumulator's dtype."""
        rows = self._rows
        with precision(self._sum_dtype):
            if self._is_mean:
                counts = self._counts
                if not self._by_row:
                    counts = np.full(counts.shape, self.count)
                divisor = counts.astype(self._sum_dtype).reshape(-1, *[1] * (rows.ndim - 1))
                rows = self._flush(self._flush(rows) / namespace(rows).asarray(divisor))
            return self._make_result(rows.astype(self._dtype))

    def _make_result(self, rows: Array) -> SparseGradient:
        size = -1
        if self._shape is not None and self._shape[0] is not None:
            size = self._shape[0]
        shape = np.array([size, *rows.shape[1:]], np.int64)
        return SparseGradient(self._indices.copy(), rows, shape)

    def _sort(self, indices: np.ndarray, values: Array) -> tuple[np.ndarray, Array]:
        """Return copies of indices and rows, sorted and distinct unless `strict`."""
        with precision(self._sum_dtype), np.errstate(all="ignore"):
            rows = namespace(values).array(values, self._sum_dtype, copy=True)
            if self._strict or is_sorted(indices):
                return indices, rows
            order = np.argsort(indices, kind="stable")
            if is_sorted(indices[order]):
                return indices[order], rows[order]
            if is_jax(rows):
                # Not `sum_duplicates`, which pads JAX arrays: here the size may depend on indices.
                distinct, place = np.unique(indices, return_inverse=True)
                zeros: Any = namespace(rows).zeros((distinct.size, *rows.shape[1:]), rows.dtype)
                return distinct, zeros.at[place].add(rows)
            unique, sums = sum_duplicates(indices, rows)
            return np.asarray(unique), sums

    def _merge_rows(
        self, known: Array, rows: Array, places: Places
    ) -> tuple[Array, np.ndarray, Array]:
        """Merge rows and add up common ones; the caller writes these sums.

        Returns:
            (rows of the result, the places of common rows in it, the sums of common rows). The
            first is `known` itself if there is no new index.
        """
        size = max(places.of_a.max(initial=-1), places.of_b.max(initial=-1)) + 1
        is_known = np.zeros(size, bool)
        is_known[places.of_a] = True
        common = np.flatnonzero(is_known[places.of_b])
        common_places = places.of_b[common]
        xp = namespace(known, rows)
        with precision(self._sum_dtype), np.errstate(all="ignore"):
            merged = xp.asarray(known)
            if size > known.shape[0]:
                merged = xp.empty((size, *rows.shape[1:]), self._sum_dtype)
                merged = _write_rows(merged, places.of_b, rows)
                merged = _write_rows(merged, places.of_a, known)
            sums = self._flush(self._flush(merged[common_places]) + self._flush(rows[common]))
        return merged, common_places, sums

    def _flush(self, x: Array) -> Array:
        """Return x, if `strict` with 0 for denormal numbers, as TensorFlow's kernels compute."""
        if not self._strict:
            return x
        return flush_denormals(x if is_jax(x) else x.copy())

    def _check(self, gradient: SparseGradient, inner: tuple[int, ...] | None) -> None:
        """Refuse a gradient that doesn't fit; `inner` is the shape of the rows so far, or None."""
        indices, values, shape = gradient
        if indices.ndim != 1 or values.ndim < 1 or values.shape[0] != indices.shape[0]:
            raise InvalidArgumentError(
                f"{_describe_uneven(indices, values)}: grad_values of shape {values.shape} need "
                f"one index for each row, got grad_indices of shape {indices.shape}"
            )
        if shape is not None:
            self._check_shape(tuple(np.ravel(shape).tolist()), indices, values)
        size = self._shape[0] if self._shape else None
        self._check_indices(np.asarray(indices), size, "the accumulator")
        if inner is not None and values.shape[1:] != inner:
            words = describe_mismatch(
                "values", values.shape, (values.shape[0], *inner), exactly=True
            )
            raise InvalidArgumentError(
                f"{words}: the rows counted so far have shape {inner}, got rows of "
                f"{values.shape[1:]}"
            )
        if inner is None or not self._strict:
            self._check_declared(values.shape)

    def _check_shape(self, shape: tuple[int, ...], indices: Array, values: Array) -> None:
        if self._shape is not None and not is_compatible(shape[: len(self._shape)], self._shape):
            words = describe_mismatch("shape", shape, self._shape)
            raise InvalidArgumentError(
                f"{words}: the accumulator has shape {format_shape(self._shape)}, got grad_shape "
                f"{shape}"
            )
        if self._strict or not shape:  # TensorFlow checks no more; () means unknown
            return
        if shape[1:] != values.shape[1:]:
            raise InvalidArgumentError(
                f"rows of shape {values.shape[1:]} do not fit grad_shape {shape}"
            )
        self._check_indices(np.asarray(indices), shape[0], "grad_shape")

    def _check_indices(self, indices: np.ndarray, size: int | None, whose: str) -> None:
        is_wrong = np.zeros(indices.shape, bool) if self._strict else indices < 0
        if size is not None:
            is_wrong |= indices >= size
        if not is_wrong.any():
            return
        k = int(np.argmax(is_wrong))
        limit = "at least 0" if size is None else f"in [0, {size}), as {whose} says"
        message = f"grad_indices must be {limit}; got {indices[k]} at position {k}"
        if size is not None and indices[k] >= size:  # TensorFlow's words first
            message = (
                f"Shape mismatch: index of slice {k} exceeded limits of shape; index is "
                f"{indices[k]} exceeded {size}: {message}"
            )
        raise InvalidArgumentError(message)

    def _check_declared(self, shape: tuple[int, ...]) -> None:
        """Refuse rows that contradict the declared shape after its first axis.

        Rows may have more axes than declared if an entry is None, and in TensorFlow always.
        """
        if self._shape is None:
            return
        is_prefix = self._strict or None in self._shape
        inner = shape[1 : len(self._shape)] if is_prefix else shape[1:]
        if not is_compatible(inner, self._shape[1:]):
            words = describe_mismatch("values", shape, (None, *self._shape[1:]))
            raise InvalidArgumentError(
                f"{words}: rows of shape {shape[1:]} do not fit the shape "
                f"{format_shape(self._shape)}"
            )


def _describe_uneven(indices: Array, values: Array) -> str:
    """Return TensorFlow's words for indices and rows of different numbers."""
    if indices.ndim != 1:
        return f"Input indices should be vector but received shape: {indices.shape}"
    if values.ndim < 1:
        return "Values cannot be 0-dimensional."
    return f"Expected {indices.shape[0]} non-empty input values, got {values.shape[0]}"


def describe_mismatch(
    what: str, got: Sequence[int], expected: Sequence[int | None], exactly: bool = False
) -> str:
    """Return TensorFlow's words for a shape that isn't, or doesn't begin with, the expected one.

    >>> describe_mismatch("values", (1, 3), (None, 2))
    'Shape mismatch: expected values dim 1 to be 2, got 3'
    >>> describe_mismatch("shape", (2,), (2, 2))
    'Shape mismatch: expected shape rank at least 2, got 1'
    """
    if len(got) < len(expected) or (exactly and len(got) != len(expected)):
        at_least = "" if exactly else "at least "
        return f"Shape mismatch: expected {what} rank {at_least}{len(expected)}, got {len(got)}"
    for axis, (size, expected_size) in enumerate(zip(got, expected, strict=False)):
        if expected_size not in (None, size):
            return f"Shape mismatch: expected {what} dim {axis} to be {expected_size}, got {size}"
    # Only the rank differs: there are more axes than declared.
    return f"Shape mismatch: expected {what} rank {len(expected)}, got {len(got)}"


def _write_rows(x: Array, places: np.ndarray, rows: Array) -> Array:
    """Return `x` with these rows; a NumPy array is written to."""
    if is_jax(x):
        return x.at[places].set(rows)
    x[places] = rows
    return x

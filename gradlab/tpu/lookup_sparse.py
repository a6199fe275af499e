"""TensorFlow's differentiable lookups without a TPU: `tf.nn.embedding_lookup_sparse` and its safe form."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import Array, add_rows, as_array, is_jax, namespace, quiet
from .._base.jax_or_numpy import jax
from .._base.options import check_choice
from .._base.slices import IndexedSlices
from ..clip import clip_by_norm
from ..errors import DTypeError, InvalidArgumentError
from .ids import Reader, is_nested, tensor_of
from .plan import Feature


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Array:
    """Return the combined rows of each sample.

        sum: S = sum of w * row;   mean: S / sum(w);   sqrtn: S / sqrt(sum(w * w));   0 where the divisor is 0

    There are as many samples as the last that has ids: trailing empty ones are left out. Table and
    weights may be NumPy or JAX; JAX differentiates with respect to both.

    Args:
        params: (rows, ...) floats, or a list of such, cut along the rows ("div").
        sp_ids: (indices, ids, dense_shape), (row_splits, ids), a list of lists, or what has such
            attributes. Samples must not decrease; indices of more than two axes are combined over
            all but the first.
        sp_weights: the same with one weight for each id, a vector of them, or None for ones.
        combiner: None means "mean".
        max_norm: rows are shrunk to this norm first.
        name, allow_fast_lookup: accepted and without effect.

    Raises:
        InvalidArgumentError: an id outside the table, samples that decrease, another number of
            weights than ids.
        ValueError: an unknown combiner, no table.
        TypeError: sparse weights of ragged ids, or the reverse.

    16-bit tables are combined in float32. Source: `tf.nn.embedding_lookup_sparse`, TensorFlow 2.21
    (2026).

    >>> table = np.array([[1.0], [10.0], [100.0]])
    >>> embedding_lookup_sparse(table, [[0, 1, 1], [], [2], []], None, combiner="sum").ravel().tolist()
    [21.0, 0.0, 100.0]
    """
    lookups = _read_lookups(sp_ids, sp_weights)
    samples = lookups.samples // max(math.prod(lookups.shape[1:]), 1)
    count = int(samples[-1]) + 1 if samples.size else 0
    return _combine(
        _join_parts(params), lookups._replace(samples=samples), count, combiner or "mean", max_norm
    )


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Array:
    """Return the combined rows of every sample.

    Ids below 0 don't count; but for "sum", nor do weights not above 0.

        result[sample] = as `embedding_lookup_sparse`;   row `default_id`, or 0, for a sample without ids

    Args:
        embedding_weights, sparse_ids, sparse_weights, combiner, max_norm: as for
            `embedding_lookup_sparse`, but samples keep all their axes.
        default_id: what a sample without ids looks up, with weight 1; None gives it 0.
        name, allow_fast_lookup: accepted and without effect.

    Raises:
        InvalidArgumentError: an id past the table, and what `embedding_lookup_sparse` refuses.

    Source: `tf.nn.safe_embedding_lookup_sparse`, TensorFlow 2.21 (2026).

    >>> table = np.array([[1.0], [10.0], [100.0]])
    >>> safe_embedding_lookup_sparse(table, [[0, -1], [], [2, 1]]).ravel().tolist()
    [1.0, 0.0, 55.0]
    """
    lookups = _read_lookups(sparse_ids, sparse_weights)
    count = math.prod(lookups.shape)
    keep: Array = lookups.ids >= 0
    if combiner != "sum" and lookups.weights is not None:
        keep = namespace(lookups.weights).logical_and(keep, lookups.weights > 0)
    lookups = lookups._replace(ids=np.maximum(lookups.ids, 0), keep=keep)
    table = _join_parts(embedding_weights)
    result = _combine(table, lookups, count, combiner or "mean", max_norm)
    if default_id is not None:
        _check_ids(np.array([default_id]), table, "default_id")
        row = _clip_rows(table[np.array([default_id])], max_norm)
        has_ids = _segment_sum(namespace(keep).asarray(keep, np.int32), lookups.samples, count) > 0
        result = namespace(result, has_ids).where(_as_column(has_ids, result.ndim), result, row)
    return result.reshape(*lookups.shape, *result.shape[1:])


class _SparseLookups(NamedTuple):
    samples: np.ndarray
    ids: np.ndarray
    weights: Array | None
    shape: tuple[int, ...]  # of the samples
    keep: Array | None = None  # whether a lookup counts; None: all do


def _read_lookups(ids: Any, weights: Any) -> _SparseLookups:
    shape = _sample_shape(ids)
    entries = Reader(Feature("sp_ids", 0, shape)).read(ids)
    if entries.values.size and entries.values.dtype.kind not in "iu":
        raise DTypeError(f"ids must be integers, got {entries.values.dtype}")
    if (entries.samples[1:] < entries.samples[:-1]).any():
        raise InvalidArgumentError("samples of sparse ids must not decrease; sort the indices")
    w = None
    if weights is not None:
        kind = tensor_of(ids)
        weights_kind = tensor_of(weights)
        if weights_kind not in ("Tensor", kind):
            raise TypeError(
                f"sp_weights must be either None or {kind} like the ids, or a vector; got "
                f"{weights_kind}"
            )
        w = _read_weights(weights)
        if tuple(w.shape) != entries.values.shape:
            raise InvalidArgumentError(
                f"each id needs one weight: {entries.values.size} ids, weights of shape {w.shape}"
            )
    return _SparseLookups(entries.samples, entries.values.astype(np.int64), w, shape)


def _sample_shape(ids: Any) -> tuple[int, ...]:
    """Return the shape of the samples: the dense shape without its last axis."""
    if isinstance(ids, list):
        return (len(ids),)
    if hasattr(ids, "row_splits"):
        return (len(ids.row_splits) - 1,)
    indices, _, *shape = (
        (ids.indices, ids.values, ids.dense_shape) if hasattr(ids, "dense_shape") else ids
    )
    if shape:
        return tuple(int(n) for n in shape[0][:-1])
    where = np.asarray(indices)
    return (
        (where.size - 1,)
        if where.ndim == 1
        else tuple(int(n) + 1 for n in where[:, :-1].max(0, initial=-1))
    )


def _read_weights(weights: Any) -> Array:
    """Return the weights as a vector, which may be traced."""
    if isinstance(weights, list) and is_nested(weights, 1):
        return np.concatenate([np.zeros(0, np.float32), *(np.float32(row) for row in weights)])
    if isinstance(weights, tuple):
        return as_array(weights[1], "sp_weights")
    return as_array(getattr(weights, "values", weights), "sp_weights")


def _join_parts(params: Any) -> Array:
    parts = [
        as_array(p, "params") for p in (params if isinstance(params, list | tuple) else [params])
    ]
    if not parts:
        raise ValueError("params is empty; give a table")
    return parts[0] if len(parts) == 1 else namespace(*parts).concatenate(parts)


def _check_ids(ids: np.ndarray, table: Array, name: str) -> None:
    IndexedSlices(np.empty((ids.size, 0)), ids).check_rows(table.shape[0], name)


@quiet
def _combine(
    table: Array, lookups: _SparseLookups, count: int, combiner: str, max_norm: float | None
) -> Array:
    """Return (count, ...): the combined rows of each sample."""
    check_choice("combiner", combiner, ("sum", "mean", "sqrtn"))
    _check_ids(lookups.ids, table, "sp_ids")
    xp = namespace(*(x for x in (table, lookups.weights) if x is not None))
    rows = _clip_rows(xp.asarray(table)[lookups.ids], max_norm)
    wide = rows.astype(np.float32) if rows.dtype.itemsize < 4 else rows
    weights = lookups.weights
    w = (
        xp.ones(lookups.ids.size, wide.dtype)
        if weights is None
        else xp.asarray(weights, wide.dtype)
    )
    terms = wide * _as_column(w, rows.ndim)
    if lookups.keep is not None:
        # A term that doesn't count may be infinite, so it is replaced, not multiplied by 0.
        w = xp.where(lookups.keep, w, w.dtype.type(0))
        terms = xp.where(_as_column(lookups.keep, terms.ndim), terms, terms.dtype.type(0))
    sums = _segment_sum(terms, lookups.samples, count)
    if combiner != "sum":
        divisor = _divisor(w, lookups.samples, count, combiner)
        sums = _divide(sums, _as_column(divisor, rows.ndim))
    return sums.astype(rows.dtype)


def _divisor(w: Array, samples: np.ndarray, count: int, combiner: str) -> Array:
    """Return the divisor of each sample's sum."""
    if combiner == "mean":
        return _segment_sum(w, samples, count)
    xp = namespace(w)
    total = _segment_sum(w * w, samples, count)
    # The inner `where` keeps the derivative of the root finite at 0.
    root: Array = xp.where(total == 0, total, xp.sqrt(xp.where(total == 0, 1, total)))
    return root


def _divide(x: Array, y: Array) -> Array:
    """Return x / y, and 0 where y is 0; derivatives too, in TensorFlow's order."""
    return _differentiable_quotient()(x, y) if is_jax(x) else _quotient(x, y)


def _quotient(x: Array, y: Array) -> Array:
    xp = namespace(x, y)
    is_zero = y == 0
    return xp.where(is_zero, x.dtype.type(0), x / xp.where(is_zero, y.dtype.type(1), y))


@cache
def _differentiable_quotient() -> Any:
    """Return `_quotient` for JAX, with a derivative that is 0 where y is."""
    quotient = jax.custom_jvp(_quotient)

    @quotient.defjvp
    def tangent(primals: Any, tangents: Any) -> Any:
        x, y = primals
        dx, dy = tangents
        return _quotient(x, y), _quotient(dx, y) + dy * _quotient(_quotient(-x, y), y)

    return quotient


def _clip_rows(rows: Array, max_norm: float | None) -> Array:
    return rows if max_norm is None else clip_by_norm(rows, max_norm, list(range(1, rows.ndim)))


def _as_column(x: Array, rank: int) -> Array:
    return x.reshape(-1, *[1] * (rank - 1))


def _segment_sum(x: Array, samples: np.ndarray, count: int) -> Array:
    return add_rows(namespace(x).zeros((count, *x.shape[1:]), x.dtype), samples, x)

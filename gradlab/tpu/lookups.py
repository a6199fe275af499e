"""Lookups as the host works them out: as coordinates (sample, id, gain), and each row wanted once."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from .._base.arrays import quiet
from ..errors import InvalidArgumentError

OUTSIDE = 2**31 - 1  # the id of a place that holds none, past the end of every table


class Lookups(NamedTuple):
    """The lookups of one table, those of all cores one after another; every core has as many.

    The rows `unique` are fetched once each (`OUTSIDE`: none), lookup n is row `unique[inverse[n]]` of its own core
    times `weights[n]`, and goes into sample `samples[n]` of its core, features counted one after another. A lookup
    that only fills up has `inverse` and `samples` past their ends and weight 0. These are the deduplication data:
    uint32, uint32, uint32, float32. Not in TensorFlow: the engine's own order of these vectors is not public.

    >>> one = Lookups(np.uint32([3, 7]), np.uint32([1, 0, 1]), np.uint32([0, 0, 1]), np.float32([0.5, 0.5, 1]))
    >>> one.unique[one.inverse].tolist()
    [7, 3, 7]
    """

    unique: Any
    inverse: Any
    samples: Any
    weights: Any


Combiner = Literal["sum", "mean", "sqrtn"]


class CooRows(NamedTuple):
    """Sample, id and gain of each lookup, three vectors of one length (int32, int32, float32).

    Source: the SparseCore preprocessing kernel `ConvertToCooTensor`, TensorFlow 2.21 (2026).

    >>> CooRows(np.int32([0]), np.int32([7]), np.float32([1.0])).col_ids.tolist()
    [7]
    """

    row_ids: np.ndarray
    col_ids: np.ndarray
    gains: np.ndarray


@quiet
def combiner_gains(sample_ids: Any, weights: Any, sample_count: int, combiner: Combiner = "mean") -> np.ndarray:
    """The factor of each looked-up row before the rows of its sample are summed.

        sum: w,   mean: w / sum(w),   sqrtn: w / sqrt(sum(w * w)),   sums over the lookups of the sample

    An id that a sample names twice counts twice. Where the sum is 0, so is the gain: there is no division by zero.

    Args:
        sample_ids: (n,) integers in [0, sample_count).
        weights: (n,) floats, or None for ones.
        sample_count: number of samples, those without ids included.

    Raises:
        ValueError: an unknown combiner. InvalidArgumentError: lengths differ, or a sample id is out of range.

    Source: the SparseCore preprocessing kernel `ConvertToCooTensor`, TensorFlow 2.21 (2026).

    >>> combiner_gains([0, 0, 2], [1.0, 3.0, 5.0], 3, "mean").tolist()
    [0.25, 0.75, 1.0]
    """
    samples = _vector("sample_ids", sample_ids, np.int32)
    w = np.ones(samples.size, np.float32) if weights is None else _vector("weights", weights, np.float32)
    if w.shape != samples.shape:
        raise InvalidArgumentError(f"each lookup needs one weight: {samples.size} sample_ids, {w.size} weights")
    if samples.size and not 0 <= samples.min() <= samples.max() < sample_count:
        raise InvalidArgumentError(f"sample_ids must be in [0, {sample_count}), got {samples.min()} to {samples.max()}")
    if combiner == "sum":
        return w
    if combiner not in ("mean", "sqrtn"):
        raise ValueError(f"combiner must be 'sum', 'mean' or 'sqrtn', got {combiner!r}")
    total = np.zeros(sample_count, np.float32)
    np.add.at(total, samples, w if combiner == "mean" else w * w)
    size = total if combiner == "mean" else np.sqrt(total)
    gains: np.ndarray = w * np.where(size == 0, np.float32(0), np.float32(1) / size)[samples]
    return gains


def coo_rows(sample_ids: Any, values: Any, weights: Any, sample_count: int, combiner: Combiner = "mean") -> CooRows:
    """The lookups of a batch as coordinates, neighbors that name the same id in the same sample joined.

    Gains are computed first and then added, so joining changes no sum. Only neighbors are joined: an id that comes
    again after another one stays as it is.

    Args:
        sample_ids, values: (n,) integers, the sample and the id of each lookup, ordered by sample.
        weights: (n,) floats, or None for ones.
        sample_count, combiner: as for `combiner_gains`, which raises what this raises.

    Source: the SparseCore preprocessing kernel `ConvertToCooTensor`, TensorFlow 2.21 (2026).

    >>> rows = coo_rows([0, 0, 1], [5, 5, 5], [1.0, 2.0, 4.0], 2, "sum")
    >>> rows.row_ids.tolist(), rows.col_ids.tolist(), rows.gains.tolist()
    ([0, 1], [5, 5], [3.0, 4.0])
    """
    gains = combiner_gains(sample_ids, weights, sample_count, combiner)
    samples, ids = _vector("sample_ids", sample_ids, np.int32), _vector("values", values, np.int32)
    if ids.shape != samples.shape:
        raise InvalidArgumentError(f"each lookup needs one id: {samples.size} sample_ids, {ids.size} values")
    first = np.ones(samples.size, bool)
    first[1:] = (samples[1:] != samples[:-1]) | (ids[1:] != ids[:-1])
    joined = np.zeros(int(first.sum()), np.float32)
    np.add.at(joined, np.cumsum(first) - 1, gains)
    return CooRows(samples[first], ids[first], joined)


def _vector(name: str, x: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(x)
    if array.ndim != 1:
        raise InvalidArgumentError(f"{name} must be a vector, got shape {array.shape}")
    return array.astype(dtype)

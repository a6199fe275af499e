"""The ids of a feature: `Ids`, and how dense, nested, sparse and ragged ids are read into it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import as_real_numbers
from .._base.indices import as_integers
from ..errors import InvalidArgumentError
from .plan import Feature


class Ids(NamedTuple):
    """The ids of one feature on one core: sample, id and weight of each lookup.

    `samples` count the feature's samples in C order of its shape, without the sequence axis, and
    do not decrease. Weights None are all 1. In a sequence `places` are those of its ids; None: 0,
    1, ... as they come.

    Source: inputs of op `EnqueueTPUEmbeddingSparseBatch`, TensorFlow 2.21 (2026).

    >>> Ids(samples=[0, 0, 1], ids=[7, 3, 7]).weights is None
    True
    """

    samples: Any
    ids: Any
    weights: Any = None
    places: Any = None


def ids_of(feature: Feature, values: Any, weights: Any = None) -> Ids:
    """Return the lookups of a feature, whichever way its ids are written.

        dense     an integer array of the feature's shape, with or without a last axis of 1: an id for each sample
        lists     a list for each sample, nested as the feature's shape is: [[7, 3], [], [7]]
        sparse    (indices, ids): row k of `indices` is the sample of id k, then its place among the sample's ids;
                  empty `indices` mean dense
        ragged    (row_splits, ids): sample k has the ids row_splits[k] to row_splits[k + 1]

    Instead of a tuple it may be anything with `indices` and `values`, or `row_splits` and `values`,
    as TensorFlow's are. Sparse ids come in any order; in a sequence each stands at its place, which
    may leave gaps.

    Args:
        feature: its shape, without the axis of a sequence, says how many samples there are.
        values: the ids, integers.
        weights: one for each id: written as the ids are, or as a vector in their order. None or
            empty: all 1.

    Raises:
        InvalidArgumentError: ids that are not integers or do not fit the feature, malformed indices
            or splits, weights in other places than the ids, weights or dense ids for a sequence. It
            names the feature.

    Source: inputs of op `EnqueueTPUEmbeddingArbitraryTensorBatch`, TensorFlow 2.21 (2026). Lists
    are not in TensorFlow.

    >>> feature = Feature("f", 0, (3,))
    >>> for values in ([[7, 3], [], [7]], ([0, 2, 2, 3], [7, 3, 7]), ([[0, 0], [0, 1], [2, 0]], [7, 3, 7])):
    ...     ids = ids_of(feature, values)
    ...     print(ids.samples.tolist(), ids.ids.tolist())
    [0, 0, 2] [7, 3, 7]
    [0, 0, 2] [7, 3, 7]
    [0, 0, 2] [7, 3, 7]
    """
    entries = Reader(feature).read(values)
    if entries.values.size and entries.values.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"the ids of feature {feature.name!r} must be integers, got {entries.values.dtype}; "
            "for several ids in one sample give lists, (indices, ids) or (row_splits, ids)"
        )
    w = _read_weights(feature, entries, weights)
    return _sort_ids(entries, w, keep_places=feature.sequence_length > 0)


class Entries(NamedTuple):
    """Sample and value of each entry as it was written, and its place in the sample where that was written too."""

    samples: np.ndarray
    values: np.ndarray
    places: np.ndarray | None = None


class Reader:
    """Reads the ids of one feature, or their weights, in every form."""

    def __init__(self, feature: Feature) -> None:
        self.name = f"feature {feature.name!r}"
        self.length = feature.sequence_length
        self.shape = feature.shape[:-1] if self.length else feature.shape

    def read(self, values: Any) -> Entries:
        """Return the entries of values in any form."""
        if hasattr(values, "row_splits"):
            values = (values.row_splits, values.values)
        elif hasattr(values, "indices") and hasattr(values, "values"):
            values = (values.indices, values.values)
        if isinstance(values, tuple):
            return self._read_pair(
                as_integers(values[0], f"where the values of {self.name} are"),
                np.asarray(values[1]),
            )
        if isinstance(values, list) and is_nested(values, len(self.shape)):
            return self._read_lists(values)
        return self._read_dense(np.asarray(values))

    def _read_pair(self, where: np.ndarray, values: np.ndarray) -> Entries:
        if values.ndim != 1 and where.size:
            raise InvalidArgumentError(
                f"{self.name} needs a vector of values, got shape {values.shape}"
            )
        if where.size == 0:
            if where.ndim == 2 and not values.size:
                return Entries(np.zeros(0, np.int64), values)
            return self._read_dense(values)
        if where.ndim > 1:
            return self._read_sparse(where, values)
        return self._read_ragged(where, values)

    def _read_dense(self, values: np.ndarray) -> Entries:
        if self.length:
            raise InvalidArgumentError(
                f"{self.name} has sequences of {self.length}, got dense ids of shape "
                f"{values.shape}; give lists, (indices, ids) or (row_splits, ids)"
            )
        if values.shape not in (self.shape, (*self.shape, 1), (math.prod(self.shape),)):
            raise InvalidArgumentError(
                f"dense ids of {self.name} must have shape {self.shape}, got {values.shape}; for "
                "several ids in one sample give lists, (indices, ids) or (row_splits, ids)"
            )
        return Entries(np.arange(values.size), values.reshape(-1))

    def _read_lists(self, values: Sequence[Any]) -> Entries:
        rows: list[Any] = [values]
        for n in self.shape:
            if wrong := [len(r) for r in rows if len(r) != n]:
                raise InvalidArgumentError(
                    f"{self.name} has samples of shape {self.shape}; got {wrong[0]} for {n}"
                )
            rows = [x for r in rows for x in r]
        parts = [np.asarray(r).reshape(-1) if np.size(r) else np.zeros(0, np.int32) for r in rows]
        return Entries(
            np.repeat(np.arange(len(rows)), [x.size for x in parts]), np.concatenate(parts)
        )

    def _read_sparse(self, indices: np.ndarray, values: np.ndarray) -> Entries:
        if indices.shape != (values.size, len(self.shape) + 1):
            raise InvalidArgumentError(
                f"{self.name} of shape {self.shape} needs indices of shape "
                f"{(values.size, len(self.shape) + 1)}, a row for each id; got {indices.shape}"
            )
        samples = indices[:, :-1]
        places = indices[:, -1]
        inside = ((samples >= 0) & (samples < np.array(self.shape))).all(1) & (places >= 0)
        if not inside.all():
            row = int(np.argmin(inside))
            raise InvalidArgumentError(
                f"{self.name} has samples of shape {self.shape}; row {row} of its indices is "
                f"{indices[row].tolist()}"
            )
        return Entries(
            np.asarray(np.ravel_multi_index(tuple(samples.T), self.shape)), values, places
        )

    def _read_ragged(self, splits: np.ndarray, values: np.ndarray) -> Entries:
        count = math.prod(self.shape)
        lengths = np.diff(splits)
        if (
            splits.size != count + 1
            or splits[0] != 0
            or splits[-1] != values.size
            or (lengths < 0).any()
        ):
            raise InvalidArgumentError(
                f"{self.name} needs {count + 1} row splits that rise from 0 to the number of ids, "
                f"{values.size}; got {splits.size} from {splits[0]} to {splits[-1]}"
            )
        return Entries(np.repeat(np.arange(count), lengths.astype(np.intp)), values)


def is_nested(values: Sequence[Any], depth: int) -> bool:
    """Tell whether lists occur where a dense array of this depth has numbers."""
    entries = list(values)
    for _ in range(depth - 1):
        entries = [x for e in entries if _is_row(e) for x in e]
    return any(_is_row(e) for e in entries)


def _is_row(x: Any) -> bool:
    return isinstance(x, list | tuple) or np.ndim(x) > 0


def _read_weights(feature: Feature, ids: Entries, weights: Any) -> np.ndarray | None:
    """Return the weights in the order in which the ids are written."""
    if weights is None or (not hasattr(weights, "values") and len(weights) == 0):
        return None
    name = f"feature {feature.name!r}"
    if feature.sequence_length:
        raise InvalidArgumentError(
            f"{name} is a sequence: its ids are not combined and have no weights"
        )
    is_vector = _is_vector(weights)
    entries = (
        ids._replace(values=np.asarray(weights)) if is_vector else Reader(feature).read(weights)
    )
    if entries.values.shape != ids.values.shape or not _have_same_places(entries, ids):
        raise InvalidArgumentError(
            f"{name} needs a weight for each id, written in the same places; got {ids.values.size} "
            f"ids and {entries.values.size} weights"
        )
    return np.asarray(as_real_numbers(entries.values, f"the weights of {name}"), np.float32)


def _is_vector(x: Any) -> bool:
    if isinstance(x, list):
        return not is_nested(x, 1)
    return not isinstance(x, tuple) and not hasattr(x, "values") and np.ndim(x) == 1


def _have_same_places(a: Entries, b: Entries) -> bool:
    if a.places is not None and b.places is not None and not np.array_equal(a.places, b.places):
        return False
    return np.array_equal(a.samples, b.samples)


def _sort_ids(entries: Entries, weights: np.ndarray | None, keep_places: bool) -> Ids:
    """Return the ids in the order of samples, and of the places in them."""
    samples, ids, places = entries
    if places is None:
        return Ids(samples, ids, weights)
    order = np.lexsort((places, samples))
    return Ids(
        samples[order],
        ids[order],
        None if weights is None else weights[order],
        places[order] if keep_places else None,
    )


def tensor_of(values: Any) -> str:
    """Return TensorFlow's kind of tensor for it: SparseTensor, RaggedTensor (also for lists of lists), or Tensor."""
    if hasattr(values, "row_splits"):
        return "RaggedTensor"
    if isinstance(values, tuple):
        return "SparseTensor" if np.ndim(values[0]) > 1 else "RaggedTensor"
    if hasattr(values, "indices"):
        return "SparseTensor"
    is_lists = isinstance(values, list) and any(
        isinstance(x, list | tuple) or np.ndim(x) for x in values
    )
    return "RaggedTensor" if is_lists else "Tensor"

"""Lookups without an engine, as a model makes them that is only served."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...._base.arrays import Array, add_rows, as_real_numbers, set_rows
from ...._base.jax_or_numpy import jnp
from ....errors import EmbeddingWarning, InvalidArgumentError, warn
from ...ids import tensor_of
from ...lookup_sparse import embedding_lookup_sparse, safe_embedding_lookup_sparse
from .host_inputs import InputFormat, read_format
from .optimizer import Optimizer
from .structure import leaves, leaves_by_path, packed_by_path
from .table_config import FeatureConfig, TableConfig
from .table_set import TableSet, Variables


def serving_embedding_lookup(
    inputs: Any, weights: Any, tables: Mapping[TableConfig, Any], feature_config: Any
) -> Any:
    """Look up as `TPUEmbedding` does, as a pure function of the tables that JAX can differentiate.

    Args:
        inputs: ids of features, nested like them, or some of a dict, or the first of a list or
            tuple: dense (of any shape), lists, sparse with a dense shape, or ragged. See `ids_of`.
        weights: the same with a weight for each id and written the same way, None for ones.
        tables: arrays by their TableConfig, NumPy or JAX.
        feature_config: `FeatureConfig` objects in any nesting.

    Returns:
        nested like the inputs, float32: (samples..., dim) each.

    Unlike in training, ids below 0 are left out, and so are weights that are not above 0 where the
    combiner divides by them, unless the feature says `validate_weights_and_indices=False`; ragged
    ids and lists are taken as they are.

    Raises:
        ValueError: a feature that is not there, weights of dense ids or of a sequence or written
            another way, dense ids of a sequence, samples that do not fill an output shape.
        KeyError: a table that is not there.
        InvalidArgumentError: an id outside its table.

    Source: `tf.tpu.experimental.embedding.serving_embedding_lookup`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu.experimental.embedding import FeatureConfig, TableConfig
    >>> table = TableConfig(4, 1, combiner="sum")
    >>> features = {"a": FeatureConfig(table), "b": FeatureConfig(table)}
    >>> serving_embedding_lookup({"a": [[3, 1], []]}, None, {table: np.arange(4.0)[:, None]}, features)["a"].tolist()
    [[4.0], [0.0]]
    """
    features = dict(leaves(feature_config))
    given = leaves_by_path(feature_config, inputs, "inputs")
    scales = {} if weights is None else leaves_by_path(feature_config, weights, "weights")
    if scales and scales.keys() != given.keys():
        raise ValueError(
            f"weights must be for the features {', '.join(given)}, got {', '.join(scales)}"
        )
    found = {
        path: _lookup(
            features[path].name or path,
            features[path],
            tables[features[path].table],
            ids,
            scales.get(path),
        )
        for path, ids in given.items()
    }
    return packed_by_path(feature_config, inputs, found)


class TPUEmbeddingForServing(TableSet):
    """Tables that are only looked up.

    Args:
        feature_config: as for `TPUEmbedding`.
        optimizer: None for tables without slots, which take less memory.
        experimental_sparsecore_restore_info: kept, without effect: checkpoints here are those of
            whole tables.
        seed: of the tables without an initializer.

    Raises:
        ValueError: two tables of one name, an optimizer of another kind, not a FeatureConfig.

    Source: `tf.tpu.experimental.embedding.TPUEmbeddingForServing`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu.experimental.embedding import FeatureConfig, RowIdInitializer, TableConfig
    >>> served = TPUEmbeddingForServing(FeatureConfig(TableConfig(4, 1, RowIdInitializer())))
    >>> served([[3, 1], [2]]).tolist()
    [[2.0], [2.0]]
    """

    def __init__(
        self,
        feature_config: Any,
        optimizer: Optimizer | None = None,
        experimental_sparsecore_restore_info: dict[str, Any] | None = None,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(feature_config, optimizer, False, seed)
        self.restore_info = experimental_sparsecore_restore_info

    def __call__(self, features: Any, weights: Any = None) -> Any:
        """`embedding_lookup`."""
        return self.embedding_lookup(features, weights)

    def build(self) -> None:
        """Make the tables; another call does nothing."""
        self._read()

    @property
    def variables(self) -> Variables:
        """All tables and slots by name."""
        return self.retrieve()

    def embedding_lookup(self, features: Any, weights: Any = None) -> Any:
        """`serving_embedding_lookup` in these tables.

        Raises:
            ValueError, InvalidArgumentError: what that refuses.
        """
        return serving_embedding_lookup(features, weights, self.embedding_tables, self._structure)


def _lookup(path: str, feature: FeatureConfig, table: Any, ids: Any, weights: Any) -> Array:
    """Return the activations of one feature."""
    kind = tensor_of(ids)
    if weights is not None:
        check_served_weights(path, feature, kind, weights)
    table = jnp.asarray(as_real_numbers(table, f"the table of feature {path!r}"), jnp.float32)
    if kind == "Tensor":
        if feature.max_sequence_length:
            raise ValueError(
                f"Feature {path!r} is a sequence feature but a dense tensor was passed: give "
                "lists of ids"
            )
        return rows_at(path, table, np.asarray(ids))
    given = read_format(ids, path)
    return (_sparse if kind == "SparseTensor" else _ragged)(
        path, feature, table, ids, weights, given
    )


def check_served_weights(path: str, feature: FeatureConfig, kind: str, weights: Any) -> None:
    """Refuse weights of dense ids and of sequences, and those written another way than the ids."""
    if kind == "Tensor":
        raise ValueError(
            f"Weight specified for {path!r}, but input is dense: each "
            "weighs 1, so it takes no weights"
        )
    if (theirs := tensor_of(weights)) != kind:
        raise ValueError(
            f"Weight for {path!r} is of type {theirs} but it does not match type of the input "
            f"which is {kind}: write both the same way"
        )
    if feature.max_sequence_length:
        raise ValueError(
            f"Weight specified for {path!r}, but this is a sequence feature, whose ids are not "
            "combined: it takes no weights"
        )


def rows_at(path: str, table: Array, ids: np.ndarray) -> Array:
    """Return the rows of a table at ids of any shape; refuse ids outside it."""
    outside = (ids < 0) | (ids >= table.shape[0])
    if outside.any():
        raise InvalidArgumentError(
            f"id {ids[outside][0]} of feature {path!r} is outside its table, whose rows are 0 to "
            f"{table.shape[0] - 1}"
        )
    return table[ids.astype(np.int64)]


def _sparse(
    path: str, feature: FeatureConfig, table: Array, ids: Any, weights: Any, given: InputFormat
) -> Array:
    rank, combiner = len(given.shape), str(feature.table.combiner)
    if feature.is_sequence and rank == 2:
        indices, values = (
            np.asarray(x)
            for x in ((ids.indices, ids.values) if hasattr(ids, "indices") else ids[:2])
        )
        return _in_rows(
            path,
            table,
            indices[:, 0],
            indices[:, 1],
            values,
            (given.shape[0] or 0, feature.max_sequence_length),
        )
    if feature.max_sequence_length:
        warn(
            f"the ids of feature {path!r} have {rank} axes, so that they are no sequence",
            EmbeddingWarning,
        )
    if not feature.validate_weights_and_indices and rank <= 2:
        return embedding_lookup_sparse(table, ids, weights, combiner)
    return safe_embedding_lookup_sparse(table, ids, weights, combiner)


def _ragged(
    path: str, feature: FeatureConfig, table: Array, ids: Any, weights: Any, given: InputFormat
) -> Array:
    splits, values = read_splits(ids)
    count, shape = splits.size - 1, feature.output_shape
    wanted = count if shape is None else math.prod(n or 0 for n in shape)
    length = (
        feature.max_sequence_length
        if shape is None
        else wanted // max(count, 1)
        if wanted != count
        else 0
    )
    if shape is not None and wanted != count and (wanted < count or wanted % count):
        raise ValueError(
            "Output shape set in the FeatureConfig should be the factor of the number of samples: "
            f"feature {path!r} has the output shape {shape}, which {count} samples cannot fill"
        )
    samples = np.repeat(np.arange(count), np.diff(splits).astype(np.intp))
    if length:
        places = np.arange(samples.size) - splits[samples]
        found = _in_rows(path, table, samples, places, values, (count, length))
    else:
        rows_at(path, table, values)
        found = _reduced(table, (splits, values), weights, str(feature.table.combiner), count)
    return found if shape is None else found.reshape(*(n or 0 for n in shape), -1)


def _reduced(
    table: Array, ids: tuple[np.ndarray, np.ndarray], weights: Any, combiner: str, count: int
) -> Array:
    """Return all samples, the last ones too where they are empty."""
    found = embedding_lookup_sparse(table, ids, weights, combiner)
    return set_rows(
        jnp.zeros((count, table.shape[1]), found.dtype), np.arange(found.shape[0]), found
    )


def _in_rows(
    path: str,
    table: Array,
    samples: np.ndarray,
    places: np.ndarray,
    ids: np.ndarray,
    shape: tuple[int, int],
) -> Array:
    """Return the rows of each sample side by side, cut off or filled up with zeros."""
    keep = places < shape[1]
    rows = rows_at(path, table, ids[keep])
    zeros = jnp.zeros((shape[0] * shape[1], table.shape[1]), table.dtype)
    return add_rows(zeros, samples[keep] * shape[1] + places[keep], rows).reshape(
        *shape, table.shape[1]
    )


def read_splits(ids: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the row splits and the values of ragged ids, or of a list for each sample."""
    if hasattr(ids, "row_splits"):
        ids = (ids.row_splits, ids.values)
    if isinstance(ids, tuple):
        return np.asarray(ids[0], np.int64), np.asarray(ids[1])
    parts = [np.asarray(row, np.int64).reshape(-1) for row in ids]
    return np.cumsum([0, *(p.size for p in parts)]), np.concatenate([np.zeros(0, np.int64), *parts])

"""Embedding tables without an engine: looked up whole, and trained like any variables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...._base.arrays import Array
from ...._base.jax_or_numpy import jnp
from ....train.variable import Variable
from ...ids import tensor_of
from .host_inputs import read_format
from .optimizer import Optimizer
from .serving import check_served_weights, read_splits, rows_at
from .structure import leaves_like, packed_like
from .table_config import FeatureConfig, TableConfig
from .table_set import TableSet, Variables


class TPUEmbeddingV0(TableSet):
    """Small embedding tables for machines without an embedding engine.

    Each device has all rows. Ids become a matrix, filled up with id 0 and weight 0, its rows are
    looked up, multiplied by the weights and combined. Tables are variables, which an optimizer of
    `gl.keras` or `gl.train` updates.

    Args:
        feature_config: as for `TPUEmbedding`.
        optimizer: None for tables without slots; it doesn't update them.
        seed: of the tables without an initializer.

    Raises:
        ValueError: two tables of one name, an optimizer of another kind, not a FeatureConfig.

    Differs from `TPUEmbedding`: no id and no weight is left out, a sum of weights of 0 gives zeros,
    and a sequence of a ragged feature is filled up with row 0. Differs from TensorFlow: it needs no
    TPUStrategy, and gradients are those of `jax.grad` by the argument `tables` of
    `embedding_lookup`.

    Source: `tf.tpu.experimental.embedding.TPUEmbeddingV0`, TensorFlow 2.21 (2026).

    >>> import jax
    >>> import gradlab as gl
    >>> tpu = gl.tpu.experimental.embedding
    >>> table = tpu.TableConfig(4, 1, tpu.RowIdInitializer(), combiner="sum", name="t")
    >>> embedding = TPUEmbeddingV0({"words": tpu.FeatureConfig(table)}, None)
    >>> words = {"words": [[3, 1], [3]]}
    >>> embedding(words)["words"].tolist()
    [[4.0], [3.0]]
    >>> def loss(tables):
    ...     return embedding.embedding_lookup(words, tables=tables)["words"].sum()
    >>> gradient = jax.grad(loss)(embedding.table_values())["t"]
    >>> step = gl.keras.SGD(0.5).apply_gradients([(gradient, embedding.embedding_tables[table])])
    >>> embedding.embedding_tables[table].numpy().ravel().tolist()
    [0.0, 0.5, 2.0, 2.0]
    """

    def __init__(
        self, feature_config: Any, optimizer: Optimizer | None = None, *, seed: int = 0
    ) -> None:
        super().__init__(feature_config, optimizer, False, seed)
        self._tables_as_variables: list[Variable] | None = None

    def __call__(self, features: Any, weights: Any = None) -> Any:
        """`embedding_lookup`."""
        return self.embedding_lookup(features, weights)

    def build(self) -> None:
        """Make the tables; another call does nothing."""
        self._as_variables()

    @property
    def embedding_tables(self) -> dict[TableConfig, Variable]:  # type: ignore[override]  # variables
        """The tables as variables, by their `TableConfig`; they are made if they were not yet."""
        return dict(zip(self._tables, self._as_variables(), strict=True))

    @property
    def variables(self) -> Variables:
        """All tables and slots by name; copies."""
        return self.retrieve()

    def table_values(self) -> dict[str, Array]:
        """Return the tables by name, as `embedding_lookup` takes them."""
        return {
            str(table.name): jnp.asarray(variable.numpy())
            for table, variable in zip(self._tables, self._as_variables(), strict=True)
        }

    def embedding_lookup(
        self, features: Any, weights: Any = None, *, tables: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the activations, nested like the features, float32.

        Args:
            features: ids nested like the features: dense (of any shape), a list for each sample,
                sparse with a dense shape, or ragged. See `ids_of`.
            weights: the same with a weight for each id and written the same way, None for ones.
            tables: arrays by name of the table instead of the variables, by which JAX can
                differentiate.

        Raises:
            ValueError: weights of dense ids or of a sequence or written another way, dense ids of a
                sequence, samples that don't fill an output shape.
            InvalidArgumentError: an id outside its table.
        """
        values = self.table_values() if tables is None else tables
        flat = leaves_like(self._structure, features, "features")
        scales = [None] * len(flat)
        if weights is not None:
            scales = leaves_like(self._structure, weights, "weights")
        activations = [
            _look_up(label, feature, values[str(feature.table.name)], ids, own)
            for (label, feature), ids, own in zip(self._features, flat, scales, strict=True)
        ]
        return packed_like(self._structure, activations)

    def _as_variables(self) -> list[Variable]:
        if self._tables_as_variables is None:
            self._tables_as_variables = [
                Variable(own[0], name=str(table.name))
                for table, own in zip(self._tables, super()._read(), strict=True)
            ]
        return self._tables_as_variables

    def _read(self) -> list[list[np.ndarray]]:
        arrays = super()._read()
        variables = self._as_variables()
        return [
            [variable.numpy(), *own[1:]] for variable, own in zip(variables, arrays, strict=True)
        ]

    def _write(self, arrays: Mapping[int, list[np.ndarray]]) -> None:
        super()._write(arrays)
        for k, variable in enumerate(self._as_variables()):
            if k in arrays:
                variable.assign(arrays[k][0])


def _look_up(label: str, feature: FeatureConfig, table: Any, ids: Any, weights: Any) -> Array:
    """Return the activations of one feature."""
    kind = tensor_of(ids)
    if weights is not None:
        check_served_weights(label, feature, kind, weights)
    table = jnp.asarray(table, jnp.float32)
    if kind == "Tensor":
        if feature.max_sequence_length:
            raise ValueError(
                f"Feature {label!r} is a sequence feature but a dense tensor was passed: give "
                "lists of ids"
            )
        return rows_at(label, table, np.asarray(ids))
    if kind == "SparseTensor":
        return _look_up_sparse(label, feature, table, ids, weights)
    return _look_up_ragged(label, feature, table, ids, weights)


def _look_up_sparse(
    label: str, feature: FeatureConfig, table: Array, ids: Any, weights: Any
) -> Array:
    shape = tuple(n or 0 for n in read_format(ids, label).shape)
    indices = np.asarray(ids.indices if hasattr(ids, "indices") else ids[0], np.int64)
    where = tuple(indices.T)
    matrix = np.zeros(shape, np.int64)
    scale = np.zeros(shape, np.float32)
    matrix[where] = _values(ids)
    scale[where] = 1 if weights is None else _values(weights)
    if not feature.is_sequence:
        return _combine(label, feature, table, matrix, scale)
    length = feature.max_sequence_length
    matrix = _fit_columns(matrix, length)
    scale = _fit_columns(scale, length)
    return rows_at(label, table, matrix) * scale[..., None]


def _look_up_ragged(
    label: str, feature: FeatureConfig, table: Array, ids: Any, weights: Any
) -> Array:
    splits, values = read_splits(ids)
    counts = np.diff(splits)
    samples = counts.size
    output_shape = None if feature.output_shape is None else [n or 0 for n in feature.output_shape]
    filled = samples if output_shape is None else math.prod(output_shape)
    if filled < samples or filled % max(samples, 1):
        raise ValueError(
            "Output shape set in the FeatureConfig should be the factor of the input data batch "
            f"size: feature {label!r} has output shape {feature.output_shape}, which {samples} "
            "samples cannot fill"
        )
    is_present = np.arange(counts.max(initial=0)) < counts[:, None]
    matrix = np.zeros(is_present.shape, np.int64)
    matrix[is_present] = values
    scale = is_present.astype(np.float32)
    if weights is not None:
        scale[is_present] = _values(weights)

    length = feature.max_sequence_length
    if output_shape is not None:
        length = filled // samples if filled > samples else 0
    if length:
        # All places count, so those that are filled up are row 0.
        activations = rows_at(label, table, _fit_columns(matrix, length))
    else:
        activations = _combine(label, feature, table, matrix, scale)
    if output_shape is None:
        return activations
    return activations.reshape(*output_shape, table.shape[1])


def _combine(
    label: str, feature: FeatureConfig, table: Array, ids: np.ndarray, weights: np.ndarray
) -> Array:
    """Return the rows at ids times their weights, combined along the last axis of the ids."""
    total = (rows_at(label, table, ids) * weights[..., None]).sum(-2)
    if feature.table.combiner == "sum":
        return total
    divisor = weights.sum(-1)
    if feature.table.combiner == "sqrtn":
        divisor = np.sqrt((weights * weights).sum(-1))
    is_zero = divisor == 0
    divisor = np.where(is_zero, np.float32(1), divisor)
    return jnp.where(is_zero[..., None], 0, total / divisor[..., None])


def _fit_columns(matrix: np.ndarray, length: int) -> np.ndarray:
    """Return a matrix cut off at `length` columns, or filled up with zeros."""
    matrix = matrix[:, :length]
    return np.pad(matrix, ((0, 0), (0, length - matrix.shape[1])))


def _values(given: Any) -> np.ndarray:
    """Return ids or weights in a row."""
    if hasattr(given, "values"):
        return np.asarray(given.values)
    if isinstance(given, tuple):
        return np.asarray(given[1])
    return np.concatenate([np.zeros(0), *(np.asarray(row).reshape(-1) for row in given)])

"""Rows of tables: gradients of some rows, rows that were read, and how both are divided among shards.

Row r of a table is row r // shards of shard r % shards, as `gl.tpu` divides rows among devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._base.arrays import Array
from .._base.gradient_types import Gradient, check_shape
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from ..rules.rule import Shared, Slots
from ..train.accumulators.sparse_sum import SparseGradient, SparseSum

if TYPE_CHECKING:
    from ..tpu import Policy, Table

# Ends the name of a table's ids in a record, beside their values; no weight has such a name.
_IDS = "\0ids"


class Rows(NamedTuple):
    """Some rows of a table: ids in ascending order, and the row of each id."""

    ids: np.ndarray
    values: Array


def take_rows(w: Array | Rows, ids: np.ndarray) -> Array:
    """Return rows of a table, or of the rows of it that were read."""
    return w.values[np.searchsorted(w.ids, ids)] if isinstance(w, Rows) else w[ids]


def check_rows(name: str, g: Gradient, shape: tuple[int, ...]) -> IndexedSlices:
    """Return the gradient of a table's rows.

    Raises:
        InvalidArgumentError: it is not IndexedSlices of this shape with ascending ids, each once.
    """
    if not isinstance(g, IndexedSlices):
        raise InvalidArgumentError(
            f"the gradient of table {name} must be gl.IndexedSlices, got {type(g).__name__}"
        )
    check_shape(g, shape, name)
    ids = np.asarray(g.indices)
    if (np.diff(ids) <= 0).any():
        raise InvalidArgumentError(
            f"the rows of table {name} must ascend, each once: sum those of one id first"
        )
    return g


def update_rows(
    table: Table, policy: Policy, common: Shared, w: Array, slots: Slots, g: IndexedSlices
) -> tuple[np.ndarray, Any, *tuple[Any, ...]]:
    """Return the ids of the rows that a gradient moves, their new weights and their new slots.

    The rows are those that `gl.tpu.update_table` computes. The cost is that of these rows, whatever
    the size of the table.
    """
    from ..tpu import update_table  # which imports JAX where it is installed; only tables need it

    ids = np.asarray(g.indices)
    rows = IndexedSlices(g.values, np.arange(len(ids)), (len(ids), *w.shape[1:]))
    old_slots = tuple(s[ids] for s in slots)
    rule = table.rule.at(common)
    new, new_slots = update_table(table, w[ids], old_slots, rows, table.learning_rate, policy, rule)
    return ids, new, *new_slots


def mean_of_rows(gradients: Sequence[IndexedSlices]) -> IndexedSlices:
    """Return the mean that a SparseConditionalAccumulator takes: of each row, over the gradients that have it."""
    first = gradients[0]
    dtype = first.values.dtype
    total = SparseSum(dtype, (), is_mean=True, sum_dtype=dtype, by_row=True, strict=False)
    for g in gradients:
        total.add(SparseGradient(np.asarray(g.indices), g.values))
    mean = total.take()
    return IndexedSlices(mean.values, mean.indices, first.dense_shape)


def count_rows_of_shard(rows: int, shard: int, shards: int) -> int:
    """Return the number of a table's rows that a shard has."""
    return len(range(shard, rows, shards))


def split_gradient(gradient: Mapping[str, Gradient], shards: int) -> list[dict[str, Gradient]]:
    """Divide a gradient among shards, which count their own rows; arrays that are not of tables go to shard 0."""
    parts: list[dict[str, Gradient]] = [{} for _ in range(shards)]
    for name, g in gradient.items():
        if not isinstance(g, IndexedSlices):
            parts[0][name] = g
            continue
        assert g.dense_shape is not None
        rows, *rest = g.dense_shape
        ids = np.asarray(g.indices)
        for shard, places in enumerate(_places_by_shard(ids, shards)):
            shape = (count_rows_of_shard(rows, shard, shards), *rest)
            parts[shard][name] = IndexedSlices(g.values[places], ids[places] // shards, shape)
    return parts


def split_ids(ids_by_table: Mapping[str, np.ndarray], shards: int) -> list[dict[str, np.ndarray]]:
    """Divide the ids of rows among shards, which count their own rows."""
    parts: list[dict[str, np.ndarray]] = [{} for _ in range(shards)]
    for name, ids in ids_by_table.items():
        for shard, places in enumerate(_places_by_shard(ids, shards)):
            parts[shard][name] = ids[places] // shards
    return parts


def join_rows(ids: np.ndarray, parts: Sequence[Array]) -> Rows:
    """Put together the rows that shards sent for `split_ids`."""
    values = np.empty((len(ids), *parts[0].shape[1:]), parts[0].dtype)
    for places, part in zip(_places_by_shard(ids, len(parts)), parts, strict=True):
        values[places] = part
    return Rows(ids, values)


def join_tables(parts: Sequence[Array]) -> Array:
    """Put together the table of which each shard has its rows."""
    rows = sum(len(part) for part in parts)
    return join_rows(np.arange(rows), parts).values


def _places_by_shard(ids: np.ndarray, shards: int) -> list[np.ndarray]:
    shard_of_id = ids % shards
    return [np.flatnonzero(shard_of_id == shard) for shard in range(shards)]


def flatten_gradient(gradient: Mapping[str, Gradient]) -> dict[str, Array]:
    """Return a gradient as the arrays of a record."""
    arrays: dict[str, Array] = {}
    for name, g in gradient.items():
        if isinstance(g, IndexedSlices):
            arrays[name] = g.values
            arrays[name + _IDS] = g.indices
        else:
            arrays[name] = g
    return arrays


def restore_gradient(
    arrays: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Gradient]:
    """Return the gradient of a record; `shapes` are those of the weights."""
    gradient: dict[str, Gradient] = {}
    for name, x in arrays.items():
        if name.endswith(_IDS):
            continue
        ids = arrays.get(name + _IDS)
        gradient[name] = x if ids is None else IndexedSlices(x, ids, shapes[name])
    return gradient

"""Rows of tables: gradients of some rows, rows that were read, and how both are dealt out over shards.

Row r of a table is row r // shards of shard r % shards, as `gl.tpu` deals rows out over devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

_IDS = "\0ids"  # ends the name of a table's ids in a record, beside their values; no weight is named so


class Rows(NamedTuple):
    """Some rows of a table: ids in ascending order, and for each id its row."""

    ids: np.ndarray
    values: Array


def taken(w: Array | Rows, ids: np.ndarray) -> Array:
    """Rows of a table, of which only those that were read may be there."""
    return w.values[np.searchsorted(w.ids, ids)] if isinstance(w, Rows) else w[ids]


def check_rows(name: str, g: Gradient, shape: tuple[int, ...]) -> IndexedSlices:
    """The gradient of a table's rows, each once. Raises: InvalidArgumentError: it is none, or does not fit."""
    if not isinstance(g, IndexedSlices):
        raise InvalidArgumentError(f"the gradient of table {name} must be gl.IndexedSlices, got {type(g).__name__}")
    check_shape(g, shape, name)
    ids = np.asarray(g.indices)
    if (np.diff(ids) <= 0).any():
        raise InvalidArgumentError(f"the rows of table {name} must ascend, each once: sum those of one id first")
    return g


def moved(
    table: Table, policy: Policy, common: Shared, w: Array, slots: Slots, g: IndexedSlices
) -> tuple[np.ndarray, Any, *tuple[Any, ...]]:
    """The rows that move, their new weights and their new slots: what `gl.tpu.update_table` makes of them alone.

    What it costs is what these rows cost, however large the table is.
    """
    from ..tpu import update_table  # which brings JAX where it is installed; only those with tables need it

    ids = np.asarray(g.indices)
    own = IndexedSlices(g.values, np.arange(len(ids)), (len(ids), *w.shape[1:]))
    rule = table.rule.at(common)
    new, new_slots = update_table(table, w[ids], tuple(s[ids] for s in slots), own, table.learning_rate, policy, rule)
    return ids, new, *new_slots


def mean(gradients: Sequence[IndexedSlices]) -> IndexedSlices:
    """Their mean as a SparseConditionalAccumulator takes it: of each row, over those gradients that have it."""
    first = gradients[0]
    total = SparseSum(first.values.dtype, (), True, first.values.dtype, by_row=True, strict=False)
    for g in gradients:
        total.add(SparseGradient(np.asarray(g.indices), g.values))
    taken = total.take()
    return IndexedSlices(taken.values, taken.indices, first.dense_shape)


def rows_of_shard(rows: int, shard: int, shards: int) -> int:
    """The number of rows that a shard has of a table."""
    return len(range(shard, rows, shards))


def dealt(g: IndexedSlices, shards: int) -> Iterator[IndexedSlices]:
    """A gradient by shards, each part with the rows as its shard counts them."""
    assert g.dense_shape is not None
    rows, *rest = g.dense_shape
    ids = np.asarray(g.indices)
    for shard, place in enumerate(_places(ids, shards)):
        shape = (rows_of_shard(rows, shard, shards), *rest)
        yield IndexedSlices(g.values[place], ids[place] // shards, shape)


def dealt_ids(ids: np.ndarray, shards: int) -> Iterator[np.ndarray]:
    """Row ids by shards, as each counts its rows."""
    return (ids[place] // shards for place in _places(ids, shards))


def joined(ids: np.ndarray, parts: Sequence[Array]) -> Rows:
    """The rows that shards gave for `dealt_ids`."""
    values = np.empty((len(ids), *parts[0].shape[1:]), parts[0].dtype)
    for place, part in zip(_places(ids, len(parts)), parts, strict=True):
        values[place] = part
    return Rows(ids, values)


def whole(parts: Sequence[Array]) -> Array:
    """The table whose rows these shards have."""
    rows = sum(len(part) for part in parts)
    return joined(np.arange(rows), parts).values


def _places(ids: np.ndarray, shards: int) -> list[np.ndarray]:
    owner = ids % shards
    return [np.flatnonzero(owner == shard) for shard in range(shards)]


def flat(given: Mapping[str, Gradient]) -> dict[str, Array]:
    """Gradients as the arrays of a record."""
    arrays: dict[str, Array] = {}
    for name, g in given.items():
        arrays |= {name: g.values, name + _IDS: g.indices} if isinstance(g, IndexedSlices) else {name: g}
    return arrays


def gradients(arrays: Mapping[str, Array], like: Mapping[str, Array]) -> dict[str, Gradient]:
    """The gradients of a record, of weights like these."""

    def of(name: str) -> Gradient:
        ids = arrays.get(name + _IDS)
        return arrays[name] if ids is None else IndexedSlices(arrays[name], ids, tuple(like[name].shape))

    return {name: of(name) for name in arrays if not name.endswith(_IDS)}

"""Sorted by partition, merged, counted against the limits: what each SparseCore asks of every other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.errors import InvalidArgumentError
from ..._base.indices import changes, sorting
from .entries import AT_ONCE, Entries
from .stacking import Stack

BUCKETS = 64


class Limits(NamedTuple):
    """The largest number of lookups, and of distinct rows, that a SparseCore requests from a partition at a time.

    A (sample, row) pair counts once however often a sample names the row. The defaults are those of jax-tpu-embedding
    0.1.0 (2026), TableSpec.

    >>> Limits(max_ids=64)
    Limits(max_ids=64, max_unique_ids=256)
    """

    max_ids: int = 256
    max_unique_ids: int = 256


class Grouped(NamedTuple):
    """Merged lookups in the order of SparseCore, minibatch, partition, bucket, row, sample; vectors of one length.

    `first` and `row` count from 0 the lookups and the different rows of the same SparseCore, partition and bucket;
    `merged` is the number of ids that became the lookup.
    """

    sparse_cores: np.ndarray
    minibatches: np.ndarray
    partitions: np.ndarray
    buckets: np.ndarray
    columns: np.ndarray
    samples: np.ndarray
    gains: np.ndarray
    tables: np.ndarray
    first: np.ndarray
    row: np.ndarray
    merged: np.ndarray


def grouped(
    found: Entries, shards: int, buckets: np.ndarray | None = None, minibatch: np.ndarray | None = None
) -> Grouped:
    """Lookups sorted, and those of one row in one sample merged by adding their gains.

    Args:
        shards: number of partitions, a power of 2.
        buckets: for each entry, and minibatch: for each bucket; None is 0 everywhere.
    """
    if found.columns.size <= AT_ONCE:
        return _grouped(found, shards, buckets, minibatch)
    parts = []
    for core in np.flatnonzero(np.bincount(found.sparse_cores)):
        own = np.flatnonzero(found.sparse_cores == core)
        one = Entries(*(x[own] for x in found))
        parts.append(_grouped(one, shards, None if buckets is None else buckets[own], minibatch))
    return Grouped(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def _grouped(found: Entries, shards: int, buckets: np.ndarray | None, minibatch: np.ndarray | None) -> Grouped:
    bits = np.uint64(shards.bit_length() - 1)
    columns = found.columns.astype(np.uint32).astype(np.uint64)  # below 0: sorted after all others of its partition
    bucket = np.zeros(columns.size, np.uint64) if buckets is None else buckets.astype(np.uint64)
    batch = bucket if minibatch is None else minibatch.astype(np.uint64)[bucket]
    partition, local = columns & np.uint64(shards - 1), columns >> bits
    group = ((found.sparse_cores.astype(np.uint64) << np.uint64(6) | batch) << bits | partition) << np.uint64(
        6
    ) | bucket
    key = group << (np.uint64(32) - bits) | local
    order = _order(group, local)
    key, group, samples = key[order], group[order], found.samples[order]
    starts_row = changes(key)
    keep = starts_row | changes(samples)
    number = np.cumsum(keep) - 1
    gains = np.zeros(int(keep.sum()), np.float32)
    np.add.at(gains, number, found.gains[order])
    kept = order[keep]
    starts_group = changes(group[keep])
    return Grouped(
        found.sparse_cores[kept].astype(np.int64),
        batch[kept].astype(np.int64),
        partition[kept].astype(np.int64),
        bucket[kept].astype(np.int64),
        found.columns[kept],
        found.samples[kept].astype(np.int64),
        gains,
        found.tables[kept].astype(np.int64),
        _since(np.arange(kept.size), starts_group),
        _since(np.cumsum(starts_row[keep]), starts_group),
        np.bincount(number, minlength=kept.size),
    )


def _order(group: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Places in the order of group and row, equal ones as they stand."""
    if group.max(initial=0) >> np.uint64(32):  # more than 1024 SparseCores
        return np.lexsort((local, group))
    order = sorting(local)
    both: np.ndarray = order[sorting(group[order])]
    return both


def _since(count: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The count less what it was where the group began."""
    return count - count[np.flatnonzero(starts)][np.cumsum(starts) - 1] if count.size else count


def counts(g: Grouped, shards: int) -> tuple[np.ndarray, np.ndarray]:
    """Lookups and different rows that each SparseCore asks of each partition, by bucket: (shards, shards, 64)."""
    where = (g.sparse_cores * shards + g.partitions) * BUCKETS + g.buckets
    new_row = np.ones(g.row.size, bool)
    new_row[1:] = (g.row[1:] != g.row[:-1]) | (where[1:] != where[:-1])
    sizes = (np.bincount(x, minlength=shards * shards * BUCKETS) for x in (where, where[new_row]))
    ids, rows = (x.reshape(shards, shards, BUCKETS) for x in sizes)
    return ids, rows


def within(g: Grouped, limits: Limits) -> np.ndarray:
    """Which lookups are made when the others are dropped: the first of each partition, whole rows at a time."""
    return (g.first < limits.max_ids) & (g.row < limits.max_unique_ids)


def check_limits(stack: Stack, ids: np.ndarray, rows: np.ndarray, limits: Limits, per_core: int) -> None:
    """Refuse more than the limits.

    Args:
        ids, rows: (SparseCores, partitions), the most in any bucket.

    Raises:
        InvalidArgumentError: it names stack, core, partition, count and limit, and what to set.
    """
    for what, name, found, limit in (
        ("ids", "max_ids", ids, limits.max_ids),
        ("different ids", "max_unique_ids", rows, limits.max_unique_ids),
    ):
        if found.max(initial=0) > limit:
            at, partition = np.unravel_index(int(np.argmax(found)), found.shape)
            raise InvalidArgumentError(
                f"SparseCore {at % per_core} of core {at // per_core} asks partition {partition} of {stack.name!r} "
                f"(tables {', '.join(p.table for p in stack.places)}) for {found.max()} {what}, the limit is {limit}; "
                f"raise {name} in limits, make the batch smaller, set minibatching=True, or let ids go with "
                "allow_id_dropping=True"
            )

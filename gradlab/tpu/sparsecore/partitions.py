"""Partitions: the lookups of a batch sorted by the SparseCore that has the row, merged, and held to limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.indices import count_since_start, mark_changes, sort_with_order
from ...errors import InvalidArgumentError
from .entries import AT_ONCE, Entries, joined
from .stacking import Stack

BUCKETS = 64


class Limits(NamedTuple):
    """The largest number of lookups, and of distinct rows, that a SparseCore requests from a partition at a time.

    A (sample, row) pair counts once however often a sample names the row. The defaults are those of
    jax-tpu-embedding 0.1.0 (2026), TableSpec.

    >>> Limits(max_ids=64)
    Limits(max_ids=64, max_unique_ids=256)
    """

    max_ids: int = 256
    max_unique_ids: int = 256


class Grouped(NamedTuple):
    """Merged lookups in the order of SparseCore, minibatch, partition, bucket, row, sample; vectors of one length.

    `new_group` and `new_row` mark the first lookup of a SparseCore, partition and bucket, and of a
    row in them; `merged` is the number of ids that became the lookup.
    """

    sparse_cores: np.ndarray
    minibatches: np.ndarray
    partitions: np.ndarray
    buckets: np.ndarray
    columns: np.ndarray
    samples: np.ndarray
    gains: np.ndarray
    tables: np.ndarray
    new_group: np.ndarray
    new_row: np.ndarray
    merged: np.ndarray


def grouped(
    found: Entries,
    shards: int,
    buckets: np.ndarray | None = None,
    minibatch: np.ndarray | None = None,
) -> Grouped:
    """Return the lookups sorted, and those of one row in one sample merged by adding their gains.

    Args:
        shards: number of partitions, a power of 2.
        buckets: for each entry, and minibatch: for each bucket; None is 0 everywhere.
    """
    if found.columns.size <= AT_ONCE:
        return _group(found, shards, buckets, minibatch)
    parts: list[tuple[np.ndarray, ...]] = []
    for core in np.flatnonzero(np.bincount(found.sparse_cores)):
        own = np.flatnonzero(found.sparse_cores == core)
        one = Entries(*(x[own] for x in found))
        parts.append(_group(one, shards, None if buckets is None else buckets[own], minibatch))
    return Grouped(*joined(parts))


def _group(
    found: Entries, shards: int, buckets: np.ndarray | None, minibatch: np.ndarray | None
) -> Grouped:
    key, order, bits = _sort_key(found, shards, buckets, minibatch)
    samples, gains, merged = (
        found.samples[order],
        found.gains[order],
        np.broadcast_to(1, order.size),
    )
    starts_row = mark_changes(key)
    keep = starts_row | mark_changes(samples)
    if keep.all():
        gains = gains + np.float32(0)  # as a sum that begins with 0, of which -0 becomes 0
    else:
        number, sums = np.cumsum(keep) - 1, np.zeros(np.count_nonzero(keep), np.float32)
        np.add.at(sums, number, gains)
        gains, merged = sums, np.bincount(number, minlength=sums.size)
        key, order, samples, starts_row = key[keep], order[keep], samples[keep], starts_row[keep]
    bucket, partition, batch = _split_key(key >> np.uint64(bits[0]), bits[1:])
    return Grouped(
        found.sparse_cores[order],
        batch,
        partition,
        bucket,
        found.columns[order],
        samples,
        gains,
        found.tables[order],
        mark_changes(key >> np.uint64(bits[0])),
        starts_row,
        merged,
    )


def _sort_key(
    found: Entries, shards: int, buckets: np.ndarray | None, minibatch: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return SparseCore, minibatch, partition, bucket, row as sorted keys; the order; the bits of
    the last four.
    """
    # Below 0: sorted after all others of its partition.
    columns = found.columns.astype(np.uint32).astype(np.uint64)
    none = np.zeros(1, np.uint64)
    bucket = none if buckets is None else buckets.astype(np.uint64)
    batch = bucket if minibatch is None else minibatch.astype(np.uint64)[bucket]
    fields = (
        columns >> np.uint64(shards.bit_length() - 1),
        bucket,
        columns & np.uint64(shards - 1),
        batch,
    )
    bits = [int(x.max(initial=0)).bit_length() for x in fields]
    key = found.sparse_cores.astype(np.uint64)
    for field, n in zip(fields[::-1], bits[::-1], strict=True):
        if n:
            key <<= np.uint64(n)
            key |= field
    order, key = sort_with_order(key)
    return key, order, bits


def _split_key(key: np.ndarray, bits: list[int]) -> list[np.ndarray]:
    """Return the fields of a key, the lowest first."""
    fields = []
    for n in bits:
        if n:
            fields.append((key & np.uint64((1 << n) - 1)).astype(np.int32))
            key = key >> np.uint64(n)
        else:
            fields.append(np.broadcast_to(np.int32(0), key.size))
    return fields


def counts(g: Grouped, shards: int) -> tuple[np.ndarray, np.ndarray]:
    """Return lookups and distinct rows that each SparseCore asks of each partition, by bucket: (shards, shards, 64)."""
    where = (g.sparse_cores * shards + g.partitions) * BUCKETS + g.buckets
    sizes = (np.bincount(x, minlength=shards * shards * BUCKETS) for x in (where, where[g.new_row]))
    ids, rows = (x.reshape(shards, shards, BUCKETS) for x in sizes)
    return ids, rows


def within(g: Grouped, limits: Limits) -> np.ndarray:
    """Return which lookups are within the limits: the first of each partition, whole rows at a time."""
    first, row = (
        count_since_start(np.arange(g.new_group.size), g.new_group),
        count_since_start(np.cumsum(g.new_row), g.new_group),
    )
    inside: np.ndarray = (first < limits.max_ids) & (row < limits.max_unique_ids)
    return inside


def check_limits(
    stack: Stack, ids: np.ndarray, rows: np.ndarray, limits: Limits, per_core: int
) -> None:
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
            tables = [place.table for place in stack.places]
            whose = (
                f"{stack.name!r} (tables {', '.join(tables)})"
                if len(tables) > 1
                else repr(stack.name)
            )
            raise InvalidArgumentError(
                f"SparseCore {at % per_core} of core {at // per_core} asks partition {partition} "
                f"of {whose} for {found.max()} {what}, the limit is {limit}; raise {name} in "
                "limits, make the batch smaller, set minibatching=True, or let ids go with "
                "allow_id_dropping=True"
            )

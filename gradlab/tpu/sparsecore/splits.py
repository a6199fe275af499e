"""A batch sorted by buckets of ids, and split into minibatches that are within limits.

TensorFlow's way: buckets are equal ranges of ids, a range with too many lookups is halved until
none is, and neighbors are joined again as far as the limits allow. `minibatches.py` has that of
jax-tpu-embedding, whose buckets are hashes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..._base.indices import mark_changes
from ...errors import InvalidArgumentError
from .coo import Coo, check_shared_evenly, merge_runs
from .csr import LEVELS, binary_splits, boundary_bit, bucket_splits
from .partitions import BUCKETS, Limits


class SplitBatch(NamedTuple):
    """The lookups of a chip by SparseCore, partition, bucket and row, and how to split them.

    `id_counts` are where the buckets end, after a 0. `seen` are the most lookups, and different
    rows, of any partition.
    """

    coo: Coo
    splits: int
    id_counts: np.ndarray
    seen: Limits


def split_batch(
    coo: Coo,
    sample_count: int,
    num_sc_per_chip: int,
    partitions: int,
    table_vocab_size: int,
    limits: Limits,
    table_name: str,
) -> SplitBatch:
    """Return the lookups of a chip sorted and merged, and the boundaries of minibatches.

    Args:
        coo: in the order of samples.
        partitions: SparseCores of all chips.
        table_vocab_size: the rows of the table, which 64 buckets share.

    Raises:
        InvalidArgumentError: a bucket that is above the limits, samples out of order or range, ids
            below 0, or samples that the SparseCores can't share evenly.

    >>> coo = Coo(np.int32([0, 0, 0]), np.int32([0, 40, 63]), np.float32([1.0, 1.0, 1.0]))
    >>> found = split_batch(coo, 1, 1, 1, 64, Limits(2, 2), "t")
    >>> bucket_splits(found.splits), found.seen
    ([32], Limits(max_ids=3, max_unique_ids=3))
    """
    check_shared_evenly(sample_count, num_sc_per_chip)
    _check_ids(coo, sample_count)
    own = sample_count // num_sc_per_chip
    core = coo.row_ids // own
    order = np.lexsort((coo.col_ids, core))
    core = core[order]
    coo = Coo(*(vector[order] for vector in coo))
    starts = mark_changes(core) | mark_changes(coo.row_ids) | mark_changes(coo.col_ids)
    core = core[starts]
    coo = merge_runs(coo, starts)
    is_new_row = mark_changes(core) | mark_changes(coo.col_ids)

    partition = coo.col_ids % partitions
    bucket_size = -(-table_vocab_size // BUCKETS)
    bucket = np.minimum(coo.col_ids // bucket_size, BUCKETS - 1)
    where = (core * partitions + partition) * BUCKETS + bucket
    number = num_sc_per_chip * partitions * BUCKETS
    ids = np.bincount(where, minlength=number).reshape(-1, BUCKETS)
    rows = np.bincount(where[is_new_row], minlength=number).reshape(-1, BUCKETS)
    _check_buckets(ids, rows, partitions, limits, table_name)

    # Equal ids have one bucket and partition, and they are in the order of samples already.
    order = np.lexsort((coo.col_ids, where))
    coo = Coo(
        coo.row_ids[order] % own,
        coo.col_ids[order] // partitions,
        coo.gains[order],
    )
    id_counts = np.cumsum([0, *ids.ravel()], dtype=np.int32)
    seen = Limits(int(ids.sum(1).max()), int(rows.sum(1).max()))
    return SplitBatch(coo, _find_splits(ids, rows, limits), id_counts, seen)


class _Partition(NamedTuple):
    """The lookups, and different rows, of a partition in the buckets before each bucket."""

    ids_before: np.ndarray
    rows_before: np.ndarray

    def fits(self, first: int, last: int, limits: Limits) -> bool:
        """Tell whether the buckets from `first` to before `last` are within the limits."""
        ids = self.ids_before[last] - self.ids_before[first]
        rows = self.rows_before[last] - self.rows_before[first]
        return bool(ids <= limits.max_ids and rows <= limits.max_unique_ids)


def _find_splits(ids: np.ndarray, rows: np.ndarray, limits: Limits) -> int:
    """Return the boundaries that any partition needs, from its lookups and rows in each bucket."""
    halved = 0
    joined = 0
    for counts in zip(ids, rows, strict=True):
        partition = _Partition(*(np.cumsum([0, *count]) for count in counts))
        # What other partitions halved stays halved for this one, as in TensorFlow.
        halved |= _halve(partition, limits, halved)
        boundaries = [0, *bucket_splits(halved), BUCKETS]
        joined |= binary_splits(_join(partition, limits, boundaries))
    return joined


def _halve(partition: _Partition, limits: Limits, halved: int) -> int:
    """Return `halved` with a boundary in each section that doesn't fit, level by level."""
    for level in range(LEVELS):
        size = BUCKETS >> level
        for section in range(1 << level):
            if level and not halved >> boundary_bit(level - 1, section >> 1) & 1:
                continue
            if not partition.fits(section * size, (section + 1) * size, limits):
                halved |= 1 << boundary_bit(level, section)
    return halved


def _join(partition: _Partition, limits: Limits, boundaries: list[int]) -> list[int]:
    """Return the boundaries that stay where each minibatch is made as long as it fits."""
    kept = []
    start = 0
    for before, after in pairwise(boundaries):
        if not partition.fits(start, after, limits):
            kept.append(before)
            start = before
    return kept


def _check_ids(coo: Coo, sample_count: int) -> None:
    if (np.diff(coo.row_ids) < 0).any():
        raise InvalidArgumentError("row ids need to be sorted in ascending order.")
    for name, ids, limit in (
        ("row_ids", coo.row_ids, sample_count),
        ("col_ids", coo.col_ids, 1 << 31),
    ):
        if ids.size and not 0 <= ids.min() <= ids.max() < limit:
            raise InvalidArgumentError(
                f"{name} must be 0 to {limit - 1}, got {ids.min()} to {ids.max()}"
            )


def _check_buckets(
    ids: np.ndarray, rows: np.ndarray, partitions: int, limits: Limits, table_name: str
) -> None:
    """Refuse a bucket that is above the limits, because it can't be split."""
    above = (ids > limits.max_ids) | (rows > limits.max_unique_ids)
    if above.any():
        where, bucket = np.argwhere(above)[0]
        core, partition = divmod(int(where), partitions)
        raise InvalidArgumentError(
            f"Table {table_name} has too many ids for replica {partition} on sparse core {core}. "
            f"The max_ids_per_partition is {limits.max_ids} but got {ids[where, bucket]} ids. The "
            f"max_unique_ids_per_partition is {limits.max_unique_ids} but got "
            f"{rows[where, bucket]} unique ids. Consider making the max_division_level higher."
        )

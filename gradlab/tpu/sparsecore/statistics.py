"""The load of the partitions: the demand of a batch on each, against the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.numbers import counted
from .buffers import ALIGNMENT
from .partitions import Grouped, Limits, counts
from .stacking import Layout, Stack, padded


class PartitionStatistics(NamedTuple):
    """The demand of a batch on the partitions of one stack, before anything is dropped.

    ids, unique_ids: (SparseCores, partitions), lookups after merging and different rows among them.
    dropped: (tables, partitions), given ids beyond the limits; cut: the same, lookups beyond the
    end of the buffers.
    outside: (tables,), given ids that their table does not have.
    required: (SparseCores,), entries in the buffers if nothing is dropped or split.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, partition_statistics
    >>> plan = Plan((Table("t", 10, 1, combiner="sum"),), (Feature("f", 0, (2,)),))
    >>> found = partition_statistics(plan, {"f": Ids([0, 0, 0, 1], [7, 3, 5, 6])}, per_core=2)["t"]
    >>> found.ids.tolist(), found.required.tolist()
    ([[0, 3], [1, 0]], [8, 8])
    """

    tables: tuple[str, ...]
    limits: Limits | None
    ids: np.ndarray
    unique_ids: np.ndarray
    dropped: np.ndarray
    cut: np.ndarray
    outside: np.ndarray
    required: np.ndarray

    def most(self, per_core: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the most ids, and different ids, that a SparseCore asks of each partition: (cores, partitions)."""
        ids, unique = (
            x.reshape(-1, per_core, x.shape[1]).max(1) for x in (self.ids, self.unique_ids)
        )
        return ids, unique

    def describe(self) -> str:
        """Return the counts in words, a line for each partition."""
        limits = (
            f"limits {self.limits.max_ids} and {self.limits.max_unique_ids}"
            if self.limits
            else "no limits"
        )
        lines = [f"tables {', '.join(self.tables)}: {limits}"]
        for p in range(self.ids.shape[1]):
            ids, unique = self.ids[:, p], self.unique_ids[:, p]
            most = f"{counted(int(ids.max()), 'id')}, {unique.max():,} different"
            line = f"  partition {p}: at most {most}, of one SparseCore"
            lost = int(self.dropped[:, p].sum() + self.cut[:, p].sum())
            lines.append(f"{line}; {lost:,} dropped" if lost else line)
        if self.outside.any():
            told = zip(self.tables, self.outside.tolist(), strict=True)
            lines.append("  outside their table: " + ", ".join(f"{n} of {t}" for t, n in told if n))
        return "\n".join(lines)


def statistics(
    layout: Layout,
    stack: Stack,
    g: Grouped,
    kept: tuple[np.ndarray, np.ndarray],
    out: np.ndarray,
    limits: Limits | None,
) -> PartitionStatistics:
    """Return the counts of one stack.

    Args:
        g: merged.
        kept: which of these are within the limits, and of those within the buffers.
        out: (tables,), given ids that their table does not have.
    """
    inside, room = kept
    ids, rows = (x.sum(-1) for x in counts(g, layout.shards))
    beyond, off = np.flatnonzero(~inside), np.flatnonzero(inside)[~room]
    lost = _by_table(g, beyond, stack, g.merged[beyond])
    cut = _by_table(g, off, stack, np.ones(off.size))
    names = tuple(p.table for p in stack.places)
    return PartitionStatistics(
        names, limits, ids, rows, lost, cut, out, padded(ids, ALIGNMENT).sum(1)
    )


def _by_table(g: Grouped, which: np.ndarray, stack: Stack, weights: np.ndarray) -> np.ndarray:
    where = g.tables[which] * stack.shards + g.partitions[which]
    return (
        np.bincount(where, weights, len(stack.places) * stack.shards)
        .astype(np.int64)
        .reshape(-1, stack.shards)
    )

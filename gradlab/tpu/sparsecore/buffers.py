"""The host's input to the SparseCores: coordinate buffers with a pointer to the end of every partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._base.indices import divide
from ..plan import PADDING_ID
from .partitions import Grouped, Limits
from .stacking import Layout, padded

ALIGNMENT = 8  # a partition begins at a multiple
POINTERS = 8  # at least so many for every SparseCore
PADDING = PADDING_ID  # the id and the sample of a place that only fills up; its gain is NaN


class Buffers(NamedTuple):
    """The lookups of one stack, a row for each core, within it SparseCore by SparseCore, partition by partition.

    `row_pointers` hold the end of each partition of each SparseCore (and minibatch); the next
    begins at the next multiple of 8. `embedding_ids` are rows of the partition, `sample_ids`
    samples of the SparseCore. Places in between hold padding: id and sample 2**31 - 1, gain NaN.
    What lies after the last partition is not `written`: on a real host that is memory as it was,
    here it is padding, too. int32, int32, int32, float32, bool.
    """

    row_pointers: np.ndarray
    embedding_ids: np.ndarray
    sample_ids: np.ndarray
    gains: np.ndarray
    written: np.ndarray

    def kinds(self) -> np.ndarray:
        """Return the content of each place: "lookup", "padding" or "unwritten".

        >>> ids, written = np.array([[3, PADDING, PADDING]]), np.array([[True, True, False]])
        >>> Buffers(None, ids, ids, ids, written).kinds().tolist()
        [['lookup', 'padding', 'unwritten']]
        """
        held = np.where(self.embedding_ids == PADDING, "padding", "lookup")
        return np.where(self.written, held, "unwritten")


class Read(NamedTuple):
    """The content of a stack's buffers: core, minibatch, place, sample, and gain of each lookup."""

    sparse_cores: np.ndarray
    minibatches: np.ndarray
    partitions: np.ndarray
    positions: np.ndarray
    samples: np.ndarray
    gains: np.ndarray


def static_size(limits: Limits, layout: Layout, minibatching: bool = False) -> int:
    """Return the entries of a core's buffers that always suffice.

        max_ids padded to 8, times partitions, times SparseCores of the core (times 64 buckets with minibatching)

    Source: `compute_theoretical_max_coo_buffer_size`, jax-tpu-embedding 0.1.0 (2026).

    >>> static_size(Limits(20, 20), Layout(2, 4, ()))
    768
    """
    most: int = padded(limits.max_ids, ALIGNMENT) * layout.shards * layout.per_core
    return most * 64 if minibatching else most


class Sizes(NamedTuple):
    """The begin and the end of the partitions in every segment (a SparseCore's minibatch), from its own begin.

    `rows` are those of the lookups in their partitions, as they are written.
    """

    starts: np.ndarray
    ends: np.ndarray
    totals: np.ndarray
    rows: np.ndarray


def sizes(g: Grouped, layout: Layout, minibatches: int) -> Sizes:
    """Return the room that grouped lookups need."""
    number = layout.shards * minibatches
    groups, rows = _groups(g, layout, minibatches)
    count = np.bincount(groups, minlength=number * layout.shards).reshape(number, layout.shards)
    room = padded(count, ALIGNMENT)
    starts = np.cumsum(room, 1) - room
    return Sizes(starts, starts + count, room.sum(1), rows)


def _groups(g: Grouped, layout: Layout, minibatches: int) -> tuple[np.ndarray, np.ndarray]:
    """Return segment and partition of each lookup as one number, which never decreases; and the row
    in the partition.

    An id below 0 has a remainder and a quotient that are cut toward 0: it opens no partition and
    falls into the one that is open.
    """
    n = layout.shards
    segments = g.sparse_cores * minibatches + g.minibatches
    if g.columns.min(initial=0) >= 0:
        return segments * n + g.partitions, g.columns // n
    rows, remainders = divide(g.columns, n)
    rows += (g.columns < 0) & (remainders > 0)
    return np.maximum.accumulate(segments * n + np.maximum(g.columns - rows * n, 0)), rows


def fill(
    g: Grouped,
    layout: Layout,
    size: int,
    minibatches: int = 1,
    *,
    shared: bool = False,
    need: Sizes | None = None,
) -> tuple[Buffers, np.ndarray]:
    """Return the buffers, and which lookups found room in them.

    Args:
        size: entries of one core.
        shared: the SparseCores of a core stand one right after another (minibatching), instead of
            each in its own part of the buffers.
        need: what `sizes` found, where it was asked before.
    """
    need = sizes(g, layout, minibatches) if need is None else need
    begins, limit = _begins(need.totals, layout, size, minibatches, shared)
    # What NumPy repeats by, on 32 bits, too.
    count = (need.ends - need.starts).ravel().astype(np.intp)
    first = np.cumsum(count) - count  # of each partition, among the lookups
    core = np.arange(begins.size) // (layout.per_core * minibatches)
    ahead = (begins + core * size)[:, None] + need.starts - first.reshape(need.starts.shape)
    flat = np.arange(g.columns.size) + np.repeat(ahead.ravel(), count)
    kept = np.ones(flat.size, bool)
    if (begins + need.totals > limit).any():
        kept = flat < np.repeat(limit + core * size, count.reshape(need.starts.shape).sum(1))
    ids, samples = (np.full(layout.cores * size, PADDING, np.int32) for _ in range(2))
    gains = np.full(layout.cores * size, np.nan, np.float32)
    flat, *lookups = (x if kept.all() else x[kept] for x in (flat, need.rows, g.samples, g.gains))
    ids[flat], samples[flat], gains[flat] = lookups
    base = 0 if shared else begins[:, None]
    pointers = np.minimum(begins[:, None] + need.ends, limit[:, None])
    last = np.minimum(begins + need.totals, limit)[:, None]
    more = max(POINTERS - layout.shards, 0)
    pointers = np.concatenate([pointers, np.repeat(last, more, 1)], 1) - base
    pointers = pointers.reshape(layout.cores, -1).astype(np.int32)
    reached = _reached(begins, last[:, 0], core, layout.cores, size)
    shape = (layout.cores, size)
    return Buffers(
        pointers, ids.reshape(shape), samples.reshape(shape), gains.reshape(shape), reached
    ), kept


def _begins(
    totals: np.ndarray, layout: Layout, size: int, minibatches: int, shared: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the begin of each segment in the buffers of its core, and the end of its room."""
    if shared:
        own = totals.reshape(layout.cores, -1)
        begins = np.minimum(np.cumsum(own, 1) - own, size).ravel()
        return begins, np.full(begins.size, size)
    part = size // layout.per_core
    begins = np.tile(np.arange(layout.per_core) * part, layout.cores)
    return begins, begins + part


def _reached(
    begins: np.ndarray, ends: np.ndarray, core: np.ndarray, cores: int, size: int
) -> np.ndarray:
    """Return the places of each core's buffers between the begin and the end of a segment."""
    step = np.zeros((cores, size + 1), np.int32)
    np.add.at(step, (core, begins), 1)
    np.add.at(step, (core, ends), -1)
    return np.cumsum(step, 1, dtype=np.int32)[:, :size] > 0


def read(buffers: Buffers, layout: Layout, minibatches: int = 1, *, shared: bool = False) -> Read:
    """Return the lookups that stand in buffers, found as the hardware finds them: by the pointers alone."""
    size = buffers.embedding_ids.shape[1]
    pointers = buffers.row_pointers.astype(np.int64).reshape(layout.shards * minibatches, -1)[
        :, : layout.shards
    ]
    segments = np.arange(len(pointers))
    if shared:
        last = padded(pointers[:, -1], ALIGNMENT).reshape(layout.cores, -1)
        begins = np.concatenate([np.zeros((layout.cores, 1), np.int64), last[:, :-1]], 1).ravel()
    else:
        begins = np.tile(np.arange(layout.per_core) * (size // layout.per_core), layout.cores)
        pointers = pointers + begins[:, None]
    starts = np.concatenate([begins[:, None], padded(pointers[:, :-1], ALIGNMENT)], 1)
    lengths = np.maximum(pointers - starts, 0).ravel().astype(np.intp)
    ends = np.cumsum(lengths)
    place = np.arange(ends[-1]) - np.repeat(ends - lengths - starts.ravel(), lengths)
    each = np.repeat(segments, layout.shards)  # the segment of each partition
    partitions = np.tile(np.arange(layout.shards), len(segments))

    def spread(x: np.ndarray) -> np.ndarray:
        return np.repeat(x.astype(np.int32), lengths)

    at = place + np.repeat(each // (layout.per_core * minibatches) * size, lengths)
    return Read(
        spread(each // minibatches), spread(each % minibatches), spread(partitions),
        buffers.embedding_ids.reshape(-1)[at].astype(np.int64), buffers.sample_ids.reshape(-1)[at],
        buffers.gains.reshape(-1)[at],
    )  # fmt: skip

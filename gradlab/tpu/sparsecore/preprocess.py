"""`preprocess`: the ids of a batch as buffers of the SparseCores, and these as a batch for `lookup` and `update`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from ..._base.indices import divide, find_distinct
from ...errors import InvalidArgumentError
from ..batch import Batch, Cores, Lookups, check_cores, concatenate_cores
from ..plan import Plan
from .buffers import ALIGNMENT, Buffers, Read, fill, read, sizes, static_size
from .entries import Entries, Span, entries, outside, spans
from .minibatches import buckets_of, minibatch_of
from .partitions import Grouped, Limits, check_limits, counts, grouped, within
from .stacking import Layout, Stack, check_shards, padded, stack
from .statistics import PartitionStatistics, statistics

T = TypeVar("T")
Kept = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Host:
    """Settings of how batches are split, and of ids beyond the limits."""

    layout: Layout
    limits: Mapping[str, Limits | None]
    dropping: bool
    minibatching: bool

    def split(self, found: Mapping[str, Entries]) -> tuple[dict[str, Grouped], int]:
        """Return the lookups of each stack, and the number of minibatches."""
        n = self.layout.shards
        groups = {name: grouped(e, n) for name, e in found.items()}
        if not self.minibatching or all(self._fits(name, g) for name, g in groups.items()):
            return groups, 1
        buckets = {name: buckets_of(e.columns) for name, e in found.items()}
        apart = {name: grouped(e, n, buckets[name]) for name, e in found.items()}
        limited = ((g, self.limits[name]) for name, g in apart.items())
        minibatch = minibatch_of(
            [(*counts(g, n), limit) for g, limit in limited if limit is not None]
        )
        split = {name: grouped(e, n, buckets[name], minibatch) for name, e in found.items()}
        return split, int(minibatch[-1]) + 1

    def _fits(self, name: str, g: Grouped) -> bool:
        limit = self.limits[name]
        return limit is None or bool(within(g, limit).all())

    def fill(
        self, s: Stack, g: Grouped, room: int | None, minibatches: int
    ) -> tuple[Buffers, Kept]:
        """Return the buffers of a stack, and which lookups are within the limits, then within the buffers."""
        limit = self.limits[s.name]
        inside = np.ones(g.columns.size, bool)
        if limit is not None:
            if not self.dropping:
                ids, rows = counts(g, self.layout.shards)
                check_limits(s, ids.max(-1), rows.max(-1), limit, self.layout.per_core)
            inside = within(g, limit)
        within_limits = g if inside.all() else Grouped(*(x[inside] for x in g))
        need = sizes(within_limits, self.layout, minibatches)
        size = self._size(s, need.totals, room)
        buffers, kept = fill(
            within_limits, self.layout, size, minibatches, shared=self.minibatching, need=need
        )
        if not (self.dropping or kept.all()):
            raise InvalidArgumentError(
                f"the buffers of stack {s.name!r} hold {size} entries for a core, "
                f"{kept.size - int(kept.sum())} of {kept.size} ids find no room; raise "
                "buffer_size, or let ids go with allow_id_dropping=True"
            )
        return buffers, (inside, kept)

    def _size(self, s: Stack, need: np.ndarray, room: int | None) -> int:
        limit, step = self.limits[s.name], ALIGNMENT * self.layout.per_core
        if room is not None:
            size: int = padded(room, step)
            if limit is not None and size > (
                most := static_size(limit, self.layout, self.minibatching)
            ):
                raise ValueError(
                    f"buffer_size of stack {s.name!r} can be at most {most}, got {room}"
                )
            return size
        if limit is not None and not self.minibatching:
            return static_size(limit, self.layout)
        most = (
            need.reshape(self.layout.cores, -1).sum(1).max()
            if self.minibatching
            else need.max() * step // ALIGNMENT
        )
        return int(padded(max(most, step), step))


def by_stack(layout: Layout, given: Mapping[str, T] | T | None) -> dict[str, T | None]:
    """Return values by stack name, from one value for every stack or from values by name."""
    names = [s.name for s in layout.stacks]
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, given)
    if unknown := sorted(given.keys() - set(names)):
        raise ValueError(f"there is no stack {unknown[0]!r}; the layout has {', '.join(names)}")
    return {name: given.get(name) for name in names}


def batch_of(plan: Plan, layout: Layout, reads: Mapping[str, Read]) -> Batch:
    """Return lookups by table: ids of the stack become rows again, samples of SparseCores those of cores."""
    parts: dict[int, list[tuple[np.ndarray, ...]]] = {}
    for s in layout.stacks:
        found, where = reads[s.name], spans(plan, layout, s)
        which = (
            np.searchsorted([x.start for x in where], found.samples, "right") - 1
            if len(where) > 1
            else None
        )
        for k, span in enumerate(where):
            one = found if which is None else Read(*(x[which == k] for x in found))
            place = s.places[span.place]
            rows = place.row_of(s.shards, one.partitions, one.positions)
            core, local = divide(one.sparse_cores, layout.per_core)
            samples = local * span.size + (one.samples + (_start(plan, span) - span.start))
            part: tuple[np.ndarray, ...] = (
                core,
                rows.astype(np.uint32),
                samples.astype(np.uint32),
                one.gains,
            )
            inside = (rows >= 0) & (rows < place.rows)
            if not inside.all():
                part = tuple(x[inside] for x in part)
            parts.setdefault(plan.features[span.feature].table, []).append(part)
    return Batch(tuple(_table(plan, k, parts.get(k, [])) for k in range(len(plan.tables))))


def _start(plan: Plan, span: Span) -> int:
    """Return the first of the feature's samples among those of its table."""
    table = plan.features[span.feature].table
    return sum(plan.features[k].samples for k in plan.features_of(table) if k < span.feature)


def _table(plan: Plan, k: int, parts: list[tuple[np.ndarray, ...]]) -> Lookups:
    """Return the lookups of a table, of which each part has those of the cores one after another."""
    empty = (np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0, np.float32))
    each = []
    ends = [np.searchsorted(core, np.arange(plan.cores + 1)) for core, *_ in parts]
    for c in range(plan.cores):
        own = [
            tuple(x[end[c] : end[c + 1]] for x in part)
            for end, (_, *part) in zip(ends, parts, strict=True)
        ]
        rows, samples, gains = (
            own[0] if len(own) == 1 else map(np.concatenate, zip(empty, *own, strict=True))
        )
        each.append(Lookups(*find_distinct(rows), samples, gains))
    return concatenate_cores(each, plan.samples_of(k))


ByStack = Mapping[str, Limits] | Limits | None


@dataclass(frozen=True)
class Preprocessed:
    """A batch as the SparseCores get it.

    `buffers` and `statistics` by stack; `batch` is what `lookup` and `update` take, read back from
    the buffers. With several `minibatches`, `minibatch(m)` is one of them: activations of all add
    up to those of the batch, and as no row is in two, updates one after another are the update of
    the batch (by lazy rules that do not count steps).
    """

    plan: Plan
    layout: Layout
    minibatches: int
    buffers: dict[str, Buffers]
    statistics: dict[str, PartitionStatistics]
    batch: Batch
    reads: dict[str, Read]

    def minibatch(self, number: int) -> Batch:
        """Return the lookups of one minibatch, for all tables."""
        chosen = {
            name: Read(*(x[r.minibatches == number] for x in r)) for name, r in self.reads.items()
        }
        return batch_of(self.plan, self.layout, chosen)


def partition_statistics(
    plan: Plan, cores: Cores, **options: Any
) -> dict[str, PartitionStatistics]:
    """Count by stack what a batch asks of each partition: ids and different ids against limits.

    Nothing is refused.

    Args:
        options: those of `preprocess`; ids beyond the limits are counted as dropped.

    Source: `SparseDenseMatmulInputStats`, jax-tpu-embedding 0.1.0 (2026).

    >>> from gradlab.tpu import Feature, Ids, Plan, Table
    >>> from gradlab.tpu.sparsecore import Limits
    >>> plan = Plan((Table("t", 10, 1, combiner="sum"),), (Feature("f", 0, (2,)),))
    >>> ids = {"f": Ids([0, 0, 0, 1], [7, 3, 5, 6])}
    >>> print(partition_statistics(plan, ids, per_core=2, limits=Limits(2, 2))["t"].describe())
    tables t: limits 2 and 2
      partition 0: at most 1 id, 1 different, of one SparseCore
      partition 1: at most 3 ids, 3 different, of one SparseCore; 1 dropped
    """
    options["allow_id_dropping"] = True
    return preprocess(plan, cores, **options).statistics


def make_batch(plan: Plan, cores: Cores, **options: Any) -> Batch:
    """Return the batch of `preprocess`, which names the options.

    Source: `preprocess_sparse_dense_matmul_input`, jax-tpu-embedding 0.1.0 (2026).

    >>> from gradlab.tpu import Feature, Ids, Plan, Table
    >>> plan = Plan((Table("t", 10, 1, combiner="mean"),), (Feature("f", 0, (2,)),))
    >>> t = make_batch(plan, {"f": Ids([0, 0, 1], [7, 3, 7])}, per_core=2).tables[0]
    >>> t.unique.tolist(), t.inverse.tolist(), t.weights.tolist()
    ([3, 7], [0, 1, 1], [0.5, 0.5, 1.0])
    """
    return preprocess(plan, cores, **options).batch


def preprocess(
    plan: Plan,
    cores: Cores,
    *,
    per_core: int = 4,
    layout: Layout | None = None,
    limits: ByStack = None,
    buffer_size: Mapping[str, int] | int | None = None,
    allow_id_dropping: bool = False,
    minibatching: bool = False,
    out_of_range: Literal["policy", "as_found"] = "policy",
) -> Preprocessed:
    """Return the ids of a batch, sorted by the SparseCore that has their row, merged, counted and laid out in buffers.

    Args:
        cores: as for `gl.tpu.make_batch`.
        per_core: SparseCores of each core; times the cores of the plan a power of 2. They share a
            core's samples.
        layout: stacks of tables; None is `stack(plan, per_core)`.
        limits: for every stack, or by its name; None is as many as the batch needs.
        buffer_size: entries in the buffers of a core; None always suffices: `static_size` of the
            limits or, with minibatching or without limits, what the batch needs.
        allow_id_dropping: ids beyond a limit or the buffer are left out, and counted, instead of
            refused.
        minibatching: a batch beyond its limits is split.
        out_of_range: "as_found" lets ids outside their table pass as the real host does. One past
            the end reads nothing here (a SparseCore reads what happens to lie there); one below 0
            reads the row that it looks like after the arithmetic. `statistics` count them.

    Raises:
        InvalidArgumentError: more ids than a limit or the buffer holds; it names stack, partition,
            count and limit. Or what `gl.tpu.make_batch` raises.
        ValueError: samples that the SparseCores cannot share evenly, or more than 2**26 - 1 of a
            stack on one core; tables with accumulate=False, unknown stacks.

    Source: `preprocess_sparse_dense_matmul_input`, jax-tpu-embedding 0.1.0 (2026), which ends the
    process where this raises, drops what the buffer does not hold without being asked, and divides
    by a sum of weights of 0, where the gain is 0 here and in TensorFlow.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table
    >>> plan = Plan((Table("t", 10, 1, combiner="sum"),), (Feature("f", 0, (2,)),))
    >>> found = preprocess(plan, {"f": Ids([0, 0, 0, 1], [7, 3, 7, 6])}, per_core=2)
    >>> found.buffers["t"].row_pointers.tolist()
    [[0, 2, 8, 8, 8, 8, 8, 8, 1, 8, 8, 8, 8, 8, 8, 8]]
    >>> found.buffers["t"].embedding_ids[0, :3].tolist(), found.buffers["t"].gains[0, :3].tolist()
    ([1, 3, 2147483647], [1.0, 2.0, nan])
    """
    check_shards(plan.cores, per_core)
    _check_accumulation(plan)
    ids_by_core = check_cores(plan, cores)
    layout = stack(plan, per_core) if layout is None else layout
    _check_layout(plan, layout, per_core)
    as_found = out_of_range == "as_found"
    host = Host(layout, by_stack(layout, limits), allow_id_dropping, minibatching)
    entries_by_stack = {
        s.name: entries(plan, layout, s, ids_by_core, as_found) for s in layout.stacks
    }
    groups, minibatches = host.split(entries_by_stack)
    del entries_by_stack  # most of the memory of a large batch
    room = by_stack(layout, buffer_size)
    buffers = {}
    reads = {}
    counts_by_stack = {}
    for s in layout.stacks:
        group = groups[s.name]
        buffers[s.name], kept = host.fill(s, group, room[s.name], minibatches)
        reads[s.name] = read(buffers[s.name], layout, minibatches, shared=minibatching)
        out = outside(plan, s, ids_by_core, as_found)
        counts_by_stack[s.name] = statistics(layout, s, group, kept, out, host.limits[s.name])
    return Preprocessed(
        plan, layout, minibatches, buffers, counts_by_stack, batch_of(plan, layout, reads), reads
    )


def _check_accumulation(plan: Plan) -> None:
    if off := [t.name for t in plan.tables if not t.accumulate]:
        raise ValueError(
            f"a SparseCore sums the gradients of a row before its rule runs: table {off[0]!r} "
            "cannot have accumulate=False; gl.tpu.sparsecore.as_v2(plan) is the plan that "
            "TPUEmbeddingV2 would make of it"
        )


def _check_layout(plan: Plan, layout: Layout, per_core: int) -> None:
    placed = {p.table: (p.rows, p.width) for s in layout.stacks for p in s.places}
    if (layout.cores, layout.per_core) != (plan.cores, per_core) or placed != {
        t.name: (t.rows, t.width) for t in plan.tables
    }:
        raise ValueError(
            f"the layout must be of the plan's {len(plan.tables)} tables on {plan.cores} cores "
            f"with {per_core} SparseCores each; this one has {len(placed)} tables, {layout.cores} "
            f"cores, {layout.per_core} each"
        )

"""What the shared lookup and update need, read back from the buffers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..batch import Batch, side_by_side
from ..lookups import Lookups, distinct
from ..plan import Plan
from .buffers import Read
from .entries import Span, spans
from .stacking import Layout


def batch_of(plan: Plan, layout: Layout, reads: Mapping[str, Read]) -> Batch:
    """Lookups by table: ids of the stack become rows again, samples of SparseCores those of cores."""
    parts: dict[int, list[tuple[np.ndarray, ...]]] = {}
    for s in layout.stacks:
        found, where = reads[s.name], spans(plan, layout, s)
        which = np.searchsorted([x.start for x in where], found.samples, "right") - 1
        for k, span in enumerate(where):
            one = Read(*(x[which == k] for x in found))
            place = s.places[span.place]
            rows = place.row_of(s.shards, one.partitions, one.positions)
            inside = (rows >= 0) & (rows < place.rows)
            core, local = np.divmod(one.sparse_cores, layout.per_core)
            samples = _start(plan, span) + local * span.size + one.samples - span.start
            part = (core[inside], rows[inside].astype(np.uint32), samples[inside].astype(np.uint32), one.gains[inside])
            parts.setdefault(plan.features[span.feature].table, []).append(part)
    return Batch(tuple(_table(plan, k, parts.get(k, [])) for k in range(len(plan.tables))))


def _start(plan: Plan, span: Span) -> int:
    """Where the feature's samples begin among those of its table."""
    table = plan.features[span.feature].table
    return sum(plan.features[k].samples for k in plan.features_of(table) if k < span.feature)


def _table(plan: Plan, k: int, parts: list[tuple[np.ndarray, ...]]) -> Lookups:
    empty = (np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0, np.float32))
    core, rows, samples, gains = (np.concatenate(x) for x in zip(empty, *parts, strict=True))
    each = []
    for c in range(plan.cores):
        own = core == c
        each.append(Lookups(*distinct(rows[own]), samples[own], gains[own]))
    return side_by_side(each, plan.samples_of(k))

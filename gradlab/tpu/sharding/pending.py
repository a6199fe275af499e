"""An update that a pipelined plan holds back, arranged by who holds its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._base.indices import roomy
from ..placement import OnMesh
from ..plan import PADDING_ID, Plan
from ..stacks import StackedPlan, stack_tables
from ..update import RowSums, Step
from .batch import cores_here
from .rows import arranged, longest, of_each_core, put


def pending_on(placement: OnMesh, plan: Plan, pending: Step | None) -> Step | None:
    """A pending update on the host, arranged by who holds its rows."""
    if pending is None:
        return None
    own, rows, within = cores_here(plan, placement), [], stack_tables(plan, placement)
    each = len(own) // len(placement.here)
    for n, (table, members) in enumerate(zip(within.plan.tables, within.tables_by_array(), strict=True)):
        shards, cores = within.placement.of(n).shards(table.rows), _cores(plan, within, members, pending)
        owners = [np.asarray(shards.owner(ids)) for ids, _ in cores]
        room = roomy(max(longest(ids, to) for (ids, _), to in zip(cores, owners, strict=True)))
        parts = [_arranged_sums(*cores[k], owners[k], shards.count, room) for k in own]
        joined = [[np.concatenate(x[k : k + each]) for k in range(0, len(own), each)] for x in zip(*parts, strict=True)]
        rows.append(RowSums(*(put(placement, x) for x in joined)))
    return Step(tuple(rows), pending.learning_rates)


def of_tables(plan: Plan, within: StackedPlan, pending: Step) -> Step:
    """A pending update of the arrays on a mesh, brought to the host, as that of the tables of the plan."""
    rows = []
    for k, table in enumerate(plan.tables):
        n, first = within.locate(k)
        ids = pending.rows[n].ids
        is_own = (first <= ids) & (ids < first + table.rows)
        rows.append(RowSums(np.where(is_own, ids - np.uint32(first), np.uint32(PADDING_ID)), pending.rows[n].sums))
    return Step(tuple(rows), pending.learning_rates)


def _cores(
    plan: Plan, within: StackedPlan, members: Sequence[int], pending: Step
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Ids and sums of each core for the array of some tables."""
    found = []
    for k in members:
        first = np.uint32(within.locate(k)[1])
        cores = of_each_core(pending.rows[k], plan.cores)
        found.append([(np.where(ids == PADDING_ID, ids, ids + first), sums) for ids, sums in cores])
    joined = []
    for core in zip(*found, strict=True):
        ids, sums = zip(*core, strict=True)
        joined.append((np.concatenate(ids), np.concatenate(sums)))
    return joined


def _arranged_sums(ids: np.ndarray, sums: np.ndarray, owners: np.ndarray, parts: int, room: int) -> Any:
    arranged_ids, went = arranged(ids, owners, parts, room)
    out = np.zeros((parts * room + 1, sums.shape[1]), np.float32)  # the last takes what belongs to nobody
    out[went] = sums
    return arranged_ids, out[:-1]

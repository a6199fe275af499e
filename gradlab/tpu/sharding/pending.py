"""The pending update of a pipelined plan, arranged by the devices that hold its rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._base.indices import padded_size
from ..plan import PADDING_ID, Plan
from ..row_owners import OnMesh
from ..stacks import StackedPlan, stack_tables
from ..update import RowSums, Step
from .place_batch import cores_here
from .sharded_arrays import arrange_by_owner, max_per_owner, put_parts, split_by_core


def place_pending(placement: OnMesh, plan: Plan, pending: Step | None) -> Step | None:
    """Return a pending update, which is on the host by tables, arranged by the devices that hold its rows."""
    if pending is None:
        return None
    cores = cores_here(plan, placement)
    cores_per_device = len(cores) // len(placement.here)
    arrays = stack_tables(plan, placement)
    rows = []
    for n, (table, members) in enumerate(
        zip(arrays.plan.tables, arrays.tables_by_array(), strict=True)
    ):
        shards = arrays.placement.of(n).shards(table.rows)
        by_core = _sums_by_core(plan, arrays, members, pending)
        owners_by_core = [np.asarray(shards.owner(ids)) for ids, _ in by_core]
        room = padded_size(
            max(
                max_per_owner(ids, owners)
                for (ids, _), owners in zip(by_core, owners_by_core, strict=True)
            )
        )
        arranged = [
            _arrange_sums(*by_core[k], owners_by_core[k], shards.count, room) for k in cores
        ]
        ids = _join_cores([ids for ids, _ in arranged], cores_per_device)
        sums = _join_cores([sums for _, sums in arranged], cores_per_device)
        rows.append(RowSums(put_parts(placement, ids), put_parts(placement, sums)))
    return Step(tuple(rows), pending.learning_rates)


def gather_pending(plan: Plan, arrays: StackedPlan, pending: Step) -> Step:
    """Return a pending update of the arrays on a mesh, which was brought to the host, by tables of the plan."""
    rows = []
    for k, table in enumerate(plan.tables):
        n, first = arrays.locate(k)
        ids = pending.rows[n].ids
        is_of_table = (first <= ids) & (ids < first + table.rows)
        table_ids = np.where(is_of_table, ids - np.uint32(first), np.uint32(PADDING_ID))
        rows.append(RowSums(table_ids, pending.rows[n].sums))
    return Step(tuple(rows), pending.learning_rates)


def _sums_by_core(
    plan: Plan, arrays: StackedPlan, members: Sequence[int], pending: Step
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return ids and sums of each core for the array of some tables."""
    by_table = []
    for k in members:
        first = np.uint32(arrays.locate(k)[1])
        by_core = split_by_core(pending.rows[k], plan.cores)
        by_table.append(
            [(np.where(ids == PADDING_ID, ids, ids + first), sums) for ids, sums in by_core]
        )
    joined = []
    for core in zip(*by_table, strict=True):
        ids, sums = zip(*core, strict=True)
        joined.append((np.concatenate(ids), np.concatenate(sums)))
    return joined


def _arrange_sums(
    ids: np.ndarray, sums: np.ndarray, owners: np.ndarray, parts: int, room: int
) -> tuple[np.ndarray, np.ndarray]:
    arranged_ids, new_places = arrange_by_owner(ids, owners, parts, room)
    # The last row takes those of padding.
    arranged_sums = np.zeros((parts * room + 1, sums.shape[1]), np.float32)
    arranged_sums[new_places] = sums
    return arranged_ids, arranged_sums[:-1]


def _join_cores(parts: Sequence[np.ndarray], cores_per_device: int) -> list[np.ndarray]:
    """Return one array for each device, of the parts of its cores."""
    return [
        np.concatenate(parts[k : k + cores_per_device])
        for k in range(0, len(parts), cores_per_device)
    ]

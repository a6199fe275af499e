"""An update that a pipelined plan holds back, arranged by who holds its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.indices import roomy
from ..placement import OnMesh
from ..plan import Plan
from ..update import RowSums, Step
from .batch import cores_here
from .rows import arranged, longest, of_each_core, put


def pending_on(placement: OnMesh, plan: Plan, pending: Step | None) -> Step | None:
    """A pending update on the host, arranged by who holds its rows."""
    if pending is None:
        return None
    own, rows = cores_here(plan, placement), []
    each = len(own) // len(placement.here)
    for k, (table, sums) in enumerate(zip(plan.tables, pending.rows, strict=True)):
        shards, cores = placement.of(k).shards(table.rows), of_each_core(sums, plan.cores)
        owners = [np.asarray(shards.owner(ids)) for ids, _ in cores]
        room = roomy(max(longest(ids, to) for (ids, _), to in zip(cores, owners, strict=True)))
        parts = [_arranged_sums(*cores[k], owners[k], shards.count, room) for k in own]
        joined = [[np.concatenate(x[k : k + each]) for k in range(0, len(own), each)] for x in zip(*parts, strict=True)]
        rows.append(RowSums(*(put(placement, x) for x in joined)))
    return Step(tuple(rows), pending.learning_rates)


def _arranged_sums(ids: np.ndarray, sums: np.ndarray, owners: np.ndarray, parts: int, room: int) -> Any:
    arranged_ids, went = arranged(ids, owners, parts, room)
    out = np.zeros((parts * room + 1, sums.shape[1]), np.float32)  # the last takes what belongs to nobody
    out[went] = sums
    return arranged_ids, out[:-1]

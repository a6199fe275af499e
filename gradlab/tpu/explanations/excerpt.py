"""A step cut down to one table and the rows that it touches, to be taken again and otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..batch import side_by_side
from ..lookups import OUTSIDE, Lookups, distinct
from ..plan import Plan, Table
from ..state import State, create
from ..update import rate_of, update
from .row_arithmetic import Row, rows_at
from .step_record import Sent, StepRecord


@dataclass(frozen=True, eq=False)
class Excerpt:
    """One table of a step: the rows that it touches, in order, and after them one that it does not, if there is one.

    Rules know no row but their own, so these rows move as they do in the whole table.
    """

    plan: Plan
    rows: np.ndarray
    untouched: bool
    state: State
    lookups: Lookups
    gradients: tuple[np.ndarray, ...]
    sent: Sent
    whole: Plan
    number: int

    @property
    def table(self) -> Table:
        """The table, with the rate that it has at this step."""
        return self.plan.tables[0]

    def after(self, gradients: Sequence[Any] | None = None, lookups: Lookups | None = None, **changes: Any) -> Row:
        """Weights and slots of all rows after the step, with other gradients, lookups or fields of the table."""
        table = dataclasses.replace(self.table, **changes)
        state = dataclasses.replace(self.state, plan=dataclasses.replace(self.plan, tables=(table,)))
        batch = self.fitting(table) if lookups is None else lookups
        moved = update(state, self.gradients if gradients is None else gradients, [], (tuple(batch),))
        return np.asarray(moved.tables[0]), tuple(np.asarray(s) for s in moved.slots[0])

    @property
    def before(self) -> Row:
        """Weights and slots before the step."""
        return np.asarray(self.state.tables[0]), tuple(np.asarray(s) for s in self.state.slots[0])

    def shares(self) -> list[Lookups]:
        """The lookups of each core, those that only fill up left out; every lookup its own row."""
        found = []
        for u, i, s, w in zip(*(np.asarray(x).reshape(self.plan.cores, -1) for x in self.lookups), strict=True):
            real = i < u.size
            rows = u[i[real]]
            found.append(Lookups(rows, np.arange(rows.size, dtype=np.uint32), s[real], w[real]))
        return found

    def fitting(self, table: Table) -> Lookups:
        """The lookups as this table wants them: each row once, or as they come."""
        merges = table.accumulate or self.plan.policy.without_accumulation == "core"
        parts = [p._replace(**dict(zip(("unique", "inverse"), distinct(p.unique), strict=True))) for p in self.shares()]
        return side_by_side(parts if merges else self.shares(), self.plan.samples_of(0))


def excerpt(record: StepRecord, table: int) -> Excerpt:
    """What a step did to one table; of a pipelined plan that has applied nothing yet, what it will do."""
    sent, whole, one = record.applied or record.sent, record.plan, record.plan.tables[table]
    lookups = Lookups(*(np.asarray(x) for x in sent.lookups(whole).tables[table]))
    touched = np.unique(lookups.unique[lookups.unique != OUTSIDE]).astype(np.int64)
    free = np.setdiff1d(np.arange(min(one.rows, touched.size + 1)), touched)[:1]
    rows = np.concatenate([touched, free])
    weights, slots = rows_at(record.before, table, rows)
    rates = sent.learning_rates
    small = dataclasses.replace(
        one,
        rows=len(rows),
        learning_rate=float(rate_of(one, rates)),
        step_counter=None,
    )
    numbers = whole.features_of(table)
    features = tuple(dataclasses.replace(whole.features[k], table=0) for k in numbers)
    plan = Plan((small,), features, whole.cores, policy=whole.policy)
    shared = dict(record.before.shared[table])
    if one.step_counter is not None:
        shared["step_counter"] = rates[one.step_counter.number]
    state = dataclasses.replace(create(plan, [weights], [slots]), shared=(shared,))
    places = np.where(lookups.unique == OUTSIDE, OUTSIDE, np.searchsorted(touched, lookups.unique)).astype(np.uint32)
    gradients = tuple(np.asarray(sent.gradients[k], np.float32) for k in numbers)
    return Excerpt(
        plan, rows, bool(free.size), state, lookups._replace(unique=places), gradients, sent, whole, table
    )  # fmt: skip

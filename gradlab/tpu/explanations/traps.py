"""Traps: what TPU embedding tables do and nobody mentions, and the part of a real step that shows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.html import html_table
from ..._base.indices import distinct
from ..batch import Lookups, side_by_side
from ..plan import PADDING_ID, Plan, Table
from ..state import State, create
from ..step_record import Sent, StepRecord
from ..update import rate_at_step, update
from .explanation import vector
from .row_arithmetic import Row, rows_at


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
    """The effect of a step on one table; for a pipelined plan that has applied nothing yet, its future effect."""
    sent, whole, one = record.applied or record.sent, record.plan, record.plan.tables[table]
    lookups = Lookups(*(np.asarray(x) for x in sent.lookups(whole).tables[table]))
    touched = np.unique(lookups.unique[lookups.unique != PADDING_ID]).astype(np.int64)
    free = np.setdiff1d(np.arange(min(one.rows, touched.size + 1)), touched)[:1]
    rows = np.concatenate([touched, free])
    weights, slots = rows_at(record.before, table, rows)
    rates = sent.learning_rates
    small = dataclasses.replace(
        one,
        rows=len(rows),
        learning_rate=float(rate_at_step(one, rates)),
        step_counter=None,
    )
    numbers = whole.features_of(table)
    features = tuple(dataclasses.replace(whole.features[k], table=0) for k in numbers)
    plan = Plan((small,), features, whole.cores, policy=whole.policy)
    shared = dict(record.before.shared[table])
    if one.step_counter is not None:
        shared["step_counter"] = rates[one.step_counter.number]
    state = dataclasses.replace(create(plan, [weights], [slots]), shared=(shared,))
    places = np.where(lookups.unique == PADDING_ID, PADDING_ID, np.searchsorted(touched, lookups.unique)).astype(
        np.uint32
    )
    gradients = tuple(np.asarray(sent.gradients[k], np.float32) for k in numbers)
    return Excerpt(
        plan, rows, bool(free.size), state, lookups._replace(unique=places), gradients, sent, whole, table
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Trap:
    """One thing that is easily missed; `str` says it in words. Made by `explain_missing`.

    Attributes:
        name: what it is. applies: whether it matters in this step. why: why it does, or does not.
        change: what to do to have it the other way. numbers: the step as it was and the other way, by name.
        source: who says so.

    Not in TensorFlow.

    >>> trap = Trap("Decay", False, "there is none", "set it", {}, "the proto")
    >>> print(trap)
    [ ] Decay: there is none.
    """

    name: str
    applies: bool
    why: str
    change: str
    numbers: Mapping[str, np.ndarray]
    source: str

    def __str__(self) -> str:
        first = f"[{'x' if self.applies else ' '}] {self.name}: {self.why}."
        if not self.applies:
            return first
        numbers = [f"      {name}: {vector(np.ravel(x))}" for name, x in self.numbers.items()]
        return "\n".join(
            [first, f"      To have it otherwise: {self.change}.", *numbers, f"      Source: {self.source}."]
        )


class Traps(tuple[Trap, ...]):
    """All of them; those that apply come first where they are shown. Not in TensorFlow.

    >>> [trap.name for trap in Traps([Trap("Decay", False, "there is none", "set it", {}, "the proto")]).applying]
    []
    """

    __slots__ = ()

    @property
    def applying(self) -> tuple[Trap, ...]:
        """Return the traps that matter in this step."""
        return tuple(t for t in self if t.applies)

    def named(self, name: str) -> Trap:
        """The trap of this name; KeyError with all names if there is none."""
        for trap in self:
            if trap.name == name:
                return trap
        raise KeyError(f"no trap {name!r}; there are {', '.join(t.name for t in self)}")

    def __str__(self) -> str:
        return "\n".join(str(t) for t in sorted(self, key=lambda t: not t.applies))

    def _repr_html_(self) -> str:
        rows = [
            (t.name, "yes" if t.applies else "no", t.why, t.change, "; ".join(_shown(t.numbers)), t.source)
            for t in sorted(self, key=lambda t: not t.applies)
        ]
        head = ["trap", "applies", "why", "to have it otherwise", "numbers", "source"]
        return html_table("What is easily missed in this step", head, rows)


def _shown(numbers: Mapping[str, np.ndarray]) -> list[str]:
    return [f"{name} {vector(np.ravel(x))}" for name, x in numbers.items()]


def farthest(a: Row, b: Row) -> int:
    """The row whose weights, or else slots, differ most."""
    with np.errstate(all="ignore"):
        far = np.nan_to_num(abs(a[0] - b[0]), nan=np.inf).max(axis=1)
        if not far.any() and a[1]:
            far = np.max(
                [np.nan_to_num(abs(x - y), nan=np.inf).max(axis=1) for x, y in zip(a[1], b[1], strict=True)], axis=0
            )
    return int(np.argmax(far))


def differ(a: Row, b: Row) -> bool:
    """Tell whether two results differ in weights or slots."""
    return not all(np.array_equal(x, y, equal_nan=True) for x, y in zip((a[0], *a[1]), (b[0], *b[1]), strict=True))

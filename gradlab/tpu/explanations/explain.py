"""`explain`: why a row moved in a step, computed again from what the step was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..engine.system import current_system
from ..plan import Plan, Tag
from ..step_record import Sent, StepRecord
from ..table_update import TableUpdate
from ..update import rate_at_step, rule_at_step
from . import row_arithmetic as arithmetic
from .contributions import Contribution, Given, contributions, given
from .explanation import Cause, Explanation


def explain(step: Any = None, *, row: int, table: str | int = 0) -> Explanation:
    """Why a row is what it is after a step: every lookup that touched it, their sum, and what the rule made of it.

        G = sum over cores of (sum over the lookups there of gain * gradient)
        row, slots = rule(row, slots, clip(G), lr)

    The numbers are computed again from what the step was given, and compared with the state after it: see `ulps`.

    Args:
        step: a `StepRecord`; or what keeps one of its last step, a system or a `TPUEmbedding`. None is the system that
            `initialize_system` made.
        row: which row. table: its name or its number.

    Raises:
        ValueError: no such table, or no step was kept: see `System`. FailedPreconditionError: there is no system.
        InvalidArgumentError: the table has no such row; it says what the policy did with an id of that number.

    Not in TensorFlow, where rows have no gradient that could be looked at.

    >>> from gradlab.tpu import Feature, Ids, Plan, Sent, StepRecord, Table, create
    >>> plan = Plan((Table("t", 4, 1, combiner="mean", learning_rate=0.5),), (Feature("f", 0, (1,)),))
    >>> step = StepRecord(create(plan, [[[1.0]] * 4]), Sent([[[1.0]]], ids={"f": Ids([0, 0], [2, 3])}))
    >>> print(explain(step, row=2, table="t"))
    Row 2 of table 't' moved: 1 lookup on 1 core.
      core 0, feature 'f', sample 0, position 0: id 2, weight 1, gain 0.5; [1] * gain = [0.5]
      learning rate: 0.5 (constant)
      gradient: [0.5]
      weights: [1] -> [0.75]
    """
    record = recorded(step)
    k = table_number(record.plan, table)
    _check_row(record, k, row)
    one, before = record.plan.tables[k], arithmetic.row_of(record.before, k, row)
    begun = partial(
        Explanation,
        table=one,
        row=row,
        weights_before=before[0],
        slots_before=arithmetic.named(one, before[1]),
        steps_late=int(record.plan.pipelined),
    )
    if (sent := _applied(record)) is None:
        return begun(
            cause="not yet", rule=one.rule, weights_after=before[0], slots_after=begun.keywords["slots_before"]
        )
    made = contributions(record.plan, k, row, sent)
    rule = rule_at_step(one, record.before.shared[k], sent.learning_rates)
    rate = rate_at_step(one, sent.learning_rates)
    update = TableUpdate(one, rule, record.plan.policy)
    runs = tuple(arithmetic.runs(update, before, arithmetic.totals(update, made), rate))
    path = [before, *((run.weights, tuple(run.slots.values())) for run in runs)]
    out = _left_out(given(record.plan, k, row, sent), made)
    return begun(
        cause=_cause(bool(made), bool(runs), out),
        contributions=made,
        core_sums=arithmetic.core_sums(update, made),
        runs=runs,
        rule=rule,
        learning_rate=float(rate),
        rate_source=f"tag {one.learning_rate.number}" if isinstance(one.learning_rate, Tag) else "constant",
        weights_after=path[-1][0],
        slots_after=arithmetic.named(one, path[-1][1]),
        left_out=out,
        padding=_padding(record.plan, k, sent),
        ulps=None if record.after is None else arithmetic.ulps(path, arithmetic.row_of(record.after, k, row)),
    )


def recorded(step: Any) -> StepRecord:
    """The record of a step, or of the last step of what keeps one; None is the running system."""
    if isinstance(step, StepRecord):
        return step
    system = current_system() if step is None else getattr(step, "system", step)
    last: StepRecord | None = getattr(system, "last_step", None)
    if last is None:
        raise ValueError(
            "no step was kept; set keeps_steps = True on the system (that of a TPUEmbedding is its .system) before the "
            "step, or give a StepRecord"
        )
    return last


def table_number(plan: Plan, table: str | int) -> int:
    """The place of a table in the plan, by name or number."""
    names = [t.name for t in plan.tables]
    if isinstance(table, str) and table in names:
        return names.index(table)
    if isinstance(table, str) or not 0 <= table < len(names):
        raise ValueError(f"there is no table {table!r}; the plan has {', '.join(names)}, 0 to {len(names) - 1}")
    return table


def _applied(record: StepRecord) -> Sent | None:
    if record.applied is None and record.before.pending is not None:
        raise ValueError("this pipelined step moves rows by what the step before sent; give StepRecord(late=...)")
    return record.applied


def _check_row(record: StepRecord, table: int, row: int) -> None:
    rows, name = record.plan.tables[table].rows, record.plan.tables[table].name
    if 0 <= row < rows:
        return
    sent = record.applied
    found = [e for e in given(record.plan, table, None, sent) if e.id == row] if sent else []
    become = "; the step has an id of that number, and the policy " if found else ""
    if found:
        clamps = record.plan.policy.out_of_range in ("clamp", "wrap")
        become += f"made row {found[0].row} of it" if clamps else "dropped it"
    raise InvalidArgumentError(f"table {name!r} has the rows 0 to {rows - 1}, not {row}{become}")


def _left_out(asked: Iterable[Given], made: Sequence[Contribution]) -> tuple[Given, ...]:
    """The ids that came to nothing: cut off, dropped by the policy, or dropped by an engine beyond its limits."""
    outputs = {(c.core, c.feature, c.sample) for c in made}
    found = []
    for one in asked:
        if one.fate != "looked up":
            found.append(one)
        elif (one.core, one.feature, one.sample) not in outputs:
            found.append(one._replace(fate="dropped"))
    return tuple(found)


def _cause(touched: bool, ran: bool, left_out: Sequence[Given]) -> Cause:
    if touched or ran:
        return "looked up" if touched else "not lazy"
    fates = {e.fate for e in left_out}
    return "truncated" if "truncated" in fates else "dropped" if fates else "never looked up"


def _padding(plan: Plan, table: int, sent: Sent) -> int:
    """The number of samples without an id."""
    empty = 0
    for ids in sent.cores():
        for k in plan.features_of(table):
            f = plan.features[k]
            asked = ids[f.name].samples if f.name in ids else ()
            empty += f.samples // (f.sequence_length or 1) - np.unique(np.asarray(asked, np.int64)).size
    return empty

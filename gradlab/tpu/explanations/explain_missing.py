"""`explain_missing`: which of the engine's traps a step is in, each tried both ways on its own rows."""

from __future__ import annotations

from typing import Any

from .batch_traps import BATCH_TRAPS
from .excerpt import excerpt
from .explain import recorded, table_number
from .rule_traps import RULE_TRAPS
from .traps import Traps


def explain_missing(step: Any = None, *, table: str | int = 0) -> Traps:
    """What the engine does with a table that nobody mentions: which of it matters in this step, and what it changes.

    Every trap is tried both ways on the rows that the step touches, from the state that it found.

    Args:
        step: a `StepRecord`; or what keeps one of its last step, a system or a `TPUEmbedding`. None is the system that
            `initialize_system` made.
        table: its name or its number.

    Raises:
        ValueError: no such table, or no step was kept.

    Not in TensorFlow, whose documentation has some of it in comments of its protos.

    >>> from gradlab.rules import Ftrl
    >>> from gradlab.tpu import Feature, Ids, Plan, Sent, StepRecord, Table, create
    >>> plan = Plan((Table("t", 4, 1, Ftrl()),), (Feature("f", 0, (1,)),))
    >>> step = StepRecord(create(plan, [[[1.0]] * 4]), Sent([[[0.0]]], ids={"f": Ids([0], [2])}))
    >>> trap = explain_missing(step, table="t").named("FTRL forgets the initial weight")
    >>> trap.applies, {name: x.item() for name, x in trap.numbers.items()}
    (True, {'row before': 1.0, 'after a gradient of 0': 0.0, 'after this step': 0.0})
    """
    record = recorded(step)
    cut = excerpt(record, table_number(record.plan, table))
    return Traps(trap(cut) for trap in (*RULE_TRAPS, *BATCH_TRAPS))

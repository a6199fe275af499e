"""Tables and slots as one JAX tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.arrays import Array, as_real_numbers
from .._base.jax_or_numpy import frozen_copy, register_tree
from ..rules.rule import Shared, Slots
from .plan import Plan, Table
from .row_owners import ONE_DEVICE, Placement


@dataclass(frozen=True)
class State:
    """The values that a step changes.

    A JAX tree whose leaves are the arrays; the plan and the placement are static.

    `tables` and `slots` are in the plan's order, (rows, width) each, or (rows, 1) for a slot kept
    by row; `shared` has what changes from step to step but is common to all rows; `pending` is the
    update that a pipelined engine has not made yet. Not in TensorFlow.

    >>> import jax, jax.numpy as jnp
    >>> from gradlab.tpu import Plan, Table
    >>> state = create(Plan((Table("t", 2, 3),), ()), [jnp.zeros((2, 3))])
    >>> jax.tree.map(lambda x: x + 1, state).tables[0][0].tolist()
    [1.0, 1.0, 1.0]
    """

    plan: Plan
    tables: tuple[Array, ...]
    slots: tuple[Slots, ...]
    shared: tuple[Shared, ...]
    pending: Any = None
    placement: Placement = ONE_DEVICE


register_tree(State, ["tables", "slots", "shared", "pending"], ["plan", "placement"])


def create(
    plan: Plan, tables: Sequence[Any], slots: Sequence[Sequence[Any] | None] | None = None
) -> State:
    """Return the state before the first step.

    Args:
        tables: one (rows, width) array for each table of the plan; they become float32.
        slots: the same for their slots, None where the rule shall make them.

    Raises:
        ValueError: another number of tables or slots than the plan has, another shape, or no real
            numbers; names the table.

    Source: op `LoadAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab.tpu import Feature, Plan, Table
    >>> create(Plan((Table("t", 2, 3),), (Feature("f", 0, (1,)),)), [np.zeros((2, 3))]).tables[0].shape
    (2, 3)
    """
    if len(tables) != len(plan.tables):
        raise ValueError(f"the plan has {len(plan.tables)} tables, got {len(tables)}")
    arrays = tuple(
        _float32(x, f"table {t.name!r}") for t, x in zip(plan.tables, tables, strict=True)
    )
    if slots is None:
        slots = [None] * len(arrays)
    if len(slots) != len(arrays):
        raise ValueError(f"the plan has {len(arrays)} tables, got slots of {len(slots)}")
    all_slots = []
    for t, w, given_slots in zip(plan.tables, arrays, slots, strict=True):
        if given_slots is None:
            table_slots = t.rule.init(w)
        else:
            table_slots = tuple(_float32(s, f"a slot of table {t.name!r}") for s in given_slots)
        _check_shapes(t, w, table_slots)
        all_slots.append(table_slots)
    return State(plan, arrays, tuple(all_slots), tuple(t.rule.start() for t in plan.tables))


def _check_shapes(table: Table, w: Array, slots: Slots) -> None:
    names = table.rule.slots
    if len(slots) != len(names):
        raise ValueError(
            f"table {table.name!r} has the slots {', '.join(names) or 'none'}; got {len(slots)}"
        )
    for name, x in (("parameters", w), *zip(names, slots, strict=True)):
        shape = table.rule.slot_shape(name, (table.rows, table.width))
        if x.shape != shape:
            raise ValueError(
                f"{name} of table {table.name!r} must have shape {shape}, got {x.shape}"
            )


def _float32(x: Any, name: str) -> Array:
    return frozen_copy(as_real_numbers(x, name), np.float32)

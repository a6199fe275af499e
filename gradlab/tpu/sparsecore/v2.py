"""TensorFlow's SparseCore class for a plan: which parts it refuses, and which it doesn't read."""

from __future__ import annotations

import dataclasses

from ...errors import EmbeddingWarning, warn
from ...rules import (
    Adagrad,
    AdagradMomentum,
    Adam,
    Ftrl,
    Rule,
    StochasticGradientDescent,
    UserDefined,
)
from ..plan import NO_LIMITS, Plan, Table

RULES: tuple[type[Rule], ...] = (
    StochasticGradientDescent,
    Adagrad,
    AdagradMomentum,
    Adam,
    Ftrl,
    UserDefined,
)


def as_v2(plan: Plan) -> Plan:
    """Return the plan that TPUEmbeddingV2 would train; an `EmbeddingWarning` for each setting that it never reads.

    Not read: limits of gradients and of weights, accumulate=False, and that a rule moves every row.

    Raises:
        NotImplementedError: weight decay, as there.
        ValueError: a rule that it does not have.

    TPUEmbeddingV2 does not warn; jax-tpu-embedding does clip weights. Source: `TPUEmbeddingV2`,
    TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Plan, Table
    >>> as_v2(Plan((Table("t", 10, 1),), ())).tables[0].weight_limits
    (None, None)
    """
    for note in unread_by_v2(plan):
        warn(f"TPUEmbeddingV2 does not read {note}", EmbeddingWarning)
    return dataclasses.replace(plan, tables=tuple(_seen(t)[0] for t in plan.tables))


def unread_by_v2(plan: Plan) -> tuple[str, ...]:
    """Return the settings of a plan that TPUEmbeddingV2 never reads. Raises what `as_v2` raises.

    Source: `TPUEmbeddingV2`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Plan, Table
    >>> unread_by_v2(Plan((Table("t", 10, 1, weight_limits=(-1.0, None)),), ()))
    ("weight_limits=(-1.0, None) of table 't'",)
    """
    return tuple(note for t in plan.tables for note in _seen(t)[1])


def _seen(table: Table) -> tuple[Table, list[str]]:
    if table.weight_decay:
        raise NotImplementedError(
            f"table {table.name!r}: TPUEmbeddingV2 has no weight decay, got {table.weight_decay}"
        )
    if not isinstance(table.rule, RULES):
        names = ", ".join(r.__name__ for r in RULES)
        raise ValueError(
            f"table {table.name!r}: TPUEmbeddingV2 has {names}; got {type(table.rule).__name__}"
        )
    plain = dataclasses.replace(
        table, gradient_limits=NO_LIMITS, weight_limits=NO_LIMITS, accumulate=True
    )
    notes = [
        f"{name}={getattr(table, name)} of table {table.name!r}"
        for name in ("gradient_limits", "weight_limits", "accumulate")
        if getattr(table, name) != getattr(plain, name)
    ]
    if table.rule.lazy:
        return plain, notes
    notes.append(f"lazy=False of {type(table.rule).__name__} of table {table.name!r}")
    return dataclasses.replace(plain, rule=table.rule.at({"lazy": True})), notes

"""What TensorFlow's SparseCore class makes of a plan: some of it is refused, some of it is not read."""

from __future__ import annotations

import dataclasses

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

RULES: tuple[type[Rule], ...] = (StochasticGradientDescent, Adagrad, AdagradMomentum, Adam, Ftrl, UserDefined)


def as_v2(plan: Plan) -> tuple[Plan, tuple[str, ...]]:
    """The plan that TPUEmbeddingV2 would train, and a sentence for each setting that it never reads.

    Not read: limits of gradients and of weights, accumulate=False, and that a rule moves every row.

    Raises:
        NotImplementedError: weight decay, as there. ValueError: a rule that it does not have.

    jax-tpu-embedding does clip weights. Source: `TPUEmbeddingV2`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Plan, Table
    >>> seen, notes = as_v2(Plan((Table("t", 10, 1, weight_limits=(-1.0, None)),), ()))
    >>> seen.tables[0].weight_limits, notes
    ((None, None), ("table 't': weight_limits=(-1.0, None) is not read",))
    """
    found = [_seen(t) for t in plan.tables]
    notes = tuple(n for _, each in found for n in each)
    return dataclasses.replace(plan, tables=tuple(t for t, _ in found)), notes


def _seen(table: Table) -> tuple[Table, list[str]]:
    if table.weight_decay:
        raise NotImplementedError(f"table {table.name!r}: TPUEmbeddingV2 has no weight decay, got {table.weight_decay}")
    if not isinstance(table.rule, RULES):
        names = ", ".join(r.__name__ for r in RULES)
        raise ValueError(f"table {table.name!r}: TPUEmbeddingV2 has {names}; got {type(table.rule).__name__}")
    plain = dataclasses.replace(table, gradient_limits=NO_LIMITS, weight_limits=NO_LIMITS, accumulate=True)
    notes = [
        f"table {table.name!r}: {name}={getattr(table, name)} is not read"
        for name in ("gradient_limits", "weight_limits", "accumulate")
        if getattr(table, name) != getattr(plain, name)
    ]
    if table.rule.lazy:
        return plain, notes
    notes.append(f"table {table.name!r}: lazy=False of {type(table.rule).__name__} is not read")
    return dataclasses.replace(plain, rule=table.rule.at({"lazy": True})), notes

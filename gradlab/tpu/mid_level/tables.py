"""The tables of a nest of features: their names and optimizers, and what they hold before the first step."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._base.errors import InvalidArgumentError
from ...rules import Rule
from .config_writer import tables_of
from .initializers import TruncatedNormal, initial_values
from .optimizer import Optimizer
from .table_config import FeatureConfig, TableConfig


def adopt_tables(
    features: Sequence[tuple[str, Any]], optimizer: Optimizer | None, needs_optimizer: bool = True
) -> list[TableConfig]:
    """The tables by first use, each with a name and an optimizer from now on.

    Raises:
        ValueError: what is no FeatureConfig; no optimizer where there must be one, or one of another kind; two tables
            of one name. No table is changed.
    """
    for path, f in features:
        if not isinstance(f, FeatureConfig):
            raise ValueError(f"feature {path!r} must be a FeatureConfig, got {type(f).__name__}")
    tables = tables_of([f for _, f in features])
    names = [t.name or f"table_{k}" for k, t in enumerate(tables)]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise ValueError(f"two tables have the name {twice[0]!r}; names must differ")
    optimizers = [optimizer if t.optimizer is None else t.optimizer for t in tables]
    for name, found in zip(names, optimizers, strict=True):
        if not isinstance(found, Optimizer) and (needs_optimizer or found is not None):
            raise ValueError(f"table {name!r} needs an optimizer of gl.tpu, got {found!r}")
    for table, name, found in zip(tables, names, optimizers, strict=True):
        table.name, table.optimizer = name, found
    return tables


def initial_arrays(tables: Sequence[TableConfig], rows: Sequence[int], seed: int) -> list[list[np.ndarray]]:
    """For each table its parameters, then its slots; tables without an initializer have numbers of their own.

    Raises:
        ValueError: an initializer that makes another shape; it names the table.
    """
    return [
        _arrays(table, (count, table.dim), [seed, k]) for k, (table, count) in enumerate(zip(tables, rows, strict=True))
    ]


def _arrays(table: TableConfig, shape: tuple[int, int], seed: list[int]) -> list[np.ndarray]:
    make, optimizer = table.initializer, table.optimizer
    if isinstance(make, TruncatedNormal) and make.seed is None:
        make = dataclasses.replace(make, seed=int(np.random.SeedSequence(seed).generate_state(1)[0]))
    parameters = initial_values(make, shape, f"table {table.name!r}")
    return [parameters] if optimizer is None else [parameters, *_slots(table, optimizer, parameters)]


def _slots(table: TableConfig, optimizer: Optimizer, parameters: np.ndarray) -> list[np.ndarray]:
    names, makers = optimizer.slot_names, optimizer.slot_initializers
    if optimizer.slot_variable_creation_fn is None:
        own = [initial_values(f, parameters.shape, n) for n, f in zip(names, makers, strict=True)]
        special = type(optimizer.rule).init is not Rule.init  # a rule that makes its slots of the weights
        return [np.asarray(s) for s in optimizer.rule.init(parameters)] if special else own
    made = optimizer.slot_variable_creation_fn(parameters, list(names), list(makers))
    if missing := [n for n in names if n not in made]:
        raise ValueError(f"slot_variable_creation_fn of table {table.name!r} made no {missing[0]!r}")
    return list(checked_arrays(table, {"parameters": parameters} | {n: made[n] for n in names}, parameters.shape)[1:])


def names_of(table: TableConfig) -> list[str]:
    """What a table is called by, and its slots."""
    return ["parameters", *(table.optimizer.slot_names if table.optimizer else ())]


def checked_arrays(table: TableConfig, given: Any, shape: tuple[int, int]) -> list[np.ndarray]:
    """The parameters and slots of a table out of a dict by name.

    Raises:
        InvalidArgumentError: one that is missing or too much, or of another shape; it names the table.
    """
    names = names_of(table)
    if set(given) != set(names):
        raise InvalidArgumentError(f"table {table.name!r} has {', '.join(names)}; got {', '.join(sorted(given))}")
    arrays = [np.asarray(given[n], np.float32) for n in names]
    for name, x in zip(names, arrays, strict=True):
        if x.shape != shape:
            raise InvalidArgumentError(f"{name} of table {table.name!r} must have shape {shape}, got {x.shape}")
    return arrays

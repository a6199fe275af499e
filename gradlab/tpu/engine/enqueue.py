"""The enqueue operations: their arguments become the ids of the plan's features."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._base.indices import rank_in_groups
from ...errors import InvalidArgumentError
from ..ids import Ids, ids_of
from ..plan import Feature, Plan


class Input(NamedTuple):
    """One entry of the lists that an enqueue operation takes.

    `where` are sample indices (of rank 1 or 2), or row splits, or empty; `samples` says how many
    rows it fills for each element of the batch, or the length of its sequence.
    """

    where: Any
    ids: Any
    weights: Any = ()
    samples: int = 1
    is_sequence: bool = False


def ids_of_features(plan: Plan, inputs: Sequence[Input], flat: bool = False) -> dict[str, Ids]:
    """Return the ids of features that the configuration describes, an input for each, in order.

    Indices have one column more than the feature has axes; splits or indices that go past the last
    axis are those of a sequence, which is cut there.

    Args:
        flat: indices have two columns, the sample (all axes in one) and the place, except those of
            sequences.

    Raises:
        InvalidArgumentError: another number of inputs than features, or one that does not fit; it
            names the feature.
    """
    _check_count(len(inputs), len(plan.features), "features")
    ids = {}
    for feature, given in zip(plan.features, inputs, strict=True):
        if flat and not given.is_sequence:
            feature = dataclasses.replace(feature, shape=(feature.samples,))
        ids[feature.name] = _read_input(feature, given)
    return ids


def ids_of_tables(
    plan: Plan, inputs: Sequence[Input], table_ids: Sequence[int] | None = None
) -> dict[str, Ids]:
    """Return the ids of a configuration without features, whose rows are those of all inputs of a table side by side.

        row of the table = element of the batch * num_features of the table + first row of the input + row in it

    Args:
        table_ids: the table of each input; None: input k is all of table k.

    Raises:
        InvalidArgumentError: inputs that do not fill their table, or do not fit; it names the
            table.
    """
    if table_ids is None:
        _check_count(len(inputs), len(plan.tables), "tables")
        return ids_of_features(plan, inputs)
    _check_count(len(table_ids), len(inputs), "inputs, each with its entry of table_ids")
    if outside := [k for k in table_ids if not 0 <= k < len(plan.tables)]:
        raise InvalidArgumentError(
            f"table_ids must be 0 to {len(plan.tables) - 1}, got {outside[0]}"
        )
    return {
        f.name: _join_inputs(
            f, [given for given, k in zip(inputs, table_ids, strict=True) if k == f.table]
        )
        for f in plan.features
    }


def set_combiners(plan: Plan, combiners: Sequence[Any] | None) -> Plan:
    """Return the plan with a combiner for each table; none are given: "sum" for all.

    Raises:
        InvalidArgumentError: another number than tables, or an unknown one.
    """
    names: list[Any] = [
        c.decode() if isinstance(c, bytes) else c for c in combiners or ["sum"] * len(plan.tables)
    ]
    if len(names) != len(plan.tables):
        raise InvalidArgumentError(
            f"combiners must be none or one for each of {len(plan.tables)} tables, got {names}"
        )
    if unknown := [c for c in names if c not in ("sum", "mean", "sqrtn")]:
        raise InvalidArgumentError(
            f"a combiner must be 'sum', 'mean' or 'sqrtn', got {unknown[0]!r}"
        )
    tables = [dataclasses.replace(t, combiner=c) for t, c in zip(plan.tables, names, strict=True)]
    return dataclasses.replace(plan, tables=tuple(tables))


def as_indices(samples: Any) -> np.ndarray:
    """Return sample numbers as indices of rank 2; empty ones stay empty.

    >>> as_indices([0, 2]).tolist()
    [[0, 0], [2, 0]]
    """
    where = np.asarray(samples)
    return np.stack([where, np.zeros_like(where)], 1) if where.ndim == 1 and where.size else where


def _join_inputs(table: Feature, inputs: Sequence[Input]) -> Ids:
    total = sum(i.samples for i in inputs)
    if not inputs or table.samples % total:
        raise InvalidArgumentError(
            f"table {table.name!r} has {table.samples} rows, the inputs fill {total} at a time"
        )
    batch = table.samples // total
    parts = []
    start = 0
    for given in inputs:
        shape = (batch, given.samples) if given.is_sequence else (batch * given.samples,)
        ids = _read_input(Feature(table.name, table.table, shape), given)
        element, row = np.divmod(ids.samples, given.samples)
        parts.append(ids._replace(samples=element * total + start + row))
        start += given.samples
    return _merge_ids(parts)


def _merge_ids(parts: Sequence[Ids]) -> Ids:
    samples = np.concatenate([p.samples for p in parts])
    ids = np.concatenate([np.asarray(p.ids) for p in parts])
    order = np.argsort(samples, kind="stable")
    if all(p.weights is None for p in parts):
        return Ids(samples[order], ids[order])
    ones = [np.ones(p.samples.size, np.float32) if p.weights is None else p.weights for p in parts]
    return Ids(samples[order], ids[order], np.concatenate(ones)[order])


def _read_input(feature: Feature, given: Input) -> Ids:
    """Return the ids of one input; what is past the end of a sequence is left out."""
    ids = np.asarray(given.ids)
    weights = np.asarray(given.weights)
    where = _sample_indices(feature, given, ids)
    if where.ndim == 2 and len(where) == ids.size and where.shape[1] == len(feature.shape) + 1 > 2:
        inside = where[:, -2] < feature.shape[-1]
        where = where[inside]
        ids = ids[inside]
        if weights.size == inside.size:
            weights = weights[inside]
    if not ids.size:
        # An empty list has no integers' dtype.
        ids = ids.astype(np.int64)
    return ids_of(feature, (where, ids), weights if weights.size else None)


def _sample_indices(feature: Feature, given: Input, ids: np.ndarray) -> np.ndarray:
    """Return the destination of the ids: sequences by element, place and 0, everything else as it
    is written.
    """
    where = np.asarray(given.where)
    axes = len(feature.shape)
    if where.size == 0 and ids.size == 0:
        return np.zeros((0, axes + 1), np.int64)
    if where.size == 0 and given.is_sequence:
        where = as_indices(np.arange(ids.size))
    elif (
        where.ndim == 1
        and where.size
        and axes > 1
        and (given.is_sequence or where.size - 1 != feature.samples)
    ):
        where = _split_indices(feature, where, ids)
    is_short = given.is_sequence and where.ndim == 2 and where.shape[1] == axes > 1
    return np.pad(where, ((0, 0), (0, 1))) if is_short else where


def _split_indices(feature: Feature, splits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return element, place and 0 for each id of a ragged sequence."""
    rows = ids_of(dataclasses.replace(feature, shape=feature.shape[:-1]), (splits, ids)).samples
    places = rank_in_groups(rows)
    return np.stack([*np.unravel_index(rows, feature.shape[:-1]), places, np.zeros_like(places)], 1)


def _check_count(given: int, wanted: int, what: str) -> None:
    if given != wanted:
        raise InvalidArgumentError(f"there are {wanted} {what}, got {given}")

"""Rows of tables and slots on their way in and out of a state, shard by shard of the hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._base.arrays import Array
from ..._base.errors import InvalidArgumentError
from ..._steps.jax import jnp
from ..placement import OnMesh, Shards
from ..sharding.rows import made_of, reader
from ..state import State

UNTOUCHED = np.uint32(1).view(np.float32)  # what the hidden sum of gradients holds between steps


def read_rows(state: State, table: int, held: Shards, shard: int) -> list[np.ndarray]:
    """Copies of the rows of a shard: parameters, then slots."""
    rows = held.held(shard)
    return [reader(state.placement, held.rows, x)(rows) for x in _arrays(state, table)]


def write_rows(state: State, table: int, held: Shards, shard: int, arrays: Sequence[Any]) -> State:
    """The state with the rows of a shard in place: parameters, then slots, each (rows of the shard, width).

    Raises:
        InvalidArgumentError: another shape, or something that is not numbers; it names the table.
    """
    t, rows = state.plan.tables[table], held.held(shard)
    values = [_checked(t.name, name, x, (rows.size, t.width)) for name, x in zip(_names(t.rule), arrays, strict=True)]
    w, *slots = (_written(state, old, held, rows, new) for old, new in zip(_arrays(state, table), values, strict=True))
    return dataclasses.replace(
        state,
        tables=_with(state.tables, table, w),
        slots=_with(state.slots, table, tuple(slots)),
    )


def untouched(shape: tuple[int, ...]) -> np.ndarray:
    """The hidden sum of gradients between steps: the float32 whose bits are 1, which adds nothing but is not 0.

    >>> untouched((1, 1)).view(np.uint32).tolist()
    [[1]]
    """
    return np.full(shape, UNTOUCHED, np.float32)


def check_untouched(table: str, x: Any) -> None:
    """Refuse a hidden sum of gradients that is not empty: a step that is half done cannot be loaded.

    Raises:
        InvalidArgumentError: entries that would count in the next step; it names the table.
    """
    if (np.abs(np.asarray(x)) >= np.finfo(np.float32).tiny).any():
        raise InvalidArgumentError(f"the hidden accumulator of table {table!r} holds gradients; give it zeros")


def _arrays(state: State, table: int) -> list[Array]:
    return [state.tables[table], *state.slots[table]]


def _names(rule: Any) -> tuple[str, ...]:
    return ("parameters", *rule.slots)


def _checked(table: str, name: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(x)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise InvalidArgumentError(f"{name} of table {table!r} must be numbers, got {array.dtype}")
    if array.shape != shape:
        raise InvalidArgumentError(f"{name} of table {table!r} must have shape {shape} here, got {array.shape}")
    return array.astype(np.float32)


def _written(state: State, old: Array, held: Shards, rows: np.ndarray, new: np.ndarray) -> Array:
    if held.count == 1 and not isinstance(state.placement, OnMesh):
        return jnp.array(new)
    if not isinstance(state.placement, OnMesh):
        return old.at[rows].set(new)
    place = np.full(held.rows, -1)
    place[rows] = np.arange(rows.size)
    before = reader(state.placement, held.rows, old)

    def after(ids: np.ndarray) -> np.ndarray:
        out = np.array(before(ids))
        out[place[ids] >= 0] = new[place[ids[place[ids] >= 0]]]
        return out

    return made_of(state.placement, held.rows, after)


def _with(items: tuple[Any, ...], k: int, new: Any) -> tuple[Any, ...]:
    return (*items[:k], new, *items[k + 1 :])

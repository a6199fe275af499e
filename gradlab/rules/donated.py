"""JAX: programs that are given the buffers of weights and slots to write their results into."""

from __future__ import annotations

import dataclasses
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._base.arrays import Array, is_jax, namespace, set_rows, take_rows
from .._base.indices import find_distinct, padded_size
from .._base.slices import IndexedSlices
from . import dense_and_sparse
from .pure import Sparse
from .rule import Rule, Slots, is_moving

Rows = tuple[np.ndarray, tuple[Array, ...]]  # where, and what stands there in w and every slot


def dense(
    rule: Rule, w: Array, slots: Slots, g: Array, lr: Any, donate_w: bool, donate_slots: bool
) -> tuple[Array, Slots]:
    """Return `dense_and_sparse.dense` as one program, which uses up what it is donated."""
    still, moving = _split(rule)
    new: tuple[Array, Slots] = _dense_program(donate_w, donate_slots)(
        still, moving, w, slots, g, lr
    )
    return new


def check_dense(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any) -> None:
    """Raise what `dense` would raise, without using anything up."""
    still, moving = _split(rule)
    _dense_program(False, False).eval_shape(still, moving, w, slots, g, lr)


def new_rows(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any, way: Sparse) -> Rows:
    """First program: the distinct rows named, and what stands in them after the step.

    It only reads the tables.
    """
    named, place = find_distinct(np.asarray(g.indices), w.shape[0])
    named = _padded(named, w.shape[0])
    still, moving = _split(rule)
    return named, _programs().new_rows(
        still, way, moving, w, slots, named, place.astype(np.int32), g.values, lr
    )


def scatter_all(rows: Rows, w: Array, slots: Slots, donate: bool) -> tuple[Array, Slots]:
    """Second program: those rows written.

    It only writes the tables, in place if they are donated.
    """
    new_w, *new_slots = (
        scatter(x, rows[0], new, donate) for x, new in zip((w, *slots), rows[1], strict=True)
    )
    return new_w, tuple(new_slots)


def scatter(table: Array, named: np.ndarray, new: Array, donate: bool) -> Array:
    """One table with these rows written."""
    p = _programs()
    written: Array = (p.scatter_donated if donate else p.scatter)(table, named, new)
    return written


def is_usable(rule: Rule, *arrays: Array) -> bool:
    """Tell whether there is a program for this rule and these arrays: JAX arrays of one device, a known rule."""
    try:
        hash(_split(rule)[0])
    except TypeError:
        return False
    return all(is_jax(x) and len(x.sharding.device_set) == 1 for x in arrays)


@cache
def _programs() -> SimpleNamespace:
    from .._base.jax import jax

    return SimpleNamespace(
        new_rows=jax.jit(_new_rows, static_argnums=(0, 1)),
        scatter=jax.jit(set_rows),
        scatter_donated=jax.jit(set_rows, donate_argnums=0),
    )


@cache
def _dense_program(donate_w: bool, donate_slots: bool) -> Any:
    from .._base.jax import jax

    donated = (2,) * donate_w + (3,) * donate_slots
    # A rule may not read what it replaces. Its buffer is welcome all the same, so unused arguments
    # are kept.
    return jax.jit(_dense, static_argnums=0, donate_argnums=donated, keep_unused=bool(donated))


def _split(rule: Rule) -> tuple[Rule, dict[str, Any]]:
    """The rule, and the fields that are arrays or NumPy numbers: new values of those need no new
    program.
    """
    fields = {f.name: getattr(rule, f.name) for f in dataclasses.fields(rule)}
    moving = {name: x for name, x in fields.items() if is_moving(x)}
    return dataclasses.replace(rule, **dict.fromkeys(moving, 0.0)), moving


def _dense(
    still: Rule, moving: dict[str, Array], w: Array, slots: Slots, g: Array, lr: Array
) -> tuple[Array, Slots]:
    return dense_and_sparse.dense(still.at(moving), w, slots, g, lr)


def _new_rows(
    still: Rule,
    way: Sparse,
    moving: dict[str, Array],
    w: Array,
    slots: Slots,
    named: Array,
    place: Array,
    values: Array,
    lr: Array,
) -> tuple[Array, ...]:
    rule, old, old_slots = (
        still.at(moving),
        take_rows(w, named),
        tuple(take_rows(s, named) for s in slots),
    )
    if way is not dense_and_sparse.rows:
        new, new_slots = way(rule, old, old_slots, IndexedSlices(values, place), lr)
    else:
        zeros: Any = namespace(old).zeros(old.shape, values.dtype)
        new, new_slots = rule(old, old_slots, zeros.at[place].add(values), lr)
    return new, *new_slots


def _padded(named: np.ndarray, rows: int) -> np.ndarray:
    """Filled up with rows outside the table to one of few lengths, so that there are few programs."""
    size = named.size
    padded = np.arange(
        rows, rows + padded_size(size, fine=32), dtype=np.int64 if rows > 2**30 else np.int32
    )
    padded[:size] = named
    return padded

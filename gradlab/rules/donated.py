"""JAX: compiled steps that can be donated weights and slots, to write the results into their memory.

`dense` is one program. A step by rows is two: `new_rows` only reads the tables, `scatter` only
writes one. In a single program XLA may copy a table to keep the two apart.

Fields of a rule that are arrays or NumPy numbers, such as Adam's powers, are arguments of a
program, which serves all their values. Python numbers are compiled into it.
"""

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

# The numbers of rows, and their new values in w and every slot.
RowUpdate = tuple[np.ndarray, tuple[Array, ...]]


def dense(
    rule: Rule, w: Array, slots: Slots, g: Array, lr: Any, donate_w: bool, donate_slots: bool
) -> tuple[Array, Slots]:
    """Run `dense_and_sparse.dense` as one program, which uses up what it is donated."""
    static, array_fields = _split(rule)
    new: tuple[Array, Slots] = _dense_program(donate_w, donate_slots)(
        static, array_fields, w, slots, g, lr
    )
    return new


def check_dense(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any) -> None:
    """Raise what `dense` would raise, without using anything up."""
    static, array_fields = _split(rule)
    _dense_program(False, False).eval_shape(static, array_fields, w, slots, g, lr)


def new_rows(
    rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any, sparse: Sparse
) -> RowUpdate:
    """Return the distinct rows named, and their new values in w and every slot.

    `sparse` is `dense_and_sparse.rows` or a function that gives the same result on the named rows
    alone. The first program: it only reads the tables.
    """
    rows, row_of_slice = find_distinct(np.asarray(g.indices), w.shape[0])
    rows = _padded(rows, w.shape[0])
    row_of_slice = row_of_slice.astype(np.int32)
    static, array_fields = _split(rule)
    new: tuple[Array, ...] = _programs().new_rows(
        static, sparse, array_fields, w, slots, rows, row_of_slice, g.values, lr
    )
    return rows, new


def scatter_all(update: RowUpdate, w: Array, slots: Slots, donate: bool) -> tuple[Array, Slots]:
    """Return w and slots with these rows written."""
    rows, values = update
    new_w, *new_slots = (
        scatter(x, rows, new, donate) for x, new in zip((w, *slots), values, strict=True)
    )
    return new_w, tuple(new_slots)


def scatter(table: Array, rows: np.ndarray, new: Array, donate: bool) -> Array:
    """Return the table with these rows written, in place if it is donated.

    The second program: it only writes.
    """
    programs = _programs()
    program = programs.scatter_donated if donate else programs.scatter
    written: Array = program(table, rows, new)
    return written


def is_usable(rule: Rule, *arrays: Array) -> bool:
    """Tell whether the programs take this rule, which must have a hash, and these arrays of one device."""
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
    # A rule may set weights without reading them. Their memory can still hold the result, so unused
    # arguments are kept.
    return jax.jit(_dense, static_argnums=0, donate_argnums=donated, keep_unused=bool(donated))


def _split(rule: Rule) -> tuple[Rule, dict[str, Any]]:
    """Return the rule that a program is compiled for, and the fields that are its arguments."""
    fields = {f.name: getattr(rule, f.name) for f in dataclasses.fields(rule)}
    array_fields = {name: x for name, x in fields.items() if is_moving(x)}
    return dataclasses.replace(rule, **dict.fromkeys(array_fields, 0.0)), array_fields


def _dense(
    static: Rule, array_fields: dict[str, Array], w: Array, slots: Slots, g: Array, lr: Array
) -> tuple[Array, Slots]:
    return dense_and_sparse.dense(static.at(array_fields), w, slots, g, lr)


def _new_rows(
    static: Rule,
    sparse: Sparse,
    array_fields: dict[str, Array],
    w: Array,
    slots: Slots,
    rows: Array,
    row_of_slice: Array,
    values: Array,
    lr: Array,
) -> tuple[Array, ...]:
    rule = static.at(array_fields)
    old_w = take_rows(w, rows)
    old_slots = tuple(take_rows(s, rows) for s in slots)
    if sparse is dense_and_sparse.rows:
        zeros: Any = namespace(old_w).zeros(old_w.shape, values.dtype)
        new_w, new_slots = rule(old_w, old_slots, zeros.at[row_of_slice].add(values), lr)
    else:
        slices = IndexedSlices(values, row_of_slice)
        new_w, new_slots = sparse(rule, old_w, old_slots, slices, lr)
    return new_w, *new_slots


def _padded(rows: np.ndarray, table_rows: int) -> np.ndarray:
    """Fill up with rows outside the table to one of few lengths, so that there are few programs."""
    dtype = np.int64 if table_rows > 2**30 else np.int32
    size = padded_size(rows.size, fine=32)
    padded = np.arange(table_rows, table_rows + size, dtype=dtype)
    padded[: rows.size] = rows
    return padded

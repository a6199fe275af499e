"""The update of a variable in the shells of the optimizers: first all that may fail, then the new values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import apply
from .._arrays import CACHED, Array, is_jax, is_traced, precision
from ..autodiff import Gradient
from ..rules import Rule
from ..slices import IndexedSlices
from ..variable import Variable
from . import blocks, donated
from .cells import Cell, is_ours, spare, swap, taken

Commit = Callable[[], None]


def prepared(
    rule: Rule, v: Variable, slots: Sequence[Cell], g: Gradient, lr: Any, sparse: Callable[..., Any]
) -> Commit | None:
    """What remains to be done when the updates of all variables are certain to work, or None if there is no such way.

    The caller holds the lock of v and keeps `slots` from changing. What is None: a variable with a constraint, a rule
    or a way to meet slices that moves other rows too, values inside `jit` or on several devices, NumPy with JAX,
    and small NumPy arrays, for which new memory costs nothing.
    """
    cells, way = (v, *slots), _way(rule, sparse) if isinstance(g, IndexedSlices) else apply.dense
    parts = [g.values, g.indices] if isinstance(g, IndexedSlices) else [g]
    if v.constraint is not None or way is None or any(is_traced(x) for x in (v._value, *parts, lr)):
        return None
    if is_jax(v._value):
        usable = donated.is_usable(rule, *(c._value for c in cells))
        return _with_jax(rule, cells, g, lr, way) if usable else None
    small = v._value.size <= CACHED
    return None if small or any(is_jax(x) for x in (*parts, lr)) else _with_numpy(rule, cells, g, lr, way)


def _way(rule: Rule, sparse: Callable[..., Any]) -> Callable[..., Any] | None:
    """`apply.rows` or `apply.each`, if the slices meet the rule so."""
    if sparse is apply.sparse and rule.lazy:
        return apply.rows
    return sparse if sparse in (apply.rows, apply.each) else None


def _with_numpy(rule: Rule, cells: Sequence[Cell], g: Any, lr: Any, way: Any) -> Commit:
    w, slots = cells[0]._value, tuple(c._value for c in cells[1:])
    if way is not apply.dense:
        named, new = blocks.new_rows(rule, w, slots, g, lr, way is apply.each)
        return lambda: _write_rows(cells, named, new)
    targets = [spare(c) for c in cells]
    blocks.step(rule, w, slots, g, lr, (targets[0], tuple(targets[1:])))

    def commit() -> None:
        for cell, target in zip(cells, targets, strict=True):
            swap(cell, target)

    return commit


def _write_rows(cells: Sequence[Cell], named: np.ndarray, new: Sequence[np.ndarray]) -> None:
    with taken(cells) as values:
        for value in values:
            if not is_ours(value):
                value[0] = value[0].copy()
        for value, x in zip(values, new, strict=True):
            value[0].flags.writeable = True
            value[0][named] = x
            value[0].flags.writeable = False


def _with_jax(rule: Rule, cells: Sequence[Cell], g: Any, lr: Any, way: Any) -> Commit:
    w, slots, dtype = cells[0]._value, tuple(c._value for c in cells[1:]), cells[0]._value.dtype
    if way is apply.dense:
        donated.check_dense(rule, w, slots, g, lr)
        return lambda: _step(rule, cells, g, lr)
    rows = donated.new_rows(rule, w, slots, g, lr, way is apply.each)
    return lambda: _scatter(cells, rows, dtype)


def _step(rule: Rule, cells: Sequence[Cell], g: Array, lr: Any) -> None:
    with taken(cells) as values, precision(values[0][0].dtype):
        donate = all([is_ours(value) for value in values])
        w, slots = donated.dense(rule, values[0][0], tuple(v[0] for v in values[1:]), g, lr, donate)
        for value, x in zip(values, (w, *slots), strict=True):
            value[0] = x


def _scatter(cells: Sequence[Cell], rows: donated.Rows, dtype: Any) -> None:
    with taken(cells) as values, precision(dtype):
        for value, new in zip(values, rows[1], strict=True):
            value[0] = donated.scatter(value[0], rows[0], new, is_ours(value))

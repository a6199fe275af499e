"""The update of a variable in the shells of the optimizers: first all that may fail, then the new values.

A `Job` is one gradient for one variable, with the rule and the way of slices. `commits` does the jobs and returns, for
each variable, a `Commit`: a function that only stores and cannot fail. A `Look` may inspect new slots before that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .._base.arrays import Array, is_jax, is_traced, precision
from .._base.gradients import Gradient
from .._base.slices import IndexedSlices
from ..rules import Rule, apply, blocks, donated, pure
from ..rules.rule import Slots
from .buffers import Cell, Fresh, is_ours, is_small, spare, swap, taken
from .variable import Variable

Commit: TypeAlias = Callable[[], Any]
Look: TypeAlias = Callable[[Slots, Any, Slots], None]  # the slots as they are, which of their rows change, the new rows


def unseen(slots: Slots, rows: Any, new: Slots) -> None:
    """Does not look."""


@dataclass(frozen=True)
class Job:
    """One gradient for one variable; `sparse` says how slices meet the rule.

    `look` is shown new NumPy slots before anything is stored, and may raise.
    """

    rule: Rule
    v: Variable
    g: Gradient
    lr: Any
    sparse: Callable[..., Any]
    look: Look = unseen


def commits(
    jobs: Sequence[Job], cells: Callable[[Variable], Sequence[Cell]], store: Callable[[Variable, Slots], Any]
) -> list[Commit]:
    """Do all that may fail in all jobs; what is returned, one per variable, stores the results and has to be called.

    In place where `prepared` finds a way, else as `pure.stepped`. `cells` gives the slots of a variable, `store` keeps
    new values of them. The caller holds the locks of the variables.
    """
    often, ready = Counter(job.v for job in jobs), dict[Variable, Commit]()
    new: dict[Variable, tuple[Array, Slots]] = {}
    for job in jobs:
        v = job.v
        with precision(v.dtype):
            slots = cells(v)
            commit = prepared(job, slots) if often[v] == 1 else None
            if commit is not None:
                ready[v] = partial(_finish, commit, v, slots, store)
                continue
            w, old = new[v] if v in new else (v._value, tuple(c._value for c in slots))
            w, after = pure.stepped(job.rule, w, old, job.g, job.lr, job.sparse)
            if not any(is_jax(x) for x in after):
                job.look(old, ..., after)
            new[v] = v._fitting(v.constraint(w) if v.constraint else w), after
            ready[v] = partial(_assign, v, *new[v], store)
    return list(ready.values())


def _finish(commit: Commit, v: Variable, slots: Sequence[Cell], store: Callable[[Variable, Slots], Any]) -> None:
    commit()
    if any(isinstance(s, Fresh) for s in slots):
        store(v, tuple(s._value for s in slots))


def _assign(v: Variable, w: Array, slots: Slots, store: Callable[[Variable, Slots], Any]) -> None:
    v.assign(w)
    store(v, slots)


def prepared(job: Job, slots: Sequence[Cell]) -> Commit | None:
    """The rest of an update once all updates are certain to succeed, or None if there is no such way.

    None are: a variable with a constraint, slots of another shape or dtype, ways of slices that `_way` does not know,
    values inside `jit` or on several devices, NumPy with JAX, and NumPy arrays so small that new memory costs nothing.
    """
    v, lr = job.v, job.lr
    g: Any = job.g
    parts = [g.values, g.indices, lr] if isinstance(g, IndexedSlices) else [g, lr]
    small = not is_jax(v._value) and is_small(v._value)
    if v.constraint is not None or small or any(is_traced(x) for x in (v._value, *parts)):
        return None
    shapes = [job.rule.slot_shape(name, v.shape) for name in job.rule.slots]
    if [(tuple(c._value.shape), c._value.dtype) for c in slots] != [(shape, v.dtype) for shape in shapes]:
        return None
    rule, way = _way(job)
    if way is None:
        return None
    if way is apply.every_row:
        g, way = apply.whole(v._value, g), apply.dense
    cells = (v, *slots)
    if is_jax(v._value):
        usable = donated.is_usable(rule, *(c._value for c in cells))
        return _with_jax(rule, cells, g, lr, way) if usable else None
    return None if any(is_jax(x) for x in parts) else _with_numpy(rule, cells, g, lr, way, job.look)


def _way(job: Job) -> tuple[Rule, Callable[..., Any] | None]:
    """The function of `gl.rules` that does the job, and the rule to give it.

    Or another that says of itself that it is `row_local`: given the rows named alone it does the same with them.
    """
    rule = job.rule
    way: Any = job.sparse
    if not isinstance(job.g, IndexedSlices):
        return rule, apply.dense
    if hasattr(way, "rule_for"):
        rule, way = way.rule_for(rule, job.g), apply.sparse
    if way is apply.sparse:
        way = apply.rows if rule.lazy else apply.every_row
    known = way in (apply.rows, apply.each, apply.every_row) or getattr(way, "row_local", False)
    return rule, way if known else None


def _with_numpy(rule: Rule, cells: Sequence[Cell], g: Any, lr: Any, way: Any, look: Look) -> Commit:
    w, slots = cells[0]._value, tuple(c._value for c in cells[1:])
    if way is not apply.dense:
        named, new = blocks.new_rows(rule, w, slots, g, lr, way)
        look(slots, named, new[1:])
        return lambda: _write_rows(cells, named, new)
    targets = [spare(c) for c in cells]
    blocks.step(rule, w, slots, g, lr, (targets[0], tuple(targets[1:])))
    look(slots, ..., tuple(targets[1:]))

    def commit() -> None:
        for cell, target in zip(cells, targets, strict=True):
            swap(cell, target)

    return commit


def _write_rows(cells: Sequence[Cell], named: np.ndarray, new: Slots) -> None:
    with taken(cells) as values:
        for cell, value in zip(cells, values, strict=True):
            cell._spare = None  # only dense steps need one
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
    rows = donated.new_rows(rule, w, slots, g, lr, way)
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
            donate = is_ours(value)  # before the value is among the arguments
            value[0] = donated.scatter(value[0], rows[0], new, donate)

"""The update of a variable in the shells of the optimizers: first all that may fail, then the new values.

A `Job` is one gradient for one variable, with the rule and the way of slices. `commits` does the
jobs and returns, for each variable, a `Commit`: a function that only stores and cannot fail. A
`Look` may inspect new slots before that.

Where it can, a commit writes into memory that a variable alone has (`buffers.py`), else it stores
new arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from .._base.arrays import CACHED, Array, is_jax, is_traced, precision
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from ..rules import Rule, apply, blocks, donated, pure
from ..rules.rule import Slots
from .buffers import Buffer, Fresh
from .variable import Variable

Commit: TypeAlias = Callable[[], Any]
# The slots as they are, which of their rows change, the new rows.
Look: TypeAlias = Callable[[Slots, Any, Slots], None]


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
    jobs: Sequence[Job],
    buffers_of: Callable[[Variable], Sequence[Buffer]],
    store: Callable[[Variable, Slots], Any],
) -> list[Commit]:
    """Do all that may fail in all jobs, and return one function per variable, to be called, that stores the results.

    In place where `prepare` finds a way, else as `pure.stepped`. `buffers_of` gives the buffers of
    the slots of a variable, `store` keeps new values of them. The caller holds the locks of the
    variables.
    """
    often = Counter(job.v for job in jobs)
    ready: dict[Variable, Commit] = {}
    new: dict[Variable, tuple[Array, Slots]] = {}
    for job in jobs:
        v = job.v
        with precision(v.dtype):
            slots = buffers_of(v)
            commit = prepare(job, slots) if often[v] == 1 else None
            if commit is not None:
                ready[v] = partial(_finish, commit, v, slots, store)
                continue
            w, old = new[v] if v in new else (v._value, tuple(slot.array for slot in slots))
            w, after = pure.stepped(job.rule, w, old, job.g, job.lr, job.sparse)
            if not any(is_jax(x) for x in after):
                job.look(old, ..., after)
            new[v] = v._fitting(v.constraint(w) if v.constraint else w), after
            ready[v] = partial(_assign, v, *new[v], store)
    return list(ready.values())


def _finish(
    commit: Commit, v: Variable, slots: Sequence[Buffer], store: Callable[[Variable, Slots], Any]
) -> None:
    commit()
    if any(isinstance(slot, Fresh) for slot in slots):
        store(v, tuple(slot.array for slot in slots))


def _assign(v: Variable, w: Array, slots: Slots, store: Callable[[Variable, Slots], Any]) -> None:
    v.assign(w)
    store(v, slots)


def prepare(job: Job, slots: Sequence[Buffer]) -> Commit | None:
    """Return the rest of an update that is certain to succeed, or None if it can't be done in place.

    It can't with a rule that reads whole tensors, a constraint, slots of another shape or dtype,
    ways of slices that `_way` does not know, values inside `jit` or on several devices, or NumPy
    with JAX. NumPy arrays so small that new memory costs nothing aren't worth it.
    """
    v = job.v
    lr = job.lr
    g: Any = job.g
    parts = [g.values, g.indices, lr] if isinstance(g, IndexedSlices) else [g, lr]
    is_small = not is_jax(v._value) and v._value.size <= CACHED
    if not job.rule.is_row_local:
        return None
    if v.constraint is not None or is_small or any(is_traced(x) for x in (v._value, *parts)):
        return None
    expected = [(job.rule.slot_shape(name, v.shape), v.dtype) for name in job.rule.slots]
    if [(tuple(slot.array.shape), slot.array.dtype) for slot in slots] != expected:
        return None
    rule, way = _way(job)
    if way is None:
        return None
    if way is apply.every_row:
        g, way = apply.whole(v._value, g), apply.dense
    buffers = (v._buffer, *slots)
    if not is_jax(v._value):
        if any(is_jax(x) for x in parts):
            return None
        prepare_numpy = (
            _prepare_dense_numpy if way is apply.dense else partial(_prepare_rows_numpy, way=way)
        )
        return prepare_numpy(rule, buffers, g, lr, job.look)
    if not donated.is_usable(rule, *(buffer.array for buffer in buffers)):
        return None
    prepare_jax = _prepare_dense_jax if way is apply.dense else partial(_prepare_rows_jax, way=way)
    return prepare_jax(rule, buffers, g, lr)


def _way(job: Job) -> tuple[Rule, Callable[..., Any] | None]:
    """The function of `gl.rules` that does the job, and the rule to give it.

    Or another that says of itself that it is `row_local`: given the rows named alone it does the
    same with them.
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


def _arrays(buffers: Sequence[Buffer]) -> tuple[Array, Slots]:
    w, *slots = (buffer.array for buffer in buffers)
    return w, tuple(slots)


def _prepare_dense_numpy(
    rule: Rule, buffers: Sequence[Buffer], g: Any, lr: Any, look: Look
) -> Commit:
    w, slots = _arrays(buffers)
    new_w, *new_slots = (buffer.make_target() for buffer in buffers)
    blocks.step(rule, w, slots, g, lr, (new_w, tuple(new_slots)))
    look(slots, ..., tuple(new_slots))

    def commit() -> None:
        for buffer, target in zip(buffers, (new_w, *new_slots), strict=True):
            buffer.swap(target)

    return commit


def _prepare_rows_numpy(
    rule: Rule, buffers: Sequence[Buffer], g: Any, lr: Any, look: Look, way: Any
) -> Commit:
    w, slots = _arrays(buffers)
    rows, new = blocks.new_rows(rule, w, slots, g, lr, way)
    look(slots, rows, new[1:])

    def commit() -> None:
        for buffer, values in zip(buffers, new, strict=True):
            buffer.write_rows(rows, values)

    return commit


def _prepare_dense_jax(rule: Rule, buffers: Sequence[Buffer], g: Array, lr: Any) -> Commit:
    w, slots = _arrays(buffers)
    donated.check_dense(rule, w, slots, g, lr)

    def commit() -> None:
        with ExitStack() as locks, precision(w.dtype):
            for buffer in buffers:
                # Nothing may be handed out that is about to be used up.
                locks.enter_context(buffer.lock)
            donate_w, *donate_slots = (buffer.is_free for buffer in buffers)
            new_w, new_slots = donated.dense(rule, w, slots, g, lr, donate_w, all(donate_slots))
            for buffer, x in zip(buffers, (new_w, *new_slots), strict=True):
                buffer.replace(x, is_shared=False)

    return commit


def _prepare_rows_jax(rule: Rule, buffers: Sequence[Buffer], g: Any, lr: Any, way: Any) -> Commit:
    w, slots = _arrays(buffers)
    rows, new = donated.new_rows(rule, w, slots, g, lr, way)
    dtype = w.dtype

    def commit() -> None:
        with precision(dtype):
            for buffer, values in zip(buffers, new, strict=True):
                with buffer.lock:
                    written = donated.scatter(buffer.array, rows, values, donate=buffer.is_free)
                    buffer.replace(written, is_shared=False)

    return commit

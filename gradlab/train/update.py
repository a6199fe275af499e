"""The update of a variable in the shells of the optimizers: first all that may fail, then the new values.

A `Job` is one gradient for one variable, with the rule and the function that runs it on slices.
`prepare_commits` does the jobs and returns, for each variable, a `Commit`: a function that stores
the result. All that may fail has been done then, except that JAX may run out of memory: a dense
step of JAX itself runs in its commit.

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
from ..rules import Rule, blocks, dense_and_sparse, donated, pure
from ..rules.rule import Slots
from .buffers import Buffer, UnownedSlotBuffer
from .variable import Variable

Commit: TypeAlias = Callable[[], Any]
# Takes the slots as they are, which of their rows change, and the new rows; may raise.
InspectSlots: TypeAlias = Callable[[Slots, Any, Slots], None]


@dataclass(frozen=True)
class Job:
    """One gradient for one variable; `sparse` runs the rule where the gradient is slices.

    `inspect_slots` gets the new slots before anything is stored. NumPy only, because reading JAX
    values would block.
    """

    rule: Rule
    v: Variable
    g: Gradient
    lr: Any
    sparse: Callable[..., Any]
    inspect_slots: InspectSlots | None = None


def prepare_commits(
    jobs: Sequence[Job],
    buffers_of: Callable[[Variable], Sequence[Buffer]],
    store: Callable[[Variable, Slots], Any],
) -> list[Commit]:
    """Do all that may fail in all jobs, and return a function per variable that stores the results.

    In place where `prepare` finds a way, else as `pure.stepped`. `buffers_of` gives the buffers of
    the slots of a variable, `store` keeps new values of them. The caller holds the locks of the
    variables.
    """
    jobs_per_variable = Counter(job.v for job in jobs)
    ready: dict[Variable, Commit] = {}
    new: dict[Variable, tuple[Array, Slots]] = {}
    for job in jobs:
        v = job.v
        with precision(v.dtype):
            slots = buffers_of(v)
            commit = prepare(job, slots) if jobs_per_variable[v] == 1 else None
            if commit is not None:
                ready[v] = partial(_commit_in_place, commit, v, slots, store)
                continue
            w, old = new[v] if v in new else (v._value, tuple(slot.array for slot in slots))
            w, after = pure.stepped(job.rule, w, old, job.g, job.lr, job.sparse)
            if job.inspect_slots is not None and not any(is_jax(x) for x in after):
                job.inspect_slots(old, ..., after)
            new[v] = v._fitting(v.constraint(w) if v.constraint else w), after
            ready[v] = partial(_commit_copies, v, *new[v], store)
    return list(ready.values())


def _commit_in_place(
    commit: Commit, v: Variable, slots: Sequence[Buffer], store: Callable[[Variable, Slots], Any]
) -> None:
    commit()
    if any(isinstance(slot, UnownedSlotBuffer) for slot in slots):
        store(v, tuple(slot.array for slot in slots))


def _commit_copies(
    v: Variable, w: Array, slots: Slots, store: Callable[[Variable, Slots], Any]
) -> None:
    v.load(w)  # at once, in a Graph too
    store(v, slots)


def prepare(job: Job, slots: Sequence[Buffer]) -> Commit | None:
    """Return the commit of an update in place, or None if it can't be done in place.

    It can't with a rule that reads whole tensors, a constraint, slots of another shape or dtype, a
    `sparse` that may not be run on the named rows alone, values inside `jit` or on several devices,
    or NumPy with JAX. NumPy arrays so small that new memory costs nothing aren't worth it.
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
    rule = job.rule
    sparse: Any = job.sparse
    if isinstance(g, IndexedSlices):
        rule, sparse = _resolve_sparse(job, g)
        if sparse is dense_and_sparse.every_row:
            g = dense_and_sparse.whole(v._value, g)
        elif not (
            sparse in (dense_and_sparse.rows, dense_and_sparse.each)
            or getattr(sparse, "row_local", False)
        ):
            return None
    is_dense = not isinstance(g, IndexedSlices)
    buffers = (v._buffer, *slots)
    if not is_jax(v._value):
        if any(is_jax(x) for x in parts):
            return None
        if is_dense:
            return _prepare_dense_numpy(rule, buffers, g, lr, job.inspect_slots)
        return _prepare_rows_numpy(rule, buffers, g, lr, job.inspect_slots, sparse)
    if not donated.is_usable(rule, *(buffer.array for buffer in buffers)):
        return None
    if is_dense:
        return _prepare_dense_jax(rule, buffers, g, lr)
    return _prepare_rows_jax(rule, buffers, g, lr, sparse)


def _resolve_sparse(job: Job, g: IndexedSlices) -> tuple[Rule, Callable[..., Any]]:
    """Return the rule for these slices, and the function of `gl.rules` that runs it on them.

    Or a function with `row_local = True`, which gives the same result on just those rows.
    """
    rule = job.rule
    sparse: Any = job.sparse
    if hasattr(sparse, "rule_for"):
        rule = sparse.rule_for(rule, g)
        sparse = dense_and_sparse.sparse
    if sparse is dense_and_sparse.sparse:
        sparse = dense_and_sparse.rows if rule.lazy else dense_and_sparse.every_row
    return rule, sparse


def _arrays(buffers: Sequence[Buffer]) -> tuple[Array, Slots]:
    w, *slots = (buffer.array for buffer in buffers)
    return w, tuple(slots)


def _prepare_dense_numpy(
    rule: Rule, buffers: Sequence[Buffer], g: Any, lr: Any, inspect_slots: InspectSlots | None
) -> Commit:
    w, slots = _arrays(buffers)
    new_w, *new_slots = (buffer.make_target() for buffer in buffers)
    blocks.step(rule, w, slots, g, lr, (new_w, tuple(new_slots)))
    if inspect_slots is not None:
        inspect_slots(slots, ..., tuple(new_slots))

    def commit() -> None:
        for buffer, target in zip(buffers, (new_w, *new_slots), strict=True):
            buffer.swap(target)

    return commit


def _prepare_rows_numpy(
    rule: Rule,
    buffers: Sequence[Buffer],
    g: Any,
    lr: Any,
    inspect_slots: InspectSlots | None,
    sparse: Any,
) -> Commit:
    w, slots = _arrays(buffers)
    rows, new = blocks.new_rows(rule, w, slots, g, lr, sparse)
    if inspect_slots is not None:
        inspect_slots(slots, rows, new[1:])

    def commit() -> None:
        for buffer, values in zip(buffers, new, strict=True):
            buffer.write_rows(rows, values)

    return commit


def _prepare_dense_jax(rule: Rule, buffers: Sequence[Buffer], g: Array, lr: Any) -> Commit:
    w, slots = _arrays(buffers)
    # A donation uses up the old arrays, so the step itself runs in `commit`. This check runs the
    # rest of what may fail; after it only memory can run out.
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


def _prepare_rows_jax(
    rule: Rule, buffers: Sequence[Buffer], g: Any, lr: Any, sparse: Any
) -> Commit:
    w, slots = _arrays(buffers)
    rows, new = donated.new_rows(rule, w, slots, g, lr, sparse)
    dtype = w.dtype

    def commit() -> None:
        with precision(dtype):
            for buffer, values in zip(buffers, new, strict=True):
                with buffer.lock:
                    written = donated.scatter(buffer.array, rows, values, donate=buffer.is_free)
                    buffer.replace(written, is_shared=False)

    return commit

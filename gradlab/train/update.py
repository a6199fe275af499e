"""How a step of an optimizer updates its variables: first all that may fail, then the new values.

A `Job` is one gradient for one variable. `prepare_commits` checks all jobs of a step, computes what
can be computed without writing, and returns a `Commit` for each variable: a function that stores
the result. So a step that raises changes nothing. After that only memory can run out.

How an update runs:

| variable | gradient | prepared                                 | the commit                             |
|----------|----------|------------------------------------------|----------------------------------------|
| NumPy    | dense    | one entry is stepped as a check          | steps in place, block by block         |
| NumPy    | slices   | the new values of the rows named         | writes these rows                      |
| JAX      | dense    | the program is traced as a check         | runs it, with the old arrays donated   |
| JAX      | slices   | a program computes the rows named        | a program writes them, array donated   |
| other    |          | new arrays, by the pure form (`pure.py`) | puts them into the variable            |

`prepare` says which updates are "other". A dense step makes new arrays before the commit where a
NumPy rule may raise halfway, where its new slots are inspected, and for small JAX arrays. What was
handed out is never written into or donated (`buffers.py`): a new array takes its place.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .._base.arrays import CACHED, Array, is_jax, is_traced, precision
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from ..rules import Rule, UserDefined, blocks, dense_and_sparse, donated, pure
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


def rule_for(rule: Rule, v: Variable) -> Rule:
    """Return the rule for a variable, where the rule depends on it at all."""
    return rule.for_weights(v.path, v.shape) if rule.depends_on_weights else rule


def prepare_commits(
    jobs: Sequence[Job],
    buffers_of: Callable[[Variable], Sequence[Buffer]],
    store: Callable[[Variable, Slots], Any],
) -> list[Commit]:
    """Do all that may fail in all jobs, and return a function per variable that stores the results.

    `buffers_of` gives the buffers of the slots of a variable, `store` keeps new values of them. The
    caller holds the locks of the variables.
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
            # The second gradient for a variable steps on from the result of the first.
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
    buffers = (v._buffer, *slots)
    if not _fits_in_place(job, buffers):
        return None
    if isinstance(job.g, IndexedSlices):
        job = _resolve_sparse(job, job.g)
    is_sparse = isinstance(job.g, IndexedSlices)
    if is_sparse and not _is_by_rows(job.sparse):
        return None
    if not is_jax(v._value):
        return (_prepare_rows_numpy if is_sparse else _prepare_dense_numpy)(job, buffers)
    if not donated.is_usable(job.rule, *(buffer.array for buffer in buffers)):
        return None
    return (_prepare_rows_jax if is_sparse else _prepare_dense_jax)(job, buffers)


def _fits_in_place(job: Job, buffers: Sequence[Buffer]) -> bool:
    """Tell whether the arrays are such that an update in place is possible, and worth it."""
    v = job.v
    if not job.rule.is_row_local or v.constraint is not None:
        return False
    g: Any = job.g
    parts = [g.values, g.indices, job.lr] if isinstance(g, IndexedSlices) else [g, job.lr]
    if any(is_traced(x) for x in (v._value, *parts)):
        return False
    if not is_jax(v._value) and (v._value.size <= CACHED or any(is_jax(x) for x in parts)):
        return False
    shapes = [job.rule.slot_shape(name, v.shape) for name in job.rule.slots]
    slots = [buffer.array for buffer in buffers[1:]]
    return [(tuple(x.shape), x.dtype) for x in slots] == [(shape, v.dtype) for shape in shapes]


def _resolve_sparse(job: Job, g: IndexedSlices) -> Job:
    """Return the job with the rule for these slices and the function that runs it on them.

    Where every row moves, the slices become a dense gradient.
    """
    rule = job.rule
    sparse: Any = job.sparse
    if hasattr(sparse, "rule_for"):
        rule = sparse.rule_for(rule, g)
        sparse = dense_and_sparse.sparse
    if sparse is dense_and_sparse.sparse:
        sparse = dense_and_sparse.rows if rule.lazy else dense_and_sparse.every_row
    resolved = dataclasses.replace(job, rule=rule, sparse=sparse)
    if sparse is dense_and_sparse.every_row:
        return dataclasses.replace(resolved, g=dense_and_sparse.whole(job.v._value, g))
    return resolved


def _is_by_rows(sparse: Any) -> bool:
    """Tell whether `sparse` gives the same result on the named rows alone."""
    known = (dense_and_sparse.rows, dense_and_sparse.each)
    return sparse in known or getattr(sparse, "row_local", False)


def _arrays(buffers: Sequence[Buffer]) -> tuple[Array, Slots]:
    w, *slots = (buffer.array for buffer in buffers)
    return w, tuple(slots)


def _prepare_dense_numpy(job: Job, buffers: Sequence[Buffer]) -> Commit:
    w, slots = _arrays(buffers)
    g: Any = job.g
    if job.inspect_slots is not None or _may_raise_halfway(job.rule):
        new_w, *new_slots = (np.empty_like(buffer.array) for buffer in buffers)
        blocks.step(job.rule, w, slots, g, job.lr, (new_w, tuple(new_slots)))
        for array in (new_w, *new_slots):
            array.flags.writeable = False
        if job.inspect_slots is not None:
            job.inspect_slots(slots, ..., tuple(new_slots))
        return partial(_replace, buffers, (new_w, *new_slots))
    blocks.check(job.rule, w, slots, g, job.lr)

    def commit() -> None:
        with ExitStack() as stack:
            new_w, *new_slots = (stack.enter_context(buffer.overwrite()) for buffer in buffers)
            blocks.step(job.rule, w, slots, g, job.lr, (new_w, tuple(new_slots)))

    return commit


def _may_raise_halfway(rule: Rule) -> bool:
    """Tell whether `step` may raise on numbers, not just on dtypes; gradlab's own rules never do."""
    is_ours = type(rule).__module__.partition(".")[0] == __name__.partition(".")[0]
    return not is_ours or isinstance(rule, UserDefined)


def _replace(buffers: Sequence[Buffer], arrays: Sequence[Array]) -> None:
    """Set arrays that nothing else holds."""
    for buffer, array in zip(buffers, arrays, strict=True):
        buffer.replace(array, is_shared=False)


def _prepare_rows_numpy(job: Job, buffers: Sequence[Buffer]) -> Commit:
    w, slots = _arrays(buffers)
    g: Any = job.g
    rows, new = blocks.new_rows(job.rule, w, slots, g, job.lr, job.sparse)
    if job.inspect_slots is not None:
        job.inspect_slots(slots, rows, new[1:])

    def commit() -> None:
        for buffer, values in zip(buffers, new, strict=True):
            buffer.write_rows(rows, values)

    return commit


def _prepare_dense_jax(job: Job, buffers: Sequence[Buffer]) -> Commit:
    w, slots = _arrays(buffers)
    g: Any = job.g
    if w.size <= CACHED:
        # New memory for so few entries takes less time than `check_dense`.
        new_w, new_slots = donated.dense(
            job.rule, w, slots, g, job.lr, donate_w=False, donate_slots=False
        )
        return partial(_replace, buffers, (new_w, *new_slots))
    # A donation uses up the old arrays, so the step itself runs in `commit`.
    donated.check_dense(job.rule, w, slots, g, job.lr)

    def commit() -> None:
        with ExitStack() as locks, precision(w.dtype):
            for buffer in buffers:
                # Nothing may be handed out that is about to be used up.
                locks.enter_context(buffer.lock)
            donate_w, *donate_slots = (buffer.is_free for buffer in buffers)
            new_w, new_slots = donated.dense(
                job.rule, w, slots, g, job.lr, donate_w, all(donate_slots)
            )
            _replace(buffers, (new_w, *new_slots))

    return commit


def _prepare_rows_jax(job: Job, buffers: Sequence[Buffer]) -> Commit:
    w, slots = _arrays(buffers)
    g: Any = job.g
    rows, new = donated.new_rows(job.rule, w, slots, g, job.lr, job.sparse)

    def commit() -> None:
        with precision(job.v.dtype):
            for buffer, values in zip(buffers, new, strict=True):
                with buffer.lock:
                    written = donated.scatter(buffer.array, rows, values, donate=buffer.is_free)
                    buffer.replace(written, is_shared=False)

    return commit

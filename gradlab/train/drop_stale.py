"""DropStaleGradientOptimizer: TensorFlow's wrapper that drops stale gradients, and its two races.

A gradient passes through two steps. `compute_gradients` computes it and notes the global step;
`apply_gradients` compares that step with the present one, then updates or drops. In TensorFlow
neither is atomic: another worker's update may come between the reading of the weights and that of
the step, or between the check and the update. `step_first` and `atomic` close these two races. With
them off, call the two halves of each step yourself to interleave workers: `forward` and `note_step`
of `compute_gradients`, `check` and `update` of `apply_gradients`.
"""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Literal

import numpy as np

from .._base.forks import call_in_child
from .._base.options import is_strict
from .._base.tensors import compute_now
from ..errors import InvalidArgumentError
from .autodiff import GradsAndVars, Loss
from .copies import follow, get_copy
from .gate import GATE_OP
from .gradient_checks import check_step, checked_pairs
from .graph import AtOnce, Graph
from .hyperparameters import describe
from .local_steps import WorkerNotes, missing_local_step, read_global_step
from .staleness_check import LocalStep, Verdict, check_staleness, read_staleness_limit
from .state_dict import (
    Commit,
    VariablesByName,
    combine_commits,
    get_part,
    plain_numbers,
    prepare_assign,
    read_array,
    warn_of_changes,
)
from .variable import Variable, current_collection, enter_collection
from .wrapper import Wrapper, check_optimizer


def require_step(global_step: Variable | None) -> Variable:
    """Return the checked `global_step` argument of `apply_gradients`; ValueError for None."""
    if global_step is None:
        raise ValueError(
            "global_step is needed: the staleness is its value now less its value when computing"
        )
    check_step(global_step)
    return global_step


_update_locks: weakref.WeakKeyDictionary[Variable, Any] = weakref.WeakKeyDictionary()
_table_lock = threading.Lock()


def update_lock(global_step: Variable) -> Any:
    """Return the reentrant lock of all atomic updates of one global step.

    It isn't the variable's own lock, which optimizers take while they hold those of the weights:
    two updates could block each other for ever.
    """
    with _table_lock:
        return _update_locks.setdefault(global_step, threading.RLock())


def _renew_locks() -> None:
    global _table_lock
    _table_lock = threading.Lock()
    _update_locks.clear()  # `update_lock` makes them again


call_in_child(_renew_locks)

SUMMARY_TAG = "Gradient_staleness_percentage"
COUNTER_OPERATION = "AssignAdd"  # the name of what `apply_gradients` returns in a Graph


class DropStaleGradientOptimizer(Wrapper):
    """Drop a gradient if its weights were updated more than `staleness` times in the meantime.

        s = global_step now - global_step when it was computed
        s <= staleness: the wrapped optimizer's update, which adds 1 to global_step
        s >  staleness: stale_counter = stale_counter + 1, and nothing else changes

    All gradients of a call are used or dropped together; they may be IndexedSlices, or None. A drop
    doesn't change the global step, so of three workers that computed at step 0 the second and the
    third both have staleness 1. If the global step was set back, s is negative. No worker waits, so
    s has no bound, and a worker that is always too slow never contributes.

    Args:
        opt: the optimizer that computes and updates; another wrapper works too, and both add to one
            counter.
        staleness: the largest s that is accepted: an integer or a bool; a JAX scalar or a Variable,
            which is read at each update, must be of the dtype of the global step.
        use_locking: no effect.
        name: not empty; what `get_name` returns.
        atomic: check and update are one step for all wrappers of one global step. If False, two
            workers may both pass the check before either updates; call `check` and `update`
            separately to see it happen.
        step_first: the global step is noted before the weights are read. If False it is noted
            after, and an update in between makes a stale gradient look new; call `forward` and
            `note_step` separately to see it happen.
        strict: "tf" has TensorFlow's limits: it works in a `Graph` only, where only the first
            `apply_gradients` is allowed; `variables()` is empty; `opt` and `staleness` aren't
            checked before use.

    Raises:
        TypeError: `opt` is not an optimizer; `staleness` is not an integer; `staleness` or the
            noted step has another dtype than the global step.
        ValueError: `staleness` is None or not a scalar, `name` is empty, there is no `global_step`
            or no gradient; `opt` waits for other workers, as SyncReplicasOptimizer does, and
            `atomic` is not False.
        MissingStepError: no global step when the gradient is computed; `apply_gradients` before
            `compute_gradients`.

    `worker` is any key, and by default the calling thread. In a `Graph` the update is an Operation
    whose `run` returns the counter. Differs from TensorFlow: a second update, `variables()` and
    errors, see `strict`; and TensorFlow has both races, as with atomic=False and step_first=False.
    Source: `tf.contrib.opt.DropStaleGradientOptimizer`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v, step = gl.Variable([8.0], name="v"), gl.get_or_create_global_step().assign(0)
    >>> opt = DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(0.25), staleness=0)
    >>> pairs = {w: opt.compute_gradients(lambda: (v * v).sum(), worker=w) for w in ("a", "b")}
    >>> [float(opt.apply_gradients(pairs[w], step, worker=w)) for w in ("a", "b")]
    [0.0, 1.0]
    >>> v.numpy().tolist(), int(step), opt.verdict("b").comparison
    ([4.0], 1, '1 > 0')
    """

    def __init__(
        self,
        opt: Any,
        staleness: Any,
        use_locking: bool = False,
        name: str = "DropStaleGradient",
        *,
        atomic: bool = True,
        step_first: bool = True,
        strict: Literal["tf"] | None = None,
    ) -> None:
        super().__init__(opt, name)
        self._staleness = staleness
        self._strict = is_strict(strict)
        if not self._strict:
            check_optimizer(opt)
            read_staleness_limit(staleness)
        if atomic and self.waits:
            raise ValueError(
                f"{opt!r} waits for others, which cannot be in one piece with the check; pass "
                "atomic=False"
            )
        self.use_locking = use_locking
        self.atomic = atomic
        self.step_first = step_first
        self.stale_counter = _find_or_make_counter(opt)
        self._workers = WorkerNotes()
        self._is_described = False  # whether `apply_gradients` was called in a Graph
        self._applied_to: Variable | None = None  # the global step of the last update

    def __repr__(self) -> str:
        return describe(self, self._name, opt=self._opt, staleness=self._staleness)

    def compute_gradients(
        self, loss: Loss, *args: Any, worker: Any = None, **kwargs: Any
    ) -> GradsAndVars:
        """Return the wrapped optimizer's pairs, and note the global step for this worker.

        Arguments are the wrapped optimizer's. In a `gl.Graph` gradients and step are those of this
        moment; `minimize` takes new ones at every run.
        """
        pairs = self.forward(loss, *args, worker=worker, **kwargs)
        self.note_step(worker)
        return pairs

    def forward(self, loss: Loss, *args: Any, worker: Any = None, **kwargs: Any) -> GradsAndVars:
        """Read the weights and compute gradients: the first half of `compute_gradients`.

        Not in TensorFlow.
        """
        with self._enter_collection() as collection:
            if self._strict and not isinstance(collection, Graph | AtOnce):
                raise TypeError(
                    "a loss that is called is for use outside a Graph; "
                    'strict="tf" works in a Graph only'
                )
            step = read_global_step(collection)
            # Now, in a Graph too: the step that is noted is the one of these numbers.
            pairs: GradsAndVars = compute_now(
                self._opt.compute_gradients(loss, *args, **kwargs, **self._worker_argument(worker))
            )
        self._workers.get(worker).local_step = step if self.step_first else None
        return pairs

    def note_step(self, worker: Any = None) -> int:
        """Return the step of this worker's gradient: the second half of `compute_gradients`.

        With step_first=False it is read now. Not in TensorFlow.
        """
        if not self.step_first:
            with self._enter_collection() as collection:
                self._workers.get(worker).local_step = read_global_step(collection)
        return self.local_step(worker)

    def local_step(self, worker: Any = None) -> int:
        """Return the step noted for the worker's last gradient; MissingStepError if none is."""
        return self._local_step(worker).value

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Variable | None = None,
        name: str | None = None,
        *,
        worker: Any = None,
    ) -> Any:
        """Update the weights or drop the gradients; return the `stale_counter` after it, a float32.

        Arguments and errors are the wrapped optimizer's, but `global_step` is required
        (ValueError).
        """
        step = require_step(global_step)
        local_step = self._local_step(worker)
        return self._check_and_apply(
            lambda: self._check(local_step, step), grads_and_vars, step, name, worker
        )

    def check(self, global_step: Variable, worker: Any = None) -> Verdict:
        """Check the staleness of the worker's gradient: the first half of `apply_gradients`.

        Not in TensorFlow.
        """
        return self._check(self._local_step(worker), require_step(global_step))

    def update(
        self,
        verdict: Verdict,
        grads_and_vars: Any,
        global_step: Variable,
        name: str | None = None,
        *,
        worker: Any = None,
    ) -> Any:
        """Update or drop as the verdict says: the second half of `apply_gradients`.

        With `atomic` the check is repeated, under one lock with the update. Returns and raises as
        `apply_gradients`. Not in TensorFlow.
        """
        step = require_step(global_step)
        local_step = LocalStep(verdict.local_step, global_step)

        def check() -> Verdict:
            return self._check(local_step, step) if self.atomic else verdict

        return self._check_and_apply(check, grads_and_vars, step, name, worker)

    def verdict(self, worker: Any = None) -> Verdict | None:
        """Return the verdict on the last gradient that the worker applied. Not in TensorFlow."""
        return self._workers.get(worker).verdict

    def minimize(
        self,
        loss: Loss,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        *,
        worker: Any = None,
    ) -> Any:
        """Compute and apply gradients; in a Graph return an Operation that does both."""
        step = require_step(global_step)
        options = (gate_gradients, aggregation_method, colocate_gradients_with_ops)
        with self._enter_collection() as collection:
            pairs = self.compute_gradients(loss, var_list, *options, grad_loss, worker=worker)
            counter = self.apply_gradients(pairs, step, name, worker=worker)
            if not collection.graph:
                return counter
            # In a Graph these two calls only check the loss and make the slots. The Operation
            # computes gradients again at each run.
            variables = [v for _, v in pairs]

            def run() -> Any:
                with enter_collection(AtOnce(collection)):
                    return self.minimize(
                        loss, step, variables, *options, name, grad_loss, worker=worker
                    )

            return collection.fetch(run, COUNTER_OPERATION)

    def variables(self) -> list[Variable]:
        """Return the wrapped optimizer's variables and the counter; none with strict="tf"."""
        if self._strict:
            return []
        return sorted({*super().variables(), self.stale_counter}, key=lambda v: v.name)

    def summaries(self) -> dict[str, np.float32]:
        """Return {"Gradient_staleness_percentage": stale_counter / (global_step + 1)}.

        TensorFlow logs it under this name. It is neither a percentage nor the share of gradients
        that were dropped, but the number of drops per update, which may exceed 1. The global step
        is that of the last `apply_gradients`.
        """
        step = self._applied_to
        if step is None:
            with self._enter_collection() as collection:
                step = read_global_step(collection).variable
        return {SUMMARY_TAG: np.float32(self.stale_counter) / np.float32(int(step) + 1)}

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Copy the wrapped optimizer, the counter, and the steps noted for workers with a key."""
        new = memo[id(self)] = object.__new__(type(self))
        vars(new).update(vars(self))
        for name in ("_opt", "stale_counter", "_workers"):
            vars(new)[name] = copy.deepcopy(vars(self)[name], memo)
        for name in ("_staleness", "_applied_to"):
            value = vars(self)[name]
            if isinstance(value, Variable):
                vars(new)[name] = get_copy(value, memo)
        follow(new, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what belongs to this process: its collection and the notes of its workers."""
        state = dict(vars(self))
        for name in ("_collection", "_workers", "_applied_to"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(
            state, _collection=current_collection(), _workers=WorkerNotes(), _applied_to=None
        )

    def _follow(self, old: Variable, new: Variable) -> None:
        self._workers._follow(old, new)
        vars(self).update({name: new for name, x in vars(self).items() if x is old})

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        """Return the wrapped optimizer's state, the counter, and a staleness that is a Variable.

        Gradients that aren't applied yet, and their steps, aren't part of it.
        """
        values = {"stale_counter": read_array(self.stale_counter)}
        if isinstance(self._staleness, Variable):
            values["staleness"] = read_array(self._staleness)
        return {**super()._to_save(names), "variables": values, "settings": self._settings()}

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        commits = [super()._loading(state, names)]
        values = get_part(state, "variables")
        variables = {"stale_counter": self.stale_counter}
        if isinstance(self._staleness, Variable):
            variables["staleness"] = self._staleness
        if not variables.keys() <= set(values):
            raise InvalidArgumentError(
                "the state has no stale_counter, or no staleness that is a Variable"
            )
        for key, value in values.items():
            if key in variables:
                commits.append(prepare_assign(variables[key], value, key))
        warn_of_changes(get_part(state, "settings"), self._settings(), self._name)
        return combine_commits([*commits, self._forget_workers])

    def _settings(self) -> dict[str, Any]:
        is_variable = isinstance(self._staleness, Variable)
        return plain_numbers({"staleness": None if is_variable else self._staleness})

    def _forget_workers(self) -> None:
        """Forget the steps of gradients that were computed from the weights before."""
        self._workers = WorkerNotes()
        self._applied_to = None

    def _local_step(self, worker: Any) -> LocalStep:
        step = self._workers.get(worker).local_step
        if step is None:
            raise missing_local_step(worker)
        return step

    def _check(self, local_step: LocalStep, global_step: Variable) -> Verdict:
        return check_staleness(local_step, global_step, self._staleness)

    def _check_and_apply(
        self,
        check: Callable[[], Verdict],
        grads_and_vars: Any,
        step: Variable,
        name: str | None,
        worker: Any,
    ) -> Any:
        """Check, then update or drop; in a Graph return the Operation that does."""
        pairs = list(grads_and_vars)
        apply = partial(
            self._opt.apply_gradients, pairs, step, name, **self._worker_argument(worker)
        )
        with self._enter_collection() as collection:
            checked_pairs(pairs)  # for its errors; the wrapped optimizer gets the pairs as they are
            read_staleness_limit(self._staleness, step.dtype)
            collection.check_scope(name or self._name)
            update: Callable[[], Any] = apply
            if collection.graph:
                self._refuse_second_update()
                # Make the Operation of the update once; run it whenever the check accepts.
                update = apply().run

            def decide() -> Any:
                return self._decide(check, update, step, worker)

            return collection.fetch(decide, COUNTER_OPERATION)

    def _decide(
        self, check: Callable[[], Verdict], update: Callable[[], Any], step: Variable, worker: Any
    ) -> Any:
        with update_lock(step) if self.atomic else nullcontext():
            verdict = check()
            if verdict.accepted:
                update()
            else:
                self.stale_counter.assign_add(1)
            self._applied_to = step
            self._workers.get(worker).verdict = verdict
            return np.float32(self.stale_counter)

    def _refuse_second_update(self) -> None:
        """Refuse it if `strict`: TensorFlow's graph then has two variables named stale_counter."""
        if self._strict and (self._is_described or self.stale_counter.name != "stale_counter:0"):
            raise ValueError(
                'stale_counter exists already: with strict="tf" a Graph '
                "takes one apply_gradients only"
            )
        self._is_described = True


def _find_or_make_counter(opt: Any) -> Variable:
    """Return the counter of the wrapper inside, or a new one."""
    if isinstance(opt, DropStaleGradientOptimizer):
        return opt.stale_counter
    return Variable(np.float32(0), trainable=False, name="stale_counter")

"""Gradients that come too late are dropped: TensorFlow's wrapper, with its two races as switches."""

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
from .staleness_check import LocalStep, Verdict, check_staleness, read_limit
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


def needed(global_step: Variable | None) -> Variable:
    """The variable that `apply_gradients` was given, checked; None is a ValueError."""
    if global_step is None:
        raise ValueError(
            "global_step is needed: the staleness is its value now less its value when computing"
        )
    check_step(global_step)
    return global_step


_turns: weakref.WeakKeyDictionary[Variable, Any] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def turn(global_step: Variable) -> Any:
    """The lock of all atomic updates of one global step, which a thread may take again.

    Not the variable's own lock: optimizers take that while they hold those of the weights.
    """
    with _making:
        return _turns.setdefault(global_step, threading.RLock())


def _renew_locks() -> None:
    global _making
    _making = threading.Lock()
    _turns.clear()  # `turn` makes them again


call_in_child(_renew_locks)

SUMMARY_TAG = "Gradient_staleness_percentage"
COUNT = "AssignAdd"  # the operation whose value a Graph hands out


class DropStaleGradientOptimizer(Wrapper):
    """Drop a gradient if the weights were updated more than `staleness` times since its step was noted.

        s = global_step now - global_step when it was computed
        s <= staleness: the wrapped optimizer's update, which adds 1 to global_step
        s >  staleness: stale_counter = stale_counter + 1, and nothing else changes

    All variables of a call stand or fall together; gradients may be IndexedSlices, or None. A drop
    moves no step, so of three workers that computed at step 0 the second and the third are both 1
    late. After the step was moved back s is negative. No worker waits, so s has no bound; a worker
    that is always late never contributes.

    Args:
        opt: the optimizer that computes and updates; another wrapper works too, and both add to one
            counter.
        staleness: the largest s that is accepted: an integer or a bool; a JAX scalar or a Variable,
            which is read at each update, must be of the dtype of the global step.
        use_locking: no effect.
        name: not empty; what `get_name` returns.
        atomic: check and update are one piece for all wrappers of one global step. If False, two
            workers may both pass the check before either updates, and `check` and `update` can be
            called apart to see it happen.
        step_first: the step is noted before the weights are read. If False it is noted after, and
            an update in between makes an old gradient look new; `forward` and `note_step` can be
            called apart to see it happen.
        strict: "tf" is as picky and as silent as TensorFlow: works in a `Graph` only, where only
            the first `apply_gradients` is allowed; `variables()` is empty; `opt` and `staleness`
            are not looked at before use.

    Raises:
        TypeError: `opt` is no optimizer, `staleness` is no integer or of another dtype than the
            global step, or the step noted is.
        ValueError: `staleness` is None or no scalar, `name` is empty, there is no `global_step` or
            no gradient; `opt` waits for other workers, as SyncReplicasOptimizer does, and `atomic`
            is not False.
        MissingStepError: no global step when the gradient is computed; `apply_gradients` before
            `compute_gradients`.

    `worker` is any key, and by default the calling thread. In a `Graph` the update is an Operation
    whose `run` returns the counter. Differs from TensorFlow: a second update, `variables()` and bad
    input as above; and both races are there in TensorFlow, as with atomic=False and
    step_first=False. Source: `tf.contrib.opt.DropStaleGradientOptimizer`, TensorFlow 1.15 (2019).

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
        self._staleness, self._strict = staleness, is_strict(strict)
        if not self._strict:
            check_optimizer(opt)
            read_limit(staleness)
        if atomic and self.waits:
            raise ValueError(
                f"{opt!r} waits for others, which cannot be in one piece with the check: "
                "atomic=False"
            )
        self.use_locking, self.atomic, self.step_first = use_locking, atomic, step_first
        self.stale_counter = _counter(opt)
        self._workers, self._described = WorkerNotes(), False
        self._applied_to: Variable | None = None  # the global step of the last update

    def __repr__(self) -> str:
        return describe(self, self._name, opt=self._opt, staleness=self._staleness)

    def compute_gradients(
        self, loss: Loss, *args: Any, worker: Any = None, **kwargs: Any
    ) -> GradsAndVars:
        """The wrapped optimizer's pairs; the global step is noted for this worker.

        Arguments are the wrapped one's. In a `gl.Graph` gradients and step are those of this
        moment; `minimize` takes new ones at every run.
        """
        pairs = self.forward(loss, *args, worker=worker, **kwargs)
        self.note_step(worker)
        return pairs

    def forward(self, loss: Loss, *args: Any, worker: Any = None, **kwargs: Any) -> GradsAndVars:
        """The first half of `compute_gradients`: weights are read, gradients computed.

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
        """The second half: the step of this worker's gradient; unless step_first it is read now.

        Not in TensorFlow.
        """
        if not self.step_first:
            with self._enter_collection() as collection:
                self._workers.get(worker).local_step = read_global_step(collection)
        return self.local_step(worker)

    def local_step(self, worker: Any = None) -> int:
        """The global step noted for the last gradient of the worker (MissingStepError if there is none)."""
        return self._local_step(worker).value

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Variable | None = None,
        name: str | None = None,
        *,
        worker: Any = None,
    ) -> Any:
        """Update or drop, as a whole; returns `stale_counter` after it, a float32.

        Arguments and errors are the wrapped optimizer's, but `global_step` is needed (ValueError).
        """
        step = needed(global_step)
        local_step = self._local_step(worker)
        return self._finish(
            lambda: self._check(local_step, step), grads_and_vars, step, name, worker
        )

    def check(self, global_step: Variable, worker: Any = None) -> Verdict:
        """The first half of `apply_gradients`: may the worker's gradient be used now?

        Not in TensorFlow.
        """
        return self._check(self._local_step(worker), needed(global_step))

    def update(
        self,
        verdict: Verdict,
        grads_and_vars: Any,
        global_step: Variable,
        name: str | None = None,
        *,
        worker: Any = None,
    ) -> Any:
        """The second half: what the verdict says; with `atomic` it is reached again, in one piece with the update.

        Returns and raises as `apply_gradients`. Not in TensorFlow.
        """
        step = needed(global_step)
        local_step = LocalStep(verdict.local_step, global_step)

        def check() -> Verdict:
            return self._check(local_step, step) if self.atomic else verdict

        return self._finish(check, grads_and_vars, step, name, worker)

    def verdict(self, worker: Any = None) -> Verdict | None:
        """The verdict on the last gradient that the worker applied. Not in TensorFlow."""
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
        """`compute_gradients` and `apply_gradients` in one; in a Graph an Operation that does both at every run."""
        step, given = (
            needed(global_step),
            (gate_gradients, aggregation_method, colocate_gradients_with_ops),
        )
        with self._enter_collection() as collection:
            pairs = self.compute_gradients(loss, var_list, *given, grad_loss, worker=worker)
            applied = self.apply_gradients(pairs, step, name, worker=worker)
            if not collection.graph:
                return applied
            # In a Graph both only checked the loss and made the slots; what runs computes gradients
            # anew.
            variables = [v for _, v in pairs]

            def run() -> Any:
                with enter_collection(AtOnce(collection)):
                    return self.minimize(
                        loss, step, variables, *given, name, grad_loss, worker=worker
                    )

            return collection.fetch(run, COUNT)

    def variables(self) -> list[Variable]:
        """The wrapped optimizer's variables and the counter, sorted by name; none with strict="tf"."""
        found = set() if self._strict else {*super().variables(), self.stale_counter}
        return sorted(found, key=lambda v: v.name)

    def summaries(self) -> dict[str, np.float32]:
        """{"Gradient_staleness_percentage": stale_counter / (global_step + 1)}: what TensorFlow logs under this name.

        It isn't a percentage, nor the share of gradients dropped: it counts drops for each update,
        and is above 1 where most are dropped. The global step is that of the last
        `apply_gradients`.
        """
        with self._enter_collection() as collection:
            step = (
                read_global_step(collection).variable
                if self._applied_to is None
                else self._applied_to
            )
        return {SUMMARY_TAG: np.float32(self.stale_counter) / np.float32(int(step) + 1)}

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy of the wrapped optimizer, a counter of its own, and the steps noted for workers with a key."""
        new = memo[id(self)] = object.__new__(type(self))
        vars(new).update(vars(self))
        for name in ("_opt", "stale_counter", "_workers"):
            vars(new)[name] = copy.deepcopy(vars(self)[name], memo)
        for name in ("_staleness", "_applied_to"):
            if isinstance(x := vars(self)[name], Variable):
                vars(new)[name] = get_copy(x, memo)
        follow(new, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Without what belongs to this process: its collection, and what its workers were about to do."""
        return {
            name: x
            for name, x in vars(self).items()
            if name not in ("_collection", "_workers", "_applied_to")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(
            state, _collection=current_collection(), _workers=WorkerNotes(), _applied_to=None
        )

    def _follow(self, old: Variable, new: Variable) -> None:
        self._workers._follow(old, new)
        vars(self).update({name: new for name, x in vars(self).items() if x is old})

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        """The wrapped optimizer's, and the counter.

        Gradients on their way aren't part of it, nor are their steps.
        """
        given = (
            {"staleness": read_array(self._staleness)}
            if isinstance(self._staleness, Variable)
            else {}
        )
        values = {"stale_counter": read_array(self.stale_counter), **given}
        return {**super()._to_save(names), "variables": values, "settings": self._settings()}

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        inner, values = super()._loading(state, names), get_part(state, "variables")
        own = {"stale_counter": self.stale_counter, "staleness": self._staleness}
        missing = {"stale_counter"} - set(values)
        if missing or (isinstance(self._staleness, Variable) and "staleness" not in values):
            raise InvalidArgumentError(
                "the state has no stale_counter, or no staleness that is a Variable"
            )
        commits = [
            prepare_assign(own[k], x, k)
            for k, x in values.items()
            if isinstance(own.get(k), Variable)
        ]
        warn_of_changes(get_part(state, "settings"), self._settings(), self._name)
        return combine_commits([inner, *commits, self._forget_workers])

    def _settings(self) -> dict[str, Any]:
        return plain_numbers(
            {"staleness": None if isinstance(self._staleness, Variable) else self._staleness}
        )

    def _forget_workers(self) -> None:
        """Their gradients are of other weights now, so that no step of theirs may be compared."""
        self._workers, self._applied_to = WorkerNotes(), None

    def _local_step(self, worker: Any) -> LocalStep:
        step = self._workers.get(worker).local_step
        if step is None:
            raise missing_local_step(worker)
        return step

    def _check(self, local_step: LocalStep, global_step: Variable) -> Verdict:
        return check_staleness(local_step, global_step, self._staleness)

    def _finish(
        self,
        check: Callable[[], Verdict],
        given: Any,
        step: Variable,
        name: str | None,
        worker: Any,
    ) -> Any:
        """Update or drop now; in a Graph the Operation that does."""
        pairs = list(given)
        checked_pairs(pairs)
        read_limit(self._staleness, step.dtype)
        update = partial(
            self._opt.apply_gradients, pairs, step, name, **self._worker_argument(worker)
        )
        with self._enter_collection() as collection:
            collection.check_scope(name or self._name)
            if collection.graph:
                self._check_first()
                update = update().run  # described once, run where the check allows it
            return collection.fetch(lambda: self._decide(check, update, step, worker), COUNT)

    def _decide(
        self, check: Callable[[], Verdict], update: Callable[[], Any], step: Variable, worker: Any
    ) -> Any:
        with turn(step) if self.atomic else nullcontext():
            verdict = check()
            if verdict.accepted:
                update()
            else:
                self.stale_counter.assign_add(1)
            self._applied_to = step
            self._workers.get(worker).verdict = verdict
            return np.float32(self.stale_counter)

    def _check_first(self) -> None:
        """TensorFlow's graph holds one counter, so a second update finds its name taken."""
        if self._strict and (self._described or self.stale_counter.name != "stale_counter:0"):
            raise ValueError(
                'stale_counter exists already: with strict="tf" a Graph '
                "takes one apply_gradients only"
            )
        self._described = True


def _counter(opt: Any) -> Variable:
    """A new counter, or that of the wrapper inside."""
    if isinstance(opt, DropStaleGradientOptimizer):
        return opt.stale_counter
    return Variable(np.float32(0), trainable=False, name="stale_counter")

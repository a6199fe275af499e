"""SyncReplicasOptimizer: workers push gradients, a chief averages and applies them.

`Exchange` does all of it but the update itself. This class reads arguments as TensorFlow does,
applies the mean gradients with the wrapped optimizer, and makes chiefs and hooks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..._base.slices import IndexedSlices
from ..._base.tensors import compute_now
from ...errors import FailedPreconditionError, NotAGradientError, NotAVariableError
from ..accumulators.arguments import check_timeout
from ..autodiff import GradsAndVars, Loss
from ..copies import refuse_copies
from ..gate import GATE_OP
from ..gradient_checks import check_step, checked_pairs
from ..graph import AtOnce, Operation
from ..state_dict import Commit, VariablesByName, combine_commits
from ..variable import Variable, current_collection, enter_collection
from ..wrapper import Wrapper, check_optimizer
from .chief import Chief, Hook
from .exchange import Exchange, thread_key
from .rounds import Pairs, Push
from .tokens import Worker


class SyncReplicasOptimizer(Wrapper, Exchange):
    """Average the gradients of several workers, apply the mean, and let the workers go on together.

        w, slots = opt(w, slots, mean of the gradients that came);  global step + 1;  max(k, n) tokens

    Every worker pushes its gradients, marked with its local step, and waits for a token: the global
    step to go on with. The chief waits until k gradients have come, averages all that have come,
    and puts in the tokens of the next round. A gradient whose local step is behind is dropped; its
    worker gets a token like the others. With n > k the slowest n - k workers are backups: no step
    waits for them.

    Args:
        opt: the optimizer that applies the means.
        replicas_to_aggregate: k, gradients for an update, from 1.
        total_num_replicas: n, workers; k by default. With n < k each pushes more than once for an
            update.
        variable_averages, variables_to_average: after each update
            `variable_averages.apply(variables_to_average)`.
        use_locking: no effect on values.
        name: not empty.

    Raises: ValueError for numbers below 1 and an empty name, TypeError for a number that isn't an
    integer, and for an `opt` that isn't an optimizer or that tells workers apart.

    The number of start tokens decides whether the first rounds are synchronous. TensorFlow's
    default, -1, is k of them: a fast worker may fill the first round alone (n = k), and with n < k
    gradients of current weights are dropped. max(0, k - n) is the fewest that work, and every round
    is synchronous.

    Differs from TensorFlow: one object serves all workers, which are told apart by `worker`, any
    key, by default the name of the thread; waits have timeouts, can be canceled, and can be
    explained; a push returns whether it was accepted, and an update whose gradients it averaged; a
    wait that can never end is a DeadlockError, and a failed update loses no gradient.

    Source: `tf.compat.v1.train.SyncReplicasOptimizer`, TensorFlow 2.21 (2026); Chen, Pan, Monga,
    Bengio & Jozefowicz, "Revisiting Distributed Synchronous SGD" (2016).

    >>> import gradlab as gl
    >>> v, step = gl.Variable([0.0], name="v"), gl.Variable(0, trainable=False)
    >>> opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2, 3)  # one backup worker
    >>> opt.build([([0.0], v)], step)
    >>> [opt.push([([g], v)], worker).accepted for worker, g in (("a", 1.0), ("b", 3.0))]
    [True, True]
    >>> opt.try_sync()
    Update(step=1, contributors=('a', 'b'), dropped=())
    >>> opt.push([([100.0], v)], "late").accepted, opt.try_token("late"), v.numpy().tolist()
    (False, 1, [-2.0])

    With threads: `chief`; with a backup worker `help(gl.train)`. A worker that Ctrl-C stops in a
    wait leaves the queue; after Ctrl-C, or a fork by another thread, in the middle of a call, make
    a new optimizer.
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Sequence[Variable] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        check_optimizer(opt)
        check_averages(variable_averages)
        Wrapper.__init__(self, opt, name)
        if self._worker_argument(None):
            raise TypeError(
                f"{opt!r} asks whose gradient it is given, but a mean is of "
                "several workers: wrap this in it"
            )
        needs = read_integer("replicas_to_aggregate", replicas_to_aggregate)
        workers = needs
        if total_num_replicas is not None:
            workers = read_integer("total_num_replicas", total_num_replicas)
        Exchange.__init__(self, needs, workers)
        self._averages = variable_averages
        self._variables_to_average = variables_to_average
        self._global_step: Variable | None = None

    __reduce_ex__ = refuse_copies(
        "a SyncReplicasOptimizer, in which workers wait,",
        "make a new one around a copy of the inner optimizer, or use "
        "state_dict, load_state_dict and gl.save",
    )

    @property
    def waits(self) -> bool:
        return True

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self._opt!r}, {self._needs}, {self._workers}, "
            f"name={self._name!r})"
        )

    def compute_gradients(self, *args: Any, worker: Worker = None, **kwargs: Any) -> GradsAndVars:
        """Return the wrapped optimizer's pairs; a new worker starts at the present global step."""
        with self._changed:
            if self._global_step is not None:
                self._local_steps.setdefault(thread_key(worker), self._step())
        pairs: GradsAndVars = self._opt.compute_gradients(*args, **kwargs)
        return pairs

    def build(self, grads_and_vars: Any, global_step: Variable | None) -> None:
        """Make the accumulators, as the first `apply_gradients` does, but push nothing.

        Only which variables have a gradient, and which have IndexedSlices, is used.
        """
        sparse = find_sparse(read_pairs(grads_and_vars))
        if global_step is None:
            raise ValueError("global_step is required: it tells which gradients come too late")
        check_step(global_step)
        with self._changed:
            if self._global_step is None:
                self._global_step = global_step
                self._collection = current_collection(self._collection)
                # A wrapper has no slots to declare.
                if self._collection.graph and hasattr(self._opt, "_declare_slots"):
                    self._opt._declare_slots(list(sparse))
                self._begin(sparse)
            elif global_step is not self._global_step:
                raise ValueError(
                    f"global_step was {self._global_step.name}, got {global_step.name}; keep to one"
                )
        check_same(sparse, self._rounds.sparse)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Variable | None = None,
        name: str | None = None,
        *,
        worker: Worker = None,
        timeout: float | None = None,
    ) -> Any:
        """Push the gradients, wait for a token, and make it the worker's local step.

        Args:
            grads_and_vars: (array, IndexedSlices or None, variable) pairs; the same variables in
                every call.
            global_step: integer variable, required.
            name: of the Operation in a Graph.
            worker: any key, by default the name of the thread.
            timeout: seconds to wait at most.

        Returns:
            a `Push`; in a Graph an Operation, which every worker runs.

        Raises:
            ValueError: no pairs, no gradients, no global step, other variables than before, not a
                gradient.
            DeadlineExceededError: the time is up. The gradients stay pushed, and `take_token` waits
                on.
            CancelledError: the chief has stopped.
            DeadlockError: no worker is left whose gradient could be waited for.
        """
        pairs = list(grads_and_vars)
        collection = current_collection()
        scope = name or self._name
        collection.check_scope(scope)
        self.build(pairs, global_step)
        return collection.fetch(lambda: self._train(compute_now(pairs), worker, timeout), scope)

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
        worker: Worker = None,
        timeout: float | None = None,
    ) -> Any:
        """Compute and apply gradients; in a Graph return an Operation that does both at each run."""
        options = (gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        pairs = self.compute_gradients(loss, var_list, *options, worker=worker)
        collection = current_collection()
        scope = name or self._name
        collection.check_scope(scope)
        self.build(pairs, global_step)
        variables = [v for _, v in pairs]

        def train() -> Push:
            # In a Graph each run computes the gradients again.
            new_pairs = pairs
            if collection.graph:
                new_pairs = self.compute_gradients(loss, variables, *options, worker=worker)
            return self._train(new_pairs, worker, timeout)

        return collection.fetch(train, scope)

    def get_chief_queue_runner(self) -> Chief:
        """Return the chief without start tokens; `create_threads(start=True)` starts it.

        Call it after the first push or `build`.
        """
        self._require_build("get_chief_queue_runner")
        return Chief(self, self._name, None, None)

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """Return an Operation that puts in the start tokens; -1 means `replicas_to_aggregate`.

        Call it after the first push or `build`.

        Raises: ValueError if nothing is built, or for fewer than replicas_to_aggregate -
        total_num_replicas.
        """
        self._require_build("get_init_tokens_op")
        number = self._start_tokens(num_tokens)
        return Operation("init_tokens", lambda: self.put_tokens(number))

    def make_session_run_hook(
        self, is_chief: bool, num_tokens: int = -1, *, worker: Worker = None
    ) -> Hook:
        """Return the hook of a worker, to use once: `with opt.make_session_run_hook(is_chief):`."""
        make_chief = partial(self.chief, num_tokens) if is_chief else None
        return Hook(self, make_chief, worker)

    def chief(self, num_tokens: int = -1, timeout: float | None = None) -> Chief:
        """Return a chief, which `with opt.chief():` runs as a thread until the block ends.

        Args:
            num_tokens: start tokens; -1, TensorFlow's default, means `replicas_to_aggregate`; with
                0 all workers start in step.
            timeout: seconds to wait at most for the gradients of one update.

        The end of the block ends all waits. If n differs from k, a worker may overtake others and
        finish its steps first, so that the last one lacks gradients to average with. Let all of
        them train until the block ends, which isn't an error in `with opt.worker():`.

        >>> import threading
        >>> import gradlab as gl
        >>> v, step = gl.Variable([0.0], name="v"), gl.Variable(0, trainable=False)
        >>> opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2)
        >>> def work(worker, g):
        ...     with opt.worker(worker):
        ...         for _ in range(3):
        ...             opt.apply_gradients([([g], v)], step, worker=worker)
        >>> threads = [threading.Thread(target=work, args=args) for args in (("a", 1.0), ("b", 3.0))]
        >>> with opt.chief(num_tokens=0):
        ...     for thread in threads:
        ...         thread.start()
        ...     for thread in threads:
        ...         thread.join()
        >>> v.numpy().tolist(), [sorted(update.contributors) for update in opt.updates]
        ([-6.0], [['a', 'b'], ['a', 'b'], ['a', 'b']])
        """
        check_timeout(timeout)
        return Chief(self, self._name, self._start_tokens(num_tokens), timeout)

    def _start_tokens(self, number: int) -> int:
        needed = max(0, self._needs - self._workers)
        if read_integer("num_tokens", number, -1) == -1:
            return self._needs
        if number < needed:
            raise ValueError(
                f"the first update needs {needed} start tokens, got num_tokens={number}"
            )
        return number

    def _train(self, pairs: Any, worker: Worker, timeout: float | None) -> Push:
        check_timeout(timeout)
        # Under one lock: otherwise a faster worker might take the token that this push brings, and
        # push twice.
        with self._changed:
            push = self.push(pairs, worker)
            return replace(push, token=self.take_token(worker, timeout))

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        """Load the wrapped optimizer's state and begin a new round.

        Gradients and tokens in the queues aren't part of a state.
        """
        if self._chiefs:
            raise FailedPreconditionError(
                "the chief is running: load a state before or after its block"
            )
        return combine_commits(
            [super()._loading(state, names), lambda: self._begin(self._rounds.sparse)]
        )

    def _step(self) -> int:
        return int(self._global_step) if self._global_step is not None else 0

    def _update(self, pairs: Pairs) -> None:
        """Apply the gradients now, in the collection of `build`, whichever thread is the chief."""
        collection = self._collection
        with enter_collection(AtOnce(collection) if collection.graph else collection):
            self._opt.apply_gradients(pairs, self._global_step)

    def _after_update(self) -> None:
        if self._averages is not None:
            self._averages.apply(self._variables_to_average)

    def _read_pairs(self, grads_and_vars: Any) -> Pairs:
        self._require_build("push")
        pairs = read_pairs(grads_and_vars)
        check_same(find_sparse(pairs), self._rounds.sparse)
        return pairs


def read_integer(name: str, x: Any, least: int = 1) -> int:
    """Return an integer of at least `least`; TypeError or ValueError for anything else."""
    if isinstance(x, bool) or not hasattr(x, "__index__"):
        raise TypeError(f"{name} must be an integer, got {x!r}")
    if x < least:
        raise ValueError(f"{name} must be at least {least}, got {x}")
    return int(x)


def check_averages(variable_averages: Any) -> None:
    """Refuse an object that cannot apply averages (TypeError)."""
    if variable_averages is not None and not callable(getattr(variable_averages, "apply", None)):
        raise TypeError(f"variable_averages must have a method apply, got {variable_averages!r}")


def read_pairs(grads_and_vars: Any) -> Pairs:
    """Return the pairs with a gradient; NotAGradientError unless that is array or IndexedSlices."""
    try:
        return checked_pairs(grads_and_vars)
    except TypeError as error:
        if isinstance(error, ValueError | NotAVariableError):
            raise
        raise NotAGradientError(f"{error}; a gradient is an array, IndexedSlices or None") from None


def find_sparse(pairs: Pairs) -> dict[Variable, bool]:
    """Return for each variable whether its gradient is IndexedSlices."""
    sparse = {v: isinstance(g, IndexedSlices) for g, v in pairs}
    if len(sparse) < len(pairs):
        raise ValueError(
            f"a variable comes twice in {[v.name for _, v in pairs]}; add its gradients"
        )
    return sparse


def check_same(now: Mapping[Variable, bool], first: Mapping[Variable, bool]) -> None:
    """Refuse a push of other variables than the first: updates would wait for the missing ones."""
    if now != first:
        raise ValueError(
            "every push must bring gradients of the same variables: first of "
            f"{_list_names(first)}, now of {_list_names(now)}"
        )


def _list_names(sparse: Mapping[Variable, bool]) -> str:
    names = [
        f"{v.name} (IndexedSlices)" if is_sparse else v.name for v, is_sparse in sparse.items()
    ]
    return ", ".join(names) or "none"

"""The parameter server as a state machine: no lock, no clock, no thread.

A server holds the weights, the optimizer's slots and the ledger. Engines call it, one move of one
worker at a time, and the order of the moves decides everything: the same moves give the same bits
on every engine.

The invariant: arrays are replaced, never written to, so what a worker has read stays as it was.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, namespace, precision, quiet, set_rows
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from ..rules import Rule, dense_and_sparse
from ..train.staleness import compensate, compensate_adaptively, damping
from .experiment import Experiment
from .ledger import CHECK, JOIN, MOVES, READ, UPDATE, Ledger
from .problems import widest_dtype
from .read_only_weights import make_read_only
from .rows import check_rows, flatten_gradient, mean_of_rows, update_rows

Weights = dict[str, Array]
Gradient = Mapping[str, Any]  # an array for each weight, IndexedSlices for each table of a plan


class Server:
    """Weights, slots and the ledger; the moves of the workers, in one order, decide everything.

    Arrays are read-only. Gradients that wait for their update are copies. A call that raises
    changes nothing. Where the problem has a `gl.tpu.Plan`, the weights named as its tables are
    updated by the rules of the plan, and only in the rows of a gradient. Not in TensorFlow.

    Raises:
        ValueError: a gradient that does not fit the weights, a worker that does not exist, a check
            before the first read, an update before its check.

    >>> from gradlab.workers import Bowl
    >>> server = Server(Experiment(Bowl(), workers=2, staleness=0))
    >>> held = server.fetch(0), server.fetch(1)
    >>> server.push(0, {"w": np.float32([1.0, 1.0])}), server.push(1, {"w": np.float32([1.0, 1.0])})
    (True, False)
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.ledger = Ledger(
            experiment.workers, experiment.policy, experiment.staleness, experiment.aggregate
        )
        self._is_adaptive = (
            experiment.policy == "compensate" and experiment.mean_square_decay is not None
        )
        # These gradients wait, while their problem may write over the arrays it returned.
        self._copies_gradients = not experiment.atomic or experiment.aggregate > 1
        self._plan: Any = getattr(experiment.problem, "plan", None)
        self._tables = (
            {} if self._plan is None else {table.name: table for table in self._plan.tables}
        )
        self._learning_rate = np.float32(experiment.learning_rate)
        self.weights: Weights = make_read_only(self._start())
        with precision(widest_dtype(self.weights)):
            self._slots = {name: self._rule_of(name).init(w) for name, w in self.weights.items()}
            self._mean_square: Weights = {}
            if self._is_adaptive:
                self._mean_square = {
                    name: namespace(w).zeros_like(w) for name, w in self.weights.items()
                }
        self._shared = experiment.optimizer.start()
        self._shared_by_table = {name: table.rule.start() for name, table in self._tables.items()}
        self._held: list[Weights | None] = [None] * experiment.workers
        self._checked: list[Gradient | None] = [None] * experiment.workers
        self._gathered: tuple[Gradient, ...] = ()

    def _start(self) -> Weights:
        return self.experiment.start()

    def _rule_of(self, name: str) -> Rule:
        return self._tables[name].rule if name in self._tables else self.experiment.optimizer

    @property
    def step(self) -> int:
        return self.ledger.step

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(w.shape) for name, w in self.weights.items()}

    def copy(self) -> Server:
        """Return a server with the same state, which changes independently."""
        new = copy.copy(self)
        new.ledger = self.ledger.copy()
        new._held = list(self._held)
        new._checked = list(self._checked)
        return new

    def read(self, worker: int, time: int = 0) -> Weights:
        """Return the current weights; the worker holds them until its next read."""
        self._check_worker(worker)
        self.ledger.read(worker, time)
        self._held[worker] = self.weights
        return self.weights

    def record(self, worker: int, time: int = 0) -> int:
        """Return the current step, from which the staleness of the worker's next gradient is measured."""
        self._check_worker(worker)
        self.ledger.record(worker, time)
        return self.step

    def check(self, worker: int, gradient: Gradient, time: int = 0) -> bool:
        """Take a gradient in and tell whether it is accepted; weights change in `update`."""
        self.held(worker)
        self._checked[worker] = self._fit(gradient)
        return self.ledger.check(worker, time)

    def update(self, worker: int, time: int = 0) -> bool:
        """Apply the worker's gradient if its check accepted it; True if the step went up."""
        self._check_worker(worker)
        gradient = self._checked[worker]
        if gradient is None:
            raise InvalidArgumentError(
                f"worker {worker} has no gradient that was checked and not yet updated with"
            )
        if self.ledger.accepted[worker]:
            with precision(widest_dtype(self.weights)):
                self._accept(worker, gradient)
        self._checked[worker] = None
        return self.ledger.update(worker, time)

    def fetch(self, worker: int, time: int = 0) -> Weights:
        """`record` and `read` in one."""
        self.record(worker, time)
        return self.read(worker, time)

    def push(self, worker: int, gradient: Gradient, time: int = 0) -> bool:
        """`check` and `update` in one; True if the gradient was accepted."""
        accepted = self.check(worker, gradient, time)
        self.update(worker, time)
        return accepted

    def handle(self, move: int, worker: int, time: int, gradient: Gradient | None = None) -> None:
        """Make one move of a log; a check needs its gradient."""
        self._check_worker(worker)
        if not 0 <= move <= JOIN:
            raise InvalidArgumentError(
                f"move must be 0 to {JOIN}, for {', '.join(MOVES)}; got {move!r}"
            )
        if move == CHECK:
            self.check(worker, gradient or {}, time)
        elif move == READ:
            self.read(worker, time)
        elif move == UPDATE:
            self.update(worker, time)
        else:
            self.ledger.handle(move, worker, time)  # these have nothing to do with weights

    def held(self, worker: int) -> Weights:
        """Return the weights that the worker read last."""
        self._check_worker(worker)
        weights = self._held[worker]
        if weights is None:
            raise InvalidArgumentError(f"worker {worker} has not read any weights yet")
        return weights

    def given(self, worker: int) -> Gradient | None:
        """Return the worker's gradient that was checked and waits for its update."""
        self._check_worker(worker)
        return self._checked[worker]

    def fingerprint(self) -> Hashable:
        """Return what is equal for servers whose arrays are equal bit for bit.

        Weights that workers hold and gradients that wait for their update don't count.
        """
        slots = {
            f"{name} {k}": slot
            for name, slots in self._slots.items()
            for k, slot in enumerate(slots)
        }
        shared = (self._shared, *self._shared_by_table.values())
        gathered = map(flatten_gradient, self._gathered)
        parts = (self.weights, slots, *shared, self._mean_square, *gathered)
        return tuple(tuple(np.asarray(x).tobytes() for x in part.values()) for part in parts)

    def _check_worker(self, worker: int) -> None:
        if not 0 <= worker < len(self._held):
            raise InvalidArgumentError(
                f"there is no worker {worker}; there are 0 to {len(self._held) - 1}"
            )

    def _fit(self, gradient: Gradient) -> Gradient:
        """Return a gradient as arrays of the weights' shapes, copied if it has to wait."""
        if gradient.keys() != self.weights.keys():
            raise InvalidArgumentError(
                f"the gradient is of {sorted(gradient)}, the weights are {sorted(self.weights)}"
            )
        fitted = {name: self._fit_one(name, g) for name, g in gradient.items()}
        return {name: _copy(g) for name, g in fitted.items()} if self._copies_gradients else fitted

    def _fit_one(self, name: str, gradient: Any) -> Any:
        shape = self.weights[name].shape
        if name in self._tables:
            return check_rows(name, gradient, shape)
        g = as_array(gradient, f"the gradient of {name}")
        if g.shape != shape:
            raise InvalidArgumentError(
                f"the gradient of {name} has shape {g.shape}, the weight has {shape}"
            )
        return g

    @quiet
    def _accept(self, worker: int, gradient: Gradient) -> None:
        """Gather an accepted gradient, and update the weights if it is the last one of its step."""
        # Attributes are set at the end, so that an optimizer that raises leaves all as it was.
        processed, mean_square = self._process(worker, gradient)
        gathered = (*self._gathered, processed)
        if self.ledger.will_raise_step(worker):
            self._update_weights(_mean(gathered))
            gathered = ()
        self._gathered = gathered
        self._mean_square = mean_square

    def _process(self, worker: int, gradient: Gradient) -> tuple[Gradient, Weights]:
        """Return the gradient as the policy changes it, and the running mean square after it."""
        e = self.experiment
        if e.policy == "damp":
            factor = damping(self.ledger.checked[worker] - self.ledger.recorded[worker])
            return {name: _multiply(g, factor) for name, g in gradient.items()}, self._mean_square
        if e.policy != "compensate":
            return gradient, self._mean_square
        held = self.held(worker)
        processed: Weights = {}
        mean_square: Weights = {}
        for name, g in gradient.items():
            w = self.weights[name]
            if e.mean_square_decay is None:
                processed[name] = compensate(g, w, held[name], e.strength)
            else:
                processed[name], mean_square[name] = compensate_adaptively(
                    g, w, held[name], self._mean_square[name], e.strength, e.mean_square_decay
                )
        return processed, mean_square

    def _update_weights(self, gradient: Gradient) -> None:
        rule = self.experiment.optimizer.at(self._shared)
        # All rows are computed before any is written.
        rows = {name: self._update_rows(name, gradient[name]) for name in self._tables}
        weights = dict(self.weights)
        slots = dict(self._slots)
        for name, w in self.weights.items():
            if name not in rows:
                weights[name], slots[name] = dense_and_sparse.dense(
                    rule, w, slots[name], gradient[name], self._learning_rate
                )
        for name, (ids, new_rows, *new_slot_rows) in rows.items():
            weights[name] = self._set_rows(weights[name], ids, new_rows)
            pairs = zip(slots[name], new_slot_rows, strict=True)
            slots[name] = tuple(self._set_rows(slot, ids, slot_rows) for slot, slot_rows in pairs)
        self.weights = make_read_only(weights)
        self._slots = slots
        self._shared = rule.advance(self._shared)
        self._shared_by_table = {
            name: self._rule_of(name).advance(x) for name, x in self._shared_by_table.items()
        }

    def _update_rows(self, name: str, g: IndexedSlices) -> tuple[np.ndarray, *tuple[Any, ...]]:
        """Return the ids of the rows of a table that move, their weights and slots after that."""
        common = self._shared_by_table[name]
        return update_rows(
            self._tables[name], self._plan.policy, common, self.weights[name], self._slots[name], g
        )

    def _set_rows(self, x: Array, ids: np.ndarray, rows: Array) -> Array:
        return set_rows(x, ids, rows)


def _copy(g: Any) -> Any:
    if isinstance(g, IndexedSlices):
        return IndexedSlices(g.values.copy(), g.indices.copy(), g.dense_shape)
    return g.copy()


def _multiply(g: Any, factor: float) -> Any:
    if isinstance(g, IndexedSlices):
        return g.with_values(g.values * g.values.dtype.type(factor))
    return g * g.dtype.type(factor)


def _mean(gradients: tuple[Gradient, ...]) -> Gradient:
    """Return their mean, summed in the order in which they came, as a ConditionalAccumulator does."""
    if len(gradients) == 1:
        return gradients[0]
    return {name: _mean_of_one([g[name] for g in gradients]) for name in gradients[0]}


def _mean_of_one(gradients: list[Any]) -> Any:
    if isinstance(gradients[0], IndexedSlices):
        return mean_of_rows(gradients)
    total = gradients[0]
    for g in gradients[1:]:
        total = total + g
    return total / total.dtype.type(len(gradients))

"""The parameter server as a state machine: no lock, no clock, no thread."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, namespace, precision, quiet, set_rows
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from ..rules import Rule, apply
from ..train.staleness import compensate, compensate_adaptively, damping
from .checks import read_only
from .experiment import Experiment
from .ledger import CHECK, JOIN, LEAVE, MOVES, READ, RECORD, UPDATE, Ledger
from .problems import widest
from .rows import check_rows, flat, mean, moved

Weights = dict[str, Array]
Gradient = Mapping[str, Any]  # an array for each weight, IndexedSlices for each table of a plan


class Server:
    """Weights, slots and the ledger; what workers ask of it, in one order, decides everything.

    Arrays are replaced, never written to, and read-only: what a worker has read stays as it was. Gradients that wait
    are copies. A call that raises leaves all as it was. Where the problem has a `gl.tpu.Plan`, the weights named as its
    tables move by it, and by the rows of a gradient alone. Not in TensorFlow.

    Raises: ValueError: a gradient that does not fit the weights, a worker that is not there, a check before the first
    read, an update before its check.

    >>> from gradlab.workers import Bowl
    >>> server = Server(Experiment(Bowl(), workers=2, staleness=0))
    >>> held = server.fetch(0), server.fetch(1)
    >>> server.push(0, {"w": np.float32([1.0, 1.0])}), server.push(1, {"w": np.float32([1.0, 1.0])})
    (True, False)
    """

    part: Mapping[str, int] = MappingProxyType({})  # which part of the weights it has, for its log; nothing: all

    def __init__(self, experiment: Experiment) -> None:
        e = self.experiment = experiment
        self._adapts = e.policy == "compensate" and e.mean_square_decay is not None
        self._waits = not e.atomic or e.aggregate > 1  # gradients do, while their problem may write over its arrays
        self.ledger = Ledger(e.workers, e.policy, e.staleness, e.aggregate)
        self._plan: Any = getattr(e.problem, "plan", None)
        self._tables = {} if self._plan is None else {table.name: table for table in self._plan.tables}
        self._shared_by_table = {name: table.rule.start() for name, table in self._tables.items()}
        self.weights: Weights = read_only(self._start())
        self._rate = np.float32(e.learning_rate)
        with precision(widest(self.weights)):
            self._slots = {name: self._rule_of(name).init(w) for name, w in self.weights.items()}
            self._mean_square = {name: namespace(w).zeros_like(w) for name, w in self.weights.items() if self._adapts}
        self._shared = e.optimizer.start()
        self._held: list[Weights | None] = [None] * e.workers
        self._given: list[Gradient | None] = [None] * e.workers
        self._gathered: tuple[Gradient, ...] = ()

    def _start(self) -> Weights:
        return self.experiment.start()

    def _rule_of(self, name: str) -> Rule:
        return self._tables[name].rule if name in self._tables else self.experiment.optimizer

    @property
    def step(self) -> int:
        return self.ledger.step

    def copy(self) -> Server:
        """One that goes its own way from here."""
        new = copy.copy(self)
        new.ledger = self.ledger.copy()
        new._held, new._given = list(self._held), list(self._given)
        return new

    def read(self, worker: int, time: int = 0) -> Weights:
        """The weights as they are now."""
        self._check_worker(worker)
        self.ledger.read(worker, time)
        self._held[worker] = self.weights
        return self.weights

    def record(self, worker: int, time: int = 0) -> int:
        """The step as it is now: by it the staleness of the worker's next gradient is measured."""
        self._check_worker(worker)
        self.ledger.record(worker, time)
        return self.step

    def check(self, worker: int, gradient: Gradient, time: int = 0) -> bool:
        """Take a gradient in and say whether it is accepted; nothing changes before `update`."""
        self.held(worker)
        self._given[worker] = self._fitting(gradient)
        return self.ledger.check(worker, time)

    def update(self, worker: int, time: int = 0) -> bool:
        """Apply the worker's gradient if its check passed; True if the step went up."""
        self._check_worker(worker)
        given = self._given[worker]
        if given is None:
            raise InvalidArgumentError(f"worker {worker} has no gradient that was checked and not yet updated with")
        if self.ledger.accepted[worker]:
            with precision(widest(self.weights)):
                self._take(worker, given)
        self._given[worker] = None
        return self.ledger.update(worker, time)

    def fetch(self, worker: int, time: int = 0) -> Weights:
        """`record` and `read` in one piece."""
        self.record(worker, time)
        return self.read(worker, time)

    def push(self, worker: int, gradient: Gradient, time: int = 0) -> bool:
        """`check` and `update` in one piece; whether the gradient was accepted."""
        accepted = self.check(worker, gradient, time)
        self.update(worker, time)
        return accepted

    def handle(self, move: int, worker: int, time: int, gradient: Gradient | None = None) -> None:
        """One move of a log; a check needs its gradient."""
        self._check_worker(worker)
        if move == CHECK:
            self.check(worker, gradient or {}, time)
        elif move == READ:
            self.read(worker, time)
        elif move == RECORD:
            self.record(worker, time)
        elif move == UPDATE:
            self.update(worker, time)
        elif move == LEAVE:
            self.ledger.leave(worker, time)
        elif move == JOIN:
            self.ledger.join(worker, time)
        else:
            raise InvalidArgumentError(f"move must be 0 to {JOIN}, for {', '.join(MOVES)}; got {move!r}")

    def held(self, worker: int) -> Weights:
        """The weights the worker read last."""
        self._check_worker(worker)
        weights = self._held[worker]
        if weights is None:
            raise InvalidArgumentError(f"worker {worker} has not read any weights yet")
        return weights

    def given(self, worker: int) -> Gradient | None:
        """The worker's gradient that was checked and waits for its update."""
        self._check_worker(worker)
        return self._given[worker]

    def fingerprint(self) -> Hashable:
        """Equal for servers whose arrays are equal bit for bit, apart from what workers hold and have given."""
        slots = {f"{name} {k}": slot for name, slots in self._slots.items() for k, slot in enumerate(slots)}
        shared = (self._shared, *self._shared_by_table.values())
        parts = (self.weights, slots, *shared, self._mean_square, *map(flat, self._gathered))
        return tuple(tuple(np.asarray(x).tobytes() for x in part.values()) for part in parts)

    def _check_worker(self, worker: int) -> None:
        if not 0 <= worker < len(self._held):
            raise InvalidArgumentError(f"there is no worker {worker}; there are 0 to {len(self._held) - 1}")

    def _fitting(self, gradient: Gradient) -> Gradient:
        if gradient.keys() != self.weights.keys():
            raise InvalidArgumentError(f"the gradient is of {sorted(gradient)}, the weights are {sorted(self.weights)}")
        found = {name: self._one_fitting(name, g) for name, g in gradient.items()}
        return {name: _copied(g) for name, g in found.items()} if self._waits else found

    def _one_fitting(self, name: str, gradient: Any) -> Any:
        shape = self.weights[name].shape
        if name in self._tables:
            return check_rows(name, gradient, shape)
        g = as_array(gradient, f"the gradient of {name}")
        if g.shape != shape:
            raise InvalidArgumentError(f"the gradient of {name} has shape {g.shape}, the weight has {shape}")
        return g

    @quiet
    def _take(self, worker: int, given: Gradient) -> None:
        processed, mean_square = self._processed(worker, given)
        gathered = (*self._gathered, processed)
        if self.ledger.completes(worker):
            self._apply(_mean(gathered))
            gathered = ()
        self._gathered, self._mean_square = gathered, mean_square

    def _processed(self, worker: int, given: Gradient) -> tuple[Gradient, Weights]:
        """The worker's gradient as the policy changes it, and the running mean square after it."""
        e, mean_square = self.experiment, self._mean_square
        if e.policy == "damp":
            factor = damping(self.ledger.checked[worker] - self.ledger.recorded[worker])
            return {name: _times(g, factor) for name, g in given.items()}, mean_square
        if e.policy != "compensate":
            return given, mean_square
        held, found, squares = self.held(worker), {}, {}
        for name, g in given.items():
            w, read = self.weights[name], held[name]
            if e.mean_square_decay is None:
                found[name] = compensate(g, w, read, e.strength)
            else:
                found[name], squares[name] = compensate_adaptively(
                    g, w, read, mean_square[name], e.strength, e.mean_square_decay
                )
        return found, squares

    def _apply(self, gradient: Gradient) -> None:
        now, slots = self.experiment.optimizer.at(self._shared), dict(self._slots)
        rows = {name: self._moved(name, gradient[name]) for name in self._tables}  # before any is written
        new = dict(self.weights)
        for name, w in self.weights.items():
            if name not in rows:
                new[name], slots[name] = apply.dense(now, w, slots[name], gradient[name], self._rate)
        for name, (ids, *parts) in rows.items():
            tables = zip((new[name], *slots[name]), parts, strict=True)
            new[name], *own = (self._written(x, ids, part) for x, part in tables)
            slots[name] = tuple(own)
        self.weights, self._slots, self._shared = read_only(new), slots, now.advance(self._shared)
        self._shared_by_table = {name: self._rule_of(name).advance(x) for name, x in self._shared_by_table.items()}

    def _moved(self, name: str, g: IndexedSlices) -> tuple[np.ndarray, *tuple[Any, ...]]:
        """The rows of a table that move, their weights and slots after that."""
        common, w, slots = self._shared_by_table[name], self.weights[name], self._slots[name]
        return moved(self._tables[name], self._plan.policy, common, w, slots, g)

    def _written(self, x: Array, ids: np.ndarray, rows: Array) -> Array:
        return set_rows(x, ids, rows)


def _copied(g: Any) -> Any:
    return IndexedSlices(g.values.copy(), g.indices.copy(), g.dense_shape) if isinstance(g, IndexedSlices) else g.copy()


def _times(g: Any, factor: float) -> Any:
    x = g.values if isinstance(g, IndexedSlices) else g
    x = x * x.dtype.type(factor)
    return g.with_values(x) if isinstance(g, IndexedSlices) else x


def _mean(gradients: tuple[Gradient, ...]) -> Gradient:
    """Their mean, summed in the order in which they came, as a ConditionalAccumulator does."""
    if len(gradients) == 1:
        return gradients[0]
    return {name: _mean_of([g[name] for g in gradients]) for name in gradients[0]}


def _mean_of(gradients: list[Any]) -> Any:
    if isinstance(gradients[0], IndexedSlices):
        return mean(gradients)
    total, *rest = gradients
    for g in rest:
        total = total + g
    return total / total.dtype.type(len(gradients))

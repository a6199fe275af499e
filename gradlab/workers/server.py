"""The parameter server as a state machine: no lock, no clock, no thread."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import apply
from .._arrays import Array, precision
from ..staleness import compensated, damping
from .experiment import Experiment
from .ledger import CHECK, JOIN, LEAVE, READ, RECORD, UPDATE, Ledger

Weights = dict[str, Array]


class Server:
    """Weights, slots and the ledger; what workers ask of it, in one order, decides everything.

    Arrays are replaced, never written to: what a worker has read stays as it was.

    >>> from gradlab.workers import Bowl
    >>> server = Server(Experiment(Bowl(), workers=2, staleness=0))
    >>> held = server.fetch(0), server.fetch(1)
    >>> server.push(0, {"w": np.float32([1.0, 1.0])}), server.push(1, {"w": np.float32([1.0, 1.0])})
    (True, False)
    """

    def __init__(self, experiment: Experiment) -> None:
        e = self.experiment = experiment
        self.ledger = Ledger(e.workers, e.policy, e.staleness, e.aggregate)
        self.weights: Weights = e.start()
        self._rate = np.float32(e.learning_rate)
        self._slots = {name: e.optimizer.init(w) for name, w in self.weights.items()}
        self._shared = e.optimizer.start()
        self._held: list[Weights | None] = [None] * e.workers
        self._given: list[Mapping[str, Array]] = [{}] * e.workers
        self._gathered: list[Mapping[str, Array]] = []

    @property
    def step(self) -> int:
        return self.ledger.step

    def copy(self) -> Server:
        """One that goes its own way from here."""
        new = copy.copy(self)
        new.ledger = self.ledger.copy()
        new._held, new._given, new._gathered = list(self._held), list(self._given), list(self._gathered)
        return new

    def read(self, worker: int, time: int = 0) -> Weights:
        """The weights as they are now."""
        self.ledger.read(worker, time)
        self._held[worker] = self.weights
        return self.weights

    def record(self, worker: int, time: int = 0) -> int:
        """The step as it is now: by it the staleness of the worker's next gradient is measured."""
        self.ledger.record(worker, time)
        return self.step

    def check(self, worker: int, gradient: Mapping[str, Array], time: int = 0) -> bool:
        """Take a gradient in and say whether it is fresh; nothing changes before `update`."""
        self._given[worker] = self._checked(gradient)
        return self.ledger.check(worker, time)

    def update(self, worker: int, time: int = 0) -> bool:
        """Apply the worker's gradient if its check passed; True if the step went up."""
        gradient = self._processed(worker)
        fresh = self.ledger.fresh[worker]
        moved = self.ledger.update(worker, time)
        self._given[worker] = {}
        if fresh:
            self._gathered.append(gradient)
        if moved:
            self._apply(_mean(self._gathered))
            self._gathered = []
        return moved

    def fetch(self, worker: int, time: int = 0) -> Weights:
        """`record` and `read` in one piece."""
        self.record(worker, time)
        return self.read(worker, time)

    def push(self, worker: int, gradient: Mapping[str, Array], time: int = 0) -> bool:
        """`check` and `update` in one piece; whether the gradient was accepted."""
        accepted = self.check(worker, gradient, time)
        self.update(worker, time)
        return accepted

    def handle(self, move: int, worker: int, time: int, gradient: Mapping[str, Array] | None = None) -> None:
        """One move of a log; a check needs its gradient."""
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
            raise ValueError(f"move must be 0 to {JOIN}, got {move!r}")

    def held(self, worker: int) -> Weights:
        """The weights the worker read last."""
        weights = self._held[worker]
        if weights is None:
            raise ValueError(f"worker {worker} has not read any weights yet")
        return weights

    def _checked(self, gradient: Mapping[str, Array]) -> Mapping[str, Array]:
        if gradient.keys() != self.weights.keys():
            raise ValueError(f"the gradient is of {sorted(gradient)}, the weights are {sorted(self.weights)}")
        for name, g in gradient.items():
            if np.shape(g) != self.weights[name].shape:
                shape = self.weights[name].shape
                raise ValueError(f"the gradient of {name} has shape {np.shape(g)}, the weight has {shape}")
        return gradient

    def _processed(self, worker: int) -> Mapping[str, Array]:
        """The worker's gradient as the policy changes it."""
        e, given = self.experiment, self._given[worker]
        if e.policy == "damp":
            factor = damping(self.ledger.checked[worker] - self.ledger.recorded[worker])
            return {name: (g * g.dtype.type(factor)) for name, g in given.items()}
        if e.policy == "compensate":
            held = self.held(worker)
            return {name: compensated(g, self.weights[name], held[name], e.strength) for name, g in given.items()}
        return given

    def _apply(self, gradient: Mapping[str, Array]) -> None:
        now, new, slots = self.experiment.optimizer.at(self._shared), {}, {}
        for name, w in self.weights.items():
            with precision(w.dtype):
                new[name], slots[name] = apply.dense(now, w, self._slots[name], gradient[name], self._rate)
        self.weights, self._slots = new, slots
        self._shared = now.advance(self._shared)


def _mean(gradients: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Their mean, summed in the order in which they came, as a ConditionalAccumulator does."""
    if len(gradients) == 1:
        return gradients[0]
    first, *rest = gradients
    total = dict(first)
    for gradient in rest:
        total = {name: total[name] + g for name, g in gradient.items()}
    return {name: g / g.dtype.type(len(gradients)) for name, g in total.items()}

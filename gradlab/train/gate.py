"""gate_gradients: a minimize step as tasks that may run in more than one order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._base.arrays import Array
from .._base.derivatives import differentiator
from ..errors import GateWarning, warn
from ..rules import StochasticGradientDescent
from .autodiff import Loss, Tape, check_variables, compute_loss, differentiate
from .graph import Graph
from .variable import Variable

GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

# The step on sum(a @ b) that TensorFlow was seen to race in.
START = {"a": [[1.0, 2.0], [3.0, 4.0]], "b": [[5.0, 6.0], [7.0, 8.0]]}
RATE = 0.1


def check_gate(gate: int, strict: bool) -> None:
    """ValueError for an unknown gate in a Graph; eager TensorFlow ignores gates, so there it is a GateWarning."""
    if gate in (GATE_NONE, GATE_OP, GATE_GRAPH):
        return
    message = f"gate_gradients must be GATE_NONE (0), GATE_OP (1) or GATE_GRAPH (2), got {gate!r}"
    if strict:
        raise ValueError(message)
    warn(f"{message}; ignored outside a Graph, as in TensorFlow's eager mode", GateWarning)


@dataclass(frozen=True)
class GateEvent:
    """One task that ran: its gradient or new value, and which variables it saw already updated."""

    task: str
    result: Array
    saw_updated: tuple[str, ...]


class GateRace:
    """One gradient-descent step taken apart: "gradient v" and "update v" for each variable, run in an order you choose.

    An update needs its own gradient. GATE_NONE asks no more, so a gradient may be computed from
    weights that are already updated; GATE_OP lets an update wait for every gradient that is
    computed from its variable; GATE_GRAPH for all gradients. The variables themselves are not
    changed.

    Args:
        loss: function without arguments on the variables.
        var_list: up to 4 variables.
        learning_rate: number.
        gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.

    Raises:
        ValueError: unknown gate, more than 4 variables; a task that is not ready.

    In TensorFlow the race is real: with resource variables, GATE_NONE updated `a` wrongly for
    `sum(a @ b)` in 60 of 60 sessions of an idle machine, in 36 to 59 of a busy one.

    Source: `tf.compat.v1.train.Optimizer`, TensorFlow 2.21, run (2026).

    >>> a, b = Variable([[2.0]], name="a"), Variable([[3.0]], name="b")
    >>> race = GateRace(lambda: (a * b).sum(), [a, b], 0.5, GATE_NONE)
    >>> for task in ("gradient b", "update b", "gradient a", "update a"):
    ...     race.run(task)
    >>> race.raced, race.values["a"].tolist()
    (('a',), [[1.0]])
    """

    def __init__(
        self,
        loss: Loss,
        var_list: Sequence[Variable],
        learning_rate: float,
        gate_gradients: int = GATE_OP,
    ):
        check_gate(gate_gradients, strict=True)
        self._variables = {
            v.name.removesuffix(":0"): v for v in check_variables(list(var_list), "var_list")
        }
        if not 1 <= len(self._variables) <= 4 or len(self._variables) != len(var_list):
            raise ValueError(
                f"var_list must hold 1 to 4 variables of different names, got {len(var_list)}"
            )
        self.loss, self.learning_rate, self.gate_gradients = loss, learning_rate, gate_gradients
        self._start = {name: v.numpy() for name, v in self._variables.items()}
        self._waits_for = self._dependencies()
        self.restart()

    def restart(self) -> None:
        """Back to before the first task."""
        self.values: dict[str, Array] = dict(self._start)
        self._gradients: dict[str, Array] = {}
        self.events: list[GateEvent] = []

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(
            f"{kind} {name}" for name in self._variables for kind in ("gradient", "update")
        )

    @property
    def done(self) -> tuple[str, ...]:
        return tuple(e.task for e in self.events)

    @property
    def ready(self) -> tuple[str, ...]:
        """Tasks that may run now."""
        return tuple(
            t for t in self.tasks if t not in self.done and self._waits_for[t] <= set(self.done)
        )

    @cached_property
    def reads(self) -> dict[str, frozenset[str]]:
        """For each variable the variables whose values its gradient is computed from."""
        return _reads(self.loss, self._variables)

    @property
    def raced(self) -> tuple[str, ...]:
        """Variables whose gradient was computed from weights already updated."""
        gradients = [
            (e.task.split(" ", 1)[1], e) for e in self.events if e.task.startswith("gradient")
        ]
        return tuple(name for name, event in gradients if self.reads[name] & set(event.saw_updated))

    def run(self, task: str) -> None:
        """Run one task that is ready."""
        if task not in self.ready:
            raise ValueError(
                f"{task!r} cannot run now; ready: "
                f"{', '.join(self.ready) or 'nothing, the step is over'}"
            )
        kind, name = task.split(" ", 1)
        updated = tuple(t.split(" ", 1)[1] for t in self.done if t.startswith("update"))
        if kind == "gradient":
            self._gradients[name] = result = self._gradient(name)
        else:
            w = self.values[name]
            result, _ = StochasticGradientDescent()(
                w, (), self._gradients[name], np.float32(self.learning_rate)
            )
            self.values[name] = result
        self.events.append(GateEvent(task, result, updated))

    def outcomes(self) -> dict[tuple[str, ...], dict[str, Array]]:
        """Every order the gate allows, with the values it ends in."""
        found = {}
        for order in self._orders(()):
            self.restart()
            for task in order:
                self.run(task)
            found[order] = dict(self.values)
        self.restart()
        return found

    def _orders(self, done: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(done) == len(self.tasks):
            yield done
        for task in self.tasks:
            if task not in done and self._waits_for[task] <= set(done):
                yield from self._orders((*done, task))

    def _gradient(self, name: str) -> Array:
        at = {v: self.values[n] for n, v in self._variables.items()}
        (g,), _ = differentiate([self.loss], [self._variables[name]], [None], at)
        return (
            np.zeros_like(self.values[name])
            if g is None
            else np.asarray(getattr(g, "to_dense", lambda: g)())
        )

    def _dependencies(self) -> dict[str, set[str]]:
        """For each task the tasks it must wait for."""
        names = set(self._variables)
        if self.gate_gradients == GATE_OP:
            before = {n: {m for m in names if n in self.reads[m]} | {n} for n in names}
        else:
            before = {n: names if self.gate_gradients == GATE_GRAPH else {n} for n in names}
        waits: dict[str, set[str]] = {f"gradient {n}": set() for n in names}
        return waits | {f"update {n}": {f"gradient {m}" for m in before[n]} for n in names}


def product_race(gate: int) -> GateRace:
    """One step on sum(a @ b) that has not begun; without JAX its gradients are the same numbers."""
    with Graph().as_default():  # so that nobody finds these variables among their own
        a, b = (Variable(np.array(value, np.float32), name=name) for name, value in START.items())
    return GateRace(lambda: (a.value @ b.value).sum(), [a, b], RATE, gate)


def _reads(loss: Loss, variables: dict[str, Variable]) -> dict[str, frozenset[str]]:
    """For each variable the variables its gradient is computed from."""

    def run(values: list[Array]) -> list[Array]:
        with Tape(list(variables.values()), values):
            return [compute_loss(loss)]

    names = list(variables)
    found = differentiator().reads(run, [v._buffer.share() for v in variables.values()])
    return {
        name: frozenset(names[k] for k in read) for name, read in zip(names, found, strict=True)
    }

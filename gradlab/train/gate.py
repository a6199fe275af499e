"""gate_gradients, and the race that it prevents.

TensorFlow's executor runs the ops of a step in any order that their dependencies allow. With
GATE_NONE the update of a variable may thus run before another variable's gradient is computed from
it. `GateRace` makes that race visible: it splits a step into tasks, says which are ready, and lets
the caller choose. `check_gate` is for all optimizers, whose own steps never race.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._base.arrays import Array
from .._base.derivatives import differentiator
from .._base.slices import IndexedSlices
from ..errors import GateWarning, warn
from ..rules import StochasticGradientDescent
from .autodiff import Loss, LossTape, check_variables, compute_loss, differentiate
from .graph import Graph
from .variable import Variable

GATE_NONE = 0
GATE_OP = 1
GATE_GRAPH = 2

# A step on sum(a @ b), in which TensorFlow was seen to race.
START = {"a": [[1.0, 2.0], [3.0, 4.0]], "b": [[5.0, 6.0], [7.0, 8.0]]}
RATE = 0.1


def check_gate(gate: int, strict: bool) -> None:
    """Refuse an unknown gate: a ValueError with `strict`, in a Graph; otherwise a GateWarning."""
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
    """One gradient-descent step as tasks "gradient v" and "update v", run in an order you choose.

    Every update waits for its own gradient. With GATE_NONE it waits for nothing else, so a gradient
    may be computed from weights that are already updated. With GATE_OP it waits for every gradient
    that is computed from its variable, with GATE_GRAPH for all gradients. The variables themselves
    don't change.

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
        self.loss = loss
        self.learning_rate = learning_rate
        self.gate_gradients = gate_gradients
        self._start = {name: v.numpy() for name, v in self._variables.items()}
        self._waits_for = self._dependencies()
        self.restart()

    def restart(self) -> None:
        """Go back to the state before the first task."""
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
        return self._ready_after(self.done)

    @cached_property
    def reads(self) -> dict[str, frozenset[str]]:
        """For each variable the variables from whose values its gradient is computed."""
        return _find_reads(self.loss, self._variables)

    @property
    def raced(self) -> tuple[str, ...]:
        """Variables whose gradient was computed from weights already updated."""
        names = []
        for event in self.events:
            kind, name = event.task.split(" ", 1)
            if kind == "gradient" and self.reads[name] & set(event.saw_updated):
                names.append(name)
        return tuple(names)

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
            result = self._compute_gradient(name)
            self._gradients[name] = result
        else:
            rule = StochasticGradientDescent()
            rate = np.float32(self.learning_rate)
            result, _ = rule(self.values[name], (), self._gradients[name], rate)
            self.values[name] = result
        self.events.append(GateEvent(task, result, updated))

    def outcomes(self) -> dict[tuple[str, ...], dict[str, Array]]:
        """Return every order that the gate allows, with the values in which it ends."""
        values = {}
        for order in self._orders_after(()):
            self.restart()
            for task in order:
                self.run(task)
            values[order] = dict(self.values)
        self.restart()
        return values

    def _ready_after(self, done: tuple[str, ...]) -> tuple[str, ...]:
        """Return the tasks that may run once these are done."""
        return tuple(t for t in self.tasks if t not in done and self._waits_for[t] <= set(done))

    def _orders_after(self, done: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield every order of all tasks that begins with these."""
        if len(done) == len(self.tasks):
            yield done
        for task in self._ready_after(done):
            yield from self._orders_after((*done, task))

    def _compute_gradient(self, name: str) -> Array:
        values = {v: self.values[n] for n, v in self._variables.items()}
        (g,), _ = differentiate([self.loss], [self._variables[name]], [None], values)
        if g is None:
            return np.zeros_like(self.values[name])
        return np.asarray(g.to_dense() if isinstance(g, IndexedSlices) else g)

    def _dependencies(self) -> dict[str, set[str]]:
        """Return for each task the tasks for which it must wait."""
        waits_for: dict[str, set[str]] = {}
        for name in self._variables:
            waits_for[f"gradient {name}"] = set()
            waits_for[f"update {name}"] = {f"gradient {m}" for m in self._gate_of(name)}
        return waits_for

    def _gate_of(self, name: str) -> set[str]:
        """Return the variables for whose gradients the update of a variable must wait."""
        names = set(self._variables)
        if self.gate_gradients == GATE_GRAPH:
            return names
        if self.gate_gradients == GATE_OP:
            return {m for m in names if name in self.reads[m]} | {name}
        return {name}


def product_race(gate: int) -> GateRace:
    """Return the race of one step on sum(a @ b); its gradients are exact, with JAX or without."""
    # In a graph of their own, so that the variables don't appear among the user's.
    with Graph().as_default():
        a = Variable(np.array(START["a"], np.float32), name="a")
        b = Variable(np.array(START["b"], np.float32), name="b")
    return GateRace(lambda: (a.value @ b.value).sum(), [a, b], RATE, gate)


def _find_reads(loss: Loss, variables: dict[str, Variable]) -> dict[str, frozenset[str]]:
    """Return for each variable the variables from which its gradient is computed."""

    def run(values: list[Array]) -> list[Array]:
        with LossTape(list(variables.values()), values):
            return [compute_loss(loss)]

    names = list(variables)
    reads = differentiator().reads(run, [v._buffer.share() for v in variables.values()])
    return {
        name: frozenset(names[k] for k in read) for name, read in zip(names, reads, strict=True)
    }

"""TF1 optimizers, tf.gradients and trainable_variables, played by `tests/golden/sessions.py` on
gradlab.

Not compared: the names of gradient tensors (`names` of `gradients`, `grad_names` of
`compute_gradients`). They are names of graph nodes, and gradlab has no graph nodes for gradients.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import gradlab as gl
from tests.conformance import compare, decode
from tests.conformance.adapters.clip import function, run_call
from tests.conformance.adapters.gate import outcomes
from tests.conformance.runner import attempt, replay
from tests.conformance.scenarios import Scenario, Unsupported
from tests.golden import sessions

FAMILIES = (
    "GradientDescent Momentum Adagrad AdagradDA Adadelta Adam Ftrl ProximalGradientDescent "
    "ProximalAdagrad RMSProp"
)
OPTIMIZERS = {f"v1.{family}Optimizer": f"{family}Optimizer" for family in FAMILIES.split()}
# TensorFlow's tf.AggregationMethod; gradlab takes its numbers.
AGGREGATION = {"ADD_N": 0, "DEFAULT": 0, "EXPERIMENTAL_TREE": 1, "EXPERIMENTAL_ACCUMULATE_N": 2}
# Arguments of tf.gradients that only name or place graph nodes, or gate them.
GRAPH_ONLY = {"name", "colocate_gradients_with_ops", "gate_gradients", "aggregation_method"}
NOT_COMPARED = {("gradients", "names"), ("compute_gradients", "grad_names")}


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "v1" and scenario.mode in ("eager", "graph")


def differences(scenario: Scenario) -> list[str]:
    check_known(scenario)
    return replay(scenario, lambda semantics: run(scenario, semantics), NOT_COMPARED)


def check_known(scenario: Scenario) -> None:
    """Refuse the scenario before anything runs if it asks for what this adapter does not know."""
    for call in scenario.calls:
        if not hasattr(Session, f"do_{call['do']}"):
            raise Unsupported(f"verb {call['do']!r}")
        if call["do"] == "new" and call["class"] not in OPTIMIZERS:
            raise Unsupported(f"class {call['class']!r}")


def run(scenario: Scenario, semantics: str) -> list[Any]:
    """The outputs of the scenario's calls, in order."""
    graph = gl.Graph() if scenario.mode == "graph" else None
    with graph.as_default() if graph else gl.variable_collection():
        session = Session(scenario, Gradlab(scenario.mode, semantics, graph))
        return session.play(scenario.calls)


def variable(name: str, x: dict[str, Any]) -> Any:
    constraint = x.get("constraint")
    if constraint is not None and constraint not in decode.CONSTRAINTS:
        raise Unsupported(f"constraint {constraint!r}")
    return gl.Variable(
        decode.array(x),
        trainable=x.get("trainable", True),
        name=name,
        constraint=decode.CONSTRAINTS.get(constraint),
    )


class Gradlab:
    """gradlab as a session asks for it."""

    def __init__(self, mode: str, semantics: str, graph: Any = None) -> None:
        self.mode = mode
        self.is_symbolic = mode == "graph"
        self.semantics = semantics
        self.graph = graph

    def variable(self, name: str, x: dict[str, Any]) -> Any:
        return variable(name, x)

    def value(self, x: Any) -> Any:
        return decode.value(x)

    def constant(self, argument: str, name: str) -> Any:
        if argument == "aggregation_method":
            return AGGREGATION.get(name)
        return getattr(gl.train.GradientDescentOptimizer, name)

    def loss(self, x: dict[str, Any], variables: dict[str, Any], is_tensor: bool) -> Any:
        f = decode.loss(x, variables)
        return f() if is_tensor else f

    def optimizer(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return getattr(gl.train, OPTIMIZERS[name])(*args, **kwargs)

    def clip(self, name: str) -> Callable[..., Any]:
        return function(name, self.semantics, self.mode)

    def run(self, operation: Any) -> None:
        if isinstance(operation, gl.Operation):
            operation.run()

    def read(self, x: Any) -> Any:
        """Copies of variables, which go on changing, and the values of tensors now."""
        if isinstance(x, dict):
            return {name: self.read(v) for name, v in x.items()}
        if isinstance(x, list):
            return [self.read(item) for item in x]
        if isinstance(x, gl.Variable):
            return x.numpy()
        is_sparse = isinstance(x, gl.IndexedSlices)
        if isinstance(x, gl.Tensor) or (is_sparse and isinstance(x.values, gl.Tensor)):
            return gl.Session().run(x)
        return x

    def gradients(
        self, ys: list[Any], xs: list[Any], variables: dict[str, Any], kwargs: dict[str, Any]
    ) -> list[Any]:
        accepted = inspect.signature(gl.gradients).parameters
        given = {k: v for k, v in kwargs.items() if k in accepted or k not in GRAPH_ONLY}
        losses = [decode.loss(y, variables) for y in ys]
        return self.read(gl.gradients(losses, xs, **given, strict="tf"))

    def trainable_variables(self, kwargs: dict[str, Any]) -> list[Any]:
        return gl.trainable_variables(**kwargs)

    def collection(self, name: str) -> list[Any]:
        return self.graph.get_collection(name)

    def outcome(self, act: Callable[[], Any]) -> Any:
        return attempt(act)


class Session(sessions.Session):
    """Where the original raced, one step of gradient descent may end in any of the ways that its
    gate leaves open.
    """

    library: Gradlab

    def __init__(self, scenario: Scenario, library: Gradlab) -> None:
        super().__init__(scenario.data, library)
        self.is_racing = bool(scenario.data.get("nondeterministic"))
        self.rate: float | None = None  # of gradient descent
        self.races: list[dict[str, Any]] = []  # possible outcomes, by variable name

    def do_new(self, call: dict[str, Any]) -> Any:
        done = super().do_new(call)
        if call["class"] == "v1.GradientDescentOptimizer":
            args = self.library.value(call.get("args", []))
            self.rate = [*args, self.kwargs(call).get("learning_rate")][0]
        return done

    def do_minimize(self, call: dict[str, Any]) -> Any:
        if self.is_racing:
            if call.get("runs", 1) != 1 or self.rate is None or self.races:
                raise Unsupported("a race other than one step of gradient descent")
            gate = self.kwargs(call).get("gate_gradients", self.opt(call).GATE_OP)
            var_list = self.vars(call.get("var_list")) or gl.trainable_variables()
            self.races = outcomes(self.loss(call), var_list, self.rate, gate)
        return super().do_minimize(call)

    def do_state(self, call: dict[str, Any]) -> Any:
        state = super().do_state(call)
        if not self.races:
            return state
        return compare.AnyOf(
            [{**state, "vars": {**state["vars"], **race}} for race in self.races], state
        )

    def do_call(self, call: dict[str, Any]) -> Any:
        return run_call(call, self.library.semantics)

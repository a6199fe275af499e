"""TF1 optimizers, tf.gradients and trainable_variables: one `Session` per scenario, one method per verb.

Not compared: the names of gradient tensors (`names` of `gradients`, `grad_names` of `compute_gradients`). They are
names of graph nodes, and gradlab has no graph nodes for gradients.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import compare, decode
from tests.conformance.adapters.clip import function, run_call
from tests.conformance.adapters.gate import outcomes
from tests.conformance.runner import attempt, replay
from tests.conformance.scenarios import Scenario, Unsupported

FAMILIES = (
    "GradientDescent Momentum Adagrad AdagradDA Adadelta Adam Ftrl ProximalGradientDescent ProximalAdagrad RMSProp"
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
        session = Session(scenario, semantics, graph)
        return [getattr(session, f"do_{call['do']}")(call) for call in scenario.calls]


def variable(name: str, x: dict[str, Any]) -> Any:
    constraint = x.get("constraint")
    if constraint is not None and constraint not in decode.CONSTRAINTS:
        raise Unsupported(f"constraint {constraint!r}")
    return gl.Variable(
        decode.array(x), trainable=x.get("trainable", True), name=name, constraint=decode.CONSTRAINTS.get(constraint)
    )


class Session:
    """The variables and optimizers of one scenario. In graph mode operations are run as often as the scenario says."""

    def __init__(self, scenario: Scenario, semantics: str, graph: Any) -> None:
        self.semantics = semantics
        self.graph = graph
        self.mode = scenario.mode
        self.racing = bool(scenario.data.get("nondeterministic"))
        self.variables = {name: variable(name, x) for name, x in scenario.data["vars"].items()}
        self.optimizers: dict[str, Any] = {}
        self.rate: float | None = None  # of gradient descent
        self.races: list[dict[str, Any]] = []  # the outcomes a race left open, by variable name

    # --- arguments ---------------------------------------------------------------------------------------------

    def _opt(self, call: dict[str, Any]) -> Any:
        return self.optimizers.get(call.get("opt", "opt"))

    def _vars(self, names: list[str] | None) -> list[Any] | None:
        return None if names is None else [self.variables[n] for n in names]

    def _loss(self, call: dict[str, Any]) -> Any:
        f = decode.loss(call["loss"], self.variables)
        return f() if call.get("tensor_loss") and self.mode == "eager" else f  # in a graph every loss is a tensor

    def _kwargs(self, call: dict[str, Any]) -> dict[str, Any]:
        named = {"global_step": self.variables.get, "aggregation_method": AGGREGATION.get}
        kwargs = {}
        for key, x in call.get("kwargs", {}).items():
            if key == "gate_gradients" and isinstance(x, str):
                kwargs[key] = getattr(gl.train.GradientDescentOptimizer, x)
            else:
                kwargs[key] = named[key](x) if key in named and isinstance(x, str) else decode.value(x)
        return kwargs

    def _variable(self, x: Any) -> Any:
        return self.variables[x] if isinstance(x, str) else decode.value(x)

    def _name_of(self, var: Any) -> str:
        return next(name for name, v in self.variables.items() if v is var)

    # --- optimizers --------------------------------------------------------------------------------------------

    def do_new(self, call: dict[str, Any]) -> Any:
        make = getattr(gl.train, OPTIMIZERS[call["class"]])
        args, kwargs = decode.value(call.get("args", [])), self._kwargs(call)

        def build() -> dict[str, Any]:
            self.optimizers[call.get("opt", "opt")] = make(*args, **kwargs)
            if make is gl.train.GradientDescentOptimizer:
                self.rate = [*args, kwargs.get("learning_rate")][0]
            return {"returned": "optimizer"}

        return attempt(build)

    def do_minimize(self, call: dict[str, Any]) -> Any:
        opt, var_list, kwargs = self._opt(call), self._vars(call.get("var_list")), self._kwargs(call)
        given = (lambda: var_list) if call.get("var_list_callable") else var_list
        self._note_race(call, opt, var_list, kwargs)
        return attempt(lambda: self._done(opt.minimize(self._loss(call), var_list=given, **kwargs), call))

    def do_apply_gradients(self, call: dict[str, Any]) -> Any:
        opt, kwargs = self._opt(call), self._kwargs(call)

        def apply() -> dict[str, Any]:
            pairs = [(decode.value(g), self._variable(v)) for g, v in call["grads"]]
            given = iter(pairs) if call.get("iterator") else pairs
            return self._done(opt.apply_gradients(given, **kwargs), call)

        return attempt(apply)

    def _done(self, operation: Any, call: dict[str, Any]) -> dict[str, Any]:
        if operation is None:
            return {"returned": "None"}
        for _ in range(call.get("runs", 1)):
            operation.run()
        return {"returned": type(operation).__name__, "name": operation.name}

    def do_compute_gradients(self, call: dict[str, Any]) -> Any:
        opt, var_list, kwargs = self._opt(call), self._vars(call.get("var_list")), self._kwargs(call)

        def compute() -> dict[str, Any]:
            pairs = opt.compute_gradients(self._loss(call), var_list=var_list, **kwargs)
            return {"grads_and_vars": [[g, self._name_of(v)] for g, v in pairs]}

        return attempt(compute)

    def do_three_step(self, call: dict[str, Any]) -> Any:
        opt, var_list = self._opt(call), self._vars(call["var_list"])
        loss, clip, runs = self._loss(call), call["clip"], range(call.get("runs", 1))
        function(clip["fn"], self.semantics)  # known, or unsupported
        return attempt(lambda: {"history": [self._step(opt, loss, var_list, clip) for _ in runs]})

    def _step(self, opt: Any, loss: Any, var_list: Any, clip: dict[str, Any]) -> dict[str, Any]:
        f = function(clip["fn"], self.semantics, self.mode)
        pairs = opt.compute_gradients(loss, var_list=var_list)
        grads, entry = [g for g, _ in pairs], {}
        kwargs = decode.value({"dict": clip.get("kwargs", {})})
        if clip["fn"] == "clip_by_global_norm":
            grads, entry["global_norm"] = f(grads, **kwargs)
        else:
            keep = not clip.get("clip_none")
            grads = [g if g is None and keep else f(g, **kwargs) for g in grads]
        operation = opt.apply_gradients(zip(grads, var_list, strict=True))
        if operation is not None:
            operation.run()
        return {**entry, "clipped": list(grads), "vars": self._values(self.variables)}

    # --- state -------------------------------------------------------------------------------------------------

    def _values(self, names: Any) -> dict[str, np.ndarray]:
        return {name: np.array(self.variables[name].numpy()) for name in names}

    def do_state(self, call: dict[str, Any]) -> Any:
        opt = self._opt(call)
        if opt is None:
            return {"vars": self._values(self.variables)}
        slots = {name: self._slots(opt, v) for name, v in self.variables.items()}
        state = {"vars": self._values(self.variables), "slots": {name: s for name, s in slots.items() if s}}
        if not self.races:
            return state
        return compare.AnyOf([{**state, "vars": {**state["vars"], **race}} for race in self.races], state)

    def _slots(self, opt: Any, var: Any) -> dict[str, Any]:
        found = {name: opt.get_slot(var, name) for name in opt.get_slot_names()}
        return {name: np.array(slot.numpy()) for name, slot in found.items() if slot is not None}

    def _note_race(self, call: dict[str, Any], opt: Any, var_list: Any, kwargs: dict[str, Any]) -> None:
        """Where the original raced, ask for all outcomes its gate leaves open."""
        if not self.racing:
            return
        if call.get("runs", 1) != 1 or self.rate is None or self.races:
            raise Unsupported("a race other than one step of gradient descent")
        gate = kwargs.get("gate_gradients", opt.GATE_OP)
        self.races = outcomes(self._loss(call), var_list or gl.trainable_variables(), self.rate, gate)

    def do_get_slot(self, call: dict[str, Any]) -> Any:
        def get() -> dict[str, Any]:
            slot = self._opt(call).get_slot(self.variables[call["var"]], call["slot"])
            return {"returned": "None"} if slot is None else _shown(slot)

        return attempt(get)

    def do_slot_names(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"slot_names": list(self._opt(call).get_slot_names())})

    def do_variables(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"names": [v.name for v in self._opt(call).variables()]})

    def do_get_name(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"name": self._opt(call).get_name()})

    def do_collection(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"names": [op.name for op in self.graph.get_collection(call["name"])]})

    # --- functions ---------------------------------------------------------------------------------------------

    def do_gradients(self, call: dict[str, Any]) -> Any:
        ys = [decode.loss(y, self.variables) for y in call["ys"]]
        accepted = inspect.signature(gl.gradients).parameters
        kwargs = {k: v for k, v in self._kwargs(call).items() if k in accepted or k not in GRAPH_ONLY}
        kwargs["strict"] = "tf"
        if "stop_gradients" in call:
            kwargs["stop_gradients"] = self._vars(call["stop_gradients"])
        return attempt(lambda: {"grads": list(gl.gradients(ys, self._vars(call["xs"]), **kwargs))})

    def do_trainable_variables(self, call: dict[str, Any]) -> Any:
        kwargs = decode.value({"dict": call.get("kwargs", {})})
        return attempt(lambda: {"names": [v.name for v in gl.trainable_variables(**kwargs)]})

    def do_call(self, call: dict[str, Any]) -> Any:
        return run_call(call, self.semantics)

    def do_new_var(self, call: dict[str, Any]) -> Any:
        self.variables[call["name"]] = variable(call["name"], call["var"])
        return {"returned": "None"}


def _shown(slot: Any) -> dict[str, Any]:
    return {"returned": "Variable", "name": slot.name, "value": np.array(slot.numpy())}

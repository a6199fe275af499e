"""Run scenarios on TensorFlow itself: the clip functions, and tf.compat.v1.train eagerly or in a graph and session."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tests.golden import op_oracle
from tests.golden.build import Json
from tests.golden.tensorflow_values import array, constraint, error, loss, recorded, tensorflow, value

AGGREGATION = ("ADD_N", "DEFAULT", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N")


def outputs(scenario: Json) -> list[Json]:
    """What TensorFlow gives for each call of the scenario."""
    with Session(scenario) as session:
        return [session.output(call) for call in scenario["calls"]]


class Session:
    """One scenario's variables and optimizers; in graph mode `read` and `update` go through a tf.Session."""

    def __init__(self, scenario: Json) -> None:
        self.scenario = scenario
        self.tf = tensorflow()
        self.v1 = self.tf.compat.v1
        self.graph_mode = scenario["mode"] == "graph"
        self.optimizers: dict[str, Any] = {}
        self.initialized: set[str] = set()

    def __enter__(self) -> Session:
        self.stack = contextlib.ExitStack()
        if self.graph_mode:
            self.graph = self.stack.enter_context(self.tf.Graph().as_default())
            self.session = self.stack.enter_context(self.v1.Session())
        self.variables = {name: self._variable(name, x) for name, x in self.scenario["vars"].items()}
        return self

    def __exit__(self, *exc: object) -> None:
        self.stack.close()

    def output(self, call: Json) -> Json:
        try:
            return recorded(getattr(self, f"do_{call['do']}")(call))
        except Exception as raised:
            if isinstance(raised, NotImplementedError | KeyError):  # mistakes of this script
                raise
            return error(raised)

    def _variable(self, name: str, x: Json) -> Any:
        how = {"trainable": x.get("trainable", True), "constraint": constraint(x.get("constraint"))}
        if self.graph_mode:
            return self.v1.Variable(array(x), name=name, use_resource=True, **how)
        return self.tf.Variable(array(x), name=name, **how)

    # --- running -----------------------------------------------------------------------------------------------

    def read(self, x: Any) -> Any:
        """Tensors, slices and variables (nested, None allowed) -> their values now."""
        if not self.graph_mode:
            return x
        self._initialize()
        if isinstance(x, list | tuple):
            return [self.read(v) for v in x]
        if isinstance(x, dict):
            return {k: self.read(v) for k, v in x.items()}
        return self.session.run(x) if hasattr(x, "dtype") else x

    def _initialize(self) -> None:
        fresh = [v for v in self.v1.global_variables() if v.name not in self.initialized]
        if fresh:
            self.session.run([v.initializer for v in fresh])
            self.initialized |= {v.name for v in fresh}

    def _done(self, operation: Any, call: Json) -> Json:
        if operation is None:
            return {"returned": "None"}
        self._initialize()
        for _ in range(call.get("runs", 1)):
            self.session.run(operation)
        return {"returned": type(operation).__name__, "name": operation.name}

    # --- arguments ---------------------------------------------------------------------------------------------

    def _opt(self, call: Json) -> Any:
        return self.optimizers[call.get("opt", "opt")]

    def _vars(self, names: list[str] | None) -> list[Any] | None:
        return None if names is None else [self.variables[n] for n in names]

    def _loss(self, call: Json) -> Any:
        if self.graph_mode or call.get("tensor_loss"):
            return loss(call["loss"], self.variables)
        return lambda: loss(call["loss"], self.variables)

    def _kwargs(self, call: Json) -> Json:
        kwargs = {}
        for key, x in call.get("kwargs", {}).items():
            if key == "gate_gradients" and isinstance(x, str):
                kwargs[key] = getattr(self.v1.train.Optimizer, x)
            elif key == "aggregation_method" and x in AGGREGATION:
                kwargs[key] = getattr(self.tf.AggregationMethod, x)
            else:
                kwargs[key] = self.variables[x] if key == "global_step" else value(x)
        return kwargs

    def _name_of(self, var: Any) -> str:
        return next(name for name, v in self.variables.items() if v is var)

    def _function(self, name: str) -> Callable[..., Any]:
        special = {"v1.global_norm": self.v1.global_norm, "clip_by_average_norm": self.v1.clip_by_average_norm}
        if name in special:
            return special[name]
        owner = self.tf.linalg if name in ("global_norm", "linalg.global_norm") else self.tf
        return getattr(owner, name.removeprefix("linalg."))

    # --- verbs -------------------------------------------------------------------------------------------------

    def do_call(self, call: Json) -> Json:
        f = self._function(call["fn"])
        return {"value": self.read(f(*value(call["args"]), **self._kwargs(call)))}

    def do_op(self, call: Json) -> Json:
        return op_oracle.run(call)

    def do_grad_of(self, call: Json) -> Json:
        f, x, args = self._function(call["fn"]), value(call["x"]), value(call["args"])
        with self.tf.GradientTape() as tape:
            tape.watch(x)
            y = f([x], *args)[0][0] if call["fn"].endswith("global_norm") else f(x, *args)
        return {"value": tape.gradient(y, x)}

    def do_new(self, call: Json) -> Json:
        make = getattr(self.v1.train, call["class"].removeprefix("v1."))
        self.optimizers[call.get("opt", "opt")] = make(*value(call["args"]), **self._kwargs(call))
        return {"returned": "optimizer"}

    def do_minimize(self, call: Json) -> Json:
        var_list = self._vars(call["var_list"])
        return self._done(self._opt(call).minimize(self._loss(call), var_list=var_list, **self._kwargs(call)), call)

    def do_apply_gradients(self, call: Json) -> Json:
        pairs = [(value(g), self.variables[v]) for g, v in call["grads"]]
        return self._done(self._opt(call).apply_gradients(pairs, **self._kwargs(call)), call)

    def do_compute_gradients(self, call: Json) -> Json:
        var_list = self._vars(call["var_list"])
        pairs = self._opt(call).compute_gradients(self._loss(call), var_list=var_list, **self._kwargs(call))
        return {"grads_and_vars": [[self.read(g), self._name_of(v)] for g, v in pairs]}

    def do_three_step(self, call: Json) -> Json:
        """In a graph: built once, run many times; what is recorded is read before each update."""
        runs = range(call.get("runs", 1))
        if not self.graph_mode:
            return {"history": [self._step_entry(*self._three_step(call)) for _ in runs]}
        built = self._three_step(call)
        return {"history": [self._step_entry(*built) for _ in runs]}

    def _three_step(self, call: Json) -> tuple[Json, Callable[[], Any]]:
        opt, var_list, clip = self._opt(call), self._vars(call["var_list"]), call["clip"]
        grads = [g for g, _ in opt.compute_gradients(self._loss(call), var_list=var_list)]
        f, entry = self._function(clip["fn"]), {}
        if clip["fn"] == "clip_by_global_norm":
            grads, entry["global_norm"] = f(grads, **clip["kwargs"])
        else:
            keep = not clip.get("clip_none")
            grads = [g if g is None and keep else f(g, **clip["kwargs"]) for g in grads]
        entry["clipped"] = grads
        if not self.graph_mode:
            return entry, lambda: opt.apply_gradients(list(zip(grads, var_list, strict=True)))
        operation = opt.apply_gradients(list(zip(grads, var_list, strict=True)))
        return entry, lambda: self.session.run(operation)

    def _step_entry(self, entry: Json, update: Callable[[], Any]) -> Json:
        before = recorded(self.read(entry))
        update()
        return {**before, "vars": recorded(self.read(dict(self.variables)))}

    def do_state(self, call: Json) -> Json:
        opt = self._opt(call)
        slots = {name: self._slots(opt, v) for name, v in self.variables.items()}
        return {"vars": self.read(dict(self.variables)), "slots": {k: self.read(s) for k, s in slots.items() if s}}

    def _slots(self, opt: Any, var: Any) -> Json:
        found = {name: opt.get_slot(var, name) for name in opt.get_slot_names()}
        return {name: slot for name, slot in found.items() if slot is not None}

    def do_get_slot(self, call: Json) -> Json:
        slot = self._opt(call).get_slot(self.variables[call["var"]], call["slot"])
        if slot is None:
            return {"returned": "None"}
        return {"returned": "Variable", "name": slot.name, "value": self.read(slot)}

    def do_slot_names(self, call: Json) -> Json:
        return {"slot_names": list(self._opt(call).get_slot_names())}

    def do_variables(self, call: Json) -> Json:
        return {"names": [v.name for v in self._opt(call).variables()]}

    def do_get_name(self, call: Json) -> Json:
        return {"name": self._opt(call).get_name()}

    def do_collection(self, call: Json) -> Json:
        return {"names": [op.name for op in self.v1.get_collection(call["name"])]}

    def do_gradients(self, call: Json) -> Json:
        ys = [loss(y, self.variables) for y in call["ys"]]
        kwargs = self._kwargs(call)
        if "stop_gradients" in call:
            kwargs["stop_gradients"] = self._vars(call["stop_gradients"])
        return {"grads": self.read(self.v1.gradients(ys, self._vars(call["xs"]), **kwargs))}

    def do_trainable_variables(self, call: Json) -> Json:
        return {"names": [v.name for v in self.v1.trainable_variables(**call.get("kwargs", {}))]}

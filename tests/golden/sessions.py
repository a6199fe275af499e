"""Play scenarios of optimizers: the same steps on gradlab and on TensorFlow, one method per verb.

A session holds the variables and the optimizers of one scenario. Whatever depends on the library
(how a variable is made, how an operation is run, how a value is read) is asked of a `Library`.
There are `Gradlab` and `GradlabKeras` in `tests/conformance/adapters`, `TensorFlow` and
`TensorFlowKeras` in this folder.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

from tests.conformance import decode

Json = dict[str, Any]
# Of the configurations of gradlab's optimizers; the originals have none.
OWN_KEYS = ("semantics", "strict")


class Library(Protocol):
    """What sessions ask of the library that they play on."""

    is_symbolic: bool  # an update is built once and run as often as one likes

    def variable(self, name: str, x: Json) -> Any:
        """A variable that is described as an array, maybe with `trainable` and `constraint`."""

    def value(self, x: Any) -> Any:
        """An argument of a call."""

    def constant(self, argument: str, name: str) -> Any:
        """An argument that the library has a name for: a gate, a way to aggregate."""

    def loss(self, x: Json, variables: dict[str, Any], is_tensor: bool) -> Any:
        """A loss as `minimize` takes it: a function, or its value."""

    def optimizer(self, name: str, args: list[Any], kwargs: Json) -> Any:
        """A new optimizer."""

    def clip(self, name: str) -> Callable[..., Any]:
        """A function that clips."""

    def run(self, operation: Any) -> None:
        """Run what an optimizer described; nothing where it acted at once."""

    def read(self, x: Any) -> Any:
        """Variables and tensors, nested in lists and dictionaries, as their values now."""

    def gradients(
        self, ys: list[Json], xs: list[Any], variables: dict[str, Any], kwargs: Json
    ) -> list[Any]:
        """`tf.gradients` of losses."""

    def trainable_variables(self, kwargs: Json) -> list[Any]:
        """`tf.trainable_variables`."""

    def collection(self, name: str) -> list[Any]:
        """`tf.get_collection`."""

    def outcome(self, act: Callable[[], Any]) -> Any:
        """What an act gave, or which error it raised, as this library's side has it."""


class Session:
    """`tf.compat.v1.train`.

    An optimizer that could not be made is None, as it is to who goes on after the error.
    """

    def __init__(self, scenario: Json, library: Library) -> None:
        self.library = library
        self.is_eager = scenario["mode"] == "eager"
        self.variables = {name: library.variable(name, x) for name, x in scenario["vars"].items()}
        self.optimizers: dict[str, Any] = {}

    def play(self, calls: list[Json]) -> list[Any]:
        """The outcome of each call."""
        return [
            self.library.outcome(lambda call=call: getattr(self, f"do_{call['do']}")(call))
            for call in calls
        ]

    # --- arguments --------------------------------------------------------------------------------

    def opt(self, call: Json) -> Any:
        return self.optimizers.get(call.get("opt", "opt"))

    def vars(self, names: Any) -> Any:
        """Variables by name, in lists or alone; anything else as it is."""
        if isinstance(names, list):
            return [self.vars(n) for n in names]
        return self.variables[names] if isinstance(names, str) else names

    def loss(self, call: Json) -> Any:
        # In a graph every loss is a tensor.
        is_tensor = self.is_eager and call.get("tensor_loss", False)
        return self.library.loss(call["loss"], self.variables, is_tensor)

    def kwargs(self, call: Json) -> Json:
        return {key: self._argument(key, x) for key, x in call.get("kwargs", {}).items()}

    def _argument(self, key: str, x: Any) -> Any:
        if isinstance(x, str) and key == "global_step":
            return self.variables.get(x)
        if isinstance(x, str) and key in ("gate_gradients", "aggregation_method"):
            return self.library.constant(key, x)
        return self.library.value(x)

    def pairs(self, call: Json) -> Any:
        """Gradients and variables, as a list or an iterator."""
        value = self.library.value
        pairs = [
            (value(g), self.variables[v] if isinstance(v, str) else value(v))
            for g, v in call["grads"]
        ]
        return iter(pairs) if call.get("iterator") else pairs

    def name_of(self, variable: Any) -> str:
        return next(name for name, v in self.variables.items() if v is variable)

    # --- steps ------------------------------------------------------------------------------------

    def do_new(self, call: Json) -> Json:
        args = self.library.value(call.get("args", []))
        made = self.library.optimizer(call["class"], args, self.kwargs(call))
        self.optimizers[call.get("opt", "opt")] = made
        return {"returned": "optimizer"}

    def do_new_var(self, call: Json) -> Json:
        self.variables[call["name"]] = self.library.variable(call["name"], call["var"])
        return {"returned": "None"}

    def do_minimize(self, call: Json) -> Json:
        var_list = self.vars(call.get("var_list"))
        given = (lambda: var_list) if call.get("var_list_callable") else var_list
        return self.done(
            self.opt(call).minimize(self.loss(call), var_list=given, **self.kwargs(call)), call
        )

    def do_apply_gradients(self, call: Json) -> Json:
        return self.done(
            self.opt(call).apply_gradients(self.pairs(call), **self.kwargs(call)), call
        )

    def done(self, operation: Any, call: Json) -> Json:
        """Run what was described, and tell what it is."""
        if operation is None:
            return {"returned": "None"}
        for _ in range(call.get("runs", 1)):
            self.library.run(operation)
        return {"returned": type(operation).__name__, "name": operation.name}

    def do_compute_gradients(self, call: Json) -> Json:
        var_list = self.vars(call.get("var_list"))
        pairs = self.opt(call).compute_gradients(
            self.loss(call), var_list=var_list, **self.kwargs(call)
        )
        return {"grads_and_vars": [[self.library.read(g), self.name_of(v)] for g, v in pairs]}

    def do_three_step(self, call: Json) -> Json:
        """Compute, clip, apply; what was clipped is read before the update."""
        runs = range(call.get("runs", 1))
        if not self.library.is_symbolic:
            return {"history": [self._step(*self._three_step(call)) for _ in runs]}
        built = self._three_step(call)
        return {"history": [self._step(*built) for _ in runs]}

    def _three_step(self, call: Json) -> tuple[Json, Callable[[], None]]:
        """What is told of a step, and its update."""
        opt, var_list, clip = self.opt(call), self.vars(call["var_list"]), call["clip"]
        f, kwargs = (
            self.library.clip(clip["fn"]),
            self.library.value({"dict": clip.get("kwargs", {})}),
        )
        grads = [g for g, _ in opt.compute_gradients(self.loss(call), var_list=var_list)]
        entry: Json = {}
        if clip["fn"] == "clip_by_global_norm":
            grads, entry["global_norm"] = f(grads, **kwargs)
        else:
            keep = not clip.get("clip_none")
            grads = [g if g is None and keep else f(g, **kwargs) for g in grads]
        entry["clipped"] = list(grads)
        pairs = list(zip(grads, var_list, strict=True))
        if self.library.is_symbolic:
            operation = opt.apply_gradients(pairs)
            return entry, lambda: self.library.run(operation)
        return entry, lambda: self.library.run(opt.apply_gradients(pairs))

    def _step(self, entry: Json, update: Callable[[], None]) -> Json:
        before = self.library.read(entry)
        update()
        return {**before, "vars": self.library.read(dict(self.variables))}

    # --- state ------------------------------------------------------------------------------------

    def do_state(self, call: Json) -> Any:
        values = self.library.read(dict(self.variables))
        opt = self.opt(call)
        if opt is None:
            return {"vars": values}
        slots = {name: self.slots(opt, v) for name, v in self.variables.items()}
        return {
            "vars": values,
            "slots": {name: self.library.read(s) for name, s in slots.items() if s},
        }

    def slots(self, opt: Any, variable: Any) -> Json:
        """Those that a variable has."""
        found = {}
        for name in opt.get_slot_names():
            # Which Keras raises where TensorFlow 1 returns None.
            with contextlib.suppress(KeyError):
                found[name] = opt.get_slot(variable, name)
        return {name: slot for name, slot in found.items() if slot is not None}

    def do_get_slot(self, call: Json) -> Json:
        slot = self.opt(call).get_slot(self.variables[call["var"]], call["slot"])
        if slot is None:
            return {"returned": "None"}
        return {"returned": "Variable", "name": slot.name, "value": self.library.read(slot)}

    def do_slot_names(self, call: Json) -> Json:
        return {"slot_names": list(self.opt(call).get_slot_names())}

    def do_variables(self, call: Json) -> Json:
        return {"names": [v.name for v in self.opt(call).variables()]}

    def do_get_name(self, call: Json) -> Json:
        return {"name": self.opt(call).get_name()}

    def do_collection(self, call: Json) -> Json:
        return {"names": [op.name for op in self.library.collection(call["name"])]}

    # --- functions --------------------------------------------------------------------------------

    def do_gradients(self, call: Json) -> Json:
        kwargs = self.kwargs(call)
        if "stop_gradients" in call:
            kwargs["stop_gradients"] = self.vars(call["stop_gradients"])
        return {
            "grads": self.library.gradients(
                call["ys"], self.vars(call["xs"]), self.variables, kwargs
            )
        }

    def do_trainable_variables(self, call: Json) -> Json:
        kwargs = self.library.value({"dict": call.get("kwargs", {})})
        return {"names": [v.name for v in self.library.trainable_variables(kwargs)]}


class KerasLibrary(Library, Protocol):
    """What a session of Keras's optimizers asks for besides."""

    def from_config(self, name: str, config: Json) -> Any:
        """An optimizer from its configuration."""

    def iterations(self, opt: Any) -> int | None:
        """How many steps an optimizer has taken, None before it counts."""

    def kind(self, x: Any) -> Any:
        """What the type of an attribute is called."""


class KerasSession(Session):
    """Keras's optimizers."""

    library: KerasLibrary

    def loss(self, call: Json) -> Any:
        return self.library.loss(call["loss"], self.variables, call.get("tensor_loss", False))

    def shown(self, x: Any) -> Json:
        """What a call returned."""
        if hasattr(x, "assign"):
            return {"returned": "Variable", "value": self.library.read(x)}
        return {"returned": "None" if x is None else type(x).__name__}

    def done(self, operation: Any, call: Json) -> Json:
        for _ in range(call.get("runs", 1)):
            self.library.run(operation)
        return self.shown(operation)

    def do_from_config(self, call: Json) -> Json:
        if "from" in call:
            config = self.optimizers[call["from"]].get_config()
        else:
            config = self.library.value({"dict": call["config"]})
        self.optimizers[call.get("opt", "opt")] = self.library.from_config(call["class"], config)
        return {
            "returned": "optimizer",
            "config_after": sorted(k for k in config if k not in OWN_KEYS),
        }

    # --- state ------------------------------------------------------------------------------------

    def do_state(self, call: Json) -> Json:
        state = super().do_state(call)
        opt = self.opt(call)
        return state if opt is None else {**state, "iterations": self.library.iterations(opt)}

    def do_get_slot(self, call: Json) -> Json:
        return self.shown(self.opt(call).get_slot(self.variables[call["var"]], call["slot"]))

    def do_slot_name_of(self, call: Json) -> Json:
        return {"name": self.opt(call).get_slot(self.variables[call["var"]], call["slot"]).name}

    def do_weight_names(self, call: Json) -> Json:
        return {"names": [w.name for w in self.opt(call).weights]}

    def do_get_weights(self, call: Json) -> Json:
        return {"weights": list(self.opt(call).get_weights())}

    def do_set_weights(self, call: Json) -> Json:
        return self.shown(self.opt(call).set_weights(decode.value(call["weights"])))

    # --- configurations and attributes ------------------------------------------------------------

    def do_get_config(self, call: Json) -> Json:
        """The files write NumPy scalars as arrays of rank 0."""
        config = self.opt(call).get_config()
        return {"config": {k: x for k, x in config.items() if k not in OWN_KEYS}}

    def do_getattr(self, call: Json) -> Json:
        x = getattr(self.opt(call), call["name"])
        if hasattr(x, "assign"):
            return {"kind": "Variable", "value": self.library.read(x)}
        kind = {"kind": self.library.kind(x)}
        # A schedule is told by its class.
        return kind if hasattr(x, "get_config") else {**kind, "value": x}

    def do_setattr(self, call: Json) -> Json:
        setattr(self.opt(call), call["name"], self.library.value(call["value"]))
        return {"returned": "None"}

    def do_assign_attr(self, call: Json) -> Json:
        getattr(self.opt(call), call["name"]).assign(self.library.value(call["value"]))
        return {"returned": "None"}

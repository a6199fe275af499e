"""What Keras's optimizers are asked for in scenarios: one method per verb.

Two keys of configs are gradlab's own and not compared: semantics and strict.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import compare, decode
from tests.conformance.adapters import schedule
from tests.conformance.adapters.clip import run_call
from tests.conformance.adapters.train import variable
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario

CLASSES = {"keras.Adagrad": gl.keras.Adagrad, "keras.SGD": gl.keras.SGD}
VERSIONS = {"tf2.3": "tf2.3", "tf2.21": "legacy"}
OWN_KEYS = ("semantics", "strict")
TENSOR = compare.AnyOf(["Tensor", "EagerTensor"], "Tensor")  # what the class of a tensor is called in either mode


@contextlib.contextmanager
def logged() -> Iterator[list[str]]:
    """What is logged about missing gradients, in the words of the original."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            names = list(record.args[0]) if isinstance(record.args, tuple) else record.args
            found.append(f"Gradients do not exist for variables {names} when minimizing the loss.")

    handler, logger = Handler(), logging.getLogger("gradlab")
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)


def argument(x: Any) -> Any:
    """A decoded argument; schedules too."""
    if isinstance(x, dict) and x.keys() == {"schedule"}:
        return schedule.make(x["schedule"])
    return decode.value(x)


class Session:
    """The variables and optimizers of one scenario. An optimizer that could not be made is None, as in the original."""

    def __init__(self, scenario: Scenario, meaning: str, strict: str | None) -> None:
        self.meaning, self.own = meaning, {"semantics": VERSIONS[meaning], "strict": strict}
        self.variables = {name: variable(name, x) for name, x in scenario.data["vars"].items()}
        self.optimizers: dict[str, Any] = {}

    def _opt(self, call: dict[str, Any]) -> Any:
        return self.optimizers.get(call.get("opt", "opt"))

    def _kwargs(self, call: dict[str, Any]) -> dict[str, Any]:
        return {k: argument(x) for k, x in call.get("kwargs", {}).items()}

    def _vars(self, names: Any) -> Any:
        if isinstance(names, list):
            return [self._vars(n) for n in names]
        return self.variables[names] if isinstance(names, str) else names

    def _loss(self, call: dict[str, Any]) -> Any:
        f = decode.loss(call["loss"], self.variables)
        return f() if call.get("tensor_loss") else f

    # --- making -------------------------------------------------------------------------------------------------

    def do_new(self, call: dict[str, Any]) -> Any:
        args = [argument(x) for x in call.get("args", [])]

        def build() -> dict[str, Any]:
            self.optimizers[call.get("opt", "opt")] = CLASSES[call["class"]](*args, **self._kwargs(call), **self.own)
            return {"returned": "optimizer"}

        return attempt(build)

    def do_from_config(self, call: dict[str, Any]) -> Any:
        def build() -> dict[str, Any]:
            config = (
                self.optimizers[call["from"]].get_config() if "from" in call else decode.value({"dict": call["config"]})
            )
            self.optimizers[call.get("opt", "opt")] = CLASSES[call["class"]].from_config(config, **self.own)
            return {"returned": "optimizer", "config_after": sorted(k for k in config if k not in OWN_KEYS)}

        return attempt(build)

    def do_new_var(self, call: dict[str, Any]) -> Any:
        self.variables[call["name"]] = variable(call["name"], call["var"])
        return {"returned": "None"}

    # --- steps --------------------------------------------------------------------------------------------------

    def _logged(self, call: dict[str, Any], step: Callable[[], Any]) -> Any:
        def run() -> dict[str, Any]:
            with logged() as lines:
                shown = _shown(self._done(step(), call))
            return {**shown, "log_warnings": lines} if lines else shown

        return attempt(run)

    def _done(self, returned: Any, call: dict[str, Any]) -> Any:
        if isinstance(returned, gl.Operation):
            for _ in range(call.get("runs", 1)):
                returned.run()
        return returned

    def do_apply_gradients(self, call: dict[str, Any]) -> Any:
        def given() -> Any:
            pairs = [
                (decode.value(g), self._vars(v) if isinstance(v, str) else decode.value(v)) for g, v in call["grads"]
            ]
            return iter(pairs) if call.get("iterator") else pairs

        return self._logged(call, lambda: self._opt(call).apply_gradients(given(), **self._kwargs(call)))

    def do_apply_gradients_raw(self, call: dict[str, Any]) -> Any:
        return self._logged(call, lambda: self._opt(call).apply_gradients(decode.value(call["value"])))

    def do_minimize(self, call: dict[str, Any]) -> Any:
        var_list = self._vars(call.get("var_list"))
        given = (lambda: var_list) if call.get("var_list_callable") else var_list
        return self._logged(
            call, lambda: self._opt(call).minimize(self._loss(call), var_list=given, **self._kwargs(call))
        )

    def do_get_gradients(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"grads": self._opt(call).get_gradients(self._loss(call), self._vars(call["params"]))})

    def do_get_updates(self, call: dict[str, Any]) -> Any:
        def get() -> dict[str, Any]:
            operations = self._opt(call).get_updates(self._loss(call), self._vars(call["params"]))
            for operation in operations:
                self._done(operation, call)
            return {"returned": type(operations).__name__, "len": len(operations)}

        return attempt(get)

    # --- state --------------------------------------------------------------------------------------------------

    def do_state(self, call: dict[str, Any]) -> Any:
        values = {name: v.numpy() for name, v in self.variables.items()}
        opt = self._opt(call)
        if opt is None:
            return {"vars": values}
        slots = {name: self._slots(opt, v) for name, v in self.variables.items()}
        # Reading opt.iterations would make them.
        made = [w for w in opt.weights if w is opt._engine.weights.iterations]
        count = made[0].numpy().item() if made else None
        return {"vars": values, "slots": {name: s for name, s in slots.items() if s}, "iterations": count}

    def _slots(self, opt: Any, var: Any) -> dict[str, np.ndarray]:
        found = {}
        for name in opt.get_slot_names():
            with contextlib.suppress(KeyError):
                found[name] = opt.get_slot(var, name).numpy()
        return found

    def do_get_slot(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: _shown(self._opt(call).get_slot(self.variables[call["var"]], call["slot"])))

    def do_slot_name_of(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"name": self._opt(call).get_slot(self.variables[call["var"]], call["slot"]).name})

    def do_slot_names(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"slot_names": list(self._opt(call).get_slot_names())})

    def do_add_slot(self, call: dict[str, Any]) -> Any:
        var = self.variables[call["var"]]
        return attempt(lambda: _shown(self._opt(call).add_slot(var, call["slot"], **self._kwargs(call))))

    def do_add_weight(self, call: dict[str, Any]) -> Any:
        def add() -> dict[str, Any]:
            weight = self._opt(call).add_weight(*decode.value(call.get("args", [])), **self._kwargs(call))
            return {**_shown(weight), "name": weight.name, "trainable": weight.trainable}

        return attempt(add)

    def do_weight_names(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"names": [w.name for w in self._opt(call).weights]})

    def do_variables(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"names": [w.name for w in self._opt(call).variables()]})

    def do_get_weights(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: {"weights": self._opt(call).get_weights()})

    def do_set_weights(self, call: dict[str, Any]) -> Any:
        weights = decode.value(call["weights"])
        return attempt(lambda: _shown(self._opt(call).set_weights(weights)))

    def do_get_config(self, call: dict[str, Any]) -> Any:
        def get() -> dict[str, Any]:
            config = self._opt(call).get_config()
            # The file writes NumPy scalars as arrays of rank 0.
            return {"config": {k: x for k, x in config.items() if k not in OWN_KEYS}}

        return attempt(get)

    def do_getattr(self, call: dict[str, Any]) -> Any:
        def get() -> dict[str, Any]:
            x = getattr(self._opt(call), call["name"])
            if isinstance(x, gl.Variable):
                return {"kind": "Variable", "value": x.numpy()}
            kind = TENSOR if isinstance(x, np.ndarray) else type(x).__name__
            return {"kind": kind} if isinstance(x, gl.schedules.LearningRateSchedule) else {"kind": kind, "value": x}

        return attempt(get)

    def do_setattr(self, call: dict[str, Any]) -> Any:
        return attempt(lambda: _shown(setattr(self._opt(call), call["name"], argument(call["value"]))))

    def do_assign_attr(self, call: dict[str, Any]) -> Any:
        def assign() -> dict[str, Any]:
            getattr(self._opt(call), call["name"]).assign(argument(call["value"]))
            return {"returned": "None"}

        return attempt(assign)

    def do_call(self, call: dict[str, Any]) -> Any:
        return run_call(call, self.meaning)


def _shown(x: Any) -> dict[str, Any]:
    if isinstance(x, gl.Variable):
        return {"returned": "Variable", "value": x.numpy()}
    if isinstance(x, gl.Operation):
        return {"returned": "Operation"}
    return {"returned": "None" if x is None else type(x).__name__}

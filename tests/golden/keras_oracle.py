"""Run scenarios on Keras's legacy optimizers (package tf_keras), which TensorFlow 2.3 had as tf.keras.optimizers."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from tests.golden.build import Json
from tests.golden.oracle import Session
from tests.golden.tensorflow_values import array, loss, value


def outputs(scenario: Json) -> list[Json]:
    """What Keras gives for each call of the scenario."""
    with KerasSession(scenario) as session:
        return [session.output(call) for call in scenario["calls"]]


def argument(x: Any) -> Any:
    """A call argument; schedules too."""
    if isinstance(x, dict) and x.keys() == {"schedule"}:
        return schedule(x["schedule"])
    return value(x)


def schedule(x: Json) -> Any:
    import tf_keras

    return getattr(tf_keras.optimizers.schedules, x["class"])(**x["config"])


def shown(x: Any) -> Json:
    if hasattr(x, "assign"):
        return {"returned": "Variable", "value": x.numpy()}
    return {"returned": "None" if x is None else type(x).__name__}


class KerasSession(Session):
    """The same verbs as TensorFlow 1's session where they mean the same; state has a step count as well."""

    def _kwargs(self, call: Json) -> Json:
        return {key: argument(x) for key, x in call.get("kwargs", {}).items()}

    def do_new(self, call: Json) -> Json:
        import tf_keras

        make = getattr(tf_keras.optimizers.legacy, call["class"].removeprefix("keras."))
        self.optimizers[call.get("opt", "opt")] = make(**self._kwargs(call))
        return {"returned": "optimizer"}

    def do_from_config(self, call: Json) -> Json:
        config = self.optimizers[call["from"]].get_config()
        self.optimizers[call["opt"]] = type(self.optimizers[call["from"]]).from_config(config)
        return {"returned": "optimizer", "config_after": sorted(config)}

    # --- steps -------------------------------------------------------------------------------------------------

    def do_apply_gradients(self, call: Json) -> Json:
        pairs = [(value(g), self.variables[v]) for g, v in call["grads"]]
        given = iter(pairs) if call.get("iterator") else pairs
        return shown(self._opt(call).apply_gradients(given, **self._kwargs(call)))

    def do_minimize(self, call: Json) -> Json:
        variables = self._vars(call["var_list"])
        given = (lambda: variables) if call.get("var_list_callable") else variables
        total = self._loss(call) if call.get("tensor_loss") else lambda: loss(call["loss"], self.variables)
        return shown(self._opt(call).minimize(total, given, **self._kwargs(call)))

    # --- state -------------------------------------------------------------------------------------------------

    def do_state(self, call: Json) -> Json:
        opt, found = self._opt(call), {}
        for name, var in self.variables.items():
            for slot in opt.get_slot_names():
                with contextlib.suppress(KeyError):
                    found.setdefault(name, {})[slot] = opt.get_slot(var, slot).numpy()
        count = opt._iterations  # reading `iterations` would make them
        iterations = None if count is None else int(count.numpy())
        return {"vars": {k: v.numpy() for k, v in self.variables.items()}, "slots": found, "iterations": iterations}

    def do_get_slot(self, call: Json) -> Json:
        return self._found(lambda: shown(self._opt(call).get_slot(self.variables[call["var"]], call["slot"])))

    def do_slot_name_of(self, call: Json) -> Json:
        return self._found(lambda: {"name": self._opt(call).get_slot(self.variables[call["var"]], call["slot"]).name})

    def _found(self, get: Any) -> Json:
        """A missing slot is a KeyError in Keras, which elsewhere would be a mistake of this script."""
        try:
            return get()
        except KeyError:
            return {"error": {"class": "KeyError", "bases": ["KeyError", "LookupError", "Exception"]}}

    def do_weight_names(self, call: Json) -> Json:
        return {"names": [w.name for w in self._opt(call).weights]}

    def do_get_weights(self, call: Json) -> Json:
        return {"weights": [np.asarray(w) for w in self._opt(call).get_weights()]}

    def do_set_weights(self, call: Json) -> Json:
        return shown(self._opt(call).set_weights([array(w) for w in call["weights"]]))

    # --- configs and attributes --------------------------------------------------------------------------------

    def do_get_config(self, call: Json) -> Json:
        return {"config": self._opt(call).get_config()}

    def do_getattr(self, call: Json) -> Json:
        x = getattr(self._opt(call), call["name"])
        if hasattr(x, "assign"):
            return {"kind": "Variable", "value": x.numpy()}
        return {"kind": type(x).__name__, "value": x}

    def do_setattr(self, call: Json) -> Json:
        setattr(self._opt(call), call["name"], argument(call["value"]))
        return {"returned": "None"}

    def do_assign_attr(self, call: Json) -> Json:
        getattr(self._opt(call), call["name"]).assign(argument(call["value"]))
        return {"returned": "None"}

    # --- schedules ---------------------------------------------------------------------------------------------

    def do_schedule(self, call: Json) -> Json:
        made = schedule(call["schedule"])
        return {"values": [np.asarray(made(step)) for step in call["steps"]]}

    def do_schedule_config(self, call: Json) -> Json:
        return {"config": schedule(call["schedule"]).get_config()}

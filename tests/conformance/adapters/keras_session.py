"""gradlab's Keras optimizers as scenarios ask for them, played by `tests/golden/sessions.py`."""

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
from tests.conformance.adapters.train import Gradlab
from tests.conformance.scenarios import Scenario
from tests.golden import sessions

CLASSES = {"keras.Adagrad": gl.keras.Adagrad, "keras.SGD": gl.keras.SGD}
VERSIONS = {"tf2.3": "tf2.3", "tf2.21": "legacy"}
# What the class of a tensor is called in either mode.
TENSOR = compare.AnyOf(["Tensor", "EagerTensor"], "Tensor")


class GradlabKeras(Gradlab):
    """gradlab's Keras optimizers of one version, maybe strict."""

    def __init__(self, mode: str, meaning: str, strict: str | None) -> None:
        super().__init__(mode, meaning)
        self.own = {"semantics": VERSIONS[meaning], "strict": strict}

    def value(self, x: Any) -> Any:
        """Schedules too."""
        if isinstance(x, list):
            return [self.value(v) for v in x]
        if isinstance(x, dict) and x.keys() == {"schedule"}:
            return schedule.make(x["schedule"])
        return decode.value(x)

    def constant(self, argument: str, name: str) -> Any:
        return name

    def optimizer(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return CLASSES[name](*args, **kwargs, **self.own)

    def from_config(self, name: str, config: dict[str, Any]) -> Any:
        return CLASSES[name].from_config(config, **self.own)

    def iterations(self, opt: Any) -> int | None:
        """Read from the weights: reading opt.iterations would make them."""
        made = [w for w in opt.weights if w is opt._engine.weights.iterations]
        return made[0].numpy().item() if made else None

    def kind(self, x: Any) -> Any:
        return TENSOR if isinstance(x, np.ndarray) else type(x).__name__


class Session(sessions.KerasSession):
    """What only older files ask for, and what is logged about missing gradients."""

    library: GradlabKeras

    def __init__(self, scenario: Scenario, meaning: str, strict: str | None) -> None:
        super().__init__(scenario.data, GradlabKeras(scenario.mode, meaning, strict))

    def do_minimize(self, call: dict[str, Any]) -> Any:
        return with_warnings(lambda: super(Session, self).do_minimize(call))

    def do_apply_gradients(self, call: dict[str, Any]) -> Any:
        return with_warnings(lambda: super(Session, self).do_apply_gradients(call))

    def do_apply_gradients_raw(self, call: dict[str, Any]) -> Any:
        given = decode.value(call["value"])
        return with_warnings(lambda: self.done(self.opt(call).apply_gradients(given), call))

    def do_get_gradients(self, call: dict[str, Any]) -> Any:
        return {"grads": self.opt(call).get_gradients(self.loss(call), self.vars(call["params"]))}

    def do_get_updates(self, call: dict[str, Any]) -> Any:
        operations = self.opt(call).get_updates(self.loss(call), self.vars(call["params"]))
        for operation in operations:
            self.done(operation, call)
        return {"returned": type(operations).__name__, "len": len(operations)}

    def do_add_slot(self, call: dict[str, Any]) -> Any:
        variable = self.variables[call["var"]]
        return self.shown(self.opt(call).add_slot(variable, call["slot"], **self.kwargs(call)))

    def do_add_weight(self, call: dict[str, Any]) -> Any:
        weight = self.opt(call).add_weight(*decode.value(call.get("args", [])), **self.kwargs(call))
        return {**self.shown(weight), "name": weight.name, "trainable": weight.trainable}

    def do_call(self, call: dict[str, Any]) -> Any:
        return run_call(call, self.library.semantics)


def with_warnings(step: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a step returned, and what was logged about missing gradients."""
    with logged() as lines:
        shown = step()
    return {**shown, "log_warnings": lines} if lines else shown


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

"""Two replicas that step together: every oracle's key names the semantics to run."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import compare, decode
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

CLASSES = {"Adagrad": gl.keras.Adagrad, "SGD": gl.keras.SGD}
VERSIONS = {
    "tf2.3.4": "tf2.3",
    "tf2.21.0": "legacy",
    "tf_keras2.21.0-new": "rewrite",
    "keras3.15.1-tf": "keras3",
}
# As the file has it: "arange(12).reshape(4,3) float32".
SPARSE = np.arange(12, dtype=np.float32).reshape(4, 3)


def accepts(scenario: Scenario) -> bool:
    return (
        scenario.group == "replicas" and {"opt", "grads"} <= scenario.data.get("input", {}).keys()
    )


def differences(scenario: Scenario) -> list[str]:
    given = scenario.data["input"]
    if unknown := [
        k
        for k in given
        if k not in ("opt", "grads", "pre") and "scope" not in k and "outside" not in k
    ]:
        raise Unsupported(f"input {sorted(unknown)}")
    if unknown := given["opt"].keys() - {"class", "kwargs"}:
        raise Unsupported(f"optimizer with {sorted(unknown)}")
    if unknown := {key for call in scenario.calls for key in call} - {
        "do",
        "experimental_aggregate_gradients",
    }:
        raise Unsupported(f"a step with {sorted(unknown)}")
    if given["opt"]["class"] not in CLASSES or given.get("pre", "mean") not in ("sum", "mean"):
        raise Unsupported(f"optimizer {given['opt']['class']!r}, pre {given.get('pre')!r}")
    found = []
    for oracle, outputs in scenario.data["expected"].items():
        if oracle not in VERSIONS:
            raise Unsupported(f"oracle {oracle!r}")
        with gl.variable_collection():
            found += _against(scenario, oracle, outputs)
    return found


def _against(scenario: Scenario, oracle: str, outputs: list[Any]) -> list[str]:
    made = attempt(lambda: Pair(scenario, VERSIONS[oracle]))
    # Said once, in the place of the first step, and maybe again for each.
    if isinstance(made, compare.Raised):
        return [
            d
            for want in outputs
            for d in compare.differences(_only(want), made, "bitwise", f"{oracle} new")
        ]
    found = []
    for k, (call, want) in enumerate(zip(scenario.calls, outputs, strict=True)):
        got = attempt(lambda call=call: made.step(call))
        found += compare.differences(
            _only(want), got, scenario.data["compare"], f"{oracle} step {k}"
        )
    return found


def _only(want: Any) -> Any:
    """An output, or the one output in a list."""
    return want[0] if isinstance(want, list) else want


class Pair:
    """Two replicas, one variable for each gradient, and an optimizer made in or outside their
    scope.
    """

    def __init__(self, scenario: Scenario, version: str) -> None:
        given = scenario.data["input"]
        self.version, self.pre = version, given.get("pre")
        self.two = gl.keras.replicas(len(given["grads"]))
        self.grads = [[_gradient(g) for g in grads] for grads in given["grads"]]
        self.variables = [gl.Variable(_start(g), name=f"v{k}") for k, g in enumerate(self.grads[0])]
        outside = any(_is_outside(k, x) for k, x in given.items())
        with contextlib.nullcontext() if outside else self.two.scope():
            kwargs = decode.value({"dict": given["opt"].get("kwargs", {})})
            self.optimizer = CLASSES[given["opt"]["class"]](semantics=version, **kwargs)

    def step(self, call: dict[str, Any]) -> dict[str, Any]:
        pairs: Any = [list(zip(grads, self.variables, strict=True)) for grads in self.grads]
        if self.pre:
            pairs = self.two.reduce(pairs, self.pre)
        flag = call.get("experimental_aggregate_gradients", True)
        try:
            self.two.apply_gradients(self.optimizer, pairs, experimental_aggregate_gradients=flag)
        except TypeError:
            if not flag and self.version == "keras3":
                return {"unsupported": "no such argument in Keras 3"}
            raise
        state = {
            # Of the function that each replica ran there, which returns nothing.
            "returned": "None",
            "vars": [self.two.values(v) for v in self.variables],
            "iterations": self.optimizer.iterations.numpy().item(),
        }
        return state if self.version in ("rewrite", "keras3") else {**state, "slots": self._slots()}

    def _slots(self) -> list[Any]:
        names = self.optimizer.get_slot_names()
        stepped = [v for v, g in zip(self.variables, self.grads[0], strict=True) if g is not None]
        return [[name, self.two.slots(self.optimizer, v, name)] for v in stepped for name in names]


def _is_outside(key: str, x: Any) -> bool:
    """Whether an entry of the input says that the optimizer is made outside the scope of the
    replicas.
    """
    return (
        bool(x) and x != "inside"
        if "outside" in key
        else "scope" in key and x in (False, "outside")
    )


def _gradient(x: Any) -> Any:
    """None, an array or slices, each written as an object or as plain lists."""
    if x is None or not isinstance(x, dict):
        return x if x is None else np.asarray(x, np.float32)
    if decode.is_array(x):
        return decode.array(x)
    inner = x if "indices" in x else next(iter(x.values()))
    values = (
        decode.array(inner["values"])
        if isinstance(inner["values"], dict)
        else np.float32(inner["values"])
    )
    return gl.IndexedSlices(values, np.asarray(inner["indices"], np.int32), (4, 3))


def _start(g: Any) -> np.ndarray:
    return SPARSE if isinstance(g, gl.IndexedSlices) else np.zeros(3, np.float32)

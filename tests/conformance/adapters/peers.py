"""The same questions put to other libraries: Keras 3, Keras's rewrite, PyTorch, optax; gradlab has
their formulas too.

The files call these comparisons informational. Where gradlab has the library's own formula its
numbers must agree all the same, to the few units in the last place that another order of additions
costs.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab import IndexedSlices
from gradlab.clip.peers import GLOBAL_NORM_CLIPS
from gradlab.rules import dense_and_sparse
from gradlab.rules.adagrad import LIBRARIES
from tests.conformance import compare, decode
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

TOLERANCE = "ulp 4"
NOT_COMPARED = {"warnings"}  # their words are Keras's own

# What an oracle's key begins with -> the library; the first that fits.
ORACLES = {
    "torch": "PyTorch",
    "optax": "optax",
    "keras3": "Keras 3",
    "tf_keras": "rewrite",
    "tf": "TensorFlow",
}
SEMANTICS = {"Keras 3": "keras3", "rewrite": "rewrite", "TensorFlow": "legacy"}
# Calls that the files tell in words only.
BY_NAME = {
    "two_clips": ("SGD", [1.0], {"clipnorm": 1.0, "clipvalue": 1.0}),
    "clipnorm": ("SGD", [1.0], {"clipnorm": 1.0}),
    "clipvalue": ("SGD", [1.0], {"clipvalue": 1.0}),
    "global_clipnorm": ("SGD", [1.0], {"global_clipnorm": 1.0}),
}


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "peers"


def differences(scenario: Scenario) -> list[str]:
    found = []
    for oracle, outputs in scenario.data["expected"].items():
        run = function(scenario)
        got = attempt(lambda: run(library(oracle), scenario))  # noqa: B023
        actual = [got] * len(outputs) if isinstance(got, compare.Raised) else got
        for k, (want, have) in enumerate(zip(outputs, actual, strict=True)):
            want = {key: x for key, x in want.items() if key not in NOT_COMPARED}
            found += compare.differences(want, have, TOLERANCE, f"{oracle} output {k}")
    return found


def library(oracle: str) -> str:
    for start, name in ORACLES.items():
        if oracle.startswith(start):
            return name
    raise Unsupported(f"oracle {oracle!r}")


def function(scenario: Scenario) -> Callable[[str, Scenario], list[Any]]:
    """What the scenario asks for: its inputs say so where there are any, else its name."""
    topic = scenario.id.split(".")[1]
    inputs = frozenset(scenario.data["input"])
    if topic == "keras3":
        return keras3
    if (topic, inputs) in BY_INPUT:
        return BY_INPUT[topic, inputs]
    name = scenario.id.split(".")[-1]
    if name not in FUNCTIONS:
        raise Unsupported(f"{topic} with inputs {sorted(inputs)}")
    return FUNCTIONS[name]


# --- Adagrad --------------------------------------------------------------------------------------


def adagrad(name: str, scenario: Scenario) -> list[Any]:
    given = scenario.data["input"]
    w, found = f32(given["var"]), []
    if name in SEMANTICS:
        return _keras_adagrad(name, given["var"], [(f32(g), None) for g in given["grads"]], given)
    rule = dataclasses.replace(
        LIBRARIES[name], initial_accumulator_value=given["acc"], epsilon=given["eps"]
    )
    slots = rule.init(w)
    for g in given["grads"]:
        w, slots = dense_and_sparse.dense(rule, w, slots, f32(g), given["lr"])
        found.append({"var": w, "accumulator": slots[0]})
    return found


def sparse_adagrad(name: str, scenario: Scenario) -> list[Any]:
    given, settings = scenario.data["input"], {"lr": 0.1, "acc": 0.1, "eps": 1e-7}
    if name in SEMANTICS:
        return _keras_adagrad(
            name, given["var"], [(f32(given["values"]), given["indices"])], settings
        )
    rule = dataclasses.replace(LIBRARIES[name], initial_accumulator_value=0.1, epsilon=1e-7)
    w = f32(given["var"])
    g = IndexedSlices(f32(given["values"]), np.array(given["indices"]), w.shape)
    w, (accumulator,) = dense_and_sparse.rows(rule, w, rule.init(w), g, 0.1)
    return [{"var": w, "accumulator": accumulator}]


def _keras_adagrad(name: str, start: Any, grads: list[Any], given: dict[str, Any]) -> list[Any]:
    opt = keras().Adagrad(given["lr"], given["acc"], given["eps"], semantics=SEMANTICS[name])
    v, found = gl.Variable(f32(start), name="v"), []
    built(opt, v)
    for values, indices in grads:
        g = values if indices is None else IndexedSlices(values, np.array(indices), v.shape)
        opt.apply_gradients([(g, v)])
        found.append({"var": np.array(v), "accumulator": np.array(opt.get_slot(v, "accumulator"))})
    return found


# --- clips ----------------------------------------------------------------------------------------


def clip_global_norm(name: str, scenario: Scenario) -> list[Any]:
    given = scenario.data["input"]
    tensors, limit = [f32(t) for t in given["tensors"]], decode.number(given["limit"])
    clipped = GLOBAL_NORM_CLIPS["TensorFlow" if name == "rewrite" else name](tensors, limit)
    return [
        {
            "clipped": clipped,
            **({"norm": gl.global_norm(tensors)} if name in ("TensorFlow", "PyTorch") else {}),
        }
    ]


def torch_clip_value(name: str, scenario: Scenario) -> list[Any]:
    """The note is the call: "clip_grad_value_([-5,nan,inf,.5],1)"."""
    (values, limit) = _told(scenario, r"clip_grad_value_\((\[.*?\]),(.*?)\)")
    return [{"clipped": [gl.clip_by_value(values, -float(limit), float(limit))]}]


def block_rms(name: str, scenario: Scenario) -> list[Any]:
    """The note is the call: "clip_by_block_rms(1) on [3,4] and [.1,.2]"."""
    (limit,) = _told(scenario, r"clip_by_block_rms\((.*?)\)")
    tensors = [
        _told(scenario, re.escape(text))[0]
        for text in re.findall(r"\[.*?\]", scenario.data["note"])
    ]
    return [{"clipped": gl.clip_by_block_rms(tensors, float(limit))}]


def agc(name: str, scenario: Scenario) -> list[Any]:
    """The matrices of the input, unless the note names others, or none for the parameters."""
    given, note = scenario.data["input"], scenario.data["note"]
    if "without params" in note:
        return [
            {
                "clipped": gl.adaptive_grad_clip(
                    [decode.array(given["grad_matrix"])], [], given["clipping"]
                )
            }
        ]
    g, w = decode.array(given["grad_matrix"]), decode.array(given["param_matrix"])
    if "grad [" in note:
        g, w = _told(scenario, r"grad (\[.*?\]), param (\[.*?\])(?:$|[ ,;:])")
    return [{"clipped": gl.adaptive_grad_clip([g], [w], given["clipping"], given["eps"])}]


def _told(scenario: Scenario, pattern: str) -> list[np.ndarray]:
    """Numbers and lists from the words of the note; the whole match where the pattern has no
    groups.
    """
    found = re.search(pattern, scenario.data["note"])
    if found is None:
        raise Unsupported(f"note {scenario.data['note']!r}")
    words = [
        re.sub(r"nan|inf", lambda m: f'"{m[0]}"', text) for text in found.groups() or (found[0],)
    ]
    return [f32(ast.literal_eval(text)) for text in words]


def per_example(name: str, scenario: Scenario) -> list[Any]:
    given, how = scenario.data["input"], scenario.id.partition("per_example_")[2]
    per_layer = {"global": False, "layer_uniform": "uniform", "layer_size": "size"}
    if how not in per_layer:
        raise Unsupported(f"per example {how!r}")
    sums, clipped = gl.per_example_clip(
        [decode.array(g) for g in given["grads"]], given["limit"], per_layer[how]
    )
    return [{"clipped_sum": sums, "num_clipped": clipped}]


# --- Keras 3 --------------------------------------------------------------------------------------


def keras3(name: str, scenario: Scenario) -> list[Any]:
    """A constructor; where it makes plain descent, its step from zeros along (3, 4)."""
    kind, args, kwargs = _constructor(scenario)
    opt = getattr(keras(), kind)(*args, **kwargs, semantics="keras3")
    if kind != "SGD":
        return [{"returned": "optimizer"}]
    v = gl.Variable(f32([0.0, 0.0]), name="v")
    built(opt, v)
    opt.apply_gradients([(f32([3.0, 4.0]), v)])
    return [{"minus_var": -np.array(v)}]


def _constructor(scenario: Scenario) -> tuple[str, list[Any], dict[str, Any]]:
    """The call in the note, "SGD(1.0, clipnorm=0): ...", or the one that the name stands for."""
    written = re.match(r"(SGD|Adagrad)\([^)]*\)", scenario.data["note"])
    if written is None:
        name = scenario.id.split(".")[-1]
        if name not in BY_NAME:
            raise Unsupported(f"Keras 3 {name!r}")
        return BY_NAME[name]
    call: Any = ast.parse(written[0], mode="eval").body
    kwargs = {k.arg: _literal(k.value) for k in call.keywords}
    return call.func.id, [_literal(a) for a in call.args], kwargs


def _literal(node: ast.expr) -> Any:
    """A literal; inf and nan are numbers."""
    return decode.number(node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


def keras() -> Any:
    if not hasattr(gl, "keras"):
        raise Unsupported("gl.keras")
    return gl.keras


def built(opt: Any, v: Any) -> None:
    """What optimizers without late variables ask for."""
    if hasattr(opt, "build"):
        opt.build([v])


def f32(x: Any) -> np.ndarray:
    return np.array(decode.numbers(x), np.float32)


BY_INPUT = {
    ("adagrad", frozenset({"lr", "acc", "eps", "grads", "var"})): adagrad,
    ("adagrad", frozenset({"var", "values", "indices"})): sparse_adagrad,
    ("clip_global_norm", frozenset({"tensors", "limit"})): clip_global_norm,
    ("optax", frozenset({"grads", "limit"})): per_example,
    ("optax", frozenset({"param_matrix", "grad_matrix", "clipping", "eps"})): agc,
}
FUNCTIONS = {
    "clip_value": torch_clip_value,
    "block_rms": block_rms,
}

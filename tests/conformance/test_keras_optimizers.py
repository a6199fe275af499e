"""Keras's optimizers beside the originals: gradlab plays each scenario of
`library/keras_optimizers.json`.

`keras_legacy` is played by "legacy" and by "tf2.3", which has the same formulas and slots; clips,
configs of schedules and some arguments differ there, and LossScaleOptimizer is another class, so
these are left out.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance import library

pytestmark = pytest.mark.every_case

FILE = "keras_optimizers.json"
SEMANTICS = {"keras_legacy": "legacy", "keras_rewrite": "rewrite", "keras3": "keras3"}
KERAS3_SCHEDULES = {
    "ExponentialDecay": "ExponentialDecay",
    "PiecewiseConstantDecay": "PiecewiseConstant",
}
ERRORS = {
    "TypeError": TypeError,
    "ValueError": ValueError,
    "InvalidArgumentError": gl.errors.InvalidArgumentError,
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    scenarios = library.load(metafunc.config, FILE)
    if metafunc.function is test_tensorflow_2_3_steps_as_legacy_does:
        scenarios = [s for s in scenarios if is_of_tensorflow_2_3(s)]
    metafunc.parametrize("scenario", scenarios, ids=lambda s: s["id"])


def test_an_optimizer_does_what_keras_does(scenario: dict[str, Any]) -> None:
    play(scenario, SEMANTICS[scenario["semantics"]])


def test_tensorflow_2_3_steps_as_legacy_does(scenario: dict[str, Any]) -> None:
    play(scenario, "tf2.3")


def is_of_tensorflow_2_3(scenario: dict[str, Any]) -> bool:
    """Tell whether TensorFlow 2.3 does the same: it clips elsewhere, and has no `beta`."""
    args = scenario["args"].keys()
    is_legacy = scenario["semantics"] == "keras_legacy"
    if scenario["class"] == "LossScaleOptimizer":
        return False
    return is_legacy and not args & {"clipnorm", "clipvalue", "global_clipnorm", "beta"}


def play(scenario: dict[str, Any], semantics: str) -> None:
    """Do every step, and compare what it leaves with what the original left."""
    error = scenario.get("error") or {}
    expected = scenario["expected"] or {}
    with gl.variable_collection(), warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.errors.KerasWarning)
        if error.get("at_step") == "new":
            with pytest.raises(ERRORS[error["type"]]):
                make_optimizer(scenario, semantics)
            return
        optimizer = make_optimizer(scenario, semantics)
        if semantics != "tf2.3":
            check_config(expected["get_config"], optimizer)
        variables = {
            name: gl.Variable(library.value(x), name=name)
            for name, x in scenario["inputs"]["vars"].items()
        }
        for k, step in enumerate(scenario["steps"]):
            if k == error.get("at_step"):
                with pytest.raises(ERRORS[error["type"]]):
                    do(step, optimizer, variables)
                return
            result = do(step, optimizer, variables)
            after = expected["after_each_step"][k]
            compare = Comparison(f"{scenario['id']}, step {k}", scenario["compare"])
            if isinstance(after.get("value"), list):
                compare.lists(after["value"], result, "value")
            elif "value" in after:
                compare.arrays(after["value"], result, "value")
            else:
                check_state(after, optimizer, variables, compare)
        check_names(expected, optimizer, variables, semantics)


def make_optimizer(scenario: dict[str, Any], semantics: str) -> Any:
    """Return the optimizer; the name of one of Keras 3 is made up by the library."""
    arguments = {name: read_argument(x, semantics) for name, x in scenario["args"].items()}
    if semantics == "keras3":
        arguments["name"] = None
    if "inner" in arguments:
        inner = make_optimizer(arguments.pop("inner"), semantics)
        arguments["inner_optimizer"] = inner
    return getattr(gl.keras.optimizers, scenario["class"])(**arguments, semantics=semantics)


def read_argument(x: Any, semantics: str) -> Any:
    """Return a schedule for what is written as one. Those of Keras 3 have names by default."""
    if isinstance(x, dict) and "schedule" in x:
        name = x["schedule"]["class"]
        default = {"name": KERAS3_SCHEDULES[name]} if semantics == "keras3" else {}
        return getattr(gl.schedules, name)(**default, **x["schedule"]["config"])
    return library.value(x)


def do(step: dict[str, Any], optimizer: Any, variables: dict[str, gl.Variable]) -> Any:
    """Do one step of a scenario."""
    match step["do"]:
        case "apply_gradients":
            optimizer.apply_gradients(
                [(read_gradient(g), variables[name]) for g, name in step["grads"]]
            )
        case "set":
            setattr(optimizer, step["attr"], step["value"])
        case "exclude_from_weight_decay":
            optimizer.exclude_from_weight_decay(var_names=step["var_names"])
        case "finalize_variable_values":
            optimizer.finalize_variable_values(list(variables.values()))
        case "build":
            optimizer.build(list(variables.values()))
        case "get_weights":
            return optimizer.get_weights()
        case "scale":
            loss = np.float32(step["loss"])
            if hasattr(optimizer, "scale_loss"):
                return optimizer.scale_loss(loss)
            return optimizer.get_scaled_loss(loss)
        case "unscale":
            grads = [g[0] if isinstance(g, list) else g for g in step["grads"]]
            return optimizer.get_unscaled_gradients([read_gradient(g) for g in grads])
        case other:
            raise ValueError(f"the runner cannot do {other!r}")
    return None


def read_gradient(g: Any) -> Any:
    """Return an array, slices, or None."""
    if isinstance(g, dict) and "indexed_slices" in g:
        slices = g["indexed_slices"]
        shape = slices["dense_shape"]
        return gl.IndexedSlices(
            library.value(slices["values"]),
            library.value(slices["indices"]),
            None if shape is None else tuple(int(n) for n in np.ravel(library.value(shape))),
        )
    return library.value(g)


class Comparison:
    """Comparisons within the tolerance of a scenario, which name their place."""

    def __init__(self, place: str, tolerance: dict[str, Any]) -> None:
        self.place = place
        self.tolerance = tolerance

    def arrays(self, expected: dict[str, Any], actual: Any, what: str) -> None:
        deviation = library.deviation(expected, actual, self.tolerance)
        assert not deviation, f"{self.place}, {what}: {deviation}"

    def lists(self, expected: list[Any], actual: list[Any], what: str) -> None:
        assert len(actual) == len(expected), (
            f"{self.place}: {len(actual)} arrays in {what}, not {len(expected)}"
        )
        for k, (x, y) in enumerate(zip(expected, actual, strict=True)):
            self.arrays(x, y, f"{what} {k}")


def check_config(expected: dict[str, Any], optimizer: Any) -> None:
    """Compare configs. What gradlab adds to them is left out."""
    config = plain(optimizer.get_config())
    decay = {"decay": 0.0} if "decay" in config else {}
    assert config == {**decay, **expected}


def plain(x: Any) -> Any:
    """Return numbers as Python's, and dictionaries without the version."""
    if isinstance(x, dict):
        return {name: plain(entry) for name, entry in x.items() if name != "semantics"}
    return x.item() if isinstance(x, np.generic) else x


def check_state(
    expected: dict[str, Any], optimizer: Any, variables: dict[str, gl.Variable], compare: Comparison
) -> None:
    """Compare weights, variables of the optimizer, and the count."""
    for name, x in expected["weights"].items():
        compare.arrays(x, variables[name].numpy(), name)
    compare.lists(
        expected["optimizer_variables"],
        [w.numpy() for w in optimizer.variables],
        "optimizer_variables",
    )
    assert int(np.asarray(optimizer.iterations)) == expected["iterations"]


def check_names(
    expected: dict[str, Any], optimizer: Any, variables: dict[str, gl.Variable], semantics: str
) -> None:
    """Compare the names of the optimizer's variables, and which of them are slots."""
    names = [w.name for w in optimizer.variables]
    if semantics == "keras3":
        names = [name.removesuffix(":0") for name in names]
    assert names == expected.get("optimizer_variable_names", names)
    for slot, places in expected.get("slots", {}).items():
        for name, place in places.items():
            assert optimizer.get_slot(variables[name], slot) is optimizer.variables[place]

"""`gl.contrib.opt` and `gl.contrib.layers` beside TensorFlow 1.15: scenarios of `contrib_opt.json`.

TensorFlow ran them in graphs with sessions; so do they here, in a `gl.Graph`. A scenario's
`resource` says which kind of variable TensorFlow had; gradlab has one kind, which does what either
does, so that an error of one kind alone is left out (`ONE_KIND_ONLY`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance import library
from tests.conformance.test_keras_optimizers import read_gradient

pytestmark = [
    pytest.mark.every_case,
    pytest.mark.filterwarnings("ignore::gradlab.errors.ClipWarning"),
    pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning"),
]

FILE = "contrib_opt.json"
FUNCTIONS = "contrib_opt_function"
# What TensorFlow refuses for resource variables only, slices or a global step, with its error.
ONE_KIND_ONLY = {
    "AddSignOptimizer": "NotImplementedError",
    "PowerSignOptimizer": "NotImplementedError",
    "AGNOptimizer": "OperatorNotAllowedInGraphError",
    "ElasticAverageOptimizer": "OperatorNotAllowedInGraphError",
    "ModelAverageOptimizer": "AttributeError",
}
# Slices of gradient descent for resource variables of float64: TensorFlow 1.15 keeps a rate in
# double precision, 2.21 and 1.15's other variables round it to float32 first, as gradlab does.
UNROUNDED_RATE = "extend:GradientDescentOptimizer"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "scenario" not in metafunc.fixturenames:
        return
    scenarios = library.load(metafunc.config, FILE)
    is_function = metafunc.function is not test_an_optimizer_steps_as_tensorflows
    chosen = [s for s in scenarios if (s["semantics"] == FUNCTIONS) == is_function]
    if is_function:
        chosen = [s for s in chosen if PLAYS.get(s["class"]) == metafunc.function.__name__]
    metafunc.parametrize("scenario", chosen, ids=lambda s: s["id"])


def test_an_optimizer_steps_as_tensorflows(scenario: dict[str, Any]) -> None:
    with gl.Graph().as_default() as graph:
        Play(scenario, graph).run()


class Play:
    """One scenario in a graph: its variables, the optimizer, and what they are after each step."""

    def __init__(self, scenario: dict[str, Any], graph: gl.Graph) -> None:
        self.scenario = scenario
        self.graph = graph
        self.inputs = scenario["inputs"]
        self.error = scenario.get("error") or {}
        self.expected = scenario.get("expected") or {}
        self.compare = scenario["compare"]
        if scenario["class"] == UNROUNDED_RATE and self.inputs["resource"]:
            self.compare = {"kind": "close", "rtol": 1e-8, "atol": 1e-8}
        # The global step comes first, so that an optimizer's own has another name.
        self.global_step = self.make_global_step()
        self.custom_getter = self.make_custom_getter()
        self.variables = {
            name: self.make_variable(name, library.value(x))
            for name, x in self.inputs["vars"].items()
        }

    def make_global_step(self) -> gl.Variable | None:
        start = self.inputs.get("global_step")
        if start is None:
            return None
        step = gl.get_or_create_global_step()
        step.load(start)
        return step

    def make_custom_getter(self) -> Any:
        name = self.inputs.get("custom_getter")
        return name and getattr(gl.contrib.opt, name)("worker")

    def make_variable(self, name: str, value: Any) -> gl.Variable:
        if self.custom_getter:
            return self.custom_getter(gl.Variable, name, initial_value=value)
        return gl.Variable(value, name=name)

    def run(self) -> None:
        if self.error.get("at_step") == "new":
            with self.expect_error():
                self.make_optimizer()
            return
        optimizer = self.make_optimizer()
        for k, step in enumerate(self.scenario["steps"] or [{"do": "apply", "grads": []}]):
            if self.error and self.error["at_step"] in ("apply", k):
                with self.expect_error():
                    self.describe(optimizer, step).run()
                return
            operation = self.describe(optimizer, step)
            if k == 0:
                self.check(self.expected["initial"], "before the first step")
                self.check_slots(optimizer)
            operation.run()
            self.check(self.expected["after_each_step"][k], f"after step {k}")
        self.check_saver(optimizer)

    def make_optimizer(self) -> Any:
        name = self.scenario["class"]
        arguments = {key: self.read(x) for key, x in self.scenario["args"].items()}
        positional = arguments.pop("*args", [])
        if name.startswith("extend:"):
            base = find_class(name.removeprefix("extend:"))
            made = gl.contrib.opt.extend_with_decoupled_weight_decay(base)
            return made(*positional, **arguments)
        return find_class(name)(*positional, **arguments)

    def read(self, x: Any) -> Any:
        """Return an argument of a constructor."""
        if not isinstance(x, dict):
            return x
        match next(iter(x.items())):
            case ("global_step", True):
                return self.global_step
            case ("callable", value):
                return lambda: value
            case ("tensor", value):
                return np.float32(value) if isinstance(value, float) else library.value(value)
            case ("of_step", expression):
                return lambda step: eval(expression, {"T": step})
            case ("sign_decay", [name, arguments]):
                return getattr(gl.contrib.opt, name)(**arguments)
            case ("optimizer", inner):
                arguments = {key: self.read(value) for key, value in inner["args"].items()}
                return find_class(inner["class"])(**arguments)
            case ("clip_dims", dims):
                return {self.variables[name]: axes for name, axes in dims.items()}
            case ("custom_getter", is_given):
                return self.custom_getter if is_given else None
        return library.value(x)

    def describe(self, optimizer: Any, step: dict[str, Any]) -> gl.Operation:
        """Return the operation of one step."""
        pairs = [(read_gradient(g), self.variables[name]) for g, name in step["grads"]]
        pairs = spoil(pairs, self.inputs.get("bad"))
        arguments = {
            name: [self.variables[v] for v in x["variables"]] if isinstance(x, dict) else x
            for name, x in (self.inputs.get("apply") or {}).items()
        }
        if self.inputs.get("pass_global_step", True) and self.global_step is not None:
            arguments["global_step"] = self.global_step
        with self.enter_variant(optimizer, step.get("variant")):
            if step["do"] == "minimize":
                return self.minimize(optimizer, pairs, arguments, step)
            return optimizer.apply_gradients(pairs, **arguments)

    def minimize(
        self, optimizer: Any, pairs: Any, arguments: Any, step: dict[str, Any]
    ) -> gl.Operation:
        def loss() -> Any:
            return sum(product(g, v) for g, v in pairs if g is not None)

        if "local_step" not in step:
            variables = [v for _, v in pairs]
            return optimizer.minimize(loss, var_list=variables, **arguments)
        # What the worker had read, as if it had computed its gradient then.
        now = int(self.global_step)
        self.global_step.load(step["local_step"])
        computed = optimizer.compute_gradients(loss, [v for _, v in pairs])
        self.global_step.load(now)
        return optimizer.apply_gradients(computed, **arguments)

    @contextlib.contextmanager
    def enter_variant(self, optimizer: Any, variant: str | None) -> Iterator[None]:
        if variant:
            with getattr(optimizer, variant)():
                yield
        else:
            yield

    @contextlib.contextmanager
    def expect_error(self) -> Iterator[None]:
        only = ONE_KIND_ONLY.get(self.scenario["class"].removeprefix("extend:"))
        if only == self.error["type"] and self.error["at_step"] != "new":
            yield
            return
        before = self.state()
        with pytest.raises(Exception) as raised:  # noqa: PT011
            yield
        check_error(self.error, raised.value)
        after = self.state()
        for name, value in before.items():
            np.testing.assert_array_equal(after[name], value)

    def state(self) -> dict[str, np.ndarray]:
        return {v.name.removesuffix(":0"): v.numpy() for v in self.graph}

    def check(self, expected: dict[str, Any], when: str) -> None:
        state = self.state()
        assert set(state) == set(expected), when
        for name, x in expected.items():
            deviation = library.deviation(x, state[name], self.compare)
            assert not deviation, f"{self.scenario['id']}, {name} {when}: {deviation}"

    def check_slots(self, optimizer: Any) -> None:
        if isinstance(self.expected["slot_names"], list):
            assert optimizer.get_slot_names() == self.expected["slot_names"]
        for slot, names in self.expected.get("slots", {}).items():
            for variable, name in names.items():
                assert optimizer.get_slot(self.variables[variable], slot).name == f"{name}:0"

    def check_saver(self, optimizer: Any) -> None:
        expected = self.expected.get("saved_by_swapping_saver")
        if expected is None:
            return
        saved = optimizer.swapping_saver()
        assert set(saved) == set(expected)
        for name, x in expected.items():
            assert not library.deviation(x, saved[name].numpy(), self.compare)


def find_class(name: str) -> Any:
    if name in gl.contrib.opt.__all__:
        return getattr(gl.contrib.opt, name)
    return getattr(gl.train, name)


def spoil(pairs: list[Any], how: str | None) -> list[Any]:
    """Return what the scenario hands to `apply_gradients` in place of good pairs."""
    match how:
        case "shape":
            return [(np.zeros(len(g) + 1, g.dtype), v) for g, v in pairs]
        case "dtype":
            return [(g.astype(np.float64), v) for g, v in pairs]
        case "not_a_variable":
            return [(g, "w") for g, v in pairs]
        case "empty":
            return []
    return pairs


def product(g: Any, v: gl.Variable) -> Any:
    if isinstance(g, gl.IndexedSlices):
        return (gl.gather(v, g.indices) * g.values).sum()
    return (v.value * g).sum()


def check_error(error: dict[str, Any], raised: Exception) -> None:
    """Compare the class with the original's, or with one that the original's is derived from."""
    classes = {c.__name__ for c in type(raised).__mro__}
    assert classes & {error["type"], *error["bases"]} - {"Exception", "RuntimeError"}, repr(raised)


PLAYS = {
    "get_linear_decay_fn": "test_a_decay_of_signs_is_tensorflows",
    "get_cosine_decay_fn": "test_a_decay_of_signs_is_tensorflows",
    "get_restart_decay_fn": "test_a_decay_of_signs_is_tensorflows",
    "clip_gradients_by_global_norm": "test_a_clip_of_many_tasks_is_tensorflows",
    "adaptive_clipping_fn": "test_an_adaptive_clip_is_tensorflows",
    "optimize_loss": "test_optimize_loss_is_tensorflows",
}


def test_a_decay_of_signs_is_tensorflows(scenario: dict[str, Any]) -> None:
    dtype = scenario["inputs"].get("step_dtype", "int64")
    make = getattr(gl.contrib.opt, scenario["class"])
    if "error" in scenario:
        step = scenario["steps"][0] if scenario["steps"] else None
        with pytest.raises(Exception) as raised:  # noqa: PT011
            make(**scenario["args"])(None if step is None else np.asarray(step, dtype))
        check_error(scenario["error"], raised.value)
        return

    decay = make(**scenario["args"])
    values = [decay(np.asarray(step, dtype)) for step in scenario["steps"]]

    for wanted, value in zip(scenario["expected"]["values"], values, strict=True):
        assert not library.deviation(wanted, value, scenario["compare"])


def test_a_clip_of_many_tasks_is_tensorflows(scenario: dict[str, Any]) -> None:
    pairs = [(read_gradient(g), f"v{k}") for k, g in enumerate(scenario["inputs"]["gradients"])]
    if "error" in scenario:
        with pytest.raises(Exception) as raised:  # noqa: PT011
            gl.contrib.opt.clip_gradients_by_global_norm(pairs, **scenario["args"])
        check_error(scenario["error"], raised.value)
        return

    clipped, norm = gl.contrib.opt.clip_gradients_by_global_norm(pairs, **scenario["args"])

    expected = scenario["expected"]
    assert [v for _, v in clipped] == expected["variables"]
    assert not library.deviation(expected["norm"], norm, scenario["compare"])
    for wanted, (g, _) in zip(expected["gradients"], clipped, strict=True):
        assert (g is None) == (wanted is None)
        assert wanted is None or not library.deviation(wanted, g, scenario["compare"])


def test_an_adaptive_clip_is_tensorflows(scenario: dict[str, Any]) -> None:
    arguments = dict(scenario["args"])
    expected = scenario["expected"]
    with gl.Graph().as_default() as graph:
        if "global_step" in arguments:
            arguments["global_step"] = gl.get_or_create_global_step()
        clip = gl.contrib.layers.adaptive_clipping_fn(**arguments)
        for step, after in zip(scenario["steps"], expected["after_each_step"], strict=True):
            gradients = [read_gradient(g) for g in step["grads"]]
            if scenario["inputs"]["second_is_slices"]:
                gradients[1] = gl.IndexedSlices(gradients[1], np.arange(len(gradients[1])))
            pairs = clip([(g, None) for g in (*gradients, None)])
            if "global_step" in arguments:
                arguments["global_step"].assign_add(1).eval()

            assert pairs[2] == (None, None)
            for wanted, (g, _) in zip(after["clipped"], pairs, strict=False):
                values = g.values if isinstance(g, gl.IndexedSlices) else g
                assert not library.deviation(wanted, values, scenario["compare"])
            means = [v for v in graph if v is not arguments.get("global_step")]
            check_variables(after["variables"], means, scenario["compare"])


def test_optimize_loss_is_tensorflows(scenario: dict[str, Any]) -> None:
    """TensorFlow's summaries have no counterpart."""
    inputs = {name: library.value(x) for name, x in scenario["inputs"].items()}
    given = {name: x for name, x in scenario["args"].items() if not name.startswith("_")}
    is_vector = scenario["args"].get("_loss") == "vector"
    with gl.Graph().as_default() as graph:
        w = gl.Variable(inputs["w"], name="w")
        k = gl.Variable(inputs["k"], name="k")
        step = None if scenario["args"].get("_no_gs") else gl.get_or_create_global_step()
        variables = {"w": w, "k": k}

        def loss() -> Any:
            apart = w.value - inputs["target"]
            if is_vector:
                return apart * apart
            return (apart * apart * np.float32(2)).sum() + (k.value * k.value).sum()

        def describe() -> gl.Operation:
            arguments = {name: read_option(x, variables) for name, x in given.items()}
            return gl.contrib.layers.optimize_loss(loss, step, **arguments)

        if "error" in scenario:
            with pytest.raises(Exception) as raised:  # noqa: PT011
                describe()
            check_error(scenario["error"], raised.value)
            return
        operation = describe()
        for after in scenario["expected"]["after_each_step"]:
            returned = operation.run()

            assert not library.deviation(after["returned"], returned, scenario["compare"])
            check_variables(after["variables"], graph, scenario["compare"])


def read_option(x: Any, variables: dict[str, gl.Variable]) -> Any:
    """Return an argument of `optimize_loss`."""
    if isinstance(x, list) and x and x[0] in variables:
        return [variables[name] for name in x]
    if not isinstance(x, dict):
        return x
    match next(iter(x.items())):
        case ("tensor", value):
            return np.float32(value)
        case ("instance", [name, arguments]):
            return getattr(gl.train, name)(**arguments)
        case ("class", name):
            return getattr(gl.train, name)
        case ("function", [name, arguments]):
            return lambda *rate: getattr(gl.train, name)(*rate, **arguments)
        case ("exponential_decay", [steps, factor]):
            return lambda rate, step: gl.train.exponential_decay(rate, step, steps, factor)
        case ("adaptive", arguments):
            return gl.contrib.layers.adaptive_clipping_fn(**arguments)
    return x


def check_variables(
    expected: dict[str, Any], variables: Iterable[gl.Variable], compare: dict[str, Any]
) -> None:
    found = {v.name.removesuffix(":0"): v.numpy() for v in variables}
    assert set(found) == set(expected)
    for name, x in expected.items():
        deviation = library.deviation(x, found[name], compare)
        assert not deviation, f"{name}: {deviation}"

"""tf_keras 2.21 and the TensorFlow it names: gradlab's Keras optimizers, "legacy" and "rewrite",
and its schedules.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from absl.testing import parameterized

import gradlab as gl
from tests.originals.namespaces import Namespace, StandIn
from tests.originals.stand_ins import graph, tensorflow
from tests.originals.stand_ins.graph import Tensor, call, deferred, is_node, raw, running
from tests.originals.stand_ins.keras import OPTIMIZERS
from tests.originals.stand_ins.keras import clipped as keras_clipped
from tests.originals.stand_ins.tf_contrib import CONTRIB
from tests.originals.stand_ins.tf_test import TestCase, in_graph, somewhere, unchanged
from tests.originals.stand_ins.tf_train import Bridge, _in_train_ops, _loss, _number, _part, _sample
from tests.originals.stand_ins.tf_variables import Variable


class KerasBridge:
    """Mixed into an optimizer of gl.keras: what it is given becomes arrays, what it returns nodes
    or tensors.
    """

    _semantics = ""
    _within = False
    _calling = Bridge._calling

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        given = {k: x if k == "gradient_aggregator" else _argument(x) for k, x in keywords.items()}
        given.setdefault("semantics", self._semantics)
        super().__init__(*map(_argument, arguments), **given)

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None, tape: Any = None
    ) -> Any:
        if self._within:
            return super()._gradients(loss, var_list, grad_loss, tape)  # type: ignore[misc]
        here, given = graph.default_graph(), None if grad_loss is None else raw(grad_loss)
        node = loss if graph.executing_eagerly() or not callable(loss) else loss()
        function = (lambda: _value(loss())) if graph.executing_eagerly() else _loss(node)

        def compute() -> Any:
            with here.as_default() if here.graph else somewhere():
                return super(KerasBridge, self)._gradients(function, _listed(var_list), given, None)  # type: ignore[misc]

        if graph.executing_eagerly():
            return [(graph.boxed(g), v) for g, v in compute()]
        with running(building=True):
            sample = compute()
        whole = Tensor(compute, "gradients")
        return [(_part(whole, i, g), v) for i, (g, v) in enumerate(sample)]

    def get_gradients(self, loss: Any, params: Any) -> Any:
        return [g for g, _ in self._compute_gradients(loss, params)]

    def compute_gradients(self, loss: Any, var_list: Any, tape: Any = None) -> Any:
        return self._compute_gradients(loss, var_list, tape=tape)

    def apply_gradients(self, grads_and_vars: Any, name: Any = None, **keywords: Any) -> Any:
        if self._within:
            return super().apply_gradients(grads_and_vars, name, **keywords)  # type: ignore[misc]
        pairs = [tuple(pair) for pair in grads_and_vars]
        if graph.executing_eagerly():
            with self._calling():
                return Variable.adopt(
                    super().apply_gradients([(raw(g), v) for g, v in pairs], name, **keywords)
                )  # type: ignore[misc]
        here = graph.default_graph()

        def described(value: Any = lambda g, _: raw(g)) -> Any:
            with here.as_default(), self._calling():
                given = [(value(g, v), v) for g, v in pairs]
                return super(KerasBridge, self).apply_gradients(given, name, **keywords)  # type: ignore[misc]

        changes = is_node([g for g, _ in pairs])
        with running(building=True):
            first = described(_sample)
        if first is None:  # nothing to apply
            return Tensor(lambda: None)
        return _in_train_ops(
            Tensor(lambda: (described() if changes or graph.has_feeds() else first).run())
        )

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: Any = None, tape: Any = None
    ) -> Any:
        given = None if grad_loss is None else raw(grad_loss)
        if graph.executing_eagerly():
            function = (lambda: raw(loss())) if callable(loss) else loss
            with self._calling():
                return super().minimize(function, _listed(var_list), given, name, tape)  # type: ignore[misc]
        node = loss() if callable(loss) else loss
        with running(building=True), self._calling():
            operation = super().minimize(_loss(node), _listed(var_list), given, name)  # type: ignore[misc]
        return _in_train_ops(Tensor(operation.run if operation else lambda: None))

    def _get_hyper(self, name: str) -> Any:
        return getattr(self, name)

    def _clip_gradients(self, grads: Any) -> list[Any]:
        return keras_clipped(self, [raw(graph.as_tensor(g)) for g in grads])

    @property
    def _learning_rate(self) -> Any:
        rate = self._engine.hyper["learning_rate"].value
        return (
            Variable.adopt(rate) if isinstance(rate, gl.Variable) else _scheduled(copy.copy(rate))
        )

    def __getattribute__(self, name: str) -> Any:
        return Variable.adopt(super().__getattribute__(name))

    def _shown_rate(self) -> Any:
        return super().learning_rate  # type: ignore[misc]

    def _set_rate(self, value: Any) -> None:
        with running():  # at once, in a Graph too
            _base(self, "learning_rate").fset(self, _argument(value))

    learning_rate = lr = property(_shown_rate, _set_rate)

    @property
    def weights(self) -> Any:
        return [Variable.adopt(v) for v in super().weights]  # type: ignore[misc]

    def get_slot(self, var: Any, name: str) -> Any:
        return Variable.adopt(super().get_slot(var, name))  # type: ignore[misc]

    def get_updates(self, loss: Any, params: Any) -> Any:
        return [self.minimize(loss, params)]


class ScaleBridge(KerasBridge):
    """Mixed into a loss scale optimizer: losses, gradients and the scale are tensors."""

    @property
    def loss_scale(self) -> Any:
        return deferred(lambda: super(ScaleBridge, self).loss_scale)  # type: ignore[misc]

    def get_scaled_loss(self, loss: Any) -> Any:
        if callable(loss):
            return super().get_scaled_loss(loss)  # type: ignore[misc]
        return call(super().get_scaled_loss, loss)  # type: ignore[misc]

    def get_unscaled_gradients(self, grads: Any) -> Any:
        return [None if g is None else call(self._unscaled, g) for g in grads]

    def _unscaled(self, gradient: Any) -> Any:
        return super().get_unscaled_gradients([gradient])[0]  # type: ignore[misc]


def _value(loss: Any) -> Any:
    """What a loss is; a variable that is one stays itself."""
    return loss if isinstance(loss, gl.Variable) else raw(loss)


def _base(optimizer: Any, name: str) -> Any:
    """The property of gradlab's class."""
    home = next(
        cls
        for cls in type(optimizer).__mro__
        if cls.__module__.startswith("gradlab") and name in vars(cls)
    )
    return vars(home)[name]


def _listed(var_list: Any) -> Any:
    return (
        var_list
        if callable(var_list)
        else list(var_list)
        if isinstance(var_list, list | tuple)
        else var_list
    )


def _argument(x: Any) -> Any:
    """A schedule as gradlab's own, a node as a function that asks it anew."""
    if isinstance(x, Scheduled):
        return type(x).__mro__[2].from_config(x.get_config())  # type: ignore[attr-defined]
    return x if isinstance(x, gl.schedules.LearningRateSchedule) else _number(x)


class Scheduled:
    """Mixed into a schedule of gradlab: of a node it is a node."""

    def __call__(self, step: Any) -> Any:
        return call(super().__call__, step)  # type: ignore[misc]


SCHEDULES: dict[str, Any] = {
    name: type(name, (Scheduled, getattr(gl.schedules, name)), {})
    for name in gl.schedules.__all__
    if name.endswith(("Decay", "Restarts"))
}


def deserialize_schedule(config: Any, custom_objects: Any = None) -> Any:
    return _scheduled(gl.schedules.deserialize(config, custom_objects))


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """An optimizer, of the classes here."""
    is_rewrite = config["class_name"].endswith("V3")
    own = (REWRITE if is_rewrite else LEGACY) | {
        "LossScaleOptimizerV3": REWRITE["LossScaleOptimizer"],
        "LossScaleOptimizerV1": LEGACY["LossScaleOptimizer"],
    }
    return gl.keras.deserialize(config, own | (custom_objects or {}))


def _scheduled(made: Any) -> Any:
    """The schedule, whose rate at a node is a node."""
    object.__setattr__(made, "__class__", SCHEDULES[type(made).__name__])
    return made


class CombinedCase(TestCase, parameterized.TestCase):
    """`test_combinations.TestCase`."""


class Named:
    """A function with a name for the titles of cases."""

    def __init__(self, name: str, function: Any) -> None:
        self._name, self._function = name, function

    def __call__(self) -> Any:
        return self._function()

    def __repr__(self) -> str:
        return self._name


def combine(**choices: Any) -> list[dict[str, Any]]:
    """Every combination of the choices."""
    lists = [x if isinstance(x, list) else [x] for x in choices.values()]
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*lists)]


def generate(combinations: list[dict[str, Any]]) -> Callable[[Any], Any]:
    """A case for each combination, in its mode."""
    titles = [
        "".join(f"_{k}_{getattr(x, '__name__', x)}" for k, x in c.items()) for c in combinations
    ]
    named = [
        {"testcase_name": title, "chosen": c} for title, c in zip(titles, combinations, strict=True)
    ]

    def decorate(thing: Any) -> Any:
        if not isinstance(thing, type):
            return parameterized.named_parameters(*named)(_in_mode(thing))
        for name, function in list(vars(thing).items()):
            if name.startswith("test") and callable(function):
                delattr(thing, name)
                for title, chosen in zip(titles, combinations, strict=True):
                    case = functools.partialmethod(_in_mode(function), chosen=chosen)
                    setattr(thing, name + title, case)
        return thing

    return decorate


def _in_mode(function: Any) -> Any:
    taken = inspect.signature(function).parameters

    @functools.wraps(function)
    def case(self: Any, chosen: dict[str, Any]) -> None:
        with in_graph() if chosen.get("mode") == "graph" else gl.variable_collection():
            function(self, **{k: x for k, x in chosen.items() if k in taken})

    del case.__wrapped__  # type: ignore[attr-defined]  # absl would ask it for its parameters
    return case


def optimizers(semantics: str) -> dict[str, type]:
    """The optimizers of one Keras."""
    named = {
        name: type(
            name,
            (ScaleBridge if name == "LossScaleOptimizer" else KerasBridge, getattr(gl.keras, name)),
            {"_semantics": semantics},
        )
        for name in OPTIMIZERS
    }
    # What Keras calls so computes the same without TensorFlow's kernel.
    return named | {"NonFusedAdam": named["Adam"]}


def _deduplicated(values: Any, indices: Any) -> Any:
    summed = gl.IndexedSlices(
        raw(graph.as_tensor(values)), raw(graph.as_tensor(indices))
    ).coalesced()
    return summed.values, summed.indices


@contextlib.contextmanager
def private_names() -> Iterator[None]:
    """The name that Keras's tests read of TensorFlow's variables."""
    gl.Variable._shared_name = property(lambda v: v.name.removesuffix(":0"))
    try:
        yield
    finally:
        del gl.Variable._shared_name


_STRATEGIES = [
    "one_device_strategy",
    "mirrored_strategy_with_two_cpus",
    "mirrored_strategy_with_two_gpus",
    "tpu_strategy",
    "cloud_tpu_strategy",
    "multi_worker_mirrored_2x1_cpu",
    "multi_worker_mirrored_2x2_gpu",
    "central_storage_strategy_with_two_gpus",
    "test_main",
]
WITHIN = frozenset(
    [
        "__internal__",
        "combinations",
        "compat",
        "config",
        "data",
        "distribute",
        "keras",
        "layers",
        "legacy",
        "linalg",
        "losses",
        "math",
        "models",
        "nn",
        "optimizers",
        "saved_model",
        "schedules",
        "test",
        "train",
        "utils",
        "v1",
        "v2",
    ]
)


class _MadeByInner(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, gl.keras.LossScaleOptimizer)


class BaseLossScaleOptimizer(metaclass=_MadeByInner):
    """Makes one of the generation that its inner optimizer is of."""

    def __new__(cls, inner: Any, *arguments: Any, **keywords: Any) -> Any:
        of = REWRITE if getattr(inner, "_semantics", "legacy") == "rewrite" else LEGACY
        return of["LossScaleOptimizer"](inner, *arguments, **keywords)


class Optimizer:
    """The base class of the rewrite, by which tests choose it."""


class OptimizerV2:
    """The base class of the legacy optimizers."""


NAMES: dict[str, Any] = {
    **tensorflow.NAMES,
    **CONTRIB,
    **SCHEDULES,
    **{name: name for name in _STRATEGIES},
    "NamedObject": Named,
    "combine": combine,
    "generate": generate,
    "run_all_keras_modes": unchanged,
    "run_with_all_model_types": unchanged,
    "BaseLossScaleOptimizer": BaseLossScaleOptimizer,
    "LearningRateSchedule": gl.schedules.LearningRateSchedule,
    "Optimizer": Optimizer,
    "OptimizerV2": OptimizerV2,
    "control_flow_v2_enabled": lambda: True,
    "list_logical_devices": lambda _kind: [],
    "with_control_flow_v2": unchanged,
    "serialize": gl.schedules.serialize,
    "deserialize": deserialize_schedule,
    "should_run_eagerly": lambda: True,
    "name_scope": somewhere,
    "IsBuiltWithNvcc": lambda: False,
    "is_built_with_rocm": lambda: False,
    "_deduplicate_indexed_slices": _deduplicated,
}
LEGACY, REWRITE = optimizers("legacy"), optimizers("rewrite")
NAMES["LossScaleOptimizerV3"] = REWRITE["LossScaleOptimizer"]
_COMBINATIONS = Namespace("tf_keras", NAMES | {"TestCase": CombinedCase}, WITHIN)
_EXACTLY = {
    f"tf_keras.optimizers.{package}{module}": Namespace("tf_keras", NAMES | classes, WITHIN)
    for package, classes in (("legacy.", LEGACY), ("", REWRITE))
    for module in (*map(str.lower, OPTIMIZERS), "gradient_descent")
}
_EXACTLY["tf_keras.testing_infra.test_combinations"] = _COMBINATIONS
_EXACTLY["tf_keras.optimizers"] = Namespace(
    "tf_keras",
    NAMES | LEGACY | {"serialize": gl.keras.serialize, "deserialize": deserialize},
    WITHIN,
)
MODULES = tensorflow.MODULES | frozenset(
    ["backend", "losses", "core", "combinations", *map(str.lower, OPTIMIZERS)]
)
STAND_IN = StandIn(
    ("tf_keras", "tensorflow"),
    Namespace("tf_keras", NAMES | LEGACY, WITHIN),
    MODULES,
    exactly=_EXACTLY,
    around=private_names,
)

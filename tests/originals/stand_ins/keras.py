"""Keras 3: gradlab's optimizers with semantics="keras3" and its schedules; variables and ops are
NumPy's.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from absl.testing import parameterized

import gradlab as gl
from gradlab.keras import clips
from tests.originals.namespaces import Namespace, StandIn
from tests.originals.stand_ins.comparing import Comparing

FLOATX = np.float32


class Variable(gl.Variable):
    """A variable whose floats are float32 if nobody says otherwise, and whose name has no ":0"."""

    def __init__(
        self,
        initializer: Any,
        shape: Any = None,
        dtype: Any = None,
        name: Any = None,
        **keywords: Any,
    ) -> None:
        value = (
            np.full(shape, {"ones": 1, "zeros": 0}[initializer])
            if isinstance(initializer, str)
            else initializer
        )
        array = np.asarray(value)
        if dtype is None and array.dtype.kind in "fi":
            dtype = FLOATX
        if name is not None:
            name = "/".join([*_SCOPES, name])
        super().__init__(array, keywords.pop("trainable", True), name, dtype)


_SCOPES: list[str] = []


@contextlib.contextmanager
def name_scope(name: str) -> Iterator[None]:
    """`keras.src.backend.name_scope`."""
    _SCOPES.append(name)
    try:
        yield
    finally:
        _SCOPES.pop()


class TestCase(Comparing, parameterized.TestCase):
    """`keras.src.testing.TestCase`."""

    def assertEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        super().assertEqual(
            *(x.numpy() if isinstance(x, gl.Variable) else x for x in (first, second)), msg
        )

    def assertAllClose(self, a: Any, b: Any, *arguments: Any, **keywords: Any) -> None:
        super().assertAllClose(a, b, *arguments, **keywords)

    def assertAlmostEqual(self, x1: Any, x2: Any, decimal: int = 3, **_: Any) -> None:
        np.testing.assert_almost_equal(np.asarray(x1), np.asarray(x2), decimal=decimal)

    def run_class_serialization_test(self, instance: Any, custom_objects: Any = None) -> Any:
        """The config is JSON, and makes an object with the same config; so does serialize, for
        optimizers.
        """
        config = json.loads(json.dumps(instance.get_config()))
        revived = type(instance).from_config(instance.get_config())
        self.assertEqual(config, json.loads(json.dumps(revived.get_config())))
        self.assertEqual(set(dir(instance)), set(dir(revived)))
        module = (
            gl.schedules if isinstance(instance, gl.schedules.LearningRateSchedule) else gl.keras
        )
        self.assertEqual(
            module.deserialize(module.serialize(instance)).get_config(), instance.get_config()
        )
        copy.deepcopy(instance)
        return revived


def _version(cls: Any) -> Any:
    """The class whose instances are those of Keras 3."""

    class Meta(type):
        def __instancecheck__(self, x: Any) -> bool:
            return isinstance(x, cls)

    class Keras3(metaclass=Meta):
        def __new__(cls_, *arguments: Any, **keywords: Any) -> Any:
            return cls(*arguments, semantics="keras3", **keywords)

        from_config = staticmethod(lambda config: cls.from_config(config, semantics="keras3"))

    return Keras3


@contextlib.contextmanager
def _private_names() -> Iterator[None]:
    """Keras's tests read these of its optimizers' own."""
    names = {
        "_clip_gradients": clipped,
        "_iterations": property(lambda opt: opt._engine.weights.iterations),
        "_model_variables_moving_average": property(lambda opt: _slots(opt, "average")),
        "_var_key": lambda opt, v: v,
        "_var_to_optimizer_idx": property(
            lambda opt: dict(zip(opt._engine.built_variables, opt._choices, strict=True))
        ),
        "_accumulated_gradients": property(lambda opt: _slots(opt, "gradient_accumulator")),
    }
    for name, value in names.items():
        setattr(gl.keras.Optimizer, name, value)
    try:
        yield
    finally:
        for name in names:
            delattr(gl.keras.Optimizer, name)


def _slots(optimizer: Any, name: str) -> list[Any]:
    """A slot of every variable, which Keras keeps in a list."""
    return [v for v in optimizer.variables if name in v.name]


def clipped(optimizer: Any, grads: Any) -> list[Any]:
    """What the optimizer's step does to gradients before its rule."""
    pairs = [(np.asarray(g), gl.Variable(np.zeros_like(g))) for g in grads]
    return [
        g for g, _ in clips.clip_pairs(pairs, optimizer._engine.limits, optimizer._engine.version)
    ]


def get(identifier: Any) -> Any:
    """`keras.optimizers.get` for those that there are."""
    if identifier is None or not isinstance(identifier, str | dict):
        return identifier
    config = (
        {"class_name": identifier, "config": {}}
        if isinstance(identifier, str)
        else dict(identifier)
    )
    names = {name.lower(): name for name in OPTIMIZERS}
    config["class_name"] = names.get(config["class_name"].lower(), config["class_name"])
    return deserialize(config)


def deserialize(config: Any) -> Any:
    """gradlab's own, of this version."""
    return gl.keras.deserialize(config, semantics="keras3")


def _array(x: Any, dtype: Any = None) -> Any:
    array = np.asarray(x, dtype)
    return array.astype(FLOATX) if dtype is None and array.dtype == np.float64 else array


class Marks:
    """`pytest.mark` of Keras's own, which pytest would refuse here: none changes what a case does."""

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **_: given[0] if given and callable(given[0]) else lambda thing: thing


class NonNeg:
    """`keras.constraints.NonNeg`."""

    def __call__(self, w: Any) -> Any:
        return w * (w >= 0)


OPTIMIZERS = [
    name
    for name in gl.keras.optimizers.__all__
    if name[0].isupper() and name not in ("Optimizer", "OptimizerMap")
]
NAMES = {
    **{name: _version(getattr(gl.keras, name)) for name in OPTIMIZERS},
    "OptimizerMap": gl.keras.OptimizerMap,
    "name_scope": name_scope,
    "NonNeg": NonNeg,
    "SUPPORTS_SPARSE_TENSORS": True,
    "TestCase": TestCase,
    "Variable": Variable,
    "arange": lambda *a: _array(np.arange(*a)),
    "array": _array,
    "backend": lambda: "numpy",
    "convert_to_tensor": _array,
    "full": lambda shape, x: _array(np.full(shape, x)),
    "get": get,
    "ones": lambda shape: np.ones(shape, FLOATX),
    "serialize": gl.keras.serialize,
    "deserialize": deserialize,
    "zeros": lambda shape: np.zeros(shape, FLOATX),
    "cast": lambda x, dtype: np.asarray(x, dtype),
    **{name: getattr(gl.schedules, name) for name in gl.schedules.__all__ if name[0].isupper()},
}
_MODULES_OF_WORDS = ("loss_scale_optimizer", "multi_optimizer", "schedule_free_adamw")
OPTIMIZER_MODULES = (*_MODULES_OF_WORDS, *(name.lower() for name in OPTIMIZERS))
MODULES = frozenset(
    [
        *OPTIMIZER_MODULES,
        *(
            "backend",
            "constraints",
            "layers",
            "models",
            "ops",
            "optimizers",
            "schedules",
            "testing",
        ),
    ]
)
STAND_IN = StandIn(
    ("keras", "pytest"),
    Namespace("Keras 3", NAMES, frozenset(["numpy", "schedules"])),
    MODULES,
    exactly={"pytest": Namespace("pytest", {"mark": Marks()})},
    around=_private_names,
)

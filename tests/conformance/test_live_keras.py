"""gradlab's Keras optimizers beside tf_keras (legacy and the rewrite) and Keras 3 on generated
settings and gradients.

Legacy is held to equal bits in float32 and float64. The others may differ by rounding, a few units
in the last place of the largest entry: they apply slices with momentum in an order of their own,
and Keras 3 divides Python numbers when it clips by global norm. Their optimizers' variables are
compared, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance.compare import matcher

pytestmark = pytest.mark.tensorflow
MODES = {"legacy": "bitwise", "rewrite": "largest 4", "keras3": "largest 4"}
STEPS, CASES = 6, 20


def _library(version: str) -> Any:
    """The module whose optimizers the version stands for."""
    if version == "keras3":
        import keras

        assert (keras.backend.backend(), keras.__version__[0]) == ("tensorflow", "3")
        return keras.optimizers
    import tf_keras

    return tf_keras.optimizers.legacy if version == "legacy" else tf_keras.optimizers


def _schedules(version: str) -> Any:
    if version == "keras3":
        return _library(version).schedules
    import tf_keras

    return tf_keras.optimizers.schedules


def _settings(
    rng: np.random.Generator, version: str
) -> tuple[str, Callable[[Any], Any], dict[str, Any]]:
    """A class, its learning rate given a module of schedules, and its other arguments."""
    kwargs: dict[str, Any] = {}
    name = str(rng.choice(["Adagrad", "SGD"]))
    if name == "Adagrad":
        kwargs = {
            "initial_accumulator_value": float(rng.choice([0.1, 1.0])),
            "epsilon": float(rng.choice([1e-7, 1e-3, 0.5])),
        }
    elif rng.random() < 0.5:
        kwargs = {"momentum": float(rng.choice([0.9, 0.5])), "nesterov": bool(rng.random() < 0.5)}
    clip = str(rng.choice(["none", "clipnorm", "clipvalue", "global_clipnorm", "two"]))
    limit = float(rng.choice([0.5, 1.0, 2.3]))
    if clip == "two" and version != "keras3":
        kwargs |= {"clipvalue": limit, "clipnorm": 1.1}
    elif clip in ("clipnorm", "clipvalue", "global_clipnorm"):
        kwargs[clip] = limit
    if version == "legacy" and rng.random() < 0.3:
        kwargs["decay"] = 0.3
    kwargs |= _around(rng, version)
    rates: list[Callable[[Any], Any]] = [
        lambda _: 0.1,
        lambda s: s.ExponentialDecay(0.1, 2, 0.5),
        lambda s: s.PiecewiseConstantDecay([1, 3], [1.0, 0.5, 0.1]),
        lambda s: s.InverseTimeDecay(0.2, 3, 0.7),
    ]
    return name, rates[int(rng.integers(len(rates)))], kwargs


def _around(rng: np.random.Generator, version: str) -> dict[str, Any]:
    """What acts around the rule, of the versions that have it."""
    if version == "legacy":
        return {}
    averages = {
        "use_ema": True,
        "ema_momentum": float(rng.choice([0.5, 0.9])),
        "ema_overwrite_frequency": 3,
    }
    accumulation = {"gradient_accumulation_steps": 2} if version == "keras3" else {}
    scale = {"loss_scale_factor": 8.0} if version == "keras3" else {}
    parts = [{"weight_decay": 0.1}, averages, accumulation, scale]
    return {k: x for part in parts if rng.random() < 0.5 for k, x in part.items()}


def _gradients(rng: np.random.Generator, dtype: str, dense: bool) -> list[Any]:
    whole = rng.normal(size=3).astype(dtype)
    if dense or rng.random() < 0.5:
        return [whole, rng.normal(size=(4, 2)).astype(dtype)]
    n = int(rng.integers(1, 5))
    rows, indices = (
        rng.normal(size=(n, 2)).astype(dtype),
        rng.integers(0, 4, size=n).astype(np.int32),
    )
    return [whole, gl.IndexedSlices(rows, indices, (4, 2))]


def _in_tensorflow(tf: Any, g: Any) -> Any:
    if not isinstance(g, gl.IndexedSlices):
        return tf.constant(g)
    return tf.IndexedSlices(
        tf.constant(g.values), tf.constant(g.indices), tf.constant(g.dense_shape)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("version", MODES)
def test_steps(tf: Any, version: Any, dtype: str) -> None:
    library, rng = (
        _library(version),
        np.random.default_rng([7, len(version), len(dtype), dtype == "float64"]),
    )
    for _ in range(CASES):
        name, rate, kwargs = _settings(rng, version)
        starts = [rng.normal(size=3).astype(dtype), rng.normal(size=(4, 2)).astype(dtype)]
        original, theirs = (
            getattr(library, name)(rate(_schedules(version)), **kwargs),
            [tf.Variable(x) for x in starts],
        )
        ours, mine = _optimizer(name, rate, version, kwargs), [gl.Variable(x) for x in starts]
        for _ in range(STEPS):
            grads = _gradients(rng, dtype, "loss_scale_factor" in kwargs)
            original.apply_gradients(
                list(zip([_in_tensorflow(tf, g) for g in grads], theirs, strict=True))
            )
            _quietly(ours, list(zip(grads, mine, strict=True)))
        if version == "legacy":
            kept: list[Any] = []
        else:
            kept = list(zip(_values(original.variables), ours.get_weights(), strict=True))
        for a, b in [*((a.numpy(), b.numpy()) for a, b in zip(theirs, mine, strict=True)), *kept]:
            assert matcher(MODES[version])(a, b).all(), (name, kwargs, rate(gl.schedules), a, b)


def _values(variables: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in variables]


def _optimizer(name: str, rate: Callable[[Any], Any], version: Any, kwargs: dict[str, Any]) -> Any:
    return getattr(gl.keras, name)(rate(gl.schedules), semantics=version, **kwargs)


def _quietly(optimizer: Any, pairs: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.errors.GradlabWarning)
        optimizer.apply_gradients(pairs)


@pytest.mark.parametrize("cls", ["Adagrad", "SGD"])
def test_config_and_weights_are_those_of_legacy(tf: Any, cls: str) -> None:
    original, v = (
        getattr(_library("legacy"), cls)(0.1, clipnorm=1.0),
        tf.Variable([1.0, 2.0], name="v"),
    )
    original.apply_gradients([(tf.constant([0.5, -1.0]), v)])
    ours, w = getattr(gl.keras, cls)(0.1, clipnorm=1.0), gl.Variable([1.0, 2.0], name="v")
    ours.apply_gradients([(np.float32([0.5, -1.0]), w)])
    assert ours.get_config() == original.get_config()
    assert [x.name for x in ours.weights] == [x.name for x in original.weights]
    ours.set_weights(original.get_weights())
    assert gl.keras.serialize(ours)["module"] == "keras.optimizers.legacy"
    assert (
        getattr(gl.keras, cls).from_config(original.get_config()).get_config()
        == original.get_config()
    )
    assert (
        getattr(_library("legacy"), cls).from_config(ours.get_config()).get_config()
        == original.get_config()
    )

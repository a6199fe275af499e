"""Gradients are those that JAX finds; the digits get learned; a run of your own is one function."""

import os
import re
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from gradlab._base.arrays import precision
from gradlab.models import datasets
from gradlab.workers import Bowl, Digits, Experiment, FromLoss, Problem, loss_curve, problems, run


def digits_loss(weights: dict[str, jax.Array], images: np.ndarray, labels: np.ndarray) -> jax.Array:
    x = images
    for k in range(layers := len(weights) // 2):
        x = x @ weights[f"w{k}"] + weights[f"b{k}"]
        x = jax.nn.relu(x) if k < layers - 1 else x
    return -jax.nn.log_softmax(x)[jnp.arange(len(labels)), labels].mean()


@pytest.mark.parametrize("hidden", [(), (7,), (150, 6)])
def test_digits_against_jax(hidden: tuple[int, ...]) -> None:
    digits = Digits(hidden, batch=16)
    rng = np.random.default_rng(1)
    weights = {
        k: w + np.float32(0.1) * rng.standard_normal(w.shape, np.float32)
        for k, w in digits.start().items()
    }
    images, labels = datasets.digits()
    chosen = np.random.default_rng(5).integers(1500, size=16)
    expected = jax.grad(digits_loss)(weights, images[chosen], labels[chosen])
    found = digits.gradient(weights, np.random.default_rng(5))
    assert list(found) == list(weights)
    for name, g in found.items():
        assert g.dtype == np.float32
        np.testing.assert_allclose(g, expected[name], atol=2e-6)
    assert digits.loss(weights) == pytest.approx(
        float(digits_loss(weights, images[1500:], labels[1500:])), rel=1e-5
    )


def test_bowl_against_jax() -> None:
    bowl = Bowl(condition=3.0)
    w = {"w": np.float32([0.5, -2.0])}
    loss = lambda w: (w["w"][0] ** 2 + 3 * w["w"][1] ** 2) / 2  # noqa: E731
    np.testing.assert_allclose(
        bowl.gradient(w, np.random.default_rng(0))["w"], jax.grad(loss)(w)["w"]
    )
    assert bowl.loss(w) == pytest.approx(float(loss(w)))
    z = np.random.default_rng(0).standard_normal(2, np.float32)
    noisy = Bowl(condition=3.0, noise=0.5).gradient(w, np.random.default_rng(0))["w"]
    np.testing.assert_allclose(noisy, np.float32([0.5, -6.0]) + np.float32(0.5) * z)


def test_the_accuracy_is_the_share_told_right() -> None:
    digits = Digits()
    _, labels = datasets.digits()
    always = {"w0": np.zeros((64, 10), np.float32), "b0": np.eye(10, dtype=np.float32)[3]}
    assert digits.accuracy(always) == pytest.approx((labels[1500:] == 3).mean())


@pytest.mark.parametrize("engine", ["simulated", "threads"])
def test_workers_learn_the_digits_together(engine: str) -> None:
    digits = Digits(hidden=(32,))
    trace = run(
        Experiment(digits, learning_rate=0.2, workers=4, gradients=1500, staleness=8),
        engine,
        **_fast(engine),
    )
    assert digits.accuracy(trace.weights) > 0.85
    assert digits.loss(trace.weights) < 0.5 < 2 < digits.loss(digits.start())


def _fast(engine: str) -> dict[str, float]:
    return {"tick": 1e-6} if engine == "threads" else {}


@pytest.mark.exhaustive
def test_a_run_of_your_own() -> None:
    inputs = np.random.default_rng(0).standard_normal((200, 3), np.float32)
    targets = inputs @ np.float32([1.0, -2.0, 0.5]) + 0.25

    def loss(w: dict[str, jax.Array], batch: np.ndarray) -> jax.Array:
        return jnp.mean((inputs[batch] @ w["slope"] + w["offset"] - targets[batch]) ** 2)

    own = FromLoss(
        loss,
        {"slope": np.zeros(3, np.float32), "offset": np.float32(0)},
        lambda rng: rng.integers(200, size=20),
        np.arange(200),
    )
    g = own.gradient(own.start(), np.random.default_rng(3))
    expected = jax.grad(loss)(own.start(), np.random.default_rng(3).integers(200, size=20))
    for name in g:
        np.testing.assert_array_equal(g[name], expected[name])
        assert isinstance(g[name], np.ndarray)
    trace = run(
        Experiment(own, gl.rules.Momentum(0.5), 0.05, workers=3, gradients=300, staleness=4)
    )
    np.testing.assert_allclose(trace.weights["slope"], [1.0, -2.0, 0.5], atol=0.01)
    assert own.loss(trace.weights) < 1e-3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_losses_of_your_own_keep_the_dtype(dtype: type) -> None:
    own = FromLoss(
        lambda w, x: (w["a"] * x).sum(), {"a": dtype(1)}, lambda rng: dtype(1) / 3, dtype(1) / 3
    )
    assert own.gradient(own.start(), np.random.default_rng(0))["a"] == dtype(1) / 3
    assert own.loss(own.start()) == float(dtype(1) / 3)
    with precision(dtype):
        assert (
            own.gradient({"a": jnp.asarray(1, dtype)}, np.random.default_rng(0))["a"].dtype == dtype
        )


def test_any_object_with_the_three_methods_will_do() -> None:
    class Parabola:
        def start(self) -> problems.Weights:
            return {"w": np.float32([3.0])}

        def gradient(self, weights: problems.Weights, rng: np.random.Generator) -> problems.Weights:
            return {"w": weights["w"]}

        def loss(self, weights: problems.Weights) -> float:
            return float(weights["w"][0] ** 2 / 2)

    own: Problem = Parabola()  # type: ignore[assignment]
    assert own.loss(run(Experiment(own, workers=2, gradients=60)).weights) < 0.01
    assert problems.get_config(own) is None


def test_those_that_ship_can_be_written() -> None:
    for problem in (Bowl(2.0, 0.5), Digits((4, 3), 8, 1)):
        assert problems.from_config(problems.get_config(problem) or {}) == problem


@pytest.mark.parametrize("policy", ["apply", "damp", "compensate", "backup"])
@pytest.mark.parametrize("problem", [Bowl(), Digits(hidden=(4,), batch=4)], ids=["bowl", "digits"])
def test_a_run_that_explodes_ends_with_its_numbers_and_no_warning(
    problem: Any, policy: str
) -> None:
    e = Experiment(
        problem,
        learning_rate=1e30,
        workers=3,
        gradients=90,
        policy=policy,
        aggregate=2,
        strength=1.0,
        seed=1,
    )
    trace = run(e)
    assert not all(np.isfinite(w).all() for w in trace.weights.values())
    assert (
        not np.isfinite(problem.loss(trace.weights))
        and len(loss_curve(trace)["loss"]) == trace.updates + 1
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [np.zeros(3)],
            "weights map names to float arrays, as {'w': np.zeros(3)}; got [float64 (3,)]",
        ),
        (
            {"layer": {"w": np.zeros(3)}},
            "weights['layer'] must be a float array, got dict: {'w': float64 (3,)}",
        ),
        ({"n": np.arange(3)}, "weights['n'] must be a float array, got ndarray: int64 (3,)"),
        ({"n": 1}, "weights['n'] must be a float array, got int: 1"),
        ({"w": np.zeros(2), "b": None}, "weights['b'] must be a float array, got NoneType: None"),
        ({0: np.zeros(2)}, "weights are named by strings, got the name 0"),
    ],
)
def test_weights_of_your_own_are_float_arrays_by_name(weights: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        FromLoss(lambda w, x: w["a"], weights, lambda rng: 0.0, 0.0)


@pytest.mark.parametrize(
    "weight",
    [1.5, np.float16(1), ml_dtypes.bfloat16(1), np.ones(2), jnp.ones(2), gl.Variable([1.0])],
)
def test_weights_of_your_own_may_be_any_floats(weight: Any) -> None:
    own = FromLoss(
        lambda w, x: (w["a"] * x).sum(), {"a": weight}, lambda rng: np.float32(2), np.float32(1)
    )
    assert (own.gradient(own.start(), np.random.default_rng(0))["a"] == 2).all()


@pytest.mark.parametrize("jit", [False, True])
def test_a_loss_of_your_own_is_a_scalar(jit: bool) -> None:
    own = FromLoss(
        lambda w, x: (w["a"] - x) ** 2,
        {"a": np.zeros(3, np.float32)},
        lambda rng: np.float32(1),
        np.float32(1),
        jit,
    )
    message = r"^loss_of must return a scalar, such as a mean; got an array of shape \(3,\)"
    with pytest.raises(gl.errors.InvalidArgumentError, match=message):
        own.loss(own.start())
    with pytest.raises(gl.errors.InvalidArgumentError, match=message):
        own.gradient(own.start(), np.random.default_rng(0))


def test_a_loss_of_your_own_is_compiled_once_for_a_shape() -> None:
    traced = []

    def loss(weights: dict[str, Any], batch: Any) -> Any:
        traced.append(batch.shape)
        return ((weights["a"] * batch) ** 2).sum()

    own = FromLoss(
        loss,
        {"a": np.float32(1)},
        lambda rng: rng.standard_normal(3, np.float32),
        np.ones(3, np.float32),
        jit=True,
    )
    run(Experiment(own, workers=3, gradients=20), "threads", tick=0)
    assert 1 <= len(traced) <= 3, "threads may begin together"
    before = len(traced)
    run(Experiment(own, gradients=20))
    assert len(traced) == before


def test_a_loss_that_looks_at_values_is_not_compiled() -> None:
    def loss(weights: dict[str, Any], batch: Any) -> Any:
        return weights["a"] ** 2 if weights["a"] > 0 else -weights["a"]

    own = FromLoss(loss, {"a": np.float32(1)}, lambda rng: 0.0, 0.0)
    assert own.gradient({"a": np.float32(3)}, np.random.default_rng())["a"] == 6
    assert own.gradient({"a": np.float32(-3)}, np.random.default_rng())["a"] == -1
    assert own.loss({"a": np.float32(-3)}) == 3
    with pytest.raises(jax.errors.TracerBoolConversionError):
        FromLoss(loss, own.weights, own.draw, own.watch, jit=True).loss({"a": np.float32(3)})


# Any difference between processes shows in the digest.
DIGESTS = """
import hashlib
import numpy as np
from gradlab.workers import Digits
for digits in (Digits(hidden=(300,), batch=1500), Digits(hidden=(300,), batch=1)):
    gradient = digits.gradient(digits.start(), np.random.default_rng(0))
    print({name: hashlib.sha256(g.tobytes()).hexdigest() for name, g in gradient.items()})
"""


@pytest.mark.exhaustive
def test_gradients_of_digits_do_not_depend_on_the_number_of_threads() -> None:
    """Ray gives its processes a different number of threads than a replay has."""
    outputs = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", DIGESTS]
        outputs.append(
            subprocess.run(
                command, capture_output=True, text=True, env=environment, check=True
            ).stdout
        )
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 2

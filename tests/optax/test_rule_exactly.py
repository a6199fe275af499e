"""Updates that reach a number exactly: over the whole range of each dtype, eager and under jit."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
from gradlab.optax.rule import Replacement, difference

DTYPES = ["float16", "bfloat16", "float32", "float64"]
N = 100_000


def numbers(dtype: str, spread: float, seed: int = 0) -> jax.Array:
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.normal(size=N) * 10 ** rng.uniform(-spread, spread, N)).astype(dtype)


def missed(w: jax.Array, n: jax.Array) -> jax.Array:
    """Which entries an update does not reach, when update and sum are compiled together."""
    return jax.jit(lambda w, n: w + difference(w, n))(w, n) != n


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", [0.0, 1.0, 3.0])
def test_every_rounded_sum_is_reached(dtype: str, spread: float) -> None:
    with jax.enable_x64(True):
        w, x = numbers(dtype, spread), numbers(dtype, spread, seed=1)
        n = w + x
        assert not missed(w, n).any()
        assert ((w + difference(w, n)) == n).all(), "or when they are not"


def test_without_the_neighbor_some_are_missed() -> None:
    w, x = numbers("bfloat16", 0.0), numbers("bfloat16", 0.0, seed=1)
    assert (w + ((w + x) - w) != w + x).any()


@settings(max_examples=200, deadline=None)
@given(st.floats(width=32, allow_nan=False), st.floats(width=32, allow_nan=False))
def test_hypothesis_finds_no_sum_that_is_missed(w: float, x: float) -> None:
    old, tiny = jnp.float32(w), float(np.finfo(np.float32).tiny)
    n = old + jnp.float32(x)
    u = difference(old, n)
    largest = float(np.finfo(np.float32).max)
    if abs(float(n) - float(old)) >= tiny and abs(float(n) - float(old)) <= largest:
        assert float(old + u) == float(n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_cannot_be_reached_is_off_by_no_more_than_epsilon(dtype: str) -> None:
    with jax.enable_x64(True):
        w, n = numbers(dtype, 0.0), numbers(dtype, 3.0, seed=1)
        assert missed(w, n).any(), "else there is nothing to show"
        off = jnp.abs((w + difference(w, n)).astype("float64") - n.astype("float64"))
        assert (
            off
            <= float(jnp.finfo(dtype).eps) * jnp.maximum(jnp.abs(w), jnp.abs(n)).astype("float64")
        ).all()


def test_what_does_not_move_has_no_update_and_infinite_weights_stay() -> None:
    w = jnp.float32([1.5, jnp.inf, -jnp.inf, 0.0])
    assert difference(w, w).tolist() == [0.0] * 4
    n = jnp.float32([jnp.nan, jnp.inf, -jnp.inf, jnp.inf])
    assert np.array_equal(w + difference(w, n), n, equal_nan=True)


def test_a_replacement_takes_the_place_of_jax_and_numpy_weights() -> None:
    for old in (jnp.ones(2), np.ones(2, np.float32), 1.0):
        assert (old + Replacement(jnp.float32([5.0, 6.0]))).tolist() == [5.0, 6.0]
    step = jax.jit(lambda w: optax.apply_updates(w, {"w": Replacement(w["w"] * 2), "none": None}))
    assert step({"w": jnp.ones(2), "none": None})["w"].tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "then",
    [
        optax.scale(0.5),
        optax.scale_by_adam(),
        optax.trace(0.9),
        optax.add_decayed_weights(0.1),
        optax.clip_by_global_norm(1.0),
        optax.centralize(),
        gl.optax.clip(1.0),
        gl.optax.clip_by_norm(1.0),
        gl.optax.clip_by_global_norm(1.0),
        gl.optax.adaptive_grad_clip(1.0),
        gl.optax.from_rule(gl.rules.Adagrad(), 0.1),
    ],
)
def test_a_replacement_before_another_transformation_says_so(then: Any) -> None:
    params = {"w": jnp.ones(2)}
    tx = optax.chain(gl.optax.from_rule(gl.rules.Adam(), 0.1, replace=True), then)
    with pytest.raises(TypeError, match=r"make from_rule\(..., replace=True\) the last transf"):
        tx.update({"w": jnp.ones(2)}, tx.init(params), params)


def test_jax_refuses_a_replacement_in_its_own_words() -> None:
    update = {"w": Replacement(jnp.ones(2))}
    with pytest.raises(TypeError, match="Replacement"):
        optax.clip(1.0).update(update, optax.EmptyState())
    with pytest.raises(TypeError, match="Replacement"):
        jax.jit(lambda: update)()
    assert "Replacement(" in repr(update["w"])

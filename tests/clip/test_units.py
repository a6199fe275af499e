"""Clips that TensorFlow does not have, against optax."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from tests import ways

RNG = np.random.default_rng(5)
SHAPES = [(), (7,), (4, 5), (3, 4, 5), (3, 3, 2, 4), (2, 3, 3, 2, 4)]
GRADS = [np.asarray(RNG.normal(0, 1, s), np.float32) for s in SHAPES]
PARAMS = [np.asarray(RNG.normal(0, 3, s), np.float32) for s in SHAPES]


@pytest.mark.exhaustive
@pytest.mark.parametrize("clipping", [0.01, 0.3, 100.0])
@pytest.mark.parametrize("eps", [1e-3, 2.0])
def test_agc_is_that_of_optax(clipping: float, eps: float) -> None:
    clip = optax.adaptive_grad_clip(clipping, eps)
    expected, _ = clip.update(GRADS, clip.init(PARAMS), PARAMS)
    assert (
        ways.ulps(
            gl.adaptive_grad_clip(GRADS, PARAMS, clipping, eps), jax.tree.map(np.asarray, expected)
        )
        <= 4
    )


def test_agc_clips_columns() -> None:
    g, w = np.float32([[3.0, 0.01], [4.0, 0.02]]), np.float32([[0.6, 1.0], [0.8, 1.0]])
    (result,) = gl.adaptive_grad_clip([g], [w], 0.1)
    np.testing.assert_allclose(result, [[0.06, 0.01], [0.08, 0.02]], rtol=1e-5)


def test_agc_lets_weights_of_zero_move() -> None:
    (result,) = gl.adaptive_grad_clip(
        [np.float32([3.0, 4.0])], [np.zeros(2, np.float32)], 0.5, eps=0.1
    )
    np.testing.assert_allclose(result, [0.03, 0.04], rtol=1e-5)


def test_none_stays_none() -> None:
    assert gl.adaptive_grad_clip([None], [PARAMS[1]], 1.0) == [None]
    assert gl.clip_by_block_rms([None], 1.0) == [None]


@pytest.mark.parametrize("threshold", [0.01, 0.7, 100.0])
def test_block_rms_is_that_of_optax(threshold: float) -> None:
    clip: Any = optax.clip_by_block_rms(threshold)
    expected, _ = clip.update(GRADS, clip.init(GRADS))
    assert (
        ways.ulps(gl.clip_by_block_rms(GRADS, threshold), jax.tree.map(np.asarray, expected)) <= 4
    )


def test_below_the_limit_nothing_moves() -> None:
    assert ways.ulps(gl.adaptive_grad_clip(GRADS, PARAMS, 1e6), GRADS) == 0
    assert ways.ulps(gl.clip_by_block_rms(GRADS, 1e6), GRADS) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (2, 1, 2, 3, 1, 2)])
@pytest.mark.parametrize("axis", [0, -1, (0,), "all"])
def test_axes_of_a_unit_as_in_optax(shape: tuple[int, ...], axis: Any) -> None:
    rng = np.random.default_rng(len(shape))
    axis = tuple(range(len(shape))) if axis == "all" else axis
    g, w = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    tx = optax.adaptive_grad_clip(0.5, 1e-3, axis)
    want = tx.update({"w": jnp.asarray(g)}, tx.init(None), {"w": jnp.asarray(w)})[0]["w"]
    assert ways.ulps(gl.adaptive_grad_clip([g], [w], 0.5, axis=axis)[0], np.asarray(want)) <= 4
    mine = gl.optax.adaptive_grad_clip(0.5, 1e-3, axis)
    assert (
        ways.ulps(mine.update([jnp.asarray(g)], mine.init(None), [jnp.asarray(w)])[0][0], want) <= 4
    )


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (1, 1, 5, 1), (1,) * 6])
def test_a_vector_with_axes_of_one_is_a_vector_as_in_optax(shape: tuple[int, ...]) -> None:
    g, w = (
        np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape),
        np.ones(shape, np.float32),
    )
    want = optax.adaptive_grad_clip(0.5).update([jnp.asarray(g)], None, [jnp.asarray(w)])[0][0]
    assert ways.ulps(gl.adaptive_grad_clip([g], [w], 0.5)[0], np.asarray(want)) <= 4


@pytest.mark.parametrize(
    ("axis", "error"), [(2, ValueError), ((0, -2), ValueError), ("0", TypeError), (0.5, TypeError)]
)
def test_axes_that_are_none_are_refused(axis: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="axis must"):
        gl.adaptive_grad_clip([np.ones((2, 2))], [np.ones((2, 2))], 0.5, axis=axis)


@pytest.mark.parametrize(
    "make", [np.float32, np.array, jnp.asarray], ids=["NumPy number", "NumPy", "JAX"]
)
def test_a_tensor_without_axes_is_a_block(make: Any) -> None:
    (clipped,) = gl.clip_by_block_rms([make(3.0)], 1.0)
    assert float(clipped) == 1.0 and np.shape(clipped) == ()
    assert float(gl.clip_by_block_rms(make(3.0), 1.0)) == 1.0


def test_an_array_alone_is_one_block_as_in_optax() -> None:
    t = np.float32([[3.0, 4.0], [0.0, 0.0]])
    update, _ = optax.clip_by_block_rms(1.0).update(t, optax.EmptyState())
    np.testing.assert_allclose(gl.clip_by_block_rms(t, 1.0), update, rtol=1e-6)

"""Keras's Lamb: norms are of whole variables, however large they are."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl

F = np.float32


def test_a_step_is_as_long_as_the_weights_times_the_rate() -> None:
    v = gl.Variable([3.0, 4.0], name="v")
    gl.keras.Lamb(0.5).apply_gradients([(F([1.0, -2.0]), v)])

    np.testing.assert_allclose(np.linalg.norm(v.numpy() - F([3.0, 4.0])), 2.5, rtol=1e-6)


def test_weights_of_0_move_by_the_rate() -> None:
    v = gl.Variable([0.0, 0.0], name="v")
    gl.keras.Lamb(0.5).apply_gradients([(F([1.0, 0.0]), v)])

    np.testing.assert_allclose(v.numpy(), [-0.5, 0.0], rtol=1e-4)


@pytest.mark.parametrize("module", [np, jnp])
def test_large_variables_have_one_norm(module: Any) -> None:
    rng = np.random.default_rng(0)
    w, g = rng.normal(size=(2, 4096, 100)).astype(F)
    v = gl.Variable(module.asarray(w), name="v")
    opt = gl.keras.Lamb(0.5)
    state = opt.init(w)

    for _ in range(2):
        opt.apply_gradients([(module.asarray(g), v)])
        w, state = opt.step(w, state, g)

    np.testing.assert_allclose(v.numpy(), w, rtol=1e-4, atol=1e-6)

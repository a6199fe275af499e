"""FTRL keeps a share of the initial weights; its beta becomes a part of l2, in the precision of the rate."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.train import FtrlOptimizer

F = np.float32


@pytest.mark.parametrize(
    ("start", "gradient", "expected"),
    [
        (5.0, 1.0, 3.397097110748291),
        (0.0, 1.0, -0.09534626454114914),
        (5.0, 3.0, 4.37640905380249),
        (5.0, 0.0, 0.0),
    ],
)
def test_a_share_of_the_initial_weight_is_kept_as_in_tensorflow(start: float, gradient: float, expected: float) -> None:
    """The expected weights were computed by `tf.compat.v1.train.FtrlOptimizer(0.1)`, TensorFlow 2.21."""
    v = gl.Variable([start])
    FtrlOptimizer(0.1).apply_gradients([(np.float32([gradient]), v)])
    assert v.numpy().item() == expected
    share = 1 - np.sqrt(0.1 / (0.1 + gradient**2))
    np.testing.assert_allclose(expected, share * start - 0.1 * gradient / np.sqrt(0.1 + gradient**2), rtol=1e-6)


def trained(opt: FtrlOptimizer, dtype: type = F) -> np.ndarray:
    v = gl.Variable(np.array([1.0, -2.0], dtype))
    for g in ([0.3, 1.0], [-2.0, 0.5]):
        opt.apply_gradients([(np.array(g, dtype), v)])
    return v.numpy()


def test_beta_is_beta_over_twice_the_rate_more_of_l2() -> None:
    l2 = F(0.1) + F(0.7) / (F(2) * F(0.3))
    with_beta = FtrlOptimizer(0.3, l2_regularization_strength=0.1, beta=0.7)
    np.testing.assert_array_equal(trained(with_beta), trained(FtrlOptimizer(0.3, l2_regularization_strength=float(l2))))


def test_a_rate_of_float64_keeps_its_bits() -> None:
    rate = np.float64(0.3)
    with_beta = FtrlOptimizer(rate, beta=0.5)
    by_hand = FtrlOptimizer(rate, l2_regularization_strength=np.float64(0.5) / (2 * rate))
    np.testing.assert_array_equal(trained(with_beta, np.float64), trained(by_hand, np.float64))
    assert (trained(with_beta, np.float64) != trained(FtrlOptimizer(0.3, beta=0.5), np.float64)).all()


def test_the_rate_may_be_traced() -> None:
    def loss(rate: jax.Array) -> jax.Array:
        opt, w = FtrlOptimizer(rate, beta=0.5), jnp.float32([1.0])
        return opt.step(w, opt.init(w), jnp.float32([0.3]))[0][0]

    np.testing.assert_allclose(jax.jit(loss)(0.3), loss(jnp.float32(0.3)), rtol=1e-6)


def test_a_power_of_minus_a_half_is_a_root() -> None:
    assert np.isfinite(trained(FtrlOptimizer(0.1, -0.5))).all()
    np.testing.assert_allclose(trained(FtrlOptimizer(0.1, -0.5)), trained(FtrlOptimizer(0.1, -0.500001)), rtol=1e-4)

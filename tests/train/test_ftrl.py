"""FTRL's beta becomes a part of l2, in the precision of the rate."""

import jax
import jax.numpy as jnp
import numpy as np

import gradlab as gl
from gradlab.train import FtrlOptimizer

F = np.float32


def trained(opt: FtrlOptimizer, dtype: type = F) -> np.ndarray:
    v = gl.Variable(np.array([1.0, -2.0], dtype))
    for g in ([0.3, 1.0], [-2.0, 0.5]):
        opt.apply_gradients([(np.array(g, dtype), v)])
    return v.numpy()


def test_beta_is_beta_over_twice_the_rate_more_of_l2() -> None:
    l2 = F(0.1) + F(0.7) / (F(2) * F(0.3))
    with_beta = FtrlOptimizer(0.3, l2_regularization_strength=0.1, beta=0.7)
    np.testing.assert_array_equal(
        trained(with_beta), trained(FtrlOptimizer(0.3, l2_regularization_strength=float(l2)))
    )


def test_a_rate_of_float64_keeps_its_bits() -> None:
    rate = np.float64(0.3)
    with_beta = FtrlOptimizer(rate, beta=0.5)
    by_hand = FtrlOptimizer(rate, l2_regularization_strength=np.float64(0.5) / (2 * rate))
    np.testing.assert_array_equal(trained(with_beta, np.float64), trained(by_hand, np.float64))
    assert (
        trained(with_beta, np.float64) != trained(FtrlOptimizer(0.3, beta=0.5), np.float64)
    ).all()


def test_the_rate_may_be_traced() -> None:
    def loss(rate: jax.Array) -> jax.Array:
        opt, w = FtrlOptimizer(rate, beta=0.5), jnp.float32([1.0])
        return opt.step(w, opt.init(w), jnp.float32([0.3]))[0][0]

    np.testing.assert_allclose(jax.jit(loss)(0.3), loss(jnp.float32(0.3)), rtol=1e-6)

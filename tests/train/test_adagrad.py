"""Dual averaging's step is the caller's."""

import jax.numpy as jnp
import numpy as np

import gradlab as gl
from gradlab.train import AdagradDAOptimizer

F = np.float32


def test_the_step_is_read_before_every_update() -> None:
    with gl.variable_collection():
        step = gl.get_or_create_global_step()
        v, opt = gl.Variable([5.0]), AdagradDAOptimizer(0.5, step, l2_regularization_strength=2.0)
        for t in (1, 2):
            opt.apply_gradients([([3.0], v)], global_step=step)
            expected = (
                -F(0.5)
                * F(3 * t)
                / (F(t) * F(0.5) * F(2) + np.sqrt(F(0.1) + F(9) + (t - 1) * F(9)))
            )
            np.testing.assert_allclose(v.numpy(), [expected], rtol=1e-6)
        assert int(step) == 2
        assert [x.name for x in opt.variables() if "step" in x.name] == []


def test_a_step_that_is_a_number_stays() -> None:
    v, opt = gl.Variable([5.0]), AdagradDAOptimizer(0.5, 0, l1_regularization_strength=1.0)
    opt.apply_gradients([([0.75], v)])
    assert v.numpy().tolist() == [0.0]  # 0.75 is below the limit of the first step
    opt.apply_gradients([([0.75], v)])
    assert v.numpy()[0] < 0  # and 1.5 is above it, though it would not be above that of the second


def test_large_steps_are_exact_for_float64() -> None:
    v, opt = (
        gl.Variable(np.zeros(1)),
        AdagradDAOptimizer(1.0, 2**24, l2_regularization_strength=1.0),
    )
    opt.apply_gradients([(np.ones(1), v)])
    assert v.numpy()[0] == -1 / (2**24 + 1 + np.sqrt(1.1))


def test_the_pure_form_counts_by_itself() -> None:
    with gl.variable_collection():
        step = gl.get_or_create_global_step()
        opt = AdagradDAOptimizer(0.5, step, l2_regularization_strength=2.0)
        v, w = gl.Variable([5.0]), jnp.float32([5.0])
        state = opt.init(w)
        for _ in range(3):
            opt.apply_gradients([([3.0], v)], global_step=step)
            w, state = opt.step(w, state, jnp.float32([3.0]))
        np.testing.assert_allclose(w, v.numpy(), rtol=1e-6)

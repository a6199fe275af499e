"""GGT, which steps all variables together, beyond the scenarios of TensorFlow 1.15."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl

F = np.float32


def make(module: Any = np) -> tuple[list[gl.Variable], gl.contrib.opt.GGTOptimizer]:
    weights = [
        gl.Variable(module.asarray(np.ones((2, 3), F)), name="k"),
        gl.Variable(module.asarray(np.ones(2, F)), name="b"),
    ]
    return weights, gl.contrib.opt.GGTOptimizer(0.1, window=3, svd_eps=1e-3)


def train(weights: list[gl.Variable], opt: Any, first: int, last: int) -> list[np.ndarray]:
    for k in range(first, last):
        rng = np.random.default_rng(k)
        opt.apply_gradients([(rng.normal(size=v.shape).astype(F), v) for v in weights])
    return [v.numpy() for v in weights]


def test_a_matrix_of_window_1_steps_along_the_gradient() -> None:
    v = gl.Variable([1.0, 1.0], name="v")
    opt = gl.contrib.opt.GGTOptimizer(1.0, beta1=0.0, window=1, sigma_eps=0.0, svd_eps=0.0)
    opt.apply_gradients([([3.0, 4.0], v)])
    np.testing.assert_allclose(v.numpy(), [1 - 0.6, 1 - 0.8], rtol=1e-5)


def test_jax_steps_as_numpy() -> None:
    expected = train(*make(), 0, 4)
    for ours, theirs in zip(train(*make(jnp), 0, 4), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)


@pytest.mark.parametrize("how", ["state", "pickle", "deepcopy"])
def test_a_run_goes_on_as_if_it_had_not_stopped(how: str) -> None:
    weights, opt = make()
    expected = train(weights, opt, 0, 5)
    weights, opt = make()
    train(weights, opt, 0, 3)

    if how == "state":
        later = make()[1]
        later.load_state_dict(opt.state_dict(weights), weights)
        opt = later
    elif how == "pickle":
        weights, opt = pickle.loads(pickle.dumps((weights, opt)))
    else:
        weights, opt = copy.deepcopy((weights, opt))

    for ours, theirs in zip(train(weights, opt, 3, 5), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_state_of_other_sizes_is_refused() -> None:
    weights, opt = make()
    train(weights, opt, 0, 1)
    state = opt.state_dict(weights)
    other = gl.Variable(np.ones(5, F), name="other")
    with pytest.raises(ValueError, match="nothing was loaded"):
        make()[1].load_state_dict(state, {"k:0": weights[0], "b:0": other})
    with pytest.raises(ValueError, match="of 'b:0'"):
        make()[1].load_state_dict(state, {"k:0": weights[0]})


def test_variables_are_those_of_the_first_step() -> None:
    weights, opt = make()
    train(weights, opt, 0, 1)
    with pytest.raises(ValueError, match="together"):
        opt.apply_gradients([(np.ones(2, F), weights[1])])


def test_slices_and_several_dtypes_are_refused() -> None:
    weights, opt = make()
    slices = gl.IndexedSlices(np.ones((1, 3), F), [0], (2, 3))
    with pytest.raises(gl.errors.SlicesUnsupportedError, match="to_dense"):
        opt.apply_gradients([(slices, weights[0])])
    double = gl.Variable(np.ones(2), name="double")
    with pytest.raises(gl.errors.DTypeError, match="share a dtype"):
        opt.apply_gradients([(np.ones(2, F), weights[1]), (np.ones(2), double)])
    with pytest.raises(ValueError, match="comes twice"):
        opt.apply_gradients([(np.ones(2, F), weights[1])] * 2)
    assert opt.variables() == []


def test_gradients_that_are_not_finite_give_nan_without_an_error() -> None:
    weights, opt = make()
    opt.apply_gradients([(np.full(v.shape, np.inf, F), v) for v in weights])
    assert all(np.isnan(v.numpy()).all() for v in weights)


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_holds_something(window: int) -> None:
    with pytest.raises(ValueError, match="window"):
        gl.contrib.opt.GGTOptimizer(window=window)

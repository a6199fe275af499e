"""Contrib's optimizers that step by a rule, beyond the scenarios of TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.contrib import opt as contrib
from tests.differences import differs

F = np.float32


def step(opt: Any, *gradients: Any, **arguments: Any) -> list[float]:
    """Return a weight of 2 after these gradients."""
    v = gl.Variable([2.0], name="v")
    for g in gradients:
        opt.apply_gradients([([g], v)], **arguments)
    return v.numpy().tolist()


# What an update chooses is fixed when it is described.


def test_an_operation_keeps_whether_it_updates_slots() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0], name="v")
        opt = contrib.RegAdagradOptimizer(0.5, 12.0)
        of_loss = opt.minimize(lambda: (v * 2.0).sum(), var_list=[v])
        with opt.avoid_updating_slots():
            of_penalty = opt.minimize(lambda: (v * 4.0).sum(), var_list=[v])
        of_loss.run()
        of_penalty.run()
        of_penalty.run()
        assert opt.get_slot(v, "accumulator").numpy().tolist() == [16.0]
        assert v.numpy().tolist() == [1.0 - 0.25 - 0.5 - 0.5]


def test_an_operation_keeps_its_list_of_variables_that_decay() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([2.0], name="v")
        w = gl.Variable([2.0], name="w")
        opt = contrib.MomentumWOptimizer(0.5, 1.0, 0.9)
        first = opt.apply_gradients([([0.0], v), ([0.0], w)], decay_var_list=[w])
        both = opt.apply_gradients([([0.0], v), ([0.0], w)])
        first.run()
        assert (v.numpy().tolist(), w.numpy().tolist()) == ([2.0], [1.0])
        both.run()
        assert (v.numpy().tolist(), w.numpy().tolist()) == ([1.0], [0.5])


def test_a_list_of_variables_that_decay_counts_for_one_call() -> None:
    v = gl.Variable([2.0], name="v")
    w = gl.Variable([2.0], name="w")
    opt = contrib.AdamWOptimizer(0.5)
    opt.apply_gradients([([0.0], v), ([0.0], w)], decay_var_list=[w])
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([2.0], [1.0])
    opt.apply_gradients([([0.0], v), ([0.0], w)])
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([1.0], [0.5])


# Pure forms.


PURE = {
    "weight decay": (contrib.MomentumWOptimizer(0.5, 0.25, 0.9), 1.0 - 0.25),
    "sign decay": (
        contrib.AddSignOptimizer(0.25, sign_decay_fn=contrib.get_linear_decay_fn(4)),
        2.0 - 0.5,
    ),
    "trust ratio": (contrib.LARSOptimizer(1.0, weight_decay=0.0, eeta=0.5), 1.0),
    "matrices": (contrib.ShampooOptimizer(learning_rate=0.5, epsilon=0.0), 2.0 - 0.5),
    "shadows": (contrib.DelayCompensatedGradientDescentOptimizer(0.5, 1.0, 2), 1.5),
}


@pytest.mark.parametrize("name", PURE)
def test_the_pure_form_steps_as_the_optimizer(name: str) -> None:
    opt, expected = PURE[name]
    weights = {"a": jnp.asarray([2.0], jnp.float32)}
    gradients = {"a": jnp.asarray([1.0], jnp.float32)}

    after, state = jax.jit(opt.step)(weights, opt.init(weights), gradients)

    assert float(after["a"][0]) == pytest.approx(expected, rel=1e-6)
    assert int(state["step"]) == 1
    step_0 = gl.get_or_create_global_step().assign(0)
    assert step(opt, 1.0, global_step=step_0) == pytest.approx([expected], rel=1e-6)


def test_shampoo_keeps_its_roots_between_decompositions_under_jit() -> None:
    opt = contrib.ShampooOptimizer(svd_interval=2, epsilon=0.5)
    weights = {"a": jnp.ones((2, 2), jnp.float32)}
    gradients = {"a": jnp.ones((2, 2), jnp.float32)}

    first, state = jax.jit(opt.step)(weights, opt.init(weights), gradients)
    second, _ = jax.jit(opt.step)(first, state, gradients)

    np.testing.assert_allclose(first["a"], 0.0, atol=1e-6)  # the roots start as identities
    assert np.all(second["a"] > -1.0)


# Weight decay of classes.


@differs(
    "`DecoupledWeightDecayExtension` before an optimizer without a rule, such as GGT",
    tensorflow="makes a class whose updates fail",
    gradlab="TypeError when the class is made",
)
def test_weight_decay_needs_an_optimizer_with_a_rule() -> None:
    with pytest.raises(TypeError, match="weight decay extends optimizers with a rule"):
        contrib.extend_with_decoupled_weight_decay(contrib.GGTOptimizer)


def test_weight_decay_may_be_a_variable() -> None:
    decay = gl.Variable(F(0.5), trainable=False, name="decay")
    opt = contrib.AdamWOptimizer(decay)
    assert step(opt, 0.0) == [1.0]
    decay.assign(0.25)
    assert step(opt, 0.0) == [1.5]
    state = opt.state_dict()
    assert state["variables"]["weight_decay"] == F(0.25)


def test_weight_decay_of_another_dtype_leaves_the_weights() -> None:
    v = gl.Variable([2.0], name="v")
    with pytest.raises(gl.errors.DTypeError, match="weight_decay is float64"):
        contrib.AdamWOptimizer(np.float64(0.5)).apply_gradients([([1.0], v)])
    assert v.numpy().tolist() == [2.0]


def test_slices_of_gradient_descent_decay_nothing() -> None:
    v = gl.Variable([[2.0], [2.0]], name="v")
    made = contrib.extend_with_decoupled_weight_decay(gl.train.GradientDescentOptimizer)
    made(0.5, learning_rate=1.0).apply_gradients([(gl.IndexedSlices([[1.0]], [1], (2, 1)), v)])
    assert v.numpy().ravel().tolist() == [2.0, 1.0]


def test_weight_decay_steps_in_place_as_it_does_on_copies() -> None:
    rng = np.random.default_rng(0)
    w = rng.normal(size=(400, 200)).astype(F)
    g = rng.normal(size=w.shape).astype(F)
    large = gl.Variable(w, name="large")
    small = [gl.Variable(row, name=f"row{k}") for k, row in enumerate(w[:3])]
    opt = contrib.AdamWOptimizer(0.1, 0.01)
    opt.apply_gradients([(g, large), *((g[k], v) for k, v in enumerate(small))])
    for k, v in enumerate(small):
        np.testing.assert_array_equal(large.numpy()[k], v.numpy())


def test_weight_decay_goes_with_the_rule_of_each_variable() -> None:
    class MuonW(contrib.DecoupledWeightDecayExtension, gl.train.RuleOptimizer):
        pass

    matrix = gl.Variable(F([[2.0, 0.0], [0.0, 2.0]]), name="matrix")
    bias = gl.Variable(F([2.0]), name="bias")
    opt = MuonW(0.5, rule=gl.rules.Muon(), learning_rate=0.25, use_locking=False, name="MuonW")
    opt.apply_gradients([(np.zeros((2, 2), F), matrix), (F([0.0]), bias)])
    assert matrix.numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert bias.numpy().tolist() == [1.0]
    assert opt.get_slot(matrix, "m").shape == (2, 2)
    assert opt.get_slot(bias, "v").shape == (1,)
    later = MuonW(0.5, rule=gl.rules.Muon(), learning_rate=0.25, use_locking=False, name="MuonW")
    later.load_state_dict(opt.state_dict(), [matrix, bias])
    assert later.get_slot_names() == ["m", "v"]


# LARS.


def test_lars_tells_the_rate_of_a_variable() -> None:
    v = gl.Variable([3.0, 4.0], name="v")
    opt = contrib.LARSOptimizer(1.0, weight_decay=0.5, eeta=0.5, skip_list=["bias"])
    rate, g = opt.compute_lr([0.0, 2.5], v)
    assert (float(rate), g.tolist()) == (0.5, [1.5, 4.5])
    bias = gl.Variable([3.0, 4.0], name="layer/bias")
    rate, g = opt.compute_lr([0.0, 2.5], bias)
    assert (float(rate), g.tolist()) == (1.0, [0.0, 2.5])


# Signs.


@differs(
    "slices for `AddSignOptimizer` and `PowerSignOptimizer`",
    tensorflow="NotImplementedError where the variable is a resource",
    gradlab="the step that other variables take",
)
@pytest.mark.parametrize(
    ("make", "expected"),
    [(contrib.AddSignOptimizer, -0.5), (contrib.PowerSignOptimizer, 2.0 - 1.25 * np.e)],
)
def test_slices_step_by_the_signs_of_their_rows(make: Any, expected: float) -> None:
    v = gl.Variable([[2.0], [2.0]], name="v")
    make(1.25).apply_gradients([(gl.IndexedSlices([[0.5], [0.5]], [1, 1], (2, 1)), v)])
    assert v.numpy().ravel().tolist() == pytest.approx([2.0, expected])


# Delay compensation.


@differs(
    "`DelayCompensatedGradientDescentOptimizer`",
    tensorflow="no release has a kernel for it",
    gradlab="steps by the formula of the paper, slices too",
)
def test_each_worker_has_a_shadow() -> None:
    v = gl.Variable([1.0], name="v")
    opt = contrib.DelayCompensatedGradientDescentOptimizer(0.5, 2.0, num_workers=2)
    opt.minimize(lambda: v.value.sum(), var_list=[v], worker_index=1)
    assert opt.get_slot(v, "shadow_0").numpy().tolist() == [1.0]
    assert opt.get_slot(v, "shadow_1").numpy().tolist() == [0.5]
    # w has moved by -0.5 since worker 0 looked, which takes 2 * 1 * 1 * 0.5 from its gradient.
    opt.minimize(lambda: v.value.sum(), var_list=[v], worker_index=0)
    assert v.numpy().tolist() == [0.5]


def test_an_operation_keeps_its_worker() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0], name="v")
        opt = contrib.DelayCompensatedGradientDescentOptimizer(0.5, 2.0, num_workers=2)
        operation = opt.minimize(lambda: v.value.sum(), var_list=[v], worker_index=1)
        operation.run()
        assert opt.get_slot(v, "shadow_0").numpy().tolist() == [1.0]
        assert opt.get_slot(v, "shadow_1").numpy().tolist() == [0.5]


@pytest.mark.parametrize("worker", [-1, 2])
def test_a_worker_that_there_is_not_is_refused(worker: int) -> None:
    v = gl.Variable([1.0], name="v")
    opt = contrib.DelayCompensatedGradientDescentOptimizer(0.5, 2.0, num_workers=2)
    with pytest.raises(ValueError, match="worker_index"):
        opt.apply_gradients([([1.0], v)], worker_index=worker)
    with pytest.raises(ValueError, match="worker_index"):
        opt.minimize(lambda: v.value.sum(), var_list=[v], worker_index=worker)


def test_delay_compensation_needs_workers() -> None:
    with pytest.raises(ValueError, match="num_workers"):
        contrib.DelayCompensatedGradientDescentOptimizer(0.5, 2.0, num_workers=0)


# Shampoo.


def test_gradients_that_are_not_finite_give_nan_without_an_error() -> None:
    v = gl.Variable(np.ones((2, 2), F), name="v")
    contrib.ShampooOptimizer().apply_gradients([(np.full((2, 2), np.nan, F), v)])
    assert np.isnan(v.numpy()).all()


@pytest.mark.parametrize("place", [lambda: gl.Graph().as_default(), gl.variable_collection])
@pytest.mark.parametrize(
    ("value", "error"), [(np.ones(2), gl.errors.DTypeError), (F(1.0), ZeroDivisionError)]
)
def test_shampoo_is_of_float32_and_of_one_axis_or_more(place: Any, value: Any, error: Any) -> None:
    with place():
        v = gl.Variable(value, name="v")
        with pytest.raises(error, match="v:0 is"):
            contrib.ShampooOptimizer().apply_gradients([(value, v)])
        assert np.array_equal(v.numpy(), value)


def test_a_state_of_shampoo_with_other_matrices_is_refused() -> None:
    v = gl.Variable(np.ones((2, 2), F), name="v")
    full = contrib.ShampooOptimizer()
    full.apply_gradients([(np.ones((2, 2), F), v)])
    diagonal = contrib.ShampooOptimizer(max_matrix_size=1)
    with pytest.raises(ValueError, match="slot Gbar_0 of v:0 is float32 of shape"):
        diagonal.load_state_dict(full.state_dict(), [v])

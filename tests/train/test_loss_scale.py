"""Loss scales and the optimizer that scales by them; `conformance/test_live_train.py` has TensorFlow's numbers."""

import copy
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs

SGD = gl.train.GradientDescentOptimizer
Scaled = gl.train.MixedPrecisionLossScaleOptimizer
INF = np.float32(np.inf)


def scale_of(opt: Any) -> float:
    return float(opt.variables()[-2])


@pytest.mark.parametrize(
    ("period", "gradients", "scales"),
    [
        (2, [1, 1, 1, 1], [8, 16, 16, 32]),
        (2, [1, INF, 1, 1], [8, 4, 4, 8]),
        (1, [INF, INF, INF, INF], [4, 2, 1, 1]),
        (3, [np.nan, 1, 1, 1], [4, 4, 4, 8]),
        (1, [None, 1, 1, 1], [16, 32, 64, 128]),
    ],
)
def test_a_dynamic_scale_follows_the_gradients(
    period: int, gradients: list[Any], scales: list[float]
) -> None:
    scale = gl.train.DynamicLossScale(8, period)
    seen = []
    for gradient in gradients:
        array = None if gradient is None else np.float32([gradient])
        update, is_applied = scale.update([array])
        assert update is None
        assert is_applied == (gradient is None or np.isfinite(gradient))
        seen.append(scale().item())
    assert seen == scales


def test_a_scale_that_would_be_infinite_is_not_kept() -> None:
    scale = gl.train.DynamicLossScale(2.0**127, increment_period=1)
    scale.update([np.float32([1.0])])
    assert scale() == np.float32(2.0**127)


def test_slices_and_jax_arrays_count() -> None:
    jnp = pytest.importorskip("jax.numpy")
    scale = gl.train.DynamicLossScale()
    slices = gl.IndexedSlices(np.float32([[np.inf]]), [0], (2, 1))
    assert scale.update([slices])[1] is False
    assert scale.update([jnp.float32([np.nan])])[1] is False
    assert scale().item() == 2**13


@pytest.mark.parametrize(
    "scale", [gl.train.FixedLossScale(16), gl.train.DynamicLossScale(16, 5, 4.0)]
)
def test_a_scale_is_made_again_from_its_config(scale: gl.train.LossScale) -> None:
    again = type(scale).from_config(scale.get_config())
    assert again.get_config() == scale.get_config()
    assert repr(again) == repr(scale)
    assert again() == 16


def test_small_gradients_of_half_precision_survive() -> None:
    v = gl.Variable(np.float32([1.0]))

    def loss() -> Any:
        half = v.value.astype(np.float16) * np.float16(2.0**-14)
        return half * np.float16(2.0**-14)

    ((lost, _),) = SGD(1.0).compute_gradients(loss, [v])
    ((kept, _),) = Scaled(SGD(1.0), 2**10).compute_gradients(loss, [v])

    assert (lost.tolist(), kept.tolist()) == ([0], [2.0**-28])


def test_a_step_that_is_not_finite_changes_the_scale_alone() -> None:
    v = gl.Variable([1.0])
    step = gl.Variable(0, trainable=False)
    opt = Scaled(gl.train.MomentumOptimizer(0.5, 0.9), gl.train.DynamicLossScale(8, 2))

    opt.apply_gradients([(np.float32([np.inf]), v)], step)
    assert (v.numpy().item(), int(step), scale_of(opt), opt.get_slot_names()) == (1, 0, 4, [])

    opt.apply_gradients([(np.float32([1.0]), v)], step)
    assert (v.numpy().item(), int(step), scale_of(opt)) == (0.5, 1, 4)
    assert len(opt.variables()) == 3


def test_in_a_graph_every_run_decides() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0])
        factor = gl.Variable([np.inf], trainable=False)
        step = gl.train.create_global_step()
        opt = Scaled(SGD(0.5), "dynamic")
        train_op = opt.minimize(v * factor, step)
        with gl.Session() as sess:
            sess.run(train_op)
            after_one = sess.run([v, step, opt.variables()[0]])
            sess.run(factor.assign([1.0]))
            sess.run(train_op)
            after_two = sess.run([v, step, opt.variables()[0]])
    assert [x.item() for x in after_one] == [1, 0, 2**14]
    assert [x.item() for x in after_two] == [0.5, 1, 2**14]


def test_a_fixed_scale_leaves_no_step_out() -> None:
    v = gl.Variable([1.0])
    opt = Scaled(SGD(1.0), 8.0)
    opt.apply_gradients([(np.float32([np.inf]), v)])
    assert v.numpy().item() == -np.inf
    assert opt.variables() == []


# Copies and states


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_has_a_scale_of_its_own(clone: Any) -> None:
    v = gl.Variable([1.0], name="v")
    opt = Scaled(gl.train.AdamOptimizer(0.1), gl.train.DynamicLossScale(8, 1))
    opt.apply_gradients([([1.0], v)])

    w, other = clone((v, opt))
    other.apply_gradients([([1.0], w)])

    assert (scale_of(opt), scale_of(other)) == (16, 32)
    assert v.numpy() != w.numpy()


def test_a_state_has_the_scale() -> None:
    def make() -> Any:
        scale = gl.train.DynamicLossScale(8, 1)
        return gl.Variable([1.0], name="v"), Scaled(gl.train.AdamOptimizer(0.1), scale)

    v, opt = make()
    opt.apply_gradients([([1.0], v)])
    w, other = make()

    other.load_state_dict(opt.state_dict(), {v.name: w})

    assert scale_of(other) == 16
    fixed = Scaled(gl.train.AdamOptimizer(0.1), 8)
    with pytest.raises(ValueError, match=r"for its loss scale current_loss_scale, good_steps"):
        fixed.load_state_dict(opt.state_dict(), {v.name: w})


# Refusals


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gl.train.FixedLossScale(0.5), "must be at least 1"),
        (lambda: gl.train.FixedLossScale("8"), "must be a Python int or float"),
        (lambda: Scaled("opt", 8), '"opt" must be an instance of Optimizer'),
        (lambda: Scaled(SGD(1.0), None), "loss_scale cannot be None"),
        (lambda: Scaled(SGD(1.0), "big"), "Could not interpret loss scale identifier"),
    ],
)
def test_what_is_no_loss_scale_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_step_that_fails_leaves_the_scale() -> None:
    v = gl.Variable([1.0])
    opt = Scaled(SGD(1.0), gl.train.DynamicLossScale(8, 1))
    with pytest.raises(ValueError, match=r"has shape"):
        opt.apply_gradients([([1.0, 2.0], v)])
    with pytest.raises(ValueError, match=r"No gradients provided"):
        opt.apply_gradients([(None, v)])
    assert scale_of(opt) == 8


@differs(
    "slots of a `MixedPrecisionLossScaleOptimizer`",
    tensorflow="`get_slot` finds none",
    gradlab="the wrapped optimizer's",
)
def test_slots_are_the_wrapped_optimizers() -> None:
    v = gl.Variable([1.0])
    opt = Scaled(gl.train.MomentumOptimizer(1.0, 0.5), 2)
    opt.minimize(lambda: v * 3, var_list=[v])
    assert opt.get_slot(v, "momentum").numpy().tolist() == [3]


@differs(
    "loss-scaled gradients of another dtype than float32",
    tensorflow="an error",
    gradlab="divided in their dtype",
)
@pytest.mark.parametrize("module", [np, jnp], ids=["numpy", "jax"])
def test_gradients_of_float64_are_divided(module: Any) -> None:
    with jax.enable_x64(True):
        v = gl.Variable(module.asarray([3.0], np.float64))
    opt = Scaled(SGD(1.0), 8)
    ((gradient, _),) = pairs = opt.compute_gradients(lambda: v * v, [v])
    assert (gradient.dtype, gradient.tolist()) == (np.float64, [6])
    opt.apply_gradients(pairs)
    assert v.numpy().tolist() == [-3]


def test_one_gradient_needs_no_list() -> None:
    _, is_finite = gl.train.DynamicLossScale().update(np.float32(4.0))
    assert is_finite


def test_a_scale_is_shown_in_a_graph_too() -> None:
    with gl.Graph().as_default():
        assert "current_loss_scale=8.0" in repr(gl.train.DynamicLossScale(8))

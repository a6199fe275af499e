"""Contrib's optimizers around another one, beyond the scenarios of TensorFlow 1.15."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.contrib import opt as contrib
from tests.differences import differs

SGD = gl.train.GradientDescentOptimizer


# Moving averages.


def test_averages_that_move_beside_the_step_see_the_weights_before_it() -> None:
    v = gl.Variable([4.0], name="v")
    opt = contrib.MovingAverageOptimizer(SGD(1.0), 0.5, sequential_update=False)
    for _ in range(2):
        opt.apply_gradients([([2.0], v)])
    (average,) = opt.variables()
    assert (v.numpy().tolist(), average.numpy().tolist()) == ([0.0], [3.0])


@differs(
    "`MovingAverageOptimizer.swapping_saver`, and `get_slot_names` beside it",
    tensorflow="a Saver; AttributeError",
    gradlab="a dictionary of variables by name; the names of the wrapped optimizer's slots",
)
def test_a_swapping_saver_has_averages_under_the_names_of_weights(tmp_path: Path) -> None:
    with gl.variable_collection():
        v = gl.Variable([4.0], name="v")
        opt = contrib.MovingAverageOptimizer(SGD(1.0), 0.5)
        opt.apply_gradients([([2.0], v)])
        assert opt.get_slot_names() == []

        values = {name: x.numpy() for name, x in opt.swapping_saver().items()}
        gl.save(tmp_path / "run.npz", weights=values)

    weights = gl.load(tmp_path / "run.npz")["weights"]
    assert {name: x.tolist() for name, x in weights.items()} == {
        "v": [3.0],
        "v/ExponentialMovingAverage": [2.0],
    }


def test_a_swapping_saver_needs_averages_and_both_of_a_pair() -> None:
    with gl.variable_collection():
        v = gl.Variable([4.0], name="v")
        opt = contrib.MovingAverageOptimizer(SGD(1.0))
        with pytest.raises(RuntimeError, match="before swapping_saver"):
            opt.swapping_saver()
        opt.apply_gradients([([2.0], v)])
        with pytest.raises(ValueError, match="is listed without"):
            opt.swapping_saver([v])


def test_a_state_brings_averages_to_a_new_optimizer() -> None:
    v = gl.Variable([4.0], name="v")
    opt = contrib.MovingAverageOptimizer(gl.train.MomentumOptimizer(1.0, 0.5), 0.5)
    opt.apply_gradients([([2.0], v)])
    w = gl.Variable([4.0], name="w")
    later = contrib.MovingAverageOptimizer(gl.train.MomentumOptimizer(1.0, 0.5), 0.5)

    later.load_state_dict(opt.state_dict({"a": v}), {"a": w})

    assert later.swapping_saver({"w": w, "mean": later._averages.average(w)})[
        "w"
    ].numpy().tolist() == [3.0]
    with pytest.raises(ValueError, match="averages of a"):
        later.load_state_dict(
            {**opt.state_dict({"a": v}), "opt": later.state_dict({"b": w})["opt"]}, {"b": w}
        )


def test_a_copy_and_a_pickle_keep_averages_of_their_own() -> None:
    v = gl.Variable([4.0], name="v")
    opt = contrib.MovingAverageOptimizer(SGD(1.0), 0.5)
    opt.apply_gradients([([2.0], v)])

    w, loaded = pickle.loads(pickle.dumps((v, opt)))
    loaded.apply_gradients([([2.0], w)])

    assert [x.numpy().tolist() for x in loaded.variables()] == [[1.5]]
    assert [x.numpy().tolist() for x in opt.variables()] == [[3.0]]


# Variables that are clipped.


@pytest.mark.parametrize("place", [gl.Graph().as_default, gl.variable_collection])
def test_powers_are_named_under_the_clip(place: Any) -> None:
    with place():
        v = gl.Variable([3.0], name="v")
        opt = contrib.VariableClippingOptimizer(gl.train.AdamOptimizer(), {v: [0]}, 2.0)
        opt = contrib.VariableClippingOptimizer(opt, {}, 2.0, name="Outer")
        opt.apply_gradients([([1.0], v)])
        assert [x.name for x in opt.variables()] == [
            "Outer/VariableClipping/beta1_power:0",
            "Outer/VariableClipping/beta2_power:0",
            "v/Adam:0",
            "v/Adam_1:0",
        ]


def test_a_row_named_twice_ends_below_the_limit() -> None:
    v = gl.Variable([[3.0], [3.0]], name="v")
    opt = contrib.VariableClippingOptimizer(SGD(1.0), {v: [1]}, 2.0)
    opt.apply_gradients([(gl.IndexedSlices([[0.0], [0.0]], [1, 1], (2, 1)), v)])
    assert v.numpy().ravel().tolist() == [3.0, 1.0]


def test_an_axis_that_there_is_not_leaves_the_weights() -> None:
    v = gl.Variable([3.0], name="v")
    opt = contrib.VariableClippingOptimizer(SGD(1.0), {v: [1]}, 2.0)
    with pytest.raises(ValueError, match="ax"):
        opt.apply_gradients([([1.0], v)])
    assert v.numpy().tolist() == [3.0]


def test_a_clip_along_axis_0_of_sparse_steps_warns() -> None:
    v = gl.Variable([[3.0], [4.0]], name="v")
    opt = contrib.VariableClippingOptimizer(SGD(1.0), {v: [0]}, 1.0)
    with pytest.warns(gl.errors.ClipWarning, match="all of its rows"):
        opt.apply_gradients([(gl.IndexedSlices([[0.0]], [1], (2, 1)), v)])
    np.testing.assert_allclose(v.numpy().ravel(), [0.6, 0.8], rtol=1e-6)


# Losses of many tasks.


@differs(
    "the optimizer that a `MultitaskOptimizerWrapper` is given",
    tensorflow="is changed: it ignores gradients of zeros from then on, used alone too",
    gradlab="is left as it is",
)
def test_the_optimizer_inside_still_takes_zeros_for_gradients() -> None:
    v = gl.Variable([1.0], name="v")
    inner = gl.train.MomentumOptimizer(1.0, 0.5)
    opt = contrib.MultitaskOptimizerWrapper(inner)
    opt.apply_gradients([([1.0], v)])
    opt.apply_gradients([([0.0], v)])
    assert v.numpy().tolist() == [0.0]
    inner.apply_gradients([([0.0], v)])
    assert v.numpy().tolist() == [-0.5]


def test_a_wrapper_has_the_attributes_of_what_it_wraps() -> None:
    inner = contrib.RegAdagradOptimizer(0.5, 12.0)
    opt = contrib.MultitaskOptimizerWrapper(inner)
    v = gl.Variable([1.0], name="v")
    with opt.avoid_updating_slots():
        opt.apply_gradients([([2.0], v)])
    assert inner.get_slot(v, "accumulator").numpy().tolist() == [12.0]
    with pytest.raises(AttributeError):
        opt.nothing_of_this_name  # noqa: B018


def test_a_gradient_of_nan_is_not_zeros() -> None:
    v = gl.Variable([1.0], name="v")
    contrib.MultitaskOptimizerWrapper(SGD(1.0)).apply_gradients([([np.nan], v)])
    assert np.isnan(v.numpy()).all()


@pytest.mark.parametrize(
    "make",
    [
        contrib.MovingAverageOptimizer,
        contrib.MultitaskOptimizerWrapper,
        lambda opt: contrib.VariableClippingOptimizer(opt, {}, 1.0),
    ],
)
def test_only_optimizers_are_wrapped(make: object) -> None:
    with pytest.raises(TypeError, match="opt must be an optimizer"):
        make(0.1)  # type: ignore[operator]

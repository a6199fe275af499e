"""`gl.contrib.layers`, beyond the scenarios of TensorFlow 1.15."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.contrib.layers import adaptive_clipping_fn, optimize_loss
from tests.differences import differs

F = np.float32


def weights(value: Any = (3.0, 4.0)) -> gl.Variable:
    return gl.Variable(np.asarray(value, F), name="v")


def half_square(v: gl.Variable) -> Any:
    return lambda: (v * v).sum() * 0.5


# A training step.


def test_a_step_runs_again_and_again_outside_a_graph() -> None:
    v = weights()
    step = optimize_loss(half_square(v), None, 0.5, "Momentum", variables=[v])
    assert [float(step.run()) for _ in range(2)] == [12.5, 3.125]


@pytest.mark.parametrize("place", [lambda: gl.Graph().as_default(), gl.variable_collection])
def test_slots_are_named_under_the_step(place: Any) -> None:
    with place() as collection:
        v = weights()
        step = optimize_loss(half_square(v), None, 0.5, "Adam", name="Mine")
        step.run()
        names = [x.name for x in collection]
    assert "Mine/v/Adam_1:0" in names
    assert "Mine/beta1_power:0" in names


def test_the_rate_is_a_variable_that_may_be_assigned() -> None:
    with gl.variable_collection() as collection:
        v = weights()
        step = optimize_loss(half_square(v), None, 0.5, gl.train.GradientDescentOptimizer)
        (rate,) = [x for x in collection if "learning_rate" in x.name]
        rate.assign(0.0)
        step.run()
        assert (rate.name, v.numpy().tolist()) == ("OptimizeLoss/learning_rate:0", [3.0, 4.0])


@differs(
    "the function that `adaptive_clipping_fn` returns, called again",
    tensorflow="makes new means",
    gradlab="moves its means",
)
def test_an_adaptive_clip_moves_at_every_run_of_a_graph() -> None:
    with gl.Graph().as_default():
        v = weights()
        clip = adaptive_clipping_fn(decay=0.5)
        step = optimize_loss(half_square(v), None, 0.25, "SGD", clip_gradients=clip, variables=[v])
        assert float(clip.mean) == 0.0
        step.run()
        first = float(clip.mean)
        step.run()
        assert float(clip.mean) not in (0.0, first)


def test_noise_is_cut_at_two_deviations() -> None:
    v = weights(np.zeros(10_000))
    step = optimize_loss(
        lambda: (v * 0.0).sum(), None, 1.0, "SGD", gradient_noise_scale=0.5, variables=[v]
    )
    step.run()
    noise = v.numpy()
    assert np.abs(noise).max() <= 1.0
    assert noise.std() == pytest.approx(0.5 * 0.88, rel=0.05)


def test_multipliers_go_by_variable_and_by_name() -> None:
    v = weights()
    w = gl.Variable(np.asarray([3.0, 4.0], F), name="w")
    step = optimize_loss(
        lambda: v.value.sum() + w.value.sum(),
        None,
        1.0,
        "SGD",
        gradient_multipliers={v: 2.0, "w:0": 0.5},
        variables=[v, w],
    )
    step.run()
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([1.0, 2.0], [2.5, 3.5])


def test_update_operations_run_before_the_loss() -> None:
    with gl.Graph().as_default():
        v = weights()
        before = gl.Operation("before", lambda: v.assign([1.0, 0.0]))
        step = optimize_loss(half_square(v), None, 1.0, "SGD", update_ops=[before], variables=[v])
        assert float(step.run()) == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"optimizer": "Sgd"}, "must be among"),
        ({"optimizer": lambda rate: 3}, "must return one"),
        ({"optimizer": gl.train.GradientDescentOptimizer, "learning_rate": None}, "needs one"),
        ({"learning_rate": np.ones(2, F)}, "scalar array"),
        ({"clip_gradients": 1}, "clip_gradients"),
        ({"learning_rate_decay_fn": lambda rate, step: rate}, "global_step is required"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with gl.variable_collection():
        v = weights()
        given = {"learning_rate": 0.5, "optimizer": "SGD", "variables": [v], **arguments}
        with pytest.raises(ValueError, match=message):
            optimize_loss(half_square(v), None, **given)


def test_a_loss_is_a_function_and_a_step_a_variable() -> None:
    v = weights()
    with pytest.raises(ValueError, match="lambda"):
        optimize_loss(v.value.sum(), None, 0.5, "SGD", variables=[v])
    with pytest.raises(TypeError, match="global_step"):
        optimize_loss(half_square(v), 3, 0.5, "SGD", variables=[v])  # type: ignore[arg-type]


# An adaptive clip.


def test_a_clip_can_be_pickled_with_its_means() -> None:
    clip = adaptive_clipping_fn(decay=0.5)
    clip([(np.asarray([3.0], F), None)])
    again = pickle.loads(pickle.dumps(clip))
    for norm in (1.0, 50.0):
        pairs = [(np.asarray([norm], F), None)]
        assert again(pairs)[0][0].tolist() == clip(pairs)[0][0].tolist()


def test_the_means_have_the_dtype_of_the_gradients() -> None:
    clip = adaptive_clipping_fn()
    ((g, _),) = clip([(np.asarray([3.0]), None)])
    assert (g.dtype, clip.mean.dtype) == (np.float64, np.float64)


def test_a_norm_of_zero_passes() -> None:
    clip = adaptive_clipping_fn(static_max_norm=1.0)
    ((g, _),) = clip([(np.zeros(2, F), None)])
    assert g.tolist() == [0.0, 0.0]

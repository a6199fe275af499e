"""Contrib's optimizers in a Graph, where gradients are tensors that each run computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.contrib import opt as contrib
from gradlab.contrib.layers import adaptive_clipping_fn, optimize_loss
from tests.train.runs import CONTRIB

F = np.float32
SGD = gl.train.GradientDescentOptimizer
STEPS = 3
# From the weights, the global step and a rate that is a variable.
Make = Callable[[gl.Variable, gl.Variable, gl.Variable], Any]

MAKERS: dict[str, Make] = {
    name: lambda v, step, rate, make=make: make(step, rate) for name, make in CONTRIB.items()
}
MAKERS |= {
    "ggt": lambda v, step, rate: contrib.GGTOptimizer(rate, window=2, svd_eps=1e-3),
    "variable clipping": lambda v, step, rate: contrib.VariableClippingOptimizer(
        gl.train.AdamOptimizer(rate), {v: [1]}, 2.0
    ),
    "two wrappers": lambda v, step, rate: contrib.MovingAverageOptimizer(
        contrib.MultitaskOptimizerWrapper(gl.train.AdamOptimizer(rate)), 0.5
    ),
}
GETTERS: dict[str, tuple[Any, Callable[[Any, gl.Variable], Any]]] = {
    "agn": (
        contrib.AGNCustomGetter,
        lambda getter, rate: contrib.AGNOptimizer(gl.train.AdamOptimizer(rate), 1, getter, 2),
    ),
    "elastic": (
        contrib.ElasticAverageCustomGetter,
        lambda getter, rate: contrib.ElasticAverageOptimizer(SGD(rate), 1, getter, 2),
    ),
    "model average": (
        contrib.ModelAverageCustomGetter,
        lambda getter, rate: contrib.ModelAverageOptimizer(SGD(rate), 1, True, getter, 2),
    ),
}


def describe(name: str) -> Callable[[], Any]:
    """Return the call that minimizes a loss of new weights."""
    start = F([[1.0, -2.0], [3.0, 0.5]])
    step = gl.get_or_create_global_step()
    rate = gl.Variable(F(0.25), trainable=False, name="rate")
    if name in GETTERS:
        getter_class, make = GETTERS[name]
        getter = getter_class("worker")
        v = getter(gl.Variable, "v", initial_value=start)
        opt = make(getter, rate)
    else:
        v = gl.Variable(start, name="v")
        opt = MAKERS[name](v, step, rate)
    return lambda: opt.minimize(lambda: ((v * v) * v).sum() * F(0.5), step, [v])


def by_name(collection: Iterable[gl.Variable]) -> list[gl.Variable]:
    return sorted(collection, key=lambda v: v.name)


@pytest.mark.parametrize("name", [*MAKERS, *GETTERS])
def test_runs_of_a_graph_are_steps_outside_of_one(name: str) -> None:
    with gl.variable_collection() as eager:
        step_now = describe(name)
        for _ in range(STEPS):
            step_now()
    with gl.Graph().as_default() as graph:
        minimize = describe(name)
        before = [x.numpy() for x in graph]
        operation = minimize()
        for x, value in zip(graph, before, strict=False):
            np.testing.assert_array_equal(x.numpy(), value)
        with gl.Session() as sess:
            for _ in range(STEPS):
                sess.run(operation)

    for x, y in zip(by_name(eager), by_name(graph), strict=True):
        np.testing.assert_array_equal(y.numpy(), x.numpy(), x.name)


def test_a_loss_may_be_a_tensor() -> None:
    with gl.Graph().as_default():
        v = gl.Variable(F([3.0, 4.0]), name="v")
        step = optimize_loss(np.sum(v * v) * F(0.5), None, 0.5, "SGD", variables=[v])
        losses = [step.run().item() for _ in range(2)]
    assert losses == [12.5, 3.125]


def test_zeros_are_looked_for_at_every_run() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0], name="v")
        share = gl.Variable(F(1.0), trainable=False, name="share")
        opt = contrib.MultitaskOptimizerWrapper(gl.train.MomentumOptimizer(1.0, 0.5))
        operation = opt.minimize(lambda: (v.value * share.value).sum(), var_list=[v])
        operation.run()
        share.load(0.0)
        operation.run()
        assert v.numpy().tolist() == [0.0]


def test_rows_are_clipped_that_a_run_names() -> None:
    with gl.Graph().as_default():
        v = gl.Variable(F([[3.0], [3.0]]), name="v")
        row = gl.Variable(np.int32([0]), trainable=False, name="row")
        opt = contrib.VariableClippingOptimizer(SGD(1.0), {v: [1]}, 2.0)
        operation = opt.minimize(lambda: (gl.gather(v, row.value) * F(0)).sum(), var_list=[v])
        row.load([1])
        operation.run()
        assert v.numpy().ravel().tolist() == [3.0, 2.0]


def test_an_adaptive_clip_of_tensors_moves_once_a_run() -> None:
    with gl.Graph().as_default():
        v = gl.Variable(F([3.0, 4.0]), name="v")
        w = gl.Variable(F([0.0]), name="w")
        clip = adaptive_clipping_fn(decay=0.5)
        opt = SGD(1.0)
        pairs = clip(opt.compute_gradients(lambda: (v * v).sum() * 0.5 + w.value.sum(), [v, w]))
        operation = opt.apply_gradients(pairs)
        assert float(clip.mean) == 0.0
        with gl.Session() as sess:
            sess.run([operation, pairs[0][0], pairs[1][0]])
        assert float(clip.mean) == pytest.approx(0.5 * np.log(26.0) / 2)


def test_signs_take_a_tensor_for_a_rate_but_no_function() -> None:
    with gl.Graph().as_default():
        step = gl.get_or_create_global_step()
        v = gl.Variable([1.0], name="v")
        rate = gl.train.exponential_decay(0.5, step, 1, 0.5)
        operation = contrib.AddSignOptimizer(rate).apply_gradients([([1.0], v)], step)
        operation.run()
        operation.run()
        assert v.numpy().tolist() == [1.0 - 1.0 - 0.5]
        with pytest.raises(TypeError, match="got a function"):
            contrib.AddSignOptimizer(lambda: 0.5).apply_gradients([([1.0], v)])

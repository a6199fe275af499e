"""What may be given as a hyperparameter, and what becomes of it."""

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.train.hyperparameters import check_functions, is_plain, read_scalar
from tests.differences import differs

F = np.float32


@pytest.mark.parametrize(
    ("given", "value", "dtype"),
    [
        (0.1, float(F(0.1)), float),
        (2, 2.0, float),
        (True, 1.0, float),
        (np.float64(0.1), 0.1, np.float64),
        (np.array(0.1), 0.1, np.float64),
        (F(0.1), F(0.1), F),
        (np.int64(3), 3, np.int64),
        (lambda: 0.1, float(F(0.1)), float),
        (lambda: np.float64(0.1), 0.1, np.float64),
    ],
)
def test_python_numbers_are_rounded_and_arrays_are_not(
    given: Any, value: float, dtype: type
) -> None:
    got = read_scalar(given, "x")
    assert (got, type(got)) == (value, dtype)


def test_variables_and_jax_arrays_are_read() -> None:
    assert read_scalar(gl.Variable(0.5), "x") == 0.5
    assert read_scalar(jnp.float32(0.5), "x").dtype == F
    assert not any(map(is_plain, (gl.Variable(0.5), F(1), np.float64(1), lambda: 1, None, "1")))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (None, ValueError, "beta is None"),
        ("0.1", TypeError, "beta must be numbers, got '0.1'"),
        ([0.1, 0.2], ValueError, r"beta must be a scalar, got shape \(2,\)"),
        (lambda: np.ones(3), ValueError, r"beta must be a scalar, got shape \(3,\)"),
    ],
)
def test_what_is_no_scalar_is_refused_by_name(
    given: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_scalar(given, "beta")


class Rate:
    def __call__(self, step: int) -> float:
        return 0.1


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (lambda step: 0.1, "<lambda>"),
        (Rate(), "Rate"),
    ],
)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("learning_rate", gl.train.AdagradOptimizer),
        ("momentum", lambda x: gl.train.MomentumOptimizer(0.1, x)),
    ],
)
def test_a_function_that_needs_arguments_is_refused_at_construction(
    name: str, make: Any, given: Any, what: str
) -> None:
    with pytest.raises(
        TypeError,
        match=rf"{name} must be .*{what} needs arguments.*lambda: schedule\(global_step.val",
    ):
        make(given)


def test_a_schedule_of_the_global_step_is_a_function_without_arguments() -> None:
    schedule, step, v = (
        gl.schedules.ExponentialDecay(1.0, 1, 0.5),
        gl.get_or_create_global_step(),
        gl.Variable([0.0]),
    )
    opt = gl.train.GradientDescentOptimizer(lambda: schedule(step.value))
    for _ in range(2):
        opt.apply_gradients([([1.0], v)], step)
    assert v.numpy().tolist() == [-1.5]


@pytest.mark.parametrize(
    "function", [partial(float, "0.1"), iter([0.1]).__next__, lambda rate=0.1: rate, dict]
)
def test_functions_that_need_nothing_are_taken(function: Any) -> None:
    check_functions(rate=function, other=0.1, none=None)


# Schedules

HALVING = gl.schedules.ExponentialDecay(1.0, 1, 0.5)


@differs(
    "a schedule object as the learning rate of a `gl.train` optimizer",
    tensorflow="taken, and a TypeError at the first step",
    gradlab="asked at the global step, which must be there",
)
def test_a_schedule_is_asked_at_the_global_step() -> None:
    with gl.variable_collection():
        v, step = gl.Variable([0.0]), gl.train.create_global_step()
        other = gl.Variable(np.int64(3), trainable=False)
        opt = gl.train.GradientDescentOptimizer(HALVING)
        for given in (step, step, None, other):
            opt.apply_gradients([([1.0], v)], given)
        assert v.numpy().item() == -(1 + 0.5 + 0.25 + 0.125)
        assert (int(step), int(other)) == (2, 4)


def test_a_schedule_in_a_graph_is_asked_at_every_run() -> None:
    with gl.Graph().as_default():
        v, step = gl.Variable([0.0]), gl.train.create_global_step()
        train_op = gl.train.MomentumOptimizer(HALVING, 0.0).minimize(v * 1.0, step)
    for _ in range(3):
        train_op.run()
    assert v.numpy().item() == -1.75


def test_a_schedule_needs_a_step() -> None:
    opt = gl.train.AdamOptimizer(HALVING)
    with gl.variable_collection():
        v = gl.Variable([0.0])
        with pytest.raises(RuntimeError, match=r"ExponentialDecay.*needs a global step: pass"):
            opt.apply_gradients([([1.0], v)])
        assert opt.variables() == []
    with gl.Graph().as_default():
        w = gl.Variable([0.0])
        with pytest.raises(RuntimeError, match=r"needs a global step"):
            opt.minimize(w * 1.0)


def test_the_pure_form_asks_a_schedule_at_its_own_count() -> None:
    jax = pytest.importorskip("jax")
    opt = gl.train.GradientDescentOptimizer(HALVING)
    w, state = jax.numpy.zeros(1), opt.init(jax.numpy.zeros(1))
    for _ in range(3):
        w, state = jax.jit(opt.step)(w, state, jax.numpy.ones(1))
    assert w.tolist() == [-1.75]


def test_every_optimizer_takes_a_schedule() -> None:
    with gl.variable_collection():
        step = gl.train.create_global_step()
        for opt in (
            gl.train.GradientDescentOptimizer(HALVING),
            gl.train.MomentumOptimizer(HALVING, 0.9),
            gl.train.AdagradOptimizer(HALVING),
            gl.train.AdagradDAOptimizer(HALVING, step),
            gl.train.AdamOptimizer(HALVING),
            gl.train.RMSPropOptimizer(HALVING),
            gl.train.AdadeltaOptimizer(HALVING),
            gl.train.FtrlOptimizer(HALVING),
            gl.train.ProximalAdagradOptimizer(HALVING),
            gl.train.ProximalGradientDescentOptimizer(HALVING),
        ):
            v = gl.Variable([1.0])
            opt.apply_gradients([([1.0], v)], step)
            assert v.numpy().item() != 1
            assert "ExponentialDecay" in repr(opt)

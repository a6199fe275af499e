"""Moving averages of variables: defaults and refusals.

Their numbers are in conformance/test_train_v1.py.
"""

from __future__ import annotations

import gc

import jax.numpy as jnp
import pytest

import gradlab as gl
from tests.differences import differs


def test_without_a_list_all_trainable_variables_are_averaged() -> None:
    v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w", trainable=False)
    ema = gl.train.ExponentialMovingAverage(0.5)

    ema.apply()

    assert ema.average(v) is not None
    assert ema.average(w) is None


def test_an_average_of_a_jax_variable_follows_it() -> None:
    v = gl.Variable(jnp.array([4.0]), name="v")
    ema = gl.train.ExponentialMovingAverage(0.75)
    ema.apply([v])
    v.assign(jnp.array([8.0]))

    ema.apply([v])

    average = ema.average(v)
    assert average is not None
    assert average.numpy().tolist() == [5.0]


def test_an_average_does_not_keep_its_variable() -> None:
    v = gl.Variable([1.0], name="v")
    ema = gl.train.ExponentialMovingAverage(0.5)
    ema.apply([v])

    del v
    gc.collect()

    assert not ema._averages


@differs(
    "ExponentialMovingAverage of a tensor in a graph",
    tensorflow="an average of its values, from 0; TypeError when eager",
    gradlab="NotAVariableError: averages are of Variables",
)
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([[1.0]], gl.errors.NotAVariableError, "var_list must hold Variables, got"),
        (
            [gl.Variable(1, name="count")],
            TypeError,
            "must be half, float, or double: count:0 is int32",
        ),
    ],
)
def test_anything_else_is_refused_and_nothing_is_averaged(
    given: list, error: type[Exception], message: str
) -> None:
    v = gl.Variable([1.0], name="v")
    ema = gl.train.ExponentialMovingAverage(0.5)

    with pytest.raises(error, match=message):
        ema.apply([v, *given])

    assert ema.average(v) is None

"""Gradients by arrays that a loss uses, beside those by variables."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.train import GradientDescentOptimizer
from tests.differences import differs
from tests.golden.tensorflow_values import tensorflow

X, Y, COUNT = jnp.float32([1.0, 2.0]), jnp.float32(3.0), jnp.int32(2)


def test_arrays_beside_variables_in_order() -> None:
    v = gl.Variable([5.0, 6.0], name="v")
    unused = jnp.float32([7.0])
    pairs = GradientDescentOptimizer(3.0).compute_gradients(
        lambda: X * X * Y + v * COUNT, [X, v, Y, unused, COUNT], grad_loss=[1.0, 10.0]
    )
    assert all(a is b for (_, a), b in zip(pairs, [X, v, Y, unused, COUNT], strict=True))
    found = [g if g is None else np.asarray(g).tolist() for g, _ in pairs]
    assert found == [[6, 120], [2, 20], 41, None, None]
    (pair,) = GradientDescentOptimizer(3.0).compute_gradients(lambda: Y * Y, Y)  # type: ignore[arg-type]
    assert float(pair[0]) == 6  # type: ignore[arg-type]
    with jax.enable_x64(True):
        wide = jnp.float64(1 / 3)
        assert (
            float(GradientDescentOptimizer(3.0).compute_gradients(lambda: wide**3, [wide])[0][0])
            == 3 * (1 / 3) ** 2
        )  # type: ignore[list-item, arg-type]


@differs(
    "`compute_gradients` by tensors",
    tensorflow="any tensor that the tape has seen",
    gradlab="JAX arrays that the loss uses outside `jax.jit` and loops; others are refused",
)
def test_they_are_refused_where_a_variable_is_needed() -> None:
    opt = GradientDescentOptimizer(3.0)
    with pytest.raises(NotImplementedError, match="can only update a gradlab Variable"):
        opt.apply_gradients(opt.compute_gradients(lambda: Y * Y, [Y]))  # type: ignore[list-item]
    with pytest.raises(gl.errors.NotAVariableError, match="a NumPy array is a constant to a loss"):
        opt.compute_gradients(lambda: Y * Y, [np.float32([1.0])])  # type: ignore[list-item]
    inner = jax.jit(lambda a: a * Y)
    with pytest.raises(NotImplementedError, match=r"uses an array of var_list inside jax\.jit"):
        opt.compute_gradients(lambda: inner(X) + Y, [Y])  # type: ignore[list-item]


@pytest.mark.tensorflow
def test_as_eager_tensorflow_does() -> None:
    tf: Any = tensorflow()
    x, v = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])
    opt = tf.compat.v1.train.GradientDescentOptimizer(3.0)
    theirs = opt.compute_gradients(lambda: x * x * v, [x, v])
    w = gl.Variable([3.0, 4.0])
    ours = GradientDescentOptimizer(3.0).compute_gradients(lambda: X * X * w, [X, w])  # type: ignore[list-item]
    assert [np.asarray(g).tolist() for g, _ in ours] == [g.numpy().tolist() for g, _ in theirs]
    assert theirs[0][1] is x
    with pytest.raises(NotImplementedError):
        opt.apply_gradients(theirs)

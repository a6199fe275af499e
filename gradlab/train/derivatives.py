"""Derivatives beside the first: none, your own, and the second."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._base.arrays import (
    Array,
    as_array,
    is_double,
    is_jax,
    is_traced,
    precision,
    without_derivative,
)
from .._base.derivatives import differentiator
from .._base.tensors import deferrable, describe
from .autodiff import (
    Loss,
    LossTape,
    check_aggregation,
    check_variables,
    compute_loss,
    listed,
    without_tape,
)
from .variable import Variable, current_collection


@deferrable
def stop_gradient(input: Any, name: str | None = None) -> Array:
    """Return the input, which the derivative takes for a constant.

    Args:
        input: array, Variable, or tensor.
        name: no effect.

    Source: `tf.stop_gradient`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([3.0])
    >>> gl.gradients(lambda: v * stop_gradient(v), [v])
    [array([3.], dtype=float32)]
    """
    return without_derivative(as_array(input, "input"))


def custom_gradient(f: Callable[..., tuple[Any, Callable[..., Any]]]) -> Callable[..., Any]:
    """Decorate a function that returns its value and its derivative.

    Args:
        f: takes arrays, and returns its value and a function from the gradient upstream to the
            gradient of each argument, in a tuple where there are several.

    Returns:
        a function of arrays, variables or tensors.

    Differs from TensorFlow: variables that `f` reads and isn't given have no gradient, so give
    them. Compute with jax.numpy, or with autograd.numpy where JAX isn't installed.

    Source: `tf.custom_gradient`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl, jax.numpy as jnp
    >>> @custom_gradient
    ... def log1pexp(x):
    ...     e = jnp.exp(x)
    ...     return jnp.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> v = gl.Variable([100.0])  # whose exponential is infinite
    >>> gl.gradients(lambda: log1pexp(v), [v])
    [array([1.], dtype=float32)]
    """

    @functools.wraps(f)
    def wrapper(*args: Any) -> Any:
        arrays = [as_array(x) for x in args]
        if not any(is_traced(x) for x in arrays):
            return f(*arrays)[0]
        return differentiator().custom_gradient(apart)(*arrays)

    def apart(*args: Any) -> Any:
        # Variables and tensors that it reads would be followed into a derivative that isn't theirs.
        with without_tape():
            return f(*args)

    return deferrable(wrapper)


def hessians(
    ys: Loss | Sequence[Loss],
    xs: Variable | Sequence[Variable],
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Array]:
    """Second derivatives of the sum of ys with respect to each x.

        result_i = d^2 sum(ys) / d x_i d x_i, of the shape of x_i twice

    Args:
        ys: a function without arguments, a tensor, or a list of them, as for `gl.gradients`.
        xs: a variable or a list of them.
        name, colocate_gradients_with_ops, gate_gradients, aggregation_method: as in
            `gl.gradients`.

    Returns:
        a list of arrays, NumPy for NumPy variables; in a `gl.Graph` of tensors.

    Raises:
        TypeError, ValueError: as `gl.gradients`.

    Differs from TensorFlow: a variable that ys don't depend on has zeros; there it's an error.

    Source: `tf.hessians`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 2.0])
    >>> hessians(lambda: (v * v * v).sum(), v)[0].tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    check_aggregation(aggregation_method, strict=True)
    losses = listed(ys)
    variables = check_variables(listed(xs), "xs")

    def compute() -> list[Array]:
        return [_hessian(losses, v) for v in variables]

    if not current_collection().graph:
        return compute()
    described: list[Array] = describe(compute)
    return described


def _hessian(losses: Sequence[Loss], v: Variable) -> Array:
    def total(value: Array) -> Array:
        with LossTape([v], [value]):
            values = [compute_loss(loss) for loss in losses]
        return sum(y.sum() for y in values[1:]) + values[0].sum()

    with precision(np.float64 if is_double(v.dtype) else np.float32):
        second = differentiator().hessian(total, v._buffer.share())
    return second if is_jax(v._value) else np.asarray(second)

"""Gradients by JAX arrays that a loss computes with, which eager TensorFlow's tape has for tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._base.arrays import Array, is_double, is_inexact, is_jax, precision
from .._base.gradient_types import Gradient
from .autodiff import Loss, check_variables, compute_loss, differentiate, read_upstream


def differentiate_by_all(
    loss: Loss, items: Sequence[Any], upstream: Any
) -> list[tuple[Gradient | None, Any]]:
    """Pairs of a gradient and a variable or array, in order; None for an array that the loss does not use.

    >>> import jax.numpy as jnp
    >>> x = jnp.float32(3.0)
    >>> [(float(g), item is x) for g, item in differentiate_by_all(lambda: x * x, [x], None)]
    [(6.0, True)]
    """
    variables = check_variables([x for x in items if not is_jax(x)], "var_list")
    arrays = [x for x in items if is_jax(x)]
    found: dict[int, Gradient | None] = {}
    if variables:
        found |= zip(
            map(id, variables), differentiate([loss], variables, [upstream])[0], strict=True
        )
    found |= zip(map(id, arrays), _by_arrays(loss, arrays, upstream), strict=True)
    return [(found[id(x)], x) for x in items]


def _by_arrays(loss: Loss, arrays: Sequence[Array], upstream: Any) -> list[Array | None]:
    """The loss is traced once; what it closes over are constants of the trace, and so they can be
    replaced.
    """
    from .._base.jax import jax

    with precision(np.float64 if any(is_double(x.dtype) for x in arrays) else np.float32):
        traced = jax.make_jaxpr(lambda: compute_loss(loss))()
        if any(x is c for x in arrays for c in _inner_constants(traced.jaxpr)):
            raise NotImplementedError(
                "the loss uses an array of var_list inside jax.jit or a loop; pass it in as an "
                "argument there, or make it a gl.Variable"
            )
        places = [next((k for k, c in enumerate(traced.consts) if c is x), None) for x in arrays]
        used = {
            k: x
            for k, x in zip(places, arrays, strict=True)
            if k is not None and is_inexact(x.dtype)
        }

        def replayed(values: dict[int, Array]) -> Array:
            constants = [values.get(k, c) for k, c in enumerate(traced.consts)]
            y: Array = jax.core.eval_jaxpr(traced.jaxpr, constants)[0]
            return y

        y, pullback = jax.vjp(replayed, used)
        (found,) = pullback(read_upstream(upstream, y, complex_losses=False))
    return [None if k is None else found.get(k) for k in places]


def _inner_constants(jaxpr: Any) -> Iterator[Any]:
    """The constants of functions in a trace that were traced by themselves."""
    for equation in jaxpr.eqns:
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, list | tuple) else [parameter]:
                yield from getattr(inner, "consts", ())
                if hasattr(inner := getattr(inner, "jaxpr", inner), "eqns"):
                    yield from _inner_constants(inner)

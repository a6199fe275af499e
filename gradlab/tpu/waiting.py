"""Gradients that wait for the lookup, so that tables are changed where they are.

A loss that is linear in a feature's activations has a gradient that can be there before the rows are read. XLA may then
write rows before it reads them, and copies the table to be safe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.arrays import Array
from .._base.library import HAS_JAX, jax, jnp


def after_lookup(
    gradients_of: Callable[[tuple[Array, ...]], Any], activations: tuple[Array, ...], gradients: Any
) -> tuple[Array, ...]:
    """The gradients, with the same numbers; each that does not depend on its own activations is made to.

    Args:
        gradients_of: what gave the gradients of the activations; it is traced again, and not run.
    """
    if not HAS_JAX:  # which alone writes where it reads
        return tuple(gradients)
    waits = depends_on_own(gradients_of, activations)
    return tuple(g if own else _waiting(g, a) for own, g, a in zip(waits, gradients, activations, strict=True))


def depends_on_own(function: Callable[[tuple[Array, ...]], Any], inputs: tuple[Array, ...]) -> list[bool]:
    """For each input whether the output of the same number depends on it, for a function of as many outputs.

    >>> depends_on_own(lambda x: (x[1], x[1] + x[0]), (jnp.ones(1), jnp.ones(1)))
    [False, True]
    """
    from jax.interpreters import partial_eval

    closed = jax.make_jaxpr(function)(inputs)
    count = len(inputs)

    def used(k: int) -> list[bool]:
        _, found = partial_eval.dce_jaxpr(closed.jaxpr, [n == k for n in range(count)])
        return list(found)

    return [used(k)[k] for k in range(count)]


def _waiting(g: Array, a: Array) -> Array:
    return jnp.where(jnp.isfinite(a), g + (a * 0).astype(g.dtype), g)  # XLA keeps a * 0, which may be NaN or -0

"""Updates that `optax.apply_updates` turns into exactly the weights a rule gave.

A rule gives new weights n, optax wants u and computes w + u, rounded. If n is itself a rounded sum w + x, which it is
wherever a rule moves a weight, then the rounded difference n - w is at most half an ulp of n away from the true one, as
x is, and so w + u rounds to n. One exception: around a power of two the numbers below lie twice as close as those
above, and there the neighbour of u does it. If a rule sets a weight, or a fused multiply-add rounds once where a
product and a sum round twice, n may lie between the numbers that w + u can be: they lie as far apart as those around w.
"""

from __future__ import annotations

from typing import Any

from .._base.arrays import Array


def difference(w: Array, n: Array) -> Array:
    """u with w + u == n, bit for bit, where the dtype has one; else n - w.

    >>> import jax.numpy as jnp
    >>> w, n = jnp.float32(3e7), jnp.float32(30000004)
    >>> bool(w + difference(w, n) == n)
    True
    """
    from .._steps.jax import jnp

    u = jnp.where(n == w, jnp.zeros_like(w), n - w)  # inf stays inf
    reached = w + u
    neighbour = jnp.nextafter(u, jnp.where(n > reached, jnp.inf, -jnp.inf).astype(u.dtype))
    return jnp.where((reached != n) & (w + neighbour == n), neighbour, u)


class Replacement:
    """A new weight where optax expects an update: added to the old weight it takes its place.

    `optax.apply_updates` and what works like it need nothing else. It is no array on purpose: a transformation that
    would scale or average it fails instead of changing the weight, and it cannot leave `jit`. Not in TensorFlow.

    >>> import jax.numpy as jnp, optax
    >>> optax.apply_updates({"w": jnp.ones(2)}, {"w": Replacement(jnp.zeros(2))})["w"].tolist()
    [0.0, 0.0]
    """

    __array_ufunc__ = None  # NumPy asks this class, and does not add entry by entry

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    def __radd__(self, old: Any) -> Array:
        return self.weights

    def __repr__(self) -> str:
        return f"Replacement({self.weights!r})"

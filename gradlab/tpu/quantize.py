"""Simulated quantization: what a table would give if it were stored in a few levels."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._base.arrays import Array, as_array, is_float, is_jax, namespace, quiet
from .._base.errors import DTypeError


def quantize(x: Any, lower: float, upper: float, num_buckets: int) -> Array:
    """The nearest of `num_buckets` evenly spaced levels from lower to upper.

        q = (upper - lower) / (num_buckets - 1)
        result = floor((clip(x, lower, upper) - lower) / q + 0.5) * q + lower

    The derivative is 1 everywhere ("straight-through"): rows are stored and updated as they are, only what is looked
    up is coarse.

    Args:
        x: float array of any shape; rows as they are looked up, before they are combined.
        lower, upper: the first and the last level.
        num_buckets: number of levels, at least 2.

    Raises:
        ValueError: fewer than 2 levels, or lower is not less than upper (which TensorFlow does not check).
        DTypeError: x is not floating-point.

    Source: `tf.tpu.experimental.embedding.QuantizationConfig`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> quantize(np.array([-2.0, -0.6, -0.4, 0.1, 0.5, 9.0]), -1.0, 1.0, 3).tolist()
    [-1.0, -1.0, 0.0, 0.0, 1.0, 1.0]
    """
    if num_buckets < 2:
        raise ValueError(f"num_buckets must be at least 2, got {num_buckets}")
    if not lower < upper:
        raise ValueError(f"lower must be less than upper, got {lower} and {upper}")
    x = as_array(x, "x")
    if not is_float(x.dtype):
        raise DTypeError(f"x must be floating-point, got {x.dtype}")
    return _straight_through()(x, lower, upper, num_buckets) if is_jax(x) else _levels(x, lower, upper, num_buckets)


@quiet
def _levels(x: Array, lower: float, upper: float, num_buckets: int) -> Array:
    xp, scalar = namespace(x), x.dtype.type
    low, high = scalar(lower), scalar(upper)
    q = (high - low) / scalar(num_buckets - 1)
    return xp.asarray(xp.floor((xp.minimum(xp.maximum(x, low), high) - low) / q + scalar(0.5)) * q + low, x.dtype)


@cache
def _straight_through() -> Any:
    """`_levels` for JAX, with the derivative of doing nothing."""
    from .._steps.jax import jax

    levels = jax.custom_jvp(_levels, nondiff_argnums=(1, 2, 3))

    @levels.defjvp
    def same(lower: float, upper: float, num_buckets: int, primals: Any, tangents: Any) -> Any:
        return _levels(primals[0], lower, upper, num_buckets), tangents[0]

    return levels

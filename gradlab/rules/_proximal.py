"""L1 and L2 penalties of a weight in closed form, for every rule that has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array, is_jax, namespace
from .._base.types import Number


def soft_threshold(x: Array, limit: Number) -> Array:
    """Return x moved toward 0 by `limit`, and no further than 0.

    >>> import numpy as np
    >>> soft_threshold(np.array([3.0, -0.5]), 1.0).tolist()
    [2.0, -0.0]
    """
    xp = namespace(x, limit)
    return xp.sign(x) * xp.maximum(xp.abs(x) - limit, x.dtype.type(0))


def shrink(x: Array, l1: Number, l2: Number, order: str = "dense") -> Array:
    """Return the w that minimizes (w - x)² / 2 + l1 |w| + l2 w² / 2.

    With the order "scalar" the division is in double precision, see `wide`.

    >>> import numpy as np
    >>> shrink(np.array([3.0, -0.5]), 1.0, 1.0).tolist()
    [1.0, -0.0]
    """
    numerator = soft_threshold(x, l1)
    if order == "scalar":
        numerator, l2 = wide(x, numerator, l2)
    divisor = x.dtype.type(1) + l2
    return namespace(x).asarray(numerator / divisor, x.dtype)


def wide(like: Array, *xs: Number) -> tuple[Any, ...]:
    """Return `xs` in double precision, in which TensorFlow computes slices of one element.

    JAX's 64-bit mode is off by default, so JAX arrays are returned unchanged.

    >>> import numpy as np
    >>> wide(np.float32([1.0]), np.float32([0.1]))[0].dtype
    dtype('float64')
    """
    return xs if is_jax(like) else tuple(np.asarray(x, np.float64) for x in xs)

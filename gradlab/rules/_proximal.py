"""L1 and L2 penalties of a weight in closed form, for every rule that has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array, is_jax, namespace
from .._base.types import Number


def soft_threshold(x: Array, limit: Number) -> Array:
    """x moved toward 0 by `limit`, and no further than 0.

    >>> import numpy as np
    >>> soft_threshold(np.array([3.0, -0.5]), 1.0).tolist()
    [2.0, -0.0]
    """
    xp = namespace(x, limit)
    return xp.sign(x) * xp.maximum(xp.abs(x) - limit, x.dtype.type(0))


def shrink(x: Array, l1: Number, l2: Number, order: str = "dense") -> Array:
    """The minimum over w of (w - x)² / 2 + l1 |w| + l2 w² / 2; with the order "scalar" the division
    is `wide`.

    >>> import numpy as np
    >>> shrink(np.array([3.0, -0.5]), 1.0, 1.0).tolist()
    [1.0, -0.0]
    """
    numerator, divisor = soft_threshold(x, l1), x.dtype.type(1) + l2
    if order == "scalar":
        numerator, divisor = wide(x, numerator)[0], x.dtype.type(1) + wide(x, l2)[0]
    return namespace(x).asarray(numerator / divisor, x.dtype)


def wide(like: Array, *xs: Number) -> tuple[Any, ...]:
    """`xs` in double precision, in which TensorFlow computes slices of one element; under JAX as
    they are.

    >>> import numpy as np
    >>> wide(np.float32([1.0]), np.float32([0.1]))[0].dtype
    dtype('float64')
    """
    return xs if is_jax(like) else tuple(np.asarray(x, np.float64) for x in xs)

"""What L1 and L2 penalties do to a weight in closed form, for every rule that has them."""

from __future__ import annotations

from .._arrays import Array, namespace


def soft_threshold(x: Array, limit: Array) -> Array:
    """x moved towards 0 by `limit`, and no further than 0.

    >>> import numpy as np
    >>> soft_threshold(np.array([3.0, -0.5]), 1.0).tolist()
    [2.0, -0.0]
    """
    xp = namespace(x, limit)
    return xp.sign(x) * xp.maximum(abs(x) - limit, x.dtype.type(0))


def shrink(x: Array, l1: Array, l2: Array) -> Array:
    """The minimum over w of (w - x)² / 2 + l1 |w| + l2 w² / 2.

    >>> import numpy as np
    >>> shrink(np.array([3.0, -0.5]), 1.0, 1.0).tolist()
    [1.0, -0.0]
    """
    return soft_threshold(x, l1) / (x.dtype.type(1) + l2)

"""The singular value decomposition that Shampoo and GGT take."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array, namespace


def decompose(matrix: Array) -> tuple[Any, Any, Any]:
    """Return u, the singular values and v transposed of a square matrix.

    NaN where an entry isn't finite, as in JAX and TensorFlow; NumPy raises an error for it.

    >>> u, singular, vh = decompose(np.diag([4.0, 9.0]))
    >>> singular.tolist()
    [9.0, 4.0]
    """
    xp: Any = namespace(matrix)
    if xp is np and not np.isfinite(matrix).all():
        missing = np.full_like(matrix, np.nan)
        return missing, missing[0], missing
    if matrix.dtype.itemsize == 2:
        wide = decompose(matrix.astype(np.float32))
        u, singular, vh = (x.astype(matrix.dtype) for x in wide)
    else:
        u, singular, vh = xp.linalg.svd(matrix)
    return u, singular, vh

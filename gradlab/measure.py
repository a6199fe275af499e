"""What is kept of one gradient: a few numbers and a histogram."""

from __future__ import annotations

import numpy as np

from ._arrays import Array, namespace, quiet

BINS = 64
LOWEST = -32  # bin k holds |entries| in [2**(k+LOWEST), 2**(k+LOWEST+1)); the first and last bins hold all beyond


@quiet
def measure(g: Array) -> dict[str, Array]:
    """Norm, largest entry, number of non-finite entries and log2 histogram of |g|, of one tensor.

    The norm is taken relative to the largest entry, so it overflows only where its value does.
    """
    xp = namespace(g)
    size = xp.abs(xp.ravel(g)).astype(np.float32)
    finite = xp.isfinite(size)
    largest = xp.max(xp.where(finite, size, 0), initial=0)
    unit = xp.where(largest > 0, largest, 1)
    norm = unit * xp.sqrt(xp.sum((size / unit) ** 2))
    exponent = xp.frexp(xp.where(finite, size, 1))[1] - 1
    bins = xp.where(size > 0, xp.clip(exponent - LOWEST, 0, BINS - 1), 0)
    if xp is np:
        histogram = np.bincount(bins[finite], minlength=BINS)
    else:
        histogram = xp.zeros(BINS, np.int32).at[bins].add(finite.astype(np.int32))
    return {"norm": norm, "largest": largest, "nonfinite": xp.sum(~finite), "histogram": histogram}

"""Measurements of one gradient: norm, largest entry, entries that aren't finite, and sizes of the entries.

What is measured is said here once, over the namespace of an array library: `careful`, `norm_by`,
`well_inside` and `bin_of`. Keras calls these and no others. NumPy, JAX and torch have kernels of
their own where that is faster: NumPy's are here, those of JAX in `reductions`, those of torch in
`attach/torch/measure`; each says why.

A norm is the root of the sum of squares. Where that sum overflows or underflows, or meets NaN or
Inf, the gradient is read again with care.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.arrays import CACHED, namespace, quiet, split
from .._base.types import EachA as A

BINS = 64
# Bin k holds |entries| in [2**(k+LOWEST), 2**(k+LOWEST+1)); the first and last bins hold all
# beyond.
LOWEST = -32

# Sums of squares between these lost nothing that shows to overflow or underflow, and saw neither
# NaN nor Inf.
_SMALLEST, _LARGEST = 2.0**-80, float(np.finfo(np.float32).max)
# Entries that are still in the second-level cache when they are read again: memory is read once.
_PIECE = 2**17
EXPONENT_BIAS, _EXPONENTS = 127, 256  # of a float32
# Entries of a tensor that costs more to call for than to count, and tensors at once.
_FEW, _TENSORS = 1024, 2048


def flat(g: A) -> A:
    """All entries in a line, as float32."""
    return g.reshape(-1).astype(np.float32, copy=False)


def measure(g: np.ndarray) -> tuple[float, float, int]:
    """Norm, largest finite |entry| and number of entries that are not finite, of one flat float32 NumPy tensor.

    The norm overflows only where its value does. Call it where NumPy is `quiet`; to say so here
    costs as much again.
    """
    square = largest = 0.0
    for piece in (g,) if g.size <= _PIECE else split(g, _PIECE):
        square += float(np.dot(piece, piece))
        largest = max(
            largest,
            float(np.maximum.reduce(piece, initial=0)),
            -float(np.minimum.reduce(piece, initial=0)),
        )
    if well_inside(square):
        return math.sqrt(square), largest, 0
    norm, highest, nonfinite = careful(g)
    return float(norm), float(highest), int(nonfinite)


def careful(g: Any, xp: Any = np) -> tuple[Any, Any, Any]:
    """Norm, largest finite |entry| and number of entries that are not finite, whatever a tensor holds.

    Args:
        g: float32, of any shape.
        xp: its library: numpy, jax.numpy or keras.ops. NumPy is to be `quiet`.
    """
    size = xp.abs(g)
    finite = xp.isfinite(size)
    largest = xp.max(xp.where(finite, size, np.float32(0)), initial=np.float32(0))
    return norm_by(size, largest, xp), largest, xp.sum(~finite)


@quiet
def together(norms: A) -> A:
    """Norm over all tensors from (..., tensors) norms of each."""
    xp: Any = namespace(norms)
    norm: A = norm_by(norms, xp.max(norms, axis=-1, keepdims=True, initial=0), xp, axis=-1)[..., 0]
    return norm


def norm_by(x: Any, largest: Any, xp: Any, axis: int | None = None) -> Any:
    """Norm of what may be of any size: taken relative to the largest |entry|, no square overflows or underflows."""
    unit = xp.where((largest > 0) & xp.isfinite(largest), largest, np.float32(1))
    return unit * xp.sqrt(xp.sum((x / unit) ** 2, axis=axis, keepdims=axis is not None))


def well_inside(square: Any) -> Any:
    """Tell whether a sum of squares lost nothing to overflow or underflow, and met neither NaN nor Inf."""
    return (square >= _SMALLEST) & (square <= _LARGEST)


def bin_of(exponent: Any, xp: Any) -> Any:
    """Return the bin of float32 numbers by their exponents, as stored; 255 is that of NaN and Inf, which have none."""
    return xp.clip(exponent - (LOWEST + EXPONENT_BIAS), 0, BINS - 1)


def histogram(g: np.ndarray) -> np.ndarray:
    """(64,) int32: how many finite entries have floor(log2|g|) = bin - 32; those beyond are in the bins at the ends."""
    # In pieces, because fresh memory for all exponents costs more than counting them.
    counts = np.zeros(_EXPONENTS, np.int64)
    for piece in split(flat(g), CACHED):
        counts += np.bincount((piece.view(np.int32) >> 23) & 255, minlength=_EXPONENTS)
    return _by_bin(counts)


def histograms(tensors: Sequence[np.ndarray]) -> np.ndarray:
    """(tensors, 64) `histogram` of each; small ones of one size at once, as a call costs more than their entries."""
    found = np.zeros((len(tensors), BINS), np.int32)
    by_size: dict[int, list[int]] = {}
    for k, g in enumerate(tensors):
        if 0 < g.size <= _FEW:
            by_size.setdefault(g.size, []).append(k)
        else:
            found[k] = histogram(g)
    for group in by_size.values():
        for start in range(0, len(group), _TENSORS):
            some = group[start : start + _TENSORS]
            entries = np.stack([flat(tensors[k]) for k in some])
            exponents = (entries.view(np.int32) >> 23) & 255
            exponents += _EXPONENTS * np.arange(len(some), dtype=np.int32)[:, None]
            counts = np.bincount(exponents.reshape(-1), minlength=_EXPONENTS * len(some))
            found[some] = _by_bin(counts.reshape(len(some), _EXPONENTS))
    return found


def _by_bin(counts: np.ndarray) -> np.ndarray:
    """(..., 64) of (..., 256) counts by exponent; those that are not finite are in none."""
    first = LOWEST + EXPONENT_BIAS
    low, high = first + 1, first + BINS - 1  # exponents that have a bin for themselves
    below = counts[..., :low].sum(axis=-1, keepdims=True)
    above = counts[..., high:-1].sum(axis=-1, keepdims=True)
    return np.concatenate([below, counts[..., low:high], above], axis=-1).astype(np.int32)

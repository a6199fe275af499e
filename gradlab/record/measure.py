"""Measurements of one gradient: norm, largest entry, entries that aren't finite, and sizes of the entries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.arrays import CACHED, namespace, pieces, quiet
from .._base.types import EachA as A

if TYPE_CHECKING:
    import jax

BINS = 64
LOWEST = -32  # bin k holds |entries| in [2**(k+LOWEST), 2**(k+LOWEST+1)); the first and last bins hold all beyond

# Sums of squares between these lost nothing that shows to overflow or underflow, and saw neither NaN nor Inf.
_SMALLEST, _LARGEST = 2.0**-80, float(np.finfo(np.float32).max)
_PIECE = 2**17  # entries that are still in the second-level cache when they are read again: memory is read once
EXPONENT_BIAS, _EXPONENTS = 127, 256  # of a float32


def flat(g: A) -> A:
    """All entries in a line, as float32."""
    return g.reshape(-1).astype(np.float32, copy=False)


def measure(g: np.ndarray) -> tuple[float, float, int]:
    """Norm, largest finite |entry| and number of entries that are not finite, of one flat float32 NumPy tensor.

    The norm overflows only where its value does. Call it where NumPy is `quiet`; to say so here costs as much again.
    """
    square = largest = 0.0
    for piece in (g,) if g.size <= _PIECE else pieces(g, _PIECE):
        square += float(np.dot(piece, piece))
        largest = max(largest, float(np.maximum.reduce(piece, initial=0)), -float(np.minimum.reduce(piece, initial=0)))
    if well_inside(square):
        return math.sqrt(square), largest, 0
    norm, highest, nonfinite = careful(g)
    return float(norm), float(highest), int(nonfinite)


@quiet
def careful(g: A) -> tuple[A, A, A]:
    """Return the same of any tensor, for whatever it holds: the norm is taken relative to the largest entry."""
    xp: Any = namespace(g)
    size = xp.abs(g.astype(np.float32, copy=False))
    finite = xp.isfinite(size)
    largest = xp.max(xp.where(finite, size, 0), initial=0)
    unit = xp.where(largest > 0, largest, 1)
    return unit * xp.sqrt(xp.sum((size / unit) ** 2)), largest, xp.sum(~finite, dtype=np.int32)


@quiet
def together(norms: A) -> A:
    """Norm over all tensors from (..., tensors) norms of each."""
    xp: Any = namespace(norms)
    largest = xp.max(norms, axis=-1, initial=0)
    unit = xp.where((largest > 0) & xp.isfinite(largest), largest, 1)
    norm: A = unit * xp.sqrt(xp.sum((norms / unit[..., None]) ** 2, axis=-1))
    return norm


def sum_of_squares(g: jax.Array) -> jax.Array:
    """Of a flat JAX array, as fast as it goes; the norm is its root where `well_inside` holds."""
    return (g * g).sum()


def largest_of(g: jax.Array) -> jax.Array:
    """Largest |entry| of a flat JAX array, NaN if it holds one."""
    return abs(g).max(initial=0)


def well_inside(square: Any) -> Any:
    """Tell whether a sum of squares lost nothing to overflow or underflow, and met neither NaN nor Inf."""
    return (square >= _SMALLEST) & (square <= _LARGEST)


def histogram(g: A) -> A:
    """(64,) int32: how many finite entries have floor(log2|g|) = bin - 32; those beyond are in the bins at the ends."""
    xp: Any = namespace(g)
    g = flat(g) if xp is np else g.astype(np.float32)
    if xp is np:
        # In pieces, because fresh memory for all exponents costs more than counting them.
        counts = np.zeros(_EXPONENTS, np.int64)
        for piece in pieces(g, CACHED):
            counts += np.bincount((piece.view(np.int32) >> 23) & 255, minlength=_EXPONENTS)
    else:
        counts = xp.zeros(_EXPONENTS, np.int32).at[(g.view(np.int32) >> 23) & 255].add(1)
    first = LOWEST + EXPONENT_BIAS
    low, high = first + 1, first + BINS - 1  # exponents that have a bin for themselves
    ends = counts[:low].sum(keepdims=True), counts[high:-1].sum(keepdims=True)
    found: A = xp.concatenate([ends[0], counts[low:high], ends[1]]).astype(np.int32)
    return found

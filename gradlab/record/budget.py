"""Sampling of what costs more than norms: all entries by size, weights, updates.

Norms of all tensors are there in every step. The rest is done in every k-th, so that it adds at most a part of what the
norms cost. k follows from the sizes of the tensors alone, so that it is the same on every machine and in every run.
"""

from __future__ import annotations

from collections.abc import Sequence

# What is done with an entry, in units of reading it for a norm, and with a tensor whatever its size, in the same units.
_NORM, _NORM_CALL = 1, 16_000
_COUNTED, _COUNT_CALL = 12, 50_000
_MOVED, _MOVE_CALL = 16, 80_000
_PART = 0.25  # of the cost of the norms
_LEAST, _MOST = 64, 1024


def sample_every(sizes: Sequence[int]) -> int:
    """The power of 2 that is k for tensors of these sizes.

        k >= (28 entries + 130,000 tensors) / ((entries + 16,000 tensors) / 4),   64 <= k <= 1024

    >>> sample_every([400, 20, 200, 10]), sample_every([4096 * 4096] * 100)
    (64, 128)
    """
    entries, tensors = sum(sizes), len(sizes)
    norms = _NORM * entries + _NORM_CALL * tensors
    rest = (_COUNTED + _MOVED) * entries + (_COUNT_CALL + _MOVE_CALL) * tensors
    k = _LEAST
    while k < min(_MOST, rest / (_PART * norms)):
        k *= 2
    return k

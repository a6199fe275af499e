"""Batches too large for their limits are split by rows: each row is in one minibatch, so a row still moves once."""

from __future__ import annotations

import numpy as np

from ..._base.indices import find_distinct
from .partitions import BUCKETS, Limits

_KEY = (0x4451E30F87DB9609, 0xCA7358A1FD2737F8, 0x4B2C991FCEE4FDEA, 0x0B2658E18326F6BA)
_FRACTIONS = (  # of pi, as in Blowfish: the first and the second half of the hash's state
    (0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344, 0x243F6A8885A308D3),
    (0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C, 0x452821E638D01377),
)
_LOW = np.uint64(0xFFFFFFFF)


def buckets_of(columns: np.ndarray) -> np.ndarray:
    """Return the bucket of each id of a stack: HighwayHash of its 4 bytes, modulo 64.

    Source: Alakuijala, Cox and Wassenberg, "Fast keyed hash/pseudo-random function using SIMD
    multiply and permute" (2016); the key is that of jax-tpu-embedding 0.1.0 (2026).

    >>> buckets_of(np.array([0, 1, 2, 3])).tolist()
    [7, 39, 13, 35]
    """
    different, which = find_distinct(columns.astype(np.uint32))
    with np.errstate(over="ignore"):
        buckets: np.ndarray = (highway_hash(different) % np.uint64(BUCKETS)).astype(np.int64)[which]
    return buckets


def highway_hash(words: np.ndarray) -> np.ndarray:
    """Return HighwayHash-64 of each 32-bit word."""
    n = words.size
    half0, half1 = (np.array(x, np.uint64)[:, None].repeat(n, 1) for x in _FRACTIONS)
    key = np.array(_KEY, np.uint64)[:, None]
    state = [half0 ^ key, half1 ^ _swap_halves(key), half0.copy(), half1.copy()]
    state[0] = state[0] + np.uint64((4 << 32) + 4)  # the length of the message, in both halves
    state[1] = _rotate_halves(state[1], 4)
    packet = np.zeros((4, n), np.uint64)
    packet[0] = words
    _update(state, packet)
    for _ in range(4):
        _update(state, _swap_halves(state[0][[2, 3, 0, 1]]))
    total: np.ndarray = state[0][0] + state[1][0] + state[2][0] + state[3][0]
    return total


def _update(state: list[np.ndarray], packet: np.ndarray) -> None:
    v0, v1, mul0, mul1 = state
    v1 = v1 + mul0 + packet
    mul0 = mul0 ^ (v1 & _LOW) * (v0 >> np.uint64(32))
    v0 = v0 + mul1
    mul1 = mul1 ^ (v0 & _LOW) * (v1 >> np.uint64(32))
    v0 = v0 + _zip_bytes(v1)
    v1 = v1 + _zip_bytes(v0)
    state[:] = v0, v1, mul0, mul1


# Bytes of two words, shuffled.
_ZIPPER = np.array([3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7])


def _zip_bytes(v: np.ndarray) -> np.ndarray:
    pairs = np.ascontiguousarray(v.reshape(2, 2, -1).transpose(0, 2, 1), "<u8").view(np.uint8)
    return np.ascontiguousarray(pairs[..., _ZIPPER]).view("<u8").transpose(0, 2, 1).reshape(4, -1)


def _swap_halves(x: np.ndarray) -> np.ndarray:
    """Return each word with its halves exchanged."""
    return x >> np.uint64(32) | x << np.uint64(32)


def _rotate_halves(x: np.ndarray, by: int) -> np.ndarray:
    left, right = np.uint64(by), np.uint64(32 - by)
    low, high = x & _LOW, x >> np.uint64(32)
    return ((high << left | high >> right) & _LOW) << np.uint64(32) | (
        low << left | low >> right
    ) & _LOW


def boundaries(sizes: np.ndarray, limit: int) -> np.ndarray:
    """Return between which buckets a minibatch must end so that none is above the limit.

    Buckets are joined in pairs, pairs of pairs and so on; where both together would be above the
    limit there is a boundary between them, and the larger counts from there on.

    Args:
        sizes: (..., 64) lookups in each bucket.

    Returns:
        (64,) bool, entry b: a boundary before bucket b, needed by any of the rows of `sizes`.

    >>> boundaries(np.array([3, 2] + [0] * 62), 4)[:3].tolist()
    [False, True, False]
    """
    left = sizes.reshape(-1, BUCKETS).astype(np.int64)
    found, span = np.zeros(BUCKETS, bool), 1
    while span < BUCKETS:
        pairs = left.reshape(left.shape[0], -1, 2)
        split = pairs.sum(-1) > limit
        found[span :: 2 * span] = split.any(0)
        left = np.where(split, pairs.max(-1), pairs.sum(-1))
        span *= 2
    return found


def minibatch_of(all_sizes: list[tuple[np.ndarray, np.ndarray, Limits]]) -> np.ndarray:
    """Return (64,): the minibatch of each bucket.

    One split serves all stacks, SparseCores and partitions.

    Args:
        all_sizes: for each stack the lookups and the different rows by bucket, and its limits.
    """
    cut = np.zeros(BUCKETS, bool)
    for ids, rows, limits in all_sizes:
        cut |= boundaries(ids, limits.max_ids) | boundaries(rows, limits.max_unique_ids)
    return np.cumsum(cut)

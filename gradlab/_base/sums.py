"""Sums and means in the order in which TensorFlow adds, so that results agree bit for bit."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from .types import Array, Number

Order = Literal["dense", "sparse"]
ORDERS = ("dense", "sparse")


def eigen_sum(x: np.ndarray) -> Any:
    """Sum floats over the last axis in the order of TensorFlow's CPU kernels, bit for bit.

    Eigen adds in packets of 32 bytes: four packets at a time where there are many, then the packets
    left over, then the entries of the last packet pairwise; entries that fill no packet go by
    themselves. Long arrays are halved first.

    Source: found by running TensorFlow 2.21 on an AVX processor (2026), 1 to 300,000 entries.

    >>> float(eigen_sum(np.arange(10, dtype=np.float32)))
    45.0
    """
    lanes = 32 // x.itemsize
    n = x.shape[-1]
    if n > 1024 * lanes:
        half = math.ceil(math.ceil(n / 2) / lanes) * lanes
        return eigen_sum(x[..., :half]) + eigen_sum(x[..., half:])
    in_packets = n // lanes * lanes
    rest = np.zeros(x.shape[:-1], x.dtype)[()]
    for k in range(in_packets, n):
        rest = rest + x[..., k]
    if not in_packets:
        return rest
    block = 4 * lanes if n >= 8 * lanes else lanes
    blocked = in_packets // block * block
    packet = _fold(_fold(x[..., :blocked], block), lanes)
    for k in range(blocked, in_packets, lanes):
        packet = packet + x[..., k : k + lanes]
    while packet.shape[-1] > 1:
        middle = packet.shape[-1] // 2
        packet = packet[..., :middle] + packet[..., middle:]
    return rest + packet[..., 0]


def _fold(x: np.ndarray, width: int) -> Any:
    """Add consecutive stretches of the last axis, one after another."""
    return x.reshape(*x.shape[:-1], -1, width).sum(axis=-2)


def decaying_mean(
    mean: Array, new: Array, decay: Number, order: Order, share: Number | None = None
) -> Array:
    """Return the decaying mean with `new` added; the orders differ in their last bits only.

        mean + (new - mean) * (1 - decay)       "dense", as for dense gradients
        mean * decay + new * (1 - decay)        "sparse", as for slices

    `share` takes the place of 1 - decay, for callers that round it in another way.

    >>> decaying_mean(np.float32(2.0), np.float32(4.0), np.float32(0.75), "sparse").item()
    2.5
    """
    weight = mean.dtype.type(1) - decay if share is None else share
    if order == "dense":
        return mean + (new - mean) * weight
    return mean * decay + new * weight

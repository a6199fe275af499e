"""The decaying mean that most rules keep, in the two roundings of TensorFlow's kernels."""

from __future__ import annotations

from typing import Literal

from .._arrays import Array

Order = Literal["dense", "sparse"]
ORDERS = ("dense", "sparse")


def decaying_mean(mean: Array, new: Array, decay: Array, order: Order) -> Array:
    """The mean with one value more; the orders differ in their last bits only.

        mean + (new - mean) * (1 - decay)       "dense", as for dense gradients
        mean * decay + new * (1 - decay)        "sparse", as for slices

    >>> import numpy as np
    >>> decaying_mean(np.float32(2.0), np.float32(4.0), np.float32(0.75), "sparse").item()
    2.5
    """
    weight = mean.dtype.type(1) - decay
    return mean + (new - mean) * weight if order == "dense" else mean * decay + new * weight

"""Formulas of what Keras does to weights around the rule: decay before it, a moving average after it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .._base.arrays import Array, namespace, precision, quiet
from .._base.gradients import Gradient
from .._base.slices import IndexedSlices
from .clips import dense


@quiet
def decayed(w: Array, weight_decay: float, lr: Any) -> Array:
    """Return w - w * weight_decay * lr, every operation in the dtype of w; a Python number passes through float32.

    >>> decayed(np.float32([2.0]), 0.5, np.float32(0.25)).tolist()
    [1.75]
    """
    with precision(w.dtype):
        smaller: Array = w - w * np.dtype(w.dtype).type(np.float32(weight_decay)) * lr
    return smaller


@quiet
def averaged(average: Array, w: Array, keep: Any, take: Any) -> Array:
    """Return keep * average + take * w.

    >>> averaged(np.float32([2.0]), np.float32([4.0]), *shares(0.75, np.float32)).tolist()
    [2.5]
    """
    with precision(w.dtype):
        new: Array = keep * average + take * w
    return new


def shares(momentum: float, dtype: Any) -> tuple[Any, Any]:
    """Return the shares of the old average and of the weight, each rounded to the dtype: the rewrite's way."""
    as_type = np.dtype(dtype).type
    return as_type(momentum), as_type(1 - momentum)


def shares_from(count: Any, momentum: float, dtype: Any) -> tuple[Any, Any]:
    """Return the shares in Keras 3: step 0 takes all of the weight, later ones what the rounded momentum leaves.

    >>> shares_from(np.int64(0), 0.75, np.float32), shares_from(np.int64(1), 0.75, np.float32)
    ((np.float32(0.0), np.float32(1.0)), (np.float32(0.75), np.float32(0.25)))
    """
    xp, as_type = namespace(count), np.dtype(dtype).type
    with precision(dtype):
        # Not a product with 0: early NumPy 2 widens bfloat16 times a Python number.
        keep = xp.where(count != 0, as_type(momentum), as_type(0))[()]
        return keep, as_type(1) - keep


@quiet
def summed(total: Array, g: Gradient) -> Array:
    """Return an accumulator with one more gradient in it; slices become dense."""
    with precision(total.dtype):
        new: Array = total + cast(Array, dense(g, tuple(total.shape)))
    return new


@quiet
def mean(total: Array, g: Gradient, steps: int) -> Array:
    """Return the mean over `steps` gradients, of which g is the last.

    >>> mean(np.float32([3.0]), np.float32([1.0]), 2).tolist()
    [2.0]
    """
    with precision(total.dtype):
        quotient: Array = summed(total, g) / np.dtype(total.dtype).type(steps)
    return quotient


@quiet
def unscaled(g: Gradient | None, factor: float | None) -> Gradient | None:
    """Return g / factor. TypeError for IndexedSlices, as in Keras 3 on TensorFlow.

    >>> unscaled(np.float32([4.0]), 2.0).tolist()
    [2.0]
    """
    if factor is None or g is None:
        return g
    if isinstance(g, IndexedSlices):
        raise TypeError(
            "loss_scale_factor cannot divide IndexedSlices, in Keras 3 on TensorFlow neither; give g.to_dense(), or "
            "divide g.values and leave loss_scale_factor out"
        )
    with precision(g.dtype):
        quotient: Array = g / np.dtype(g.dtype).type(factor)
    return quotient

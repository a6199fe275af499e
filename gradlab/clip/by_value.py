"""Clip entry by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._base.arrays import Array, check_broadcast, flush_denormals, is_float, namespace, quiet
from .._base.gradient_types import Gradient
from .._base.options import Semantics, is_old
from .._base.slices import IndexedSlices
from .._base.tensors import deferrable
from .._base.types import A
from ..errors import DTypeError
from ._limits import clip_values, read_limit, warn_of_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@overload
def clip_by_value(
    t: A,
    clip_value_min: ArrayLike,
    clip_value_max: ArrayLike,
    name: str | None = ...,
    *,
    semantics: Semantics = ...,
) -> A: ...
@overload
def clip_by_value(
    t: IndexedSlices,
    clip_value_min: ArrayLike,
    clip_value_max: ArrayLike,
    name: str | None = ...,
    *,
    semantics: Semantics = ...,
) -> IndexedSlices: ...
@overload
def clip_by_value(
    t: ArrayLike,
    clip_value_min: ArrayLike,
    clip_value_max: ArrayLike,
    name: str | None = ...,
    *,
    semantics: Semantics = ...,
) -> Array: ...


@deferrable
@quiet
def clip_by_value(
    t: Any,
    clip_value_min: ArrayLike,
    clip_value_max: ArrayLike,
    name: str | None = None,
    *,
    semantics: Semantics = "tf2.21",
) -> Gradient:
    """Move every entry into [clip_value_min, clip_value_max].

        result = max(min(t, clip_value_max), clip_value_min)

    Args:
        t: array of any real dtype, list, or IndexedSlices.
        clip_value_min, clip_value_max: number, or array of t's dtype that broadcasts into t. Where
            min > max, min wins.
        semantics: a NaN bound makes everything NaN in "tf2.21" and is ignored in "tf2.3". NaN
            entries stay NaN.

    Raises:
        ValueError: t is None; a bound would make the result larger than t.
        TypeError: float bounds for an integer t.
        InvalidArgumentError: complex t, a bound of another dtype or of no fitting shape.

    The derivative is 1 inside and on the bounds, 0 outside. Source: `tf.clip_by_value`, TensorFlow
    2.21 (2026).

    >>> clip_by_value(np.array([-5.0, 0.5, 7.0]), -1.0, 1.0)
    array([-1. ,  0.5,  1. ])
    """
    ignores_nan_bounds = is_old(semantics)

    def clip(t: Array) -> Array:
        if t.dtype.kind == "c":
            raise DTypeError(
                f"clip_by_value needs real numbers, got {t.dtype}; clip "
                "real and imaginary parts apart"
            )
        low = read_limit(clip_value_min, t, "clip_value_min")
        high = read_limit(clip_value_max, t, "clip_value_max")
        check_broadcast(t.shape, low.shape, "clip_value_min")
        check_broadcast(t.shape, high.shape, "clip_value_max")
        warn_of_bounds(t, clip_value_min, clip_value_max)
        xp = namespace(t, low, high)
        # `where` keeps NaN and -0.0 as they are, and has TensorFlow's derivative.
        below = xp.where(t > high, high, t)
        result = flush_denormals(xp.where(below < low, low, below))
        if ignores_nan_bounds or not is_float(t.dtype):
            return result
        return xp.where(xp.isnan(low) | xp.isnan(high), xp.asarray(np.nan, t.dtype), result)

    return clip_values(clip, t)

"""Clip a tensor by its own norm."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from .._base.arrays import (
    Array,
    as_array,
    check_broadcast,
    flush_denormals,
    namespace,
    quiet,
    sum_squares,
)
from .._base.gradient_types import Gradient
from .._base.options import Semantics, is_old
from .._base.slices import IndexedSlices
from .._base.tensors import deferrable
from .._base.types import A
from ..errors import DTypeError, InvalidArgumentError
from ._limits import check_float, clip_values, read_limit, warn_of_limit, warn_of_norm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Axes: TypeAlias = int | Sequence[int] | None
Mode: TypeAlias = Literal["eager", "graph"]


@overload
def clip_by_norm(
    t: A,
    clip_norm: ArrayLike,
    axes: Axes = ...,
    name: str | None = ...,
    *,
    semantics: Semantics = ...,
) -> A: ...
@overload
def clip_by_norm(
    t: IndexedSlices,
    clip_norm: ArrayLike,
    axes: Axes = ...,
    name: str | None = ...,
    *,
    semantics: Semantics = ...,
) -> IndexedSlices: ...
@overload
def clip_by_norm(
    t: ArrayLike,
    clip_norm: ArrayLike,
    axes: Axes = ...,
    name: str | None = ...,
    *,
    semantics: Semantics = ...,
) -> Array: ...


@deferrable
@quiet
def clip_by_norm(
    t: Any,
    clip_norm: ArrayLike,
    axes: Axes = None,
    name: str | None = None,
    *,
    semantics: Semantics = "tf2.21",
) -> Gradient:
    """Shrink t so that its Euclidean norm is at most clip_norm; the direction stays.

        n = sqrt(sum(t*t)),  result = (t * clip_norm) / max(n, clip_norm)

    Args:
        t: array of float dtype, list, or IndexedSlices.
        clip_norm: number, or array that broadcasts into t (one limit per row, say).
        axes: int or list of ints: norms along these axes only; [] takes each entry alone; None
            means all.
        semantics: a negative clip_norm gives 0 in "tf2.21" and flips signs in "tf2.3"; a limit of
            another dtype is cast in "tf2.21" and refused in "tf2.3"; an axis named twice is refused
            in "tf2.21".

    Raises:
        ValueError: t is None; clip_norm would make the result larger than t.
        InvalidArgumentError: integer or complex t, an axis out of range.

    Below the limit entries may still move by one ulp, because t * c / c need not be t. Zeros with a
    limit of 0 give NaN, as does an infinite limit. If a square overflows, finite entries become 0.
    Source: `tf.clip_by_norm`, TensorFlow 2.21 (2026).

    >>> clip_by_norm(np.array([3.0, 4.0]), 1.0)
    array([0.6, 0.8])
    """
    old = is_old(semantics)

    def clip(t: Array) -> Array:
        check_float(t, "clip_by_norm")
        limit = read_limit(clip_norm, t, "clip_norm", cast=not old)
        check_broadcast(t.shape, limit.shape, "clip_norm")
        warn_of_limit("clip_norm", clip_norm, negative="flips the sign" if old else "gives 0")
        xp = namespace(t, limit)
        limit = limit if old else xp.maximum(limit, 0)
        squares = _sum_squares_over(t, axes, repeats_allowed=old)
        is_positive = squares > 0
        # Two wheres, as in TensorFlow: the derivative at t = 0 is 1, not NaN.
        norm = xp.where(is_positive, xp.sqrt(xp.where(is_positive, squares, 1)), squares)
        warn_of_norm(norm, [t], "clip_by_norm gives 0 for finite entries and NaN for the others")
        # If the two are equal, the derivative is that of the norm, as in TensorFlow.
        larger = xp.where(limit > norm, limit, norm)
        return flush_denormals(xp.asarray(flush_denormals(t * limit) / larger, dtype=t.dtype))

    return clip_values(clip, t)


def _sum_squares_over(t: Array, axes: Any, repeats_allowed: bool) -> Array:
    """Return the sum of squares over these axes, which keep length 1."""
    if axes is None:
        return sum_squares(t).reshape((1,) * t.ndim)
    # As objects, so that an axis that isn't an integer reaches `operator.index`, which refuses it.
    listed = np.atleast_1d(np.asarray(axes if np.size(axes) else [], dtype=object))
    chosen = [operator.index(a) for a in listed]
    for a in chosen:
        if not -t.ndim <= a < t.ndim:
            raise InvalidArgumentError(
                f"axes must be in [{-t.ndim}, {t.ndim}) for t of shape {t.shape}, got {a}"
            )
    distinct = {a % t.ndim for a in chosen}
    if len(distinct) < len(chosen) and not repeats_allowed:
        raise InvalidArgumentError(f"axes must name each axis once, got {chosen}")
    keep = t.ndim - len(distinct)
    # The last axes are contiguous: `sum_squares` adds them in TensorFlow's order.
    if distinct == set(range(keep, t.ndim)):
        return namespace(t).reshape(sum_squares(t, keep), (*t.shape[:keep], *[1] * len(distinct)))
    return flush_denormals(namespace(t).sum(t * t, axis=tuple(sorted(distinct)), keepdims=True))


@overload
def clip_by_average_norm(
    t: A, clip_norm: ArrayLike, name: str | None = ..., *, mode: Mode = ...
) -> A: ...
@overload
def clip_by_average_norm(
    t: ArrayLike | IndexedSlices, clip_norm: ArrayLike, name: str | None = ..., *, mode: Mode = ...
) -> Array: ...


@deferrable
@quiet
def clip_by_average_norm(
    t: Any, clip_norm: ArrayLike, name: str | None = None, *, mode: Mode = "eager"
) -> Array:
    """Shrink t so that its norm divided by its number of entries is at most clip_norm.

    Of TensorFlow 1, and deprecated there.

        result = t * clip_norm * min(size / sqrt(sum(t*t)), 1 / clip_norm)

    Args:
        t: float32 array, list, or IndexedSlices, which are made dense first, rows of one index
            summed.
        clip_norm: number or scalar array.
        mode: "eager" multiplies as written; "graph" takes t * (clip_norm * min(...)), as
            TensorFlow's graph optimizer rearranges it, which may differ in the last bit.

    Raises:
        ValueError: t is None, unknown mode.
        InvalidArgumentError: t is not float32.

    Source: `tf.compat.v1.clip_by_average_norm`, TensorFlow 2.21 (2026).

    >>> clip_by_average_norm(np.array([3, 4], np.float32), 0.5).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    if mode not in ("eager", "graph"):
        raise ValueError(f'mode must be "eager" or "graph", got {mode!r}')
    t = t.to_dense() if isinstance(t, IndexedSlices) else as_array(t)
    if t.dtype != np.float32:
        raise DTypeError(
            f"clip_by_average_norm needs float32, got {t.dtype}; convert it with "
            ".astype(np.float32)"
        )
    limit = read_limit(clip_norm, t, "clip_norm")
    check_broadcast(t.shape, limit.shape, "clip_norm")
    warn_of_limit("clip_norm", clip_norm, negative="switches clipping off")
    xp = namespace(t, limit)
    one = np.float32(1)
    norm = xp.sqrt(sum_squares(t))
    warn_of_norm(
        norm, [t], "clip_by_average_norm gives 0 for finite entries and NaN for the others"
    )
    factor = np.float32(t.size) * flush_denormals(xp.asarray(one / norm))
    largest_factor = flush_denormals(xp.asarray(one / limit))
    # If the two are equal, the derivative is that of the norm, as in TensorFlow.
    factor = xp.where(largest_factor < factor, largest_factor, factor)
    if mode == "graph":
        return flush_denormals(xp.asarray(t * flush_denormals(limit * factor)))
    return flush_denormals(xp.asarray(flush_denormals(t * limit) * factor))

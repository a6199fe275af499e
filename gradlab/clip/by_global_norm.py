"""Clip all tensors of a step by their common norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._base.arrays import (
    Array,
    as_array,
    flush_denormals,
    namespace,
    quiet,
    scale_arrays,
    sum_squares,
)
from .._base.gradient_types import MaybeG
from .._base.options import Semantics, is_old
from .._base.slices import IndexedSlices
from .._base.tensors import deferrable
from ..errors import DTypeError, InvalidArgumentError, MissingDTypeError
from ._limits import check_float, read_limit, warn_of_limit, warn_of_norm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@deferrable
@quiet
def global_norm(t_list: Sequence[Any], name: str | None = None) -> Array:
    """Euclidean norm of all tensors taken as one vector.

        norm = sqrt(2 * sum_i (sum(t_i * t_i) / 2))

    Args:
        t_list: list or tuple of float arrays of one dtype, IndexedSlices or None, which counts as
            0.

    Returns:
        a scalar of that dtype; float32 0 for an empty list.

    Raises:
        TypeError: t_list is not a list.
        InvalidArgumentError: integers or several dtypes.

    Source: `tf.linalg.global_norm`, TensorFlow 2.21 (2026).

    >>> print(global_norm([np.array([3.0, 4.0]), None, np.array([12.0])]))
    13.0
    """
    return _global_norm(_values_of(t_list))


def _values_of(t_list: Any) -> list[Array]:
    """Return the arrays of a list of gradients, without None."""
    if not isinstance(t_list, Sequence) or isinstance(t_list, str | bytes):
        raise TypeError(
            f"t_list must be a list or tuple of tensors, got {type(t_list).__name__}; wrap a "
            "single one in [ ]"
        )
    return [
        t.values if isinstance(t, IndexedSlices) else as_array(t, "an entry of t_list")
        for t in t_list
        if t is not None
    ]


def _global_norm(arrays: list[Array]) -> Array:
    if not arrays:
        return namespace().float32(0)
    dtypes = {a.dtype for a in arrays}
    if len(dtypes) > 1:
        raise DTypeError(
            "tensors of one global norm must share a dtype, got "
            f"{sorted(map(str, dtypes))}; cast them first"
        )
    check_float(arrays[0], "global_norm")
    xp = namespace(*arrays)
    # As TensorFlow computes it: it adds up `l2_loss`, half a sum of squares, and doubles the total.
    halves = xp.stack([sum_squares(a) * a.dtype.type(0.5) for a in arrays])
    return xp.sqrt(xp.sum(halves) * halves.dtype.type(2))


@overload
def clip_by_global_norm(
    t_list: Sequence[MaybeG],
    clip_norm: ArrayLike,
    use_norm: Any = None,
    name: str | None = None,
    *,
    semantics: Semantics = "tf2.21",
) -> tuple[list[MaybeG], Array]: ...
@overload
def clip_by_global_norm(
    t_list: Sequence[Any],
    clip_norm: ArrayLike,
    use_norm: Any = None,
    name: str | None = None,
    *,
    semantics: Semantics = "tf2.21",
) -> tuple[list[Any], Array]: ...


@deferrable
@quiet
def clip_by_global_norm(
    t_list: Sequence[Any],
    clip_norm: ArrayLike,
    use_norm: Any = None,
    name: str | None = None,
    *,
    semantics: Semantics = "tf2.21",
) -> tuple[list[Any], Array]:
    """Shrink all tensors by one factor so that their global norm is at most clip_norm.

        s = clip_norm * min(1/norm, 1/clip_norm),  result_i = t_i * (s + (norm - norm))

    Args:
        t_list: list or tuple of float arrays of one dtype, IndexedSlices or None, which stays None.
        clip_norm: number, or array of that dtype.
        use_norm: scalar array to use in place of the global norm, unchecked.
        semantics: "tf2.21" casts a use_norm of another dtype and so allows mixed tensors, "tf2.3"
            refuses.

    Returns:
        (list of clipped tensors, the norm before clipping).

    Raises:
        TypeError: t_list is not a list, clip_norm has another dtype.
        InvalidArgumentError: integers or several dtypes, a clip_norm that is neither a scalar nor
            fits.
        AttributeError: use_norm is a bare Python number.

    A norm that isn't finite makes every entry NaN; one such entry or one square that overflows is
    enough. So does an infinite limit. Below the limit s = clip_norm * (1/clip_norm) may be one ulp
    under 1. NumPy results of one call share a buffer.

    Source: `tf.clip_by_global_norm`, TensorFlow 2.21 (2026); Pascanu et al., "On the difficulty of
    training recurrent neural networks" (2013).

    >>> clipped, norm = clip_by_global_norm([np.array([3.0]), np.array([4.0])], 2.5)
    >>> clipped[0].tolist(), clipped[1].tolist(), float(norm)
    ([1.5], [2.0], 5.0)
    """
    old = is_old(semantics)
    arrays = _values_of(t_list)
    norm = _global_norm(arrays) if use_norm is None else _read_norm(use_norm, arrays, cast=not old)
    warn_of_limit("clip_norm", clip_norm, negative="switches clipping off")
    warn_of_norm(norm, arrays, "clip_by_global_norm makes every entry of every tensor NaN")
    if not arrays:
        return list(t_list), norm
    limit = read_limit(clip_norm, norm, "clip_norm", error=TypeError)
    xp = namespace(norm, limit)
    one = norm.dtype.type(1)
    one_over_norm = flush_denormals(xp.asarray(one / norm))
    one_over_limit = flush_denormals(xp.asarray(one / limit))
    # If the two are equal, the derivative is that of the norm, as in TensorFlow.
    scale = limit * xp.where(one_over_limit < one_over_norm, one_over_limit, one_over_norm)
    # TensorFlow's way to NaN where the norm is infinite or NaN.
    scale = scale + (norm - norm)
    _check_fits(arrays, tuple(scale.shape))
    scaled = iter(scale_arrays(arrays, scale))
    clipped: list[Any] = []
    for t in t_list:
        if t is None:
            clipped.append(None)
        elif isinstance(t, IndexedSlices):
            clipped.append(t.with_values(next(scaled)))
        else:
            clipped.append(next(scaled))
    return clipped, norm


def _check_fits(arrays: list[Array], shape: tuple[int, ...]) -> None:
    """Refuse a factor of a shape that doesn't broadcast to every tensor."""
    if shape == ():
        return
    for a in arrays:
        try:
            np.broadcast_shapes(tuple(a.shape), shape)
        except ValueError:
            raise InvalidArgumentError(
                f"clip_norm makes a factor of shape {shape}, which does not fit a tensor of shape "
                f"{tuple(a.shape)}; give a scalar"
            ) from None


def _read_norm(use_norm: Any, arrays: list[Array], cast: bool) -> Array:
    """Return `use_norm` as an array; without `cast` it must have the dtype of the tensors."""
    if not hasattr(use_norm, "dtype"):
        raise MissingDTypeError(
            f"use_norm must be an array with a dtype, got {use_norm!r}; use "
            f"np.float32({use_norm!r})"
        )
    norm = as_array(use_norm, "use_norm")
    for a in arrays:
        check_float(a, "clip_by_global_norm")
        if not cast and a.dtype != norm.dtype:
            raise DTypeError(
                f"use_norm is {norm.dtype} but a tensor is {a.dtype}; tf2.3 refuses to mix them"
            )
    return norm

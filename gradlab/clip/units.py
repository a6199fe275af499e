"""Clips by unit and by block; not in TensorFlow."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias, overload

from .._base.arrays import Array, namespace, quiet, sum_squares
from .._base.tensors import deferrable
from .._base.types import A, MaybeA
from ._limits import check_positive, read_floats

Axis: TypeAlias = int | tuple[int, ...] | None


def _unit_axes(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """Return the axes that make up one unit, as `adaptive_grad_clip` defines it."""
    ndim = len(shape)
    if axis is not None:
        return _read_axes(axis, ndim)
    if sum(n != 1 for n in shape) <= 1:  # a vector, however many axes of 1 it has
        return tuple(range(ndim))
    if ndim > 5:
        raise ValueError(
            "adaptive_grad_clip knows the units of rank 0 to 5, got rank "
            f"{ndim}; say them with axis="
        )
    return {2: (0,), 3: (0,), 4: (0, 1, 2), 5: (0, 1, 2, 3)}[ndim]


def _read_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return `axis` as a tuple; refuse axes that repeat or that a parameter of this rank lacks."""
    axes = axis if isinstance(axis, tuple | list) else [axis]
    try:
        axes = [operator.index(a) for a in axes]
    except TypeError:
        raise TypeError(
            f"axis must be an integer, a tuple of integers or None, got {axis!r}"
        ) from None
    if any(not -ndim <= a < ndim for a in axes) or len({a % ndim for a in axes}) < len(axes):
        raise ValueError(
            f"axis must name different axes of a parameter of rank {ndim}, got {axis!r}"
        )
    return tuple(axes)


@deferrable
@quiet
def adaptive_grad_clip(
    grads: Sequence[MaybeA],
    params: Sequence[Any],
    clipping: float,
    eps: float = 1e-3,
    axis: Axis = None,
) -> list[MaybeA]:
    """Limit each unit's gradient to a share of the unit's own weights (AGC).

        limit_u = clipping * max(|w_u|, eps)
        result_u = g_u * limit_u / max(|g_u|, 1e-6)   where |g_u| >= limit_u, else g_u

    Args:
        grads, params: lists of arrays of equal shapes; None gradients stay None. A unit is a column
            of a matrix or an output channel of a convolution (rank 4, 5); a scalar or a vector,
            also one with further axes of length 1, is a single unit.
        clipping: > 0; 0.01 is common.
        eps: > 0, lets units that start at 0 move.
        axis: the axis or axes that make up a unit in every parameter, in place of the above.

    Raises:
        ValueError: lengths, shapes, ranks or axes do not fit; clipping or eps is not positive.
        TypeError: `axis` isn't an integer, a tuple of integers or None.

    Not in TensorFlow; same numbers as optax. Source: Brock et al., "High-Performance Large-Scale
    Image Recognition Without Normalization" (2021), which leaves the last layer out.

    >>> import numpy as np
    >>> adaptive_grad_clip([np.array([3.0, 4.0])], [np.array([0.6, 0.8])], 0.1)[0].round(3).tolist()
    [0.06, 0.08]
    """
    check_positive("clipping", clipping)
    check_positive("eps", eps)
    if len(grads) != len(params):
        raise ValueError(
            f"grads and params must be equally long, got {len(grads)} and {len(params)}"
        )
    return [_agc(g, p, clipping, eps, axis) for g, p in zip(grads, params, strict=True)]


def _agc(grad: Any, param: Any, clipping: float, eps: float, axis: Axis) -> Any:
    if grad is None:
        return None
    g, w = read_floats([grad, param], "grads and params")
    if g.shape != w.shape:
        raise ValueError(f"a gradient has shape {g.shape}, its parameter {w.shape}")
    xp = namespace(g, w)
    axes = _unit_axes(tuple(g.shape), axis)

    def norm(x: Array) -> Array:
        return xp.sqrt(xp.sum(x * x, axis=axes, keepdims=True))

    limit = clipping * xp.maximum(norm(w), eps)
    size = norm(g)
    return xp.where(size < limit, g, g * (limit / xp.maximum(size, 1e-6))).astype(g.dtype)


@overload
def clip_by_block_rms(t_list: A, threshold: float) -> A: ...
@overload
def clip_by_block_rms(t_list: Sequence[MaybeA], threshold: float) -> list[MaybeA]: ...
@deferrable
@quiet
def clip_by_block_rms(t_list: Any, threshold: float) -> Any:
    """Limit the root mean square of each tensor by itself.

        result_i = t_i / max(1, rms(t_i) / threshold),  rms(t) = sqrt(mean(t*t))

    Args:
        t_list: list of float arrays of any shape, also (); None stays None. A bare array is
            one block.
        threshold: > 0.

    Not in TensorFlow; same numbers as optax. Source: Shazeer & Stern, "Adafactor" (2018).

    >>> import numpy as np
    >>> clip_by_block_rms([np.array([3.0, 4.0])], 1.0)[0].round(4).tolist()
    [0.8485, 1.1314]
    """
    check_positive("threshold", threshold)

    def clip(t: Any) -> Any:
        if t is None:
            return None
        (t,) = read_floats([t], "t_list")
        xp = namespace(t)
        rms = xp.sqrt(sum_squares(t) / t.dtype.type(max(t.size, 1)))
        return xp.asarray(t / xp.maximum(t.dtype.type(1), rms / t.dtype.type(threshold)))

    if hasattr(t_list, "shape"):
        return clip(t_list)
    return [clip(t) for t in t_list]

"""The common part of the clips: reading t and the limit, and warnings in cases where TensorFlow is
silent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, is_float, is_jax, is_python_number, is_weak, namespace
from .._base.gradient_types import Gradient
from .._base.numbers import counted
from .._base.slices import IndexedSlices
from ..errors import ClipWarning, DTypeError, warn


def on_values(clip: Callable[[Array], Array], t: Any) -> Gradient:
    """Clip an array, or the values of IndexedSlices."""
    if isinstance(t, IndexedSlices):
        return t.with_values(clip(t.values))
    return clip(as_array(t))


def need_float(t: Array, function: str) -> Array:
    if not is_float(t.dtype):
        raise DTypeError(
            f"{function} needs a floating-point dtype, got {t.dtype}; convert it with .astype(...)"
        )
    return t


def operand(
    x: Any, t: Array, name: str, cast: bool = False, error: type[Exception] = DTypeError
) -> Array:
    """A limit as an array that computes with `t`: numbers and lists take t's dtype, arrays must
    have it.
    """
    xp = namespace(t, x)
    if is_python_number(x) or isinstance(x, list | tuple) or is_weak(x):
        if not is_float(t.dtype) and xp.asarray(x).dtype.kind == "f":
            raise TypeError(
                f"{name} is {x!r} but t is {t.dtype}; give an integer {name} or a floating-point t"
            )
        return xp.asarray(x, dtype=t.dtype)
    array = as_array(x, name)
    if array.dtype == t.dtype:
        return array
    if cast:
        return array.astype(t.dtype)
    raise error(
        f"{name} is {array.dtype} but t is {t.dtype}; give a Python number "
        f"or cast {name} to {t.dtype}"
    )


def check_limit(limit: Any, name: str, negative: str) -> None:
    """Warn of a scalar limit that does not do what limits do.

    `negative` says what a negative one does.
    """
    limit = _concrete(limit)
    if limit is None:
        return
    if math.isnan(limit):
        warn(f"{name} is NaN: the result is NaN", ClipWarning)
    elif math.isinf(limit) and limit > 0:
        warn(
            f"{name} is infinite: TensorFlow's formula gives NaN, not 'no clipping'; leave the "
            "clip out instead",
            ClipWarning,
        )
    elif limit == 0:
        warn(
            f"{name} is 0: every gradient becomes 0, and NaN where it was 0 already (0/0)",
            ClipWarning,
        )
    elif limit < 0:
        warn(
            f"{name} is {limit:g}: TensorFlow raises no error, a negative limit {negative}",
            ClipWarning,
        )


def _concrete(x: Any) -> float | None:
    """A scalar that is there to be looked at; None for arrays and for JAX, which would have to wait
    for it.
    """
    scalar = is_python_number(x) or (isinstance(x, np.ndarray | np.generic) and x.ndim == 0)
    return float(x) if scalar else None


def check_bounds(t: Array, low: Any, high: Any) -> None:
    """Warn of bounds that are NaN or the wrong way round, and of NaN entries, which no bound
    touches.
    """
    a, b = _concrete(low), _concrete(high)
    if a is not None and b is not None and (math.isnan(a) or math.isnan(b)):
        warn("a bound is NaN: TensorFlow 2.21 makes every entry NaN, 2.3 ignores it", ClipWarning)
    elif a is not None and b is not None and a > b:
        warn(
            f"clip_value_min {a:g} is above clip_value_max {b:g}: every entry becomes {a:g}",
            ClipWarning,
        )
    if (
        isinstance(t, np.ndarray)
        and t.dtype.kind == "f"
        and (bad := int(np.count_nonzero(np.isnan(t))))
    ):
        warn(f"{_entries(bad)} NaN: clip_by_value leaves NaN as it is", ClipWarning)


def _entries(bad: int) -> str:
    return f"{counted(bad, 'entry')} {'is' if bad == 1 else 'are'}"


def floats(arrays: Sequence[Any], what: str) -> list[Array]:
    """The arrays of a list, all floating point."""
    checked = [as_array(a, what) for a in arrays]
    for a in checked:
        if not is_float(a.dtype):
            raise DTypeError(f"{what} must be floating point, got {a.dtype}")
    return checked


def positive(value: float, name: str) -> float:
    if not value > 0:
        raise ValueError(f"{name} must be > 0, got {value!r}")
    return value


def check_norm(norm: Array, arrays: list[Array], consequence: str) -> None:
    """Warn, for NumPy, when a norm is not finite; say whether an entry was, or only the square
    overflowed.
    """
    if any(is_jax(a) for a in (norm, *arrays)) or bool(np.isfinite(norm).all()):
        return
    bad = sum(int(np.count_nonzero(~np.isfinite(a))) for a in arrays)
    cause = (
        f"{_entries(bad)} not finite"
        if bad
        else f"the norm overflows {norm.dtype} although every entry is finite"
    )
    warn(f"{cause}: {consequence}", ClipWarning)

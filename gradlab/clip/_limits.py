"""Arguments of clips: conversion, checks, and warnings where TensorFlow is silent."""

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


def clip_values(clip: Callable[[Array], Array], t: Any) -> Gradient:
    """Clip an array, or the values of IndexedSlices."""
    if isinstance(t, IndexedSlices):
        return t.with_values(clip(t.values))
    return clip(as_array(t))


def check_float(t: Array, function: str) -> None:
    """Refuse an array that isn't floating point (DTypeError)."""
    if not is_float(t.dtype):
        raise DTypeError(
            f"{function} needs a floating-point dtype, got {t.dtype}; convert it with .astype(...)"
        )


def read_limit(
    x: Any, t: Array, name: str, *, cast: bool = False, error: type[Exception] = DTypeError
) -> Array:
    """Return a limit as an array of t's dtype.

    Numbers and lists are cast. An array of another dtype raises `error`, unless `cast` is set.
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


def warn_of_limit(name: str, limit: Any, negative: str) -> None:
    """Warn of a scalar limit that is NaN, infinite, 0 or negative.

    Args:
        negative: what a negative limit does, for the warning.
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
    """Return a NumPy or Python scalar as a float, None for anything else.

    A JAX array may be traced, and reading it would wait for its computation.
    """
    is_scalar = is_python_number(x) or (isinstance(x, np.ndarray | np.generic) and x.ndim == 0)
    return float(x) if is_scalar else None


def warn_of_bounds(t: Array, low: Any, high: Any) -> None:
    """Warn of bounds that are NaN or swapped, and of NaN entries, which are not clipped."""
    minimum = _concrete(low)
    maximum = _concrete(high)
    if minimum is not None and maximum is not None:
        if math.isnan(minimum) or math.isnan(maximum):
            warn(
                "a bound is NaN: TensorFlow 2.21 makes every entry NaN, 2.3 ignores it", ClipWarning
            )
        elif minimum > maximum:
            warn(
                f"clip_value_min {minimum:g} is above clip_value_max {maximum:g}: every entry "
                f"becomes {minimum:g}",
                ClipWarning,
            )
    if isinstance(t, np.ndarray) and t.dtype.kind == "f":
        num_nan = int(np.count_nonzero(np.isnan(t)))
        if num_nan:
            warn(f"{_entries_are(num_nan)} NaN: clip_by_value leaves NaN as it is", ClipWarning)


def _entries_are(count: int) -> str:
    return f"{counted(count, 'entry')} {'is' if count == 1 else 'are'}"


def read_floats(arrays: Sequence[Any], what: str) -> list[Array]:
    """Return the list as arrays; DTypeError unless all are floating point."""
    checked = [as_array(a, what) for a in arrays]
    for a in checked:
        if not is_float(a.dtype):
            raise DTypeError(f"{what} must be floating point, got {a.dtype}")
    return checked


def check_positive(name: str, value: float) -> None:
    """Refuse a value that isn't positive (ValueError)."""
    if not value > 0:
        raise ValueError(f"{name} must be > 0, got {value!r}")


def warn_of_norm(norm: Array, arrays: list[Array], consequence: str) -> None:
    """Warn of a NumPy norm that isn't finite, and name the cause: an entry or an overflow."""
    if any(is_jax(a) for a in (norm, *arrays)) or bool(np.isfinite(norm).all()):
        return
    bad = sum(int(np.count_nonzero(~np.isfinite(a))) for a in arrays)
    if bad:
        cause = f"{_entries_are(bad)} not finite"
    else:
        cause = f"the norm overflows {norm.dtype} although every entry is finite"
    warn(f"{cause}: {consequence}", ClipWarning)

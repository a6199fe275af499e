"""Checks and conversions of an accumulator's arguments, as TensorFlow makes them.

A `read_x` function returns the argument in its final form or raises; a `check_x` function only
raises. `strict` is the accumulator's strict="tf".
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from ..._base.arrays import Array, as_array, is_jax, is_traced, native_dtype
from ...errors import DTypeError, InvalidArgumentError, UnsupportedDTypeError

Shape = tuple[int | None, ...] | None
_STRICT_FLOATS = ("float16", "float32", "float64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_MIN_INT32 = -(2**31)
_MIN_INT64 = -(2**63)


def read_dtype(dtype: Any, strict: bool) -> np.dtype[Any]:
    """Return a float dtype, given by type, dtype or name."""
    if dtype == "bfloat16":
        import ml_dtypes  # NumPy knows the name only after this import

        dtype = ml_dtypes.bfloat16
    allowed = _STRICT_FLOATS if strict else _FLOATS
    refusal = f"dtype must be one of {', '.join(allowed)}, got {dtype!r}"
    if dtype is None:  # NumPy reads it as float64
        raise TypeError(refusal)
    try:
        read = native_dtype(getattr(dtype, "as_numpy_dtype", dtype))  # TensorFlow's have the name
    except TypeError:
        raise TypeError(refusal) from None
    if read.name not in allowed:
        raise UnsupportedDTypeError(
            f"an accumulator has no kernel for {read}: use one of {', '.join(allowed)}"
        )
    return read


def read_shape(shape: Any) -> Shape:
    """Return None for an unknown rank, else a tuple in which unknown sizes are None."""
    if shape is None:
        return None
    if isinstance(shape, str | bytes):
        raise TypeError(f"shape must be None or a sequence of sizes, got {shape!r}")
    entries = list(shape) if isinstance(shape, Sequence) or hasattr(shape, "__iter__") else [shape]
    try:
        sizes = tuple(None if n is None else operator.index(n) for n in entries)
    except TypeError:
        raise TypeError(f"the sizes in shape must be integers or None, got {shape!r}") from None
    if any(n is not None and n < 0 for n in sizes):
        raise InvalidArgumentError(
            f"the sizes in shape must be at least 0, or None if unknown, got {shape!r}"
        )
    return sizes


def read_reduction(reduction_type: Any) -> str:
    """Return "MEAN" or "SUM"; None is "MEAN"."""
    if reduction_type is None:
        return "MEAN"
    if not isinstance(reduction_type, str):
        raise TypeError(f'reduction_type must be "MEAN" or "SUM", got {reduction_type!r}')
    if reduction_type not in ("MEAN", "SUM"):
        raise InvalidArgumentError(
            f'reduction_type must be "MEAN" or "SUM", exactly, got {reduction_type!r}'
        )
    return reduction_type


def read_name(name: Any, what: str) -> str:
    """Return a string, the empty one for None."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{what} must be a string or None, got {name!r}")
    return name or ""


def read_step(step: Any, what: str, strict: bool = False) -> Any:
    """Return an int, or an int64 array if `step` has axes; floats are truncated.

    With `strict` a float outside int64 becomes the lowest int64, as TensorFlow's cast makes it.
    """
    if isinstance(step, str | bytes):
        raise DTypeError(f"{what} must be an integer, got {step!r}")
    if type(step) is int:
        return _read_signed(step, _MIN_INT64, what)
    if step is None:
        raise ValueError(f"{what} is None; give a global step")
    array = np.asarray(read_any(step, what))
    _check_real(array, what)
    if strict and array.ndim == 0 and array.dtype.kind == "f" and not abs(array) < 2.0**63:
        return _MIN_INT64
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidArgumentError(f"{what} must be finite, got {step!r}")
    if array.ndim == 0:
        return _read_signed(int(array), _MIN_INT64, what)
    return array.astype(np.int64)


def check_integral(step: Any, read: Any, what: str) -> None:
    """Refuse a step that `read_step` truncated to `read` (DTypeError)."""
    if type(step) is not int and not np.array_equal(np.asarray(read_any(step, what)), read):
        raise DTypeError(f"{what} must be an integer, got {step!r}")


def _read_signed(n: int, lowest: int, what: str) -> int:
    """Return n if it fits into the signed integers of which `lowest` is the least."""
    if lowest <= n < -lowest:
        return n
    raise InvalidArgumentError(f"{what} must fit into {lowest.bit_length()} bits, got {n}")


def read_count(num_required: Any) -> Any:
    """Return an int, or an array if `num_required` has axes."""
    if num_required is None:
        raise ValueError("num_required is None; say how many gradients to wait for")
    if isinstance(num_required, list | tuple):
        num_required = as_array(num_required, "num_required")
    if getattr(num_required, "ndim", 0):
        return np.asarray(num_required)
    try:
        count = operator.index(num_required)
    except TypeError:
        raise TypeError(f"num_required must be an integer, got {num_required!r}") from None
    return _read_signed(count, _MIN_INT32, "num_required")


def check_timeout(timeout: float | None) -> None:
    """Refuse a timeout that is neither None nor a number of seconds from 0."""
    if timeout is None:
        return
    if not isinstance(timeout, Real):
        raise TypeError(f"timeout must be None or a number of seconds, got {timeout!r}")
    if not timeout >= 0:
        raise ValueError(
            f"timeout must be None or a number of seconds of at least 0, got {timeout!r}"
        )


def read_gradient(x: Any, dtype: np.dtype[Any], what: str) -> Array:
    """Return `x` in this dtype: numbers, lists and NumPy arrays are cast, others must have it."""
    if type(x) is np.ndarray and x.dtype == dtype:
        return x
    array = np.asarray(x) if isinstance(x, int | float | list | tuple) else read_any(x, what)
    if array.dtype == dtype:
        return array if is_jax(array) else np.asarray(array)
    if not isinstance(x, int | float | list | tuple | np.ndarray | np.generic):
        raise DTypeError(
            f"{what} has dtype {array.dtype}, the accumulator {dtype}: use "
            f"{what}.astype({str(dtype)!r})"
        )
    _check_real(array, what)
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(dtype)


def read_any(x: Any, what: str) -> Array:
    """Return `x` as an array in its dtype, or the one that TensorFlow gives it; refuse tracers."""
    array = as_array(x, what)
    if is_traced(array):
        raise TypeError(
            f"{what} is being computed by jit or grad; an accumulator works outside of them"
        )
    return array


def _check_real(array: Array, what: str) -> None:
    if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        raise DTypeError(f"{what} must be real numbers, got {array.dtype}")


def is_compatible(shape: Sequence[int], declared: Shape) -> bool:
    """Tell whether a shape has the declared rank and the declared sizes that aren't None."""
    if declared is None or shape == declared:
        return True
    return len(shape) == len(declared) and all(
        d in (None, n) for n, d in zip(shape, declared, strict=True)
    )


def format_shape(shape: Shape) -> str:
    """Return a shape as messages show it, with "?" for an unknown size."""
    if shape is None:
        return "unknown"
    sizes = ["?" if n is None else str(n) for n in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

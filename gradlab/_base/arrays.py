"""Functions of arrays that do the same for NumPy, JAX and autograd, and tell these apart.

Formulas elsewhere are written once, with `xp = namespace(x)` and the functions here. Without JAX,
autograd's boxes take the place of JAX's tracers. JAX and autograd are looked up in `sys.modules`:
an array of theirs can only exist if they were imported, so that NumPy users never pay for an
import.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DTypeError, InvalidArgumentError
from .sums import eigen_sum
from .types import A, Namespace, Number
from .types import Array as Array

if TYPE_CHECKING:
    import jax
    from typing_extensions import TypeIs

# TensorFlow computes by IEEE arithmetic without warnings: NaN and Inf are results, not accidents.
quiet = np.errstate(all="ignore")

_TINY = {np.dtype(t): np.finfo(t).tiny for t in (np.float32, np.float64)}
_BELOW_ONE = {np.dtype(t): np.nextafter(t(1), t(0)) for t in (np.float32, np.float64)}
_NUMPY: Any = np
_INT32 = np.iinfo(np.int32)
_CHUNK = 8192  # entries that BLAS sums without starting threads, and TensorFlow without splitting
_COMPARED = 8192  # entries that are compared sooner than an error state is entered and left
CACHED = 32768  # entries that stay in the second-level cache between two passes


def is_jax(x: Any) -> TypeIs[jax.Array]:
    """True for JAX arrays and for the tracers inside `jit`, `grad` and `vmap`."""
    if type(x) is np.ndarray:  # the usual case; isinstance would take a tenth of an `apply_grad`
        return False
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, jax.Array)


def is_traced(x: Any) -> bool:
    """True for a tracer of JAX or a box of autograd: Python code must not branch on its value."""
    jax = sys.modules.get("jax")
    return is_boxed(x) or (jax is not None and isinstance(x, jax.core.Tracer))


def is_boxed(x: Any) -> bool:
    """True for a box, in which autograd traces a NumPy value."""
    autograd = sys.modules.get("autograd.tracer")
    return autograd is not None and bool(autograd.isbox(x))


def namespace(*arrays: Any) -> Namespace:
    """Return `jax.numpy` if any argument is JAX's, `autograd.numpy` if one is a box, or `numpy`."""
    xp: Namespace = _NUMPY
    if any(is_jax(a) for a in arrays):
        xp = sys.modules["jax"].numpy
    elif any(is_boxed(a) for a in arrays):
        xp = sys.modules["autograd.numpy"]
    return xp


def without_derivative(x: Array) -> Array:
    """Return `x` as a constant for differentiation."""
    plain: Array = x
    if is_jax(x):
        plain = sys.modules["jax"].lax.stop_gradient(x)
    elif is_boxed(x):
        plain = sys.modules["autograd.tracer"].getval(x)
    return plain


def precision(dtype: Any) -> AbstractContextManager[Any]:
    """Return a context in which JAX keeps an array of this dtype.

    Outside it JAX rounds float64 and complex128 to half their size, unless its 64-bit mode is on.
    """
    jax = sys.modules.get("jax")
    return jax.enable_x64(True) if jax is not None and is_double(dtype) else nullcontext()


def is_double(dtype: Any) -> bool:
    """True for float64 and complex128."""
    return bool(np.dtype(dtype) == np.float64 or np.dtype(dtype) == np.complex128)


def as_array(x: Any, name: str = "t") -> Array:
    """Return `x` as an array; JAX arrays, boxes and native NumPy arrays are returned unchanged.

    As in TensorFlow, Python numbers become float32, int32 (int64 if too large), complex64 or bool,
    and arrays of the other byte order are converted.
    """
    if is_jax(x):
        if not is_traced(x) and x.is_deleted():
            raise ValueError(
                f"{name} is a JAX array that was deleted, as donate_argnums does with what a "
                "jitted call is given. Pass what that call returned, or a copy made before it"
            )
        return x
    if is_boxed(x):
        box: Array = x
        return box
    if isinstance(x, np.ndarray):
        if isinstance(x, np.ma.MaskedArray):
            raise TypeError(
                f"{name} is a masked array, whose mask would be lost. Call its filled(0.0), or "
                "fill it with another value that stands for what is masked"
            )
        return x if x.dtype.isnative else x.astype(native_dtype(x.dtype))
    if x is None:
        raise ValueError(
            f"{name} is None; give an array. Only lists may hold None, for "
            "variables without a gradient"
        )
    if hasattr(x, "read_now"):  # a Variable, which may refuse JAX
        value: Array = x.read_now()
        return value
    if hasattr(x, "__jax_array__"):
        converted: Array = x.__jax_array__()
        return converted
    if isinstance(x, str | bytes):
        raise TypeError(f"{name} must be numbers, got {x!r}")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise ValueError(
            f"{name} must be rectangular, got rows of different lengths: {x!r}"
        ) from error
    except (RuntimeError, TypeError) as error:
        if type(x).__module__.partition(".")[0] != "torch":
            raise
        raise TypeError(
            f"{name} is a torch tensor, where an array of NumPy or JAX is wanted: {error} Pass "
            "x.detach().cpu().float().numpy() for x; gl.record.torch records a PyTorch loop "
            "without that"
        ) from error
    if array.dtype == object:
        raise TypeError(f"{name} must be numbers, got {type(x).__name__}")
    if isinstance(x, np.generic) or hasattr(x, "dtype"):
        return array if array.dtype.isnative else array.astype(native_dtype(array.dtype))
    kind = array.dtype.kind
    if kind == "i" and array.size:
        fits = _INT32.min <= array.min() and array.max() <= _INT32.max
        if not fits:
            return array
    narrow = {"f": np.float32, "i": np.int32, "c": np.complex64}.get(kind)
    return array.astype(narrow) if narrow else array


def real_array(x: Any, name: str) -> Array:
    """Return `as_array(x)`; DTypeError, which says what to pass, unless it is real numbers.

    For gradients and weights, which may be of any dtype that a library has; `as_real_numbers` is
    for numbers that become float32.
    """
    array = as_array(x, name)
    dtype = np.dtype(array.dtype)
    if is_complex(dtype):
        raise DTypeError(
            f"{name} must be real, got {dtype}; pass its real and imaginary parts as two arrays, "
            "or its absolute value"
        )
    if dtype.kind not in "biufV" or dtype.names is not None:
        raise DTypeError(f"{name} must be numbers, got {dtype}")
    return array


def native_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype in this machine's byte order, the only one that TensorFlow and JAX have.

    >>> native_dtype(">f4"), native_dtype("<f4")
    (dtype('float32'), dtype('float32'))
    """
    native: np.dtype[Any] = np.dtype(dtype)
    return native if native.isnative else native.newbyteorder("=")


def is_float(dtype: Any) -> bool:
    """True for float16, bfloat16, float32 and float64."""
    return bool(np.dtype(dtype).kind == "f" or np.dtype(dtype).name == "bfloat16")


def is_complex(dtype: Any) -> bool:
    """True for complex64 and complex128."""
    return bool(np.dtype(dtype).kind == "c")


def is_inexact(dtype: Any) -> bool:
    """True for floating-point and complex numbers, which have gradients."""
    return is_float(dtype) or is_complex(dtype)


def as_real_numbers(x: Any, name: str) -> Array:
    """Return `x` as an array to cast to float32; DTypeError unless it is real numbers.

    Unlike `real_array` it refuses None as an InvalidArgumentError, and doesn't warn of a number
    that is too large for float32.
    """
    if x is None:
        raise InvalidArgumentError(f"{name} must be real numbers, got None")
    with np.errstate(over="ignore"):  # a number too large for float32 is the caller's to refuse
        array = as_array(x, name)
    if np.dtype(array.dtype).kind not in "biuf" and not is_float(array.dtype):
        raise DTypeError(f"{name} must be real numbers, got {array.dtype}")
    return array


def is_python_number(x: Any) -> bool:
    """True for bool, int and float, and for np.float64, which is a Python float too."""
    return isinstance(x, int | float)


def is_weak(x: Any) -> bool:
    """True for a JAX scalar that `jit` made of a Python number: it takes the dtype beside it."""
    return is_jax(x) and bool(x.weak_type)


def check_broadcast(shape: Sequence[int], other: Sequence[int], what: str) -> None:
    """Refuse an operand that doesn't broadcast into `shape`.

    Raises:
        InvalidArgumentError: the shapes don't fit.
        ValueError: they do, but the result would be larger than `shape`.
    """
    try:
        result = np.broadcast_shapes(tuple(shape), tuple(other))
    except ValueError:
        raise InvalidArgumentError(
            f"{what} of shape {tuple(other)} does not fit t of shape {tuple(shape)}"
        ) from None
    if result != tuple(shape):
        raise ValueError(
            f"{what} of shape {tuple(other)} would grow t from {tuple(shape)} to {result}; "
            "give a scalar or a shape that broadcasts into t"
        )


def flush_denormals(x: A) -> A:
    """Return `x` with denormal entries set to 0 of their sign, as TensorFlow's CPU kernels do.

    May write into x.
    """
    if is_jax(x):  # XLA does so by itself
        return x
    tiny = _TINY.get(x.dtype)
    if tiny is None:
        return x
    y = np.asarray(x)
    if y.size <= _COMPARED:
        is_denormal = (np.abs(y) < tiny) & (y != 0)
        if np.count_nonzero(is_denormal):
            np.multiply(y, 0, out=y, where=is_denormal)
        return y  # type: ignore[return-value]  # x itself, or an array for a NumPy number
    is_one_piece = y.size <= CACHED or not y.flags.c_contiguous
    pieces = [y] if is_one_piece else split(y.reshape(-1), CACHED)
    with detect_denormals() as has_denormals:
        any_denormal = any(has_denormals(piece) for piece in pieces)
    if any_denormal:
        np.multiply(y, 0, out=y, where=np.abs(y) < tiny)
    return y  # type: ignore[return-value]  # x itself, or an array for a NumPy number


@contextmanager
def detect_denormals() -> Iterator[Callable[[Array], bool]]:
    """Yield a function that tells in one pass whether an array has denormal entries.

    Arithmetic in the block is quiet. A denormal entry times the largest number below 1 loses bits,
    which raises the processor's underflow flag; 0 and NaN don't. The least normal number raises it
    too, so True may be a false alarm, and callers must leave normal numbers unchanged.
    """
    raised: list[str] = []

    def has_denormals(x: Array) -> bool:
        if x.dtype not in _TINY:
            return False
        raised.clear()
        np.multiply(x, _BELOW_ONE[x.dtype])
        return bool(raised)

    with np.errstate(all="ignore", under="call", call=lambda kind, _: raised.append(kind)):
        yield has_denormals


@quiet
def sum_squares(x: Array, keep: int = 0) -> Array:
    """Return the sum of x*x over all axes but the first `keep`, in the dtype of x.

    NumPy arrays of up to 8192 entries are summed in TensorFlow's order, bit for bit; larger ones in
    cached pieces, which is faster than any product array and loses fewer bits than TensorFlow does.
    """
    if is_jax(x) or x.dtype not in (np.float32, np.float64):
        return flush_denormals(namespace(x).sum(x * x, axis=tuple(range(keep, x.ndim))))
    flat = np.asarray(x).reshape(*x.shape[:keep], math.prod(x.shape[keep:]))
    if keep or flat.size <= _CHUNK:
        total: Array = eigen_sum(flush_denormals(flat * flat))
    else:
        total = x.dtype.type(sum(float(np.dot(piece, piece)) for piece in split(flat, _CHUNK)))
    return flush_denormals(total)


def split(flat: Array, size: int) -> list[Any]:
    """Return consecutive views of a flat array, `size` entries each."""
    return [flat[i : i + size] for i in range(0, flat.size, size)]


@quiet
def scale_arrays(arrays: Sequence[Array], factor: Array) -> list[Array]:
    """Return each array times `factor`, in its own dtype.

    NumPy results of one dtype are views of one new buffer: getting fresh pages from the system for
    many arrays costs more than the multiplication.
    """
    is_scalar = getattr(factor, "shape", ()) == ()
    if any(is_jax(a) for a in arrays) or is_jax(factor) or not is_scalar:
        return [
            flush_denormals(namespace(a, factor).asarray(a * factor.astype(a.dtype)))
            for a in arrays
        ]
    sizes: dict[Any, int] = {}
    for a in arrays:
        sizes[a.dtype] = sizes.get(a.dtype, 0) + a.size
    buffers = {dtype: np.empty(size, dtype) for dtype, size in sizes.items()}
    ends = dict.fromkeys(sizes, 0)  # of the results so far
    results: list[Array] = []
    for a in arrays:
        start = ends[a.dtype]
        end = start + a.size
        ends[a.dtype] = end
        results.append(_scale_into(buffers[a.dtype][start:end], a, a.dtype.type(factor)))
    return results


def _scale_into(out: np.ndarray, a: Array, factor: Any) -> np.ndarray:
    """Write a * factor into a flat array, in pieces that are flushed while they are cached."""
    sources = split(np.asarray(a).reshape(-1), CACHED)
    for source, target in zip(sources, split(out, CACHED), strict=True):
        flush_denormals(np.multiply(source, factor, out=target))
    return out.reshape(a.shape)


def power(x: Array, exponent: Number) -> Array:
    """Return x ** exponent.

    A float32 power is computed in float64 and rounded, because NumPy's own is some ulp off.
    """
    if is_jax(x) or is_jax(exponent) or x.dtype != np.float32:
        return namespace(x, exponent).power(x, exponent)
    return np.power(x.astype(np.float64), np.float64(exponent)).astype(np.float32)


def take_rows(x: Array, indices: Array) -> Array:
    """Return rows `x[indices]`; an index past the end gives some row, which `set_rows` drops."""
    if is_jax(x):
        return x.at[indices].get(mode="clip")
    return x[np.minimum(indices, max(x.shape[0] - 1, 0))]


def take_existing_rows(x: Array, indices: Array) -> Array:
    """Return `x[indices]` for indices that are known to be inside, which JAX needn't check."""
    return x.at[indices].get(mode="promise_in_bounds") if is_jax(x) else x[indices]


def set_rows(x: Array, indices: Array, rows: Array) -> Array:
    """Return a copy of `x` with `x[indices] = rows`; indices past the end are dropped."""
    if is_jax(x):
        return x.at[indices].set(rows, mode="drop")
    indices, rows = _drop_outside(indices, rows, x.shape[0])
    x = x.copy()
    x[indices] = rows
    return x


def add_rows(x: Array, indices: Array, rows: Array) -> Array:
    """Return a copy of `x` with `rows` added at `indices`; indices past the end are dropped.

    Rows of one index are added one after another.
    """
    if is_jax(x):
        return x.at[indices].add(rows, mode="drop")
    indices, rows = _drop_outside(indices, rows, x.shape[0])
    x = x.copy()
    _add_at(x, indices, rows)
    return x


def _drop_outside(indices: Array, rows: Array, count: int) -> tuple[Array, Array]:
    is_inside = indices < count
    if is_inside.all():
        return indices, rows
    return indices[is_inside], rows[is_inside]


def sum_segments(rows: Array, segments: Array, count: int) -> Array:
    """Return (count, ...) sums, result[segments[n]] += rows[n] for each n in turn."""
    if is_jax(rows):
        return sys.modules["jax"].ops.segment_sum(rows, segments, count)  # type: ignore[no-any-return]
    if is_boxed(rows):
        return _differentiable_sum()(rows, segments, count)
    return _sum_segments(rows, segments, count)


def _sum_segments(rows: Array, segments: Array, count: int) -> np.ndarray:
    sums: np.ndarray = np.zeros((count, *rows.shape[1:]), rows.dtype)
    _add_at(sums, segments, rows)
    return sums


def _add_at(x: np.ndarray, indices: Array, rows: Array) -> None:
    """`np.add.at(x, indices, rows)` for rows of a contiguous array, in a quarter of the time.

    NumPy has a fast loop for flat arrays only, so it gets the place of every entry.
    """
    width = math.prod(x.shape[1:])
    if x.size == 0:
        return
    flat = x.reshape(-1)
    values = np.asarray(rows).reshape(-1, width)
    starts = np.asarray(indices, np.intp) * width
    columns = np.arange(width)
    # In pieces, or the places would need twice the memory of the rows.
    piece = max(1, CACHED // width)
    for k in range(0, len(values), piece):
        places = starts[k : k + piece, None] + columns
        np.add.at(flat, places.reshape(-1), values[k : k + piece].reshape(-1))


@cache
def _differentiable_sum() -> Callable[..., Array]:
    """Return `_sum_segments` for autograd, with its derivative."""
    extend = sys.modules["autograd.extend"]
    summation: Callable[..., Array] = extend.primitive(_sum_segments)
    extend.defvjp(summation, lambda _, rows, segments, count: lambda g: g[segments])
    return summation


def sum_duplicates(indices: Array, rows: Array) -> tuple[Array, Array]:
    """Return the distinct indices and the sum of the rows of each, added in the order of `rows`.

    NumPy returns exactly the distinct indices. JAX needs a fixed size: the result is as long as the
    input, filled up with an index that is outside every table.
    """
    xp = namespace(rows)
    if xp is np:
        unique, inverse = np.unique(indices, return_inverse=True)
        return unique, _sum_segments(rows, inverse.reshape(-1), unique.size)
    ordered, order = sys.modules["jax"].lax.sort_key_val(
        indices, xp.arange(indices.shape[0]), is_stable=True
    )
    # What jnp.unique does, in a third less time to compile: number the distinct values of the
    # sorted indices from 0, then bring these numbers back into the order of `rows`.
    differs: Any = xp.concatenate([xp.zeros(1, bool), ordered[1:] != ordered[:-1]])
    place: Any = xp.cumsum(differs[: indices.shape[0]], dtype=order.dtype)
    unordered: Any = xp.zeros_like(place)
    segments = unordered.at[order].set(place)
    outside: Any = xp.full_like(indices, np.iinfo(indices.dtype).max)
    zeros: Any = xp.zeros_like(rows)
    return outside.at[place].set(ordered), zeros.at[segments].add(rows)


def count_earlier(indices: Array) -> Array:
    """Return how many equal entries stand before each entry: [3, 5, 3, 3] -> [0, 0, 1, 2]."""
    xp = namespace(indices)
    order = xp.argsort(indices, stable=True)
    ordered = indices[order]
    first = xp.searchsorted(ordered, ordered, side="left")
    position = xp.arange(indices.shape[0], dtype=first.dtype)
    rank = xp.zeros_like(position)
    return set_rows(rank, order, position - first)


def repeat_body(times: Array, body: Callable[[Any, Any], Any], carry: Any) -> Any:
    """Run `carry = body(k, carry)` for k = 0 .. times-1 and return the last carry.

    A Python loop, or XLA's if `times` is traced.
    """
    if is_traced(times):
        return sys.modules["jax"].lax.fori_loop(0, times, body, carry)
    for k in range(int(times)):
        carry = body(k, carry)
    return carry

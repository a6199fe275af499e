"""Compact storage of tables, hardly visible to users: numbers with a few levels, narrow rows side by side."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._base.arrays import Array, as_array, is_float, is_jax, namespace, quiet
from ..errors import DTypeError, InvalidArgumentError


def quantize(x: Any, lower: float, upper: float, num_buckets: int) -> Array:
    """Return the nearest of `num_buckets` evenly spaced levels from lower to upper.

        q = (upper - lower) / (num_buckets - 1)
        result = floor((clip(x, lower, upper) - lower) / q + 0.5) * q + lower

    The derivative is 1 everywhere ("straight-through"): rows are stored and updated as they are,
    only what is looked up is coarse.

    Args:
        x: float array of any shape; rows as they are looked up, before they are combined.
        lower, upper: the first and the last level.
        num_buckets: number of levels, at least 2.

    Raises:
        ValueError: fewer than 2 levels, or lower is not less than upper (which TensorFlow does not
            check).
        DTypeError: x is not floating-point.

    Source: `tf.tpu.experimental.embedding.QuantizationConfig`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> quantize(np.array([-2.0, -0.6, -0.4, 0.1, 0.5, 9.0]), -1.0, 1.0, 3).tolist()
    [-1.0, -1.0, 0.0, 0.0, 1.0, 1.0]
    """
    if num_buckets < 2:
        raise ValueError(f"num_buckets must be at least 2, got {num_buckets}")
    if not lower < upper:
        raise ValueError(f"lower must be less than upper, got {lower} and {upper}")
    x = as_array(x, "x")
    if not is_float(x.dtype):
        raise DTypeError(f"x must be floating-point, got {x.dtype}")
    return (
        _straight_through()(x, lower, upper, num_buckets)
        if is_jax(x)
        else _round_to_levels(x, lower, upper, num_buckets)
    )


@quiet
def _round_to_levels(x: Array, lower: float, upper: float, num_buckets: int) -> Array:
    xp = namespace(x)
    scalar = x.dtype.type
    low = scalar(lower)
    high = scalar(upper)
    q = (high - low) / scalar(num_buckets - 1)
    clipped = xp.minimum(xp.maximum(x, low), high)
    return xp.asarray(xp.floor((clipped - low) / q + scalar(0.5)) * q + low, x.dtype)


@cache
def _straight_through() -> Any:
    """Return `_round_to_levels` for JAX, with the derivative of the identity."""
    from .._base.jax import jax

    round_to_levels = jax.custom_jvp(_round_to_levels, nondiff_argnums=(1, 2, 3))

    @round_to_levels.defjvp
    def pass_tangent(
        lower: float, upper: float, num_buckets: int, primals: Any, tangents: Any
    ) -> Any:
        return _round_to_levels(primals[0], lower, upper, num_buckets), tangents[0]

    return round_to_levels


LANES = 8  # numbers in a row of memory, to which SparseCore fills up every row


def pack_rows(x: Any, lanes: int = LANES) -> Array:
    """Return a narrow table with several of its rows side by side, padded with zeros.

        packed[r // k, (r % k) * width + c] = x[r, c],  k = lanes // width

    A layout in memory and nothing else: no number changes, and `unpack_rows` gives it back. Without
    it a table of width 1 takes `lanes` times the memory of its numbers.

    Args:
        x: (rows, width), NumPy or JAX, any dtype; jit-able.
        lanes: numbers in a row of memory, a multiple of the width.

    Returns:
        (ceil(rows / k), lanes).

    Raises:
        InvalidArgumentError: x is not a matrix, or its width does not divide `lanes`.

    That tables of width 1, 2 and 4 are packed is documented, how the engine orders them is not.

    Source: `low_dimensional_packing_status`, `optimization_parameters.proto`, TensorFlow 2.21
    (2026).

    >>> import numpy as np
    >>> pack_rows(np.arange(6).reshape(3, 2), lanes=4).tolist()
    [[0, 1, 2, 3], [4, 5, 0, 0]]
    """
    x = as_array(x, "x")
    if x.ndim != 2 or not x.shape[1]:
        raise InvalidArgumentError(
            f"x must be a table of shape (rows, width), got {tuple(x.shape)}"
        )
    rows, width = x.shape
    missing = -rows % _rows_per_line(width, lanes)
    return namespace(x).pad(x, ((0, missing), (0, 0))).reshape(-1, lanes)


def unpack_rows(packed: Any, rows: int, width: int) -> Array:
    """Return the table that `pack_rows` packed.

    Args:
        packed: (ceil(rows / k), lanes) with k = lanes // width.

    Raises:
        InvalidArgumentError: packed is of another shape, or the width does not divide its second
            axis.

    Source: `low_dimensional_packing_status`, `optimization_parameters.proto`, TensorFlow 2.21
    (2026).

    >>> import numpy as np
    >>> unpack_rows(np.array([[0, 1, 2, 3], [4, 5, 0, 0]]), rows=3, width=2).tolist()
    [[0, 1], [2, 3], [4, 5]]
    """
    packed = as_array(packed, "packed")
    if packed.ndim != 2:
        raise InvalidArgumentError(f"packed must be a matrix, got shape {tuple(packed.shape)}")
    lanes = packed.shape[1]
    shape = (-(-rows // _rows_per_line(width, lanes)), lanes)
    if tuple(packed.shape) != shape:
        raise InvalidArgumentError(
            f"{rows} rows of width {width} are packed to shape {shape}, got {tuple(packed.shape)}"
        )
    table: Array = packed.reshape(-1, width)[:rows]
    return table


def _rows_per_line(width: int, lanes: int) -> int:
    if width < 1 or lanes % width:
        raise InvalidArgumentError(
            f"rows of width {width} do not fill a row of {lanes} numbers; it must be a divisor"
        )
    return lanes // width

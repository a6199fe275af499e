"""Low-dimensional packing: several narrow rows in one row of memory."""

from __future__ import annotations

from typing import Any

from .._base.arrays import Array, as_array, namespace
from .._base.errors import InvalidArgumentError

LANES = 8  # numbers in a row of memory, to which SparseCore fills up every row


def pack_rows(x: Any, lanes: int = LANES) -> Array:
    """A narrow table with several of its rows side by side, filled up with zeros.

        packed[r // k, (r % k) * width + c] = x[r, c],  k = lanes // width

    A layout in memory and nothing else: no number changes, and `unpack_rows` gives it back. Without it a table of width
    1 takes `lanes` times the memory of its numbers.

    Args:
        x: (rows, width), NumPy or JAX, any dtype; jit-able.
        lanes: numbers in a row of memory, a multiple of the width.

    Returns: (ceil(rows / k), lanes).

    Raises:
        InvalidArgumentError: x is not a matrix, or its width does not divide `lanes`.

    That tables of width 1, 2 and 4 are packed is documented, how the engine orders them is not.
    Source: `low_dimensional_packing_status`, `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> pack_rows(np.arange(6).reshape(3, 2), lanes=4).tolist()
    [[0, 1, 2, 3], [4, 5, 0, 0]]
    """
    x = as_array(x, "x")
    if x.ndim != 2 or not x.shape[1]:
        raise InvalidArgumentError(f"x must be a table of shape (rows, width), got {tuple(x.shape)}")
    rows, width = x.shape
    per_row = _per_row(width, lanes)
    missing = -rows % per_row
    return namespace(x).pad(x, ((0, missing), (0, 0))).reshape(-1, lanes)


def unpack_rows(packed: Any, rows: int, width: int) -> Array:
    """The table that `pack_rows` packed.

    Args:
        packed: (ceil(rows / k), lanes) with k = lanes // width.

    Raises:
        InvalidArgumentError: packed is of another shape, or the width does not divide its second axis.

    Source: `low_dimensional_packing_status`, `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> unpack_rows(np.array([[0, 1, 2, 3], [4, 5, 0, 0]]), rows=3, width=2).tolist()
    [[0, 1], [2, 3], [4, 5]]
    """
    packed = as_array(packed, "packed")
    if packed.ndim != 2:
        raise InvalidArgumentError(f"packed must be a matrix, got shape {tuple(packed.shape)}")
    lanes = packed.shape[1]
    wanted = (-(-rows // _per_row(width, lanes)), lanes)
    if tuple(packed.shape) != wanted:
        raise InvalidArgumentError(
            f"{rows} rows of width {width} are packed to shape {wanted}, got {tuple(packed.shape)}"
        )
    return packed.reshape(-1, width)[:rows]


def _per_row(width: int, lanes: int) -> int:
    if width < 1 or lanes % width:
        raise InvalidArgumentError(f"rows of width {width} do not fill a row of {lanes} numbers; it must be a divisor")
    return lanes // width

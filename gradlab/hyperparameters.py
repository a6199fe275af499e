"""Numbers given to an optimizer, as TensorFlow reads them: Python's become float32, arrays keep their bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import as_array, is_python_number
from .errors import InvalidArgumentError


def is_plain(x: Any) -> bool:
    """True for Python's own numbers, which TensorFlow rounds to float32; a np.float64 keeps its bits."""
    return is_python_number(x) and not isinstance(x, np.generic)


def scalar(x: Any, name: str) -> Any:
    """`x`, or what it returns if it is a function: a Python float of float32's precision, or a scalar array.

    Raises: ValueError for None or a shape that is not (), TypeError for what is no number.

    >>> scalar(0.1, "rate"), scalar(lambda: 1, "rate"), scalar(np.float64(0.1), "rate").item()
    (0.10000000149011612, 1.0, 0.1)
    """
    x = x() if callable(x) else x
    if is_plain(x):
        return float(np.float32(x))
    x = as_array(x, name)
    if x.shape != ():
        raise InvalidArgumentError(f"{name} must be a scalar, got shape {tuple(x.shape)}")
    return x[()]

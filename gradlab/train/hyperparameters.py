"""Numbers given to an optimizer, as TensorFlow reads them: Python's become float32, arrays keep their bits."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from .._base.arrays import as_array, is_python_number
from .._base.tensors import Tensor
from .._base.types import Number
from ..errors import InvalidArgumentError
from ..schedules import LearningRateSchedule
from .variable import Variable

Rate: TypeAlias = Number | Variable | Callable[[], Number | Variable]  # what is asked at every step
LearningRate: TypeAlias = Rate | LearningRateSchedule


def is_plain(x: Any) -> bool:
    """True for Python's own numbers, which TensorFlow rounds to float32; a np.float64 keeps its bits."""
    return is_python_number(x) and not isinstance(x, np.generic)


def is_function(x: Any) -> bool:
    """True for functions and schedules, but not for tensors, which have a value at each run."""
    return callable(x) and not isinstance(x, Tensor)


def check_functions(**given: Any) -> None:
    """Refuse functions that cannot be called without arguments (TypeError)."""
    for name, x in given.items():
        if callable(x) and not _needs_nothing(x):
            what = getattr(x, "__qualname__", type(x).__name__)
            raise TypeError(
                f"{name} must be a number, a variable or a function without arguments; {what} "
                "needs arguments. For a function of the step write lambda: "
                "schedule(global_step.value); a learning rate may be a gl.schedules one as it is"
            )


def _needs_nothing(function: Any) -> bool:
    try:
        signature(function).bind()
    except TypeError:
        return False
    except ValueError:  # written in C and without a signature: believed
        pass
    return True


def describe(optimizer: Any, name: str, **given: Any) -> str:
    """Return the `repr` of an optimizer, with numbers as short as float32 needs.

    >>> describe(1, "one", rate=read_scalar(0.1, "rate"), nesterov=True)
    "int('one', rate=0.1, nesterov=True)"
    """
    told = ", ".join(
        f"{k}={np.float32(x)!s}" if type(x) is float else f"{k}={x!r}" for k, x in given.items()
    )
    return f"{type(optimizer).__name__}({name!r}, {told})"


def read_scalar(x: Any, name: str) -> Any:
    """Return `x`, or the value of `x()` for a function: a Python float of float32's precision, or a scalar array.

    Raises: ValueError for None or a shape that is not (), TypeError for anything that isn't a
    number.

    >>> read_scalar(0.1, "rate"), read_scalar(lambda: 1, "rate"), read_scalar(np.float64(0.1), "rate").item()
    (0.10000000149011612, 1.0, 0.1)
    """
    x = x() if callable(x) else x
    if is_plain(x):
        return float(np.float32(x))
    x = as_array(x, name)
    if x.shape != ():
        raise InvalidArgumentError(f"{name} must be a scalar, got shape {tuple(x.shape)}")
    return x[()]


def check_positive(name: str, x: Any) -> None:
    """Refuse what is not a number above 0."""
    if not _number(name, x) > 0:
        raise ValueError(
            f"{name} must be above 0, got {x}; a value near 0, such as 1e-10, is allowed"
        )


def check_not_negative(name: str, x: Any) -> None:
    """Refuse what is not a number of 0 or more."""
    if not _number(name, x) >= 0:
        raise ValueError(f"{name} must be 0 or more, got {x}")


def _number(name: str, x: Any) -> Any:
    if x is None or isinstance(x, str | bytes) or callable(x) or np.shape(x) != ():
        raise TypeError(f"{name} must be a number, got {x!r}")
    return x

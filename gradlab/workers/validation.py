"""Checks of arguments that name the argument, and short descriptions of values for messages."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError


def check_whole(name: str, x: Any, least: int | None = None) -> None:
    """Raise unless `x` is an integer of at least `least`."""
    bound = "" if least is None else f" of at least {least}"
    if (
        isinstance(x, bool)
        or not isinstance(x, int | np.integer)
        or (least is not None and x < least)
    ):
        raise InvalidArgumentError(f"{name} must be a whole number{bound}, got {x!r}")


def check_finite(name: str, x: Any, least: float | None = None) -> None:
    """Raise unless `x` is a finite number of at least `least`."""
    if isinstance(x, bool) or not isinstance(x, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {x!r}")
    if not np.isfinite(x) or (least is not None and x < least):
        bound = "" if least is None else f" and at least {least}"
        raise InvalidArgumentError(f"{name} must be finite{bound}, got {x!r}")


def check_flag(name: str, x: Any) -> None:
    """Raise unless `x` is True or False."""
    if not isinstance(x, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {x!r}")


class _ShortRepr(reprlib.Repr):
    def repr_instance(self, x: Any, level: int) -> str:
        if hasattr(x, "dtype") and hasattr(x, "shape"):
            return f"{x.dtype} {tuple(x.shape)}"
        return str(getattr(x, "__qualname__", None) or super().repr_instance(x, level))

    def repr_function(self, x: Any, level: int) -> str:
        return self.repr_instance(x, level)


_SHORT_REPR = _ShortRepr()
_SHORT_REPR.maxdict = _SHORT_REPR.maxother = 60


def short_repr(x: Any) -> str:
    """Describe arrays by dtype and shape, functions by name, and shorten everything else.

    Not in TensorFlow.

    >>> import numpy as np
    >>> short_repr({"w": np.zeros((2, 3), np.float32), "b": np.float32(1)}), short_repr(short_repr)
    ("{'b': float32 (), 'w': float32 (2, 3)}", 'short_repr')
    """
    return _SHORT_REPR.repr(x)

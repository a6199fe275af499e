"""Refuse numbers that cannot be meant, with the name they were given under, and say briefly what was given."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from .._base.errors import InvalidArgumentError


def whole(name: str, x: Any, least: int | None = None) -> None:
    """Refuse all but integers of at least `least`."""
    bound = "" if least is None else f" of at least {least}"
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or (least is not None and x < least):
        raise InvalidArgumentError(f"{name} must be a whole number{bound}, got {x!r}")


def finite(name: str, x: Any, least: float | None = None) -> None:
    """Refuse all but finite numbers of at least `least`."""
    if isinstance(x, bool) or not isinstance(x, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {x!r}")
    if not np.isfinite(x) or (least is not None and x < least):
        bound = "" if least is None else f" and at least {least}"
        raise InvalidArgumentError(f"{name} must be finite{bound}, got {x!r}")


def flag(name: str, x: Any) -> None:
    """Refuse all but True and False."""
    if not isinstance(x, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {x!r}")


class _Brief(reprlib.Repr):
    def repr_instance(self, x: Any, level: int) -> str:
        if hasattr(x, "dtype") and hasattr(x, "shape"):
            return f"{x.dtype} {tuple(x.shape)}"
        return str(getattr(x, "__qualname__", None) or super().repr_instance(x, level))

    def repr_function(self, x: Any, level: int) -> str:
        return self.repr_instance(x, level)


_BRIEF = _Brief()
_BRIEF.maxdict = _BRIEF.maxother = 60


def brief(x: Any) -> str:
    """Arrays by dtype and shape, functions by name, and not too much of anything else. Not in TensorFlow.

    >>> import numpy as np
    >>> brief({"w": np.zeros((2, 3), np.float32), "b": np.float32(1)}), brief(brief)
    ("{'b': float32 (), 'w': float32 (2, 3)}", 'brief')
    """
    return _BRIEF.repr(x)

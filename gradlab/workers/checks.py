"""Refuse numbers that cannot be meant, with the name they were given under."""

from __future__ import annotations

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

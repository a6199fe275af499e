"""What the constructors of tf.train refuse."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_above_zero(name: str, x: Any) -> None:
    """Refuse what is not a number above 0."""
    if not _number(name, x) > 0:
        raise ValueError(f"{name} must be above 0, got {x}; a value near 0, such as 1e-10, is allowed")


def check_not_below_zero(name: str, x: Any) -> None:
    """Refuse what is not a number of 0 or more."""
    if not _number(name, x) >= 0:
        raise ValueError(f"{name} must be 0 or more, got {x}")


def _number(name: str, x: Any) -> Any:
    if x is None or isinstance(x, str | bytes) or callable(x) or np.shape(x) != ():
        raise TypeError(f"{name} must be a number, got {x!r}")
    return x

"""What the constructors of tf.train refuse."""

from __future__ import annotations

from typing import Any


def check_above_zero(name: str, x: Any) -> None:
    """Refuse what is not a number above 0."""
    if not x > 0:
        raise ValueError(f"{name} must be above 0, got {x}; a value near 0, such as 1e-10, is allowed")


def check_not_below_zero(name: str, x: Any) -> None:
    """Refuse what is not a number of 0 or more."""
    if not x >= 0:
        raise ValueError(f"{name} must be 0 or more, got {x}")

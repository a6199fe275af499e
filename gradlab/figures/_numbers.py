"""Numbers in cells."""

from __future__ import annotations

from .._base.numbers import signed


def written(value: float, digits: int = 2) -> str:
    """With so many digits after the point, and a true minus; a 0 without any is exactly 0.

    >>> written(-0.5), written(0.0), written(0.001), written(0.26, 1)
    ('−0.50', '0', '0.00', '0.3')
    """
    words = f"{value:.{digits}f}" if value else "0"
    return signed(words) if float(words) else words.lstrip("-")

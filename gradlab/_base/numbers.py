"""Numbers as sentences say them."""

from __future__ import annotations


def percent(share: float, digits: int = 0) -> str:
    """A share in percent.

    >>> percent(0.256), percent(0.256, 1)
    ('26 %', '25.6 %')
    """
    return f"{100 * share:.{digits}f} %"

"""Many names in few words, and limits that one would type."""

from __future__ import annotations

import math
from collections.abc import Sequence

SHOWN = 8


def listed(names: Sequence[str]) -> str:
    """The first eight, and how many more there are.

    >>> listed(["w", "b"])
    'w, b'
    >>> listed([f"w{k}" for k in range(1000)])
    'w0, w1, w2, w3, w4, w5, w6, w7 and 992 more'
    """
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def rounded_up(x: float) -> float:
    """The next number of three digits: as a limit it fires no more often.

    >>> rounded_up(25.249), rounded_up(0.001), rounded_up(98765.0)
    (25.3, 0.001, 98800.0)
    """
    nearest = float(f"{x:.2e}")
    return nearest if nearest >= x else float(f"{nearest + 10.0 ** (math.floor(math.log10(x)) - 2):.2e}")

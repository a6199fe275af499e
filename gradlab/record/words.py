"""Many names in few words."""

from __future__ import annotations

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

"""The labs: each shows itself in a notebook, and draws, saves and describes itself without one."""

from ._lab import Lab as Lab
from .clip_arrows import clip_arrows as clip_arrows
from .clip_libraries import clip_libraries as clip_libraries
from .clipping import clipping as clipping

_CATALOGUE: tuple[type[Lab], ...] = (clipping, clip_arrows, clip_libraries)


def catalogue() -> dict[str, type[Lab]]:
    """Every lab by name.

    >>> "clipping" in catalogue()
    True
    """
    return {lab.__name__: lab for lab in _CATALOGUE}

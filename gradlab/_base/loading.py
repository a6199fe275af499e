"""Modules loaded when they are first used, and other work whose results stay, while no garbage is looked for."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage meanwhile; afterwards all is as it was.

    For what makes many objects that stay. To look through them again and again, and through all that a notebook's
    kernel has already, takes a tenth of the time until the first picture.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def loaded(name: str, package: str | None = None) -> ModuleType:
    """`importlib.import_module`, without collections.

    >>> loaded(".numbers", "gradlab._base").number(0.5)
    '0.5'
    """
    with without_collections():
        return importlib.import_module(name, package)

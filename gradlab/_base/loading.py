"""Modules that are loaded when they are first used."""

from __future__ import annotations

import gc
import importlib
from types import ModuleType

from .forks import in_child

_paused = False


def loaded(name: str, package: str | None = None) -> ModuleType:
    """Import a module as `importlib.import_module` does, with garbage collection paused in the whole process.

    What modules define stays. To scan it repeatedly, and all that a notebook's kernel holds already, is a tenth of the
    time that an import takes.

    >>> loaded(".numbers", "gradlab._base").number(0.5)
    '0.5'
    """
    global _paused
    if not gc.isenabled():
        return importlib.import_module(name, package)
    _paused = True
    gc.disable()
    try:
        return importlib.import_module(name, package)
    finally:
        _go_on()


def _go_on() -> None:
    """Collect garbage again; also in a child that was forked while another thread imported."""
    global _paused
    if _paused:
        _paused = False
        gc.enable()


in_child(_go_on)

"""New locks in a forked child.

A thread that holds a lock when the process forks doesn't exist in the child, so nothing there would
ever release the lock. `renew_in_child` sets an attribute, mostly a lock, and sets it again in every
child; `call_in_child` is for whatever isn't an attribute.

Only the lock is new. What it guards is as it was at the instant of the fork: whole if no thread was
in the middle of an operation, else perhaps half changed, and then the object has to be made again
in the child.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

_owners: weakref.WeakKeyDictionary[Any, dict[str, Callable[[], Any]]] = weakref.WeakKeyDictionary()


def renew_in_child(owner: Any, attribute: str, make: Callable[[], Any] = threading.RLock) -> None:
    """Set `owner.attribute = make()`, now and in every forked child."""
    setattr(owner, attribute, make())
    makers = dict(_owners.get(owner, {}))
    makers[attribute] = make
    _owners[owner] = makers


def call_in_child(act: Callable[[], object]) -> None:
    """Register `act` to be called in every forked child."""
    if hasattr(os, "register_at_fork"):  # Windows has no fork
        os.register_at_fork(after_in_child=act)


def _renew_locks() -> None:
    for owner, makers in list(_owners.items()):
        for attribute, make in makers.items():
            setattr(owner, attribute, make())


call_in_child(_renew_locks)

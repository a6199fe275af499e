"""Locks after a fork: one that another thread held is held in the child forever, by nobody.

What such a lock guards may be half changed, so in the child it is refused in a sentence, where waiting would never end.
Locks that guard nothing but a table that is whole at every instant are new in the child.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import FailedPreconditionError

_guarded: list[tuple[weakref.ref[Any], str, Callable[[Any], Any]]] = []  # some of owners that are gone
_most = 1024  # of them before those are looked for
_registering = threading.Lock()


class Torn:
    """In the place of a lock that a thread held which is not in this process."""

    def __init__(self, what: str) -> None:
        self._what = what

    def acquire(self, *_: Any, **__: Any) -> NoReturn:
        raise FailedPreconditionError(
            f"{self._what} was in use by another thread when this process was forked, and may be half changed here: "
            'make a new one in this process, or start it by multiprocessing.get_context("spawn")'
        )

    def __enter__(self) -> NoReturn:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        """Never called."""


def lock(owner: Any, name: str, what: str) -> None:
    """Give `owner` a lock under a name, that is guarded."""
    setattr(owner, name, threading.RLock())
    guard(owner, name, what)


def guard(owner: Any, lock: str, what: str, always: bool = False) -> None:
    """See to it that `owner` refuses its users in a forked child if its attribute `lock` is held then, or `always`."""
    _remember(owner, lock, lambda held: Torn(what) if always or is_held(held) else held)


def renew(owner: Any, lock: str) -> None:
    """See to it that `owner` has another lock in a forked child: what it guards is whole at every instant."""
    _remember(owner, lock, lambda held: threading.RLock() if is_held(held) else held)


def _remember(owner: Any, lock: str, then: Callable[[Any], Any]) -> None:
    global _most
    with _registering:
        if len(_guarded) >= _most:  # in a callback of the reference a Ctrl-C would be lost
            _guarded[:] = [one for one in _guarded if one[0]() is not None]
            _most = max(1024, 2 * len(_guarded))
        _guarded.append((weakref.ref(owner), lock, then))


def in_child(act: Callable[[], object]) -> None:
    """Have this called in every forked child."""
    if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
        os.register_at_fork(after_in_child=act)


def is_held(lock: Any) -> bool:
    """Tell whether another thread holds the lock. In a child process it would never be released."""
    if not lock.acquire(blocking=False):
        return True
    lock.release()
    return False


def _replace_locks() -> None:
    global _registering
    _registering = threading.Lock()
    for ref, lock, then in tuple(_guarded):
        if (owner := ref()) is not None:
            setattr(owner, lock, then(getattr(owner, lock)))


in_child(_replace_locks)

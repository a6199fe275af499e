"""Listeners to new steps: labs that follow a recorder, files, and clients."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Protocol


class Listener(Protocol):
    """Something that hears of steps."""

    def heard(self, rec: Any) -> None:
        """The recorder has more steps than before. Called in the loop that is recorded, so it returns at once."""


def follow(rec: Any, listener: Listener) -> None:
    """Tell this one of new steps of a recorder, for as long as something else holds it."""
    rec.listeners.add(listener)


def here(rec: Any) -> int:
    """Return how many steps a recorder has, but for those that wait on a device: nothing waits for them."""
    return int(rec.store.next_step)


class Listeners:
    """Of one run, for however many recorders it has: `absorb` returns a new one each time.

    Those that `keep` was called for live until `drop` is; of others there is a weak reference only.
    """

    def __init__(self) -> None:
        self._weak: weakref.WeakSet[Any] = weakref.WeakSet()
        self._kept: list[Listener] = []
        self._telling = False

    def add(self, listener: Listener) -> None:
        """Tell it from now on, for as long as something else holds it."""
        self._weak.add(listener)

    def keep(self, listener: Listener) -> None:
        """Tell it from now on, and hold it."""
        self._kept.append(listener)

    def __reduce__(self) -> tuple[type[Listeners], tuple[()]]:
        """A copy has its own."""
        return Listeners, ()

    def drop(self, listener: Listener) -> None:
        """Tell it no more."""
        self._weak.discard(listener)
        self._kept = [one for one in self._kept if one is not listener]

    def __iter__(self) -> Iterator[Listener]:
        yield from [*self._kept, *self._weak]

    def __len__(self) -> int:
        return len(self._kept) + len(self._weak)

    def tell(self, rec: Any) -> None:
        """Tell all of them; not again while one of them is busy with it."""
        if self._telling or not len(self):
            return
        self._telling = True
        try:
            for listener in self:
                listener.heard(rec)
        finally:
            self._telling = False

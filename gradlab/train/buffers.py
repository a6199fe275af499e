"""Ownership of buffers: a value is overwritten only while its variable alone can see it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from .._base.arrays import CACHED, Array, is_jax
from ..rules.in_place import is_allowed
from .variable import Variable

Taken = list[Any]  # holds one value, so that nothing else needs to


class Fresh:
    """Stands in for a slot variable until the first step has worked."""

    def __init__(self, value: Array) -> None:
        self._value, self._lock = value, threading.RLock()
        self._spare: np.ndarray | None = None


Cell = Variable | Fresh


@contextmanager
def taken(cells: Sequence[Cell]) -> Iterator[list[Taken]]:
    """The values, out of their cells: a read of one waits, and what is in the list at the end is put back.

    All locks come first: a thread that holds one of them may still want to read another cell.
    """
    with ExitStack() as stack:
        for cell in cells:
            stack.enter_context(cell._lock)
        values = [[vars(cell).pop("_value")] for cell in cells]
        try:
            yield values
        finally:
            for cell, value in zip(cells, values, strict=True):
                cell._value = value[0]


def is_small(value: Array) -> bool:
    """Tell whether a new buffer for such a value costs nothing, so that it is never overwritten."""
    return bool(value.size <= CACHED)


def is_ours(taken: Taken) -> bool:
    """True if nothing holds the value, a view of it, or the memory under it.

    A JAX array may have aliases that do not hold it: see `gradlab.rules.in_place`. A small one is therefore never ours.
    """
    value = taken[0]
    ours = not is_small(value) if is_jax(value) else value.base is None and value.flags.owndata
    del value
    return ours and is_allowed() and _references(taken) <= _ALONE


def _references(taken: Taken) -> int:
    return sys.getrefcount(taken[0])


def _counts() -> bool:
    """Without a global lock another thread may hold what is not counted yet."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


_ALONE = _references([np.empty(0)]) if _counts() else -1  # how many that is depends on the interpreter


def spare(cell: Cell) -> np.ndarray:
    """A buffer for the next value of a NumPy cell: the one before last if nothing reads it, else a new one.

    Pages fresh from the system cost more than a step does.
    """
    value: Any = cell._value
    kept: Taken = [cell._spare]
    cell._spare = None
    if kept[0] is None or not is_ours(kept) or _layout(kept[0]) != _layout(value):
        return np.empty_like(value)
    kept[0].flags.writeable = True
    buffer: np.ndarray = kept[0]
    return buffer


def _layout(x: np.ndarray) -> tuple[Any, ...]:
    return x.shape, x.dtype, x.strides


def swap(cell: Cell, new: np.ndarray) -> None:
    """`new` becomes the value, the value the spare buffer."""
    new.flags.writeable = False
    value: Any = cell._value
    cell._value, cell._spare = new, value

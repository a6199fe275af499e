"""The memory of a variable's value, and when a step may write into it.

The contract: `Variable.value` is a read-only array that never changes. So an update makes a new
array, or writes into memory that was never handed out. A `Buffer` holds the array of one variable
or slot and remembers whether it was handed out. Where it wasn't,

    a NumPy step writes into the array itself: all of it, or the rows that change,
    a JAX step donates the array to the program that makes the next one.

New memory would make a dense step take a third longer, and a step by rows many times as long.

The steps (`update.py`) hold the locks of their variables from the first read to the last write;
readers don't wait for those. `Buffer.lock` is held only while an array is handed out, replaced, or
written into; whatever needs both locks takes the one of the variable first. Ctrl-C while a step
writes may leave a value half written. Derivatives borrow a JAX array for as long as they compute,
so that a table that is only gathered from is still stepped in place.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._base.arrays import Array, is_jax
from .._base.forks import renew_in_child


class Buffer:
    """The array of one variable, which is read-only.

    Args:
        array: the value now. A step reads it under the lock of its variable, and must not keep it.
        is_shared: whether anything outside may hold `array`.
    """

    lock: threading.RLock  # set by `renew_in_child`

    def __init__(self, array: Array, is_shared: bool) -> None:
        self.array: Any = array
        self.is_shared = is_shared
        self._num_loans = 0
        renew_in_child(self, "lock")

    def share(self) -> Array:
        """Return the array for good: no step writes into it any more."""
        with self.lock:
            self.is_shared = True
            array: Array = self.array
            return array

    @contextmanager
    def lend(self) -> Iterator[Array]:
        """Hand the array out for the length of a `with` block, which must not keep it."""
        with self.lock:
            self._num_loans += 1
            array: Array = self.array
        try:
            yield array
        finally:
            with self.lock:
                self._num_loans -= 1

    @property
    def is_free(self) -> bool:
        """Whether a step may write into the array. Read it under the lock."""
        return not self.is_shared and self._num_loans == 0

    def copy(self) -> np.ndarray:
        """Return a copy of the value as a NumPy array."""
        with self.lock:
            return np.array(self.array)

    def take(self, index: Any) -> Array:
        """Return `array[index]`.

        Rows chosen by their numbers are a copy, so they don't share the array.
        """
        with self.lock:
            part: Array = self.array[index]
            # The caller may keep a view: no step may write into its memory.
            if part is self.array or (not is_jax(part) and np.may_share_memory(part, self.array)):
                self.is_shared = True
            return part

    def replace(self, array: Array, is_shared: bool = True) -> None:
        """Set the array.

        By default it counts as shared: the caller may keep it, so no step may write into it.
        """
        with self.lock:
            self.array = array
            self.is_shared = is_shared

    @contextmanager
    def overwrite(self) -> Iterator[np.ndarray]:
        """Yield the memory that holds the next NumPy value at the end of a `with` block.

        It is that of the array if the array is free. Readers wait for the end of the block. After
        an error the variable has its old array, which may be half written.
        """
        with self.lock:
            target = self.array if self.is_free else np.empty_like(self.array)
            with _writeable(target):
                yield target
            self.replace(target, is_shared=False)

    def write_rows(self, rows: np.ndarray, values: Array) -> None:
        """Replace these rows of a NumPy value."""
        with self.lock:
            if not self.is_free:
                self.replace(self.array.copy(), is_shared=False)
            with _writeable(self.array):
                self.array[rows] = values


@contextmanager
def _writeable(array: np.ndarray) -> Iterator[None]:
    """Let an array be written into for the length of a `with` block."""
    array.flags.writeable = True
    try:
        yield
    finally:
        array.flags.writeable = False


class UnownedSlotBuffer(Buffer):
    """The buffer of a slot whose variable is made once the first step has worked."""

    def __init__(self, array: Array) -> None:
        # A rule's `init` may return one array for two slots, or keep it: no step may write into it.
        super().__init__(array, is_shared=True)

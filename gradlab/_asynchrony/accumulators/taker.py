"""Somebody in the queue of an accumulator, who may wait for the turn."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from .machine import Waiter

if TYPE_CHECKING:
    from .kernel import Kernel


class Taker(Waiter):
    """A place in the queue of an accumulator. `done` once it has a value or an error; both stay."""

    def __init__(self, kernel: Kernel, needs: int) -> None:
        super().__init__(needs)
        # No condition variable: it lets go of its lock while it waits, and a thread that Ctrl-C or another thread stops
        # in the wrong moment would then release the lock of somebody else.
        self._kernel, self._bell = kernel, SimpleQueue[None]()

    def settle(self, value: Any = None, error: Exception | None = None) -> None:
        super().settle(value, error)
        self.ring()

    def ring(self) -> None:
        """Wake up one who waits for it."""
        self._bell.put(None)

    def listen(self, seconds: float) -> None:
        """Wait for the bell at most so long. Who hears that it is done passes it on."""
        with suppress(Empty):
            self._bell.get(timeout=seconds)
        if self.done:
            self.ring()

    @property
    def position(self) -> int | None:
        """1 for the next to be served; None when done."""
        return self._kernel._position(self)

    def result(self, timeout: float | None = None) -> Any:
        """The value, waiting for it at most `timeout` seconds.

        Raises: DeadlineExceededError (it stays in the queue), CancelledError, DeadlockError (as `take_grad`).
        """
        return self._kernel._result(self, timeout)

    def cancel(self) -> bool:
        """Leave the queue and consume nothing; False if it was done already."""
        return self._kernel.cancel(self)

    def __repr__(self) -> str:
        return f"<gradlab Taker needs={self.needs} done={self.done}>"

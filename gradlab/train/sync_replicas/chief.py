"""The chief as a thread, and the hook of a worker's session.

The chief waits for the first push, puts in the start tokens, and then makes one update after
another until its block ends. The state and its lock are in `Exchange`, which both classes call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ...errors import CancelledError
from .exchange import Exchange
from .tokens import Worker


class Chief:
    """A thread that makes an update whenever enough gradients have come, until its block ends.

    Args:
        tokens: the number of start tokens; None, as in TensorFlow's queue runner, leaves them and
            the global step of the accumulators to the caller.
        timeout: seconds to wait at most for the gradients of one update.

    An error in the thread ends all waits and is raised at the end of the block.
    """

    def __init__(
        self, exchange: Exchange, name: str, tokens: int | None, timeout: float | None
    ) -> None:
        self._exchange = exchange
        self._name = f"{name} chief"
        self._tokens = tokens
        self._timeout = timeout
        self._threads: list[threading.Thread] = []
        self.error: BaseException | None = None

    def __enter__(self) -> Chief:
        self._exchange._reopen()
        self.create_threads(start=True)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self.stop()
        if self.error is not None and error is None:
            raise self.error

    def create_threads(
        self, sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = False
    ) -> list[threading.Thread]:
        """Return the thread, in a list; `sess` and `coord` are ignored."""
        thread = threading.Thread(target=self._run, name=self._name, daemon=daemon)
        self._threads.append(thread)
        if start:
            thread.start()
        return [thread]

    def stop(self) -> None:
        """End all waits with CancelledError and the thread with them."""
        self._exchange.close(
            f"the chief has stopped at step {self._exchange._step()}: training is over"
        )
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _run(self) -> None:
        try:
            self._exchange._wait_for_build()
            self._exchange._add_chief(self, self._tokens)
            while True:
                self._exchange._sync(self._timeout, idle=True)
        except CancelledError:  # by stop
            pass
        except BaseException as error:
            self.error = error
            self._exchange.close(f"the chief has failed with {type(error).__name__}: {error}")
        finally:
            self._exchange._remove_chief(self)


class Hook:
    """The session hook of a worker: it declares the worker and, on the chief, starts the chief.

    `with hook:` calls `begin()`, `after_create_session()` and `end()`.
    """

    def __init__(
        self, exchange: Exchange, chief: Callable[[], Chief] | None, worker: Worker
    ) -> None:
        self._exchange = exchange
        self._chief = chief
        self._worker = worker
        self._open = ExitStack()

    def __enter__(self) -> Hook:
        self.begin()
        self.after_create_session()
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._open.__exit__(*error)

    def begin(self) -> None:
        """Raise ValueError before `build` or the first `apply_gradients`."""
        self._exchange._require_build("the hook")

    def after_create_session(self, session: Any = None, coord: Any = None) -> None:
        """Start the chief, if this is its worker, and the worker; arguments are ignored."""
        if self._chief is not None:
            self._open.enter_context(self._chief())
        self._open.enter_context(self._exchange.worker(self._worker))

    def end(self, session: Any = None) -> None:
        """End the worker; on the chief this stops the chief and all waits."""
        self._open.close()

"""The chief in a thread of its own, and the hook that starts it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ...errors import CancelledError
from .exchange import Exchange
from .tokens import Worker


class Chief:
    """A thread that updates whenever enough gradients have come, from the first push on until its block ends.

    `tokens`: how many to start with; None leaves start tokens and steps to others, as TensorFlow's
    queue runner does. What went wrong in the thread ends all waits, and is raised at the end of the
    block.
    """

    def __init__(
        self, exchange: Exchange, name: str, tokens: int | None, timeout: float | None
    ) -> None:
        self._exchange, self._name, self._tokens, self._timeout = (
            exchange,
            f"{name} chief",
            tokens,
            timeout,
        )
        self._threads: list[threading.Thread] = []
        self.error: BaseException | None = None

    def __enter__(self) -> Chief:
        x = self._exchange
        with x._changed:
            if x._closed is not None:  # begin anew
                x._begin(x._rounds.sparse)
        self.create_threads(start=True)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self.stop()
        if self.error is not None and error is None:
            raise self.error

    def create_threads(
        self, sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = False
    ) -> list[threading.Thread]:
        """The thread, in a list; `sess` and `coord` have no meaning here."""
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
            self._wait_for_first_push()
            self._begin()
            while True:
                self._exchange._sync(self._timeout, idle=True)
        except CancelledError:  # by stop
            pass
        except BaseException as error:
            self.error = error
            self._exchange.close(f"the chief has failed with {type(error).__name__}: {error}")
        finally:
            self._exchange._chiefs.discard(self)

    def _wait_for_first_push(self) -> None:
        x = self._exchange
        with x._changed:
            while not x._rounds.sparse:
                x._refuse_if_closed()
                x._changed.wait()

    def _begin(self) -> None:
        x = self._exchange
        with x._changed:
            if self._tokens is not None:
                x._rounds.set_global_step(x._step())
                x.put_tokens(self._tokens)
            x._chiefs.add(self)  # from now on tokens are there, or can come only if somebody pushes


class Hook:
    """The context of a worker's training: its local step; the chief's worker starts the chief, too.

    `with hook:` is `begin()`, `after_create_session()` and `end()`.
    """

    def __init__(
        self, exchange: Exchange, chief: Callable[[], Chief] | None, worker: Worker
    ) -> None:
        self._exchange, self._chief, self._worker = exchange, chief, worker
        self._open = ExitStack()

    def __enter__(self) -> Hook:
        self.begin()
        self.after_create_session()
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._open.__exit__(*error)

    def begin(self) -> None:
        """ValueError before `build` or the first `apply_gradients`."""
        self._exchange._require_build("the hook")

    def after_create_session(self, session: Any = None, coord: Any = None) -> None:
        """Start; the arguments have no meaning here."""
        if self._chief is not None:
            self._open.enter_context(self._chief())
        self._open.enter_context(self._exchange.worker(self._worker))

    def end(self, session: Any = None) -> None:
        """The worker is done; with the chief's all are."""
        self._open.close()

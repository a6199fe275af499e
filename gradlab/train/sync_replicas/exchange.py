"""The exchange between workers and the chief: rounds and tokens behind one lock, the waits, and their reasons."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..._base.forks import renew_in_child
from ..._base.numbers import counted
from ...errors import CancelledError, DeadlineExceededError, DeadlockError
from ..accumulators.arguments import check_timeout
from ..accumulators.deadlock import Wait
from ..variable import Variable
from .rounds import Accumulator, Pairs, Push, Rounds, Sync, Update
from .tokens import Crew, TokenQueue, TokenTaker, Worker

REMEMBERED = 10_000  # updates; older ones are forgotten
CHIEF = "chief"


@dataclass(frozen=True)
class Waiting:
    """A waiting worker or chief: how many tokens or gradients it needs and there are, and its place in the queue."""

    who: Worker
    needs: int
    has: int
    position: int
    text: str


class Exchange(ABC):
    """State shared by the workers and the chief.

    Every method is atomic to other threads, and only three wait.

    A worker that Ctrl-C stops in a wait leaves the queue. After Ctrl-C in the middle of another
    call, or in a child forked while another thread was in one, make a new optimizer: the
    accumulators may disagree.
    """

    def __init__(self, needs: int, workers: int) -> None:
        self._needs, self._workers = needs, workers
        self._changed: threading.Condition
        renew_in_child(self, "_changed", threading.Condition)
        self._rounds, self._start = Rounds({}, needs, 0), 0
        self._local_steps: dict[Worker, int] = {}
        self._tokens = TokenQueue(self._local_steps.__setitem__)
        self._updates: deque[Update] = deque(maxlen=REMEMBERED)
        self._chiefs: set[object] = set()  # that run in threads of their own
        self._crew = Crew(workers)
        self._closed: str | None = None  # the reason

    @abstractmethod
    def _step(self) -> int:
        """The global step now."""

    @abstractmethod
    def _update(self, pairs: Pairs) -> None:
        """Apply mean gradients and add 1 to the global step."""

    @abstractmethod
    def _after_update(self) -> None:
        """Finish an update that counts; this isn't repeated if it raises."""

    @abstractmethod
    def _checked(self, grads_and_vars: Any) -> Pairs:
        """The pairs with a gradient, if they are what the accumulators were made for."""

    @property
    def tokens_per_step(self) -> int:
        """Tokens put in after each update: max(replicas_to_aggregate, total_num_replicas)."""
        return max(self._needs, self._workers)

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens in the queue, the next one first."""
        with self._changed:
            return self._tokens.tokens

    @property
    def accumulators(self) -> Mapping[Variable, Accumulator]:
        """By variable; one without a gradient has none.

        Peek, but do not take: the chief would miss what you took.
        """
        return dict(self._rounds.accumulators)

    @property
    def updates(self) -> tuple[Update, ...]:
        """The workers that contributed to each update or were late for it, the oldest first; the last 10,000."""
        with self._changed:
            return tuple(self._updates)

    def why_waiting(self) -> list[Waiting]:
        """Everybody who waits, and for what."""
        with self._changed:
            return list(self._waiting())

    def local_step(self, worker: Worker = None) -> int:
        """The step that the worker's next gradients are marked with; at first the global step at which all began."""
        return self._local_steps.get(thread_key(worker), self._start)

    def push(self, grads_and_vars: Any, worker: Worker = None) -> Push:
        """Hand in the gradients of one worker; never waits.

        Raises what `apply_gradients` raises.
        """
        with self._changed:
            self._refuse_if_closed()
            key, step = thread_key(worker), self.local_step(worker)
            push = self._rounds.push(self._checked(grads_and_vars), key, step)
            self._local_steps[key] = step
            self._changed.notify_all()
            return push

    def put_tokens(self, number: int) -> None:
        """Put tokens into the queue that hold the global step."""
        self._require_build("put_tokens")
        with self._changed:
            self._tokens.put(self._step(), number)
            self._changed.notify_all()

    def request_sync(self) -> Sync:
        """Ask for the gradients of an update without waiting for them: `finish` the sync once it is `done`."""
        self._require_build("a sync")
        with self._changed:
            self._refuse_if_closed()
            return self._rounds.request()

    def finish(self, sync: Sync) -> Update:
        """Apply the gradients of a sync that is done and put in the tokens of the next round.

        If the update raises, the next sync tries it again.
        """
        with self._changed:
            if sync not in self._rounds.served:
                raise ValueError("finish needs a sync that is done, once")
            pairs = sync.pairs()
            try:
                self._update(pairs)
            except BaseException:
                self._rounds.cancel(sync)
                raise
            self._rounds.served.remove(sync)
            self._updates.append(Update(self._step(), sync.contributors, sync.dropped))
            self.put_tokens(self.tokens_per_step)
            self._after_update()
            return self._updates[-1]

    def cancel(self, waiting: Sync | TokenTaker) -> None:
        """Take back `request_sync` or `request_token`.

        What was given already is there for the next who asks.
        """
        with self._changed:
            if isinstance(waiting, Sync):
                self._rounds.cancel(waiting)
            else:
                self._tokens.cancel(waiting)
            self._changed.notify_all()

    def try_sync(self) -> Update | None:
        """The update, or None if too few gradients have come."""
        with self._changed:
            sync = self.request_sync()
            if sync.done:
                return self.finish(sync)
            self.cancel(sync)
            return None

    def sync(self, timeout: float | None = None) -> Update:
        """Wait for enough gradients, then update: one turn of the chief.

        Raises what `apply_gradients` raises.
        """
        return self._sync(timeout, idle=False)

    def request_token(self, worker: Worker = None) -> TokenTaker:
        """Join the queue for a token without waiting for it; once `done`, it is the worker's local step."""
        with self._changed:
            self._refuse_if_closed()
            return self._tokens.request(thread_key(worker))

    def try_token(self, worker: Worker = None) -> int | None:
        """A token, which is the worker's local step from now on, or None if there is none."""
        with self._changed:
            self._refuse_if_closed()
            return self._tokens.try_take(thread_key(worker))

    def take_token(self, worker: Worker = None, timeout: float | None = None) -> int:
        """Wait for a token and make it the worker's local step.

        Raises what `apply_gradients` raises.
        """
        with self._changed:
            taker = self.request_token(worker)
            taker.is_patient = timeout is None
            self._changed.notify_all()  # one more who waits: maybe nobody is left who could push
            self._wait(taker, timeout, f"worker {taker.worker} waits for a token")
            return self._local_steps[taker.worker]

    @contextmanager
    def worker(self, worker: Worker = None) -> Iterator[Worker]:
        """The calling thread, or any other key, is a worker from now on, at the global step of now, until it leaves.

        If all workers say so, one that waits for gradients of others that are gone gets a
        DeadlockError. When the chief stops, the block ends without an error.
        """
        key = thread_key(worker)
        try:
            with self._changed:
                self._crew.join(key)
                self._local_steps[key] = self._step()
            yield key
        except CancelledError:
            if self._closed is None:
                raise
        finally:
            with self._changed:
                self._crew.leave(key)
                self._changed.notify_all()

    def close(self, reason: str = "the optimizer was closed") -> None:
        """Wake all who wait with CancelledError, which all who come later get too."""
        with self._changed:
            self._closed = reason = self._closed or reason
            for waiting in (*self._tokens.takers, *self._rounds.waiting):
                waiting.ended = reason
                self.cancel(waiting)  # type: ignore[arg-type]  # mypy takes their common base
            self._changed.notify_all()

    def _begin(self, sparse: Mapping[Variable, bool]) -> None:
        """Start at the global step of now: no gradient, no token, no worker's step of before."""
        with self._changed:
            self._start = self._step()
            self._rounds = Rounds(sparse, self._needs, self._start)
            self._local_steps, self._closed = {}, None
            self._tokens = TokenQueue(self._local_steps.__setitem__)
            self._crew.gone.clear()
            self._changed.notify_all()

    def _sync(self, timeout: float | None, idle: bool) -> Update:
        with self._changed:
            sync = self.request_sync()
            self._wait(
                sync, timeout, f"the chief waits for {counted(self._needs, 'gradient')}", idle
            )
            return self.finish(sync)

    def _wait(
        self, waiting: Sync | TokenTaker, timeout: float | None, what: str, idle: bool = False
    ) -> None:
        """Until it is done, with the lock free in the meantime; one that gives up leaves the queue.

        `idle`: it isn't an error if nothing ever comes.
        """
        try:
            check_timeout(timeout)
            if timeout is None:
                self._wait_endlessly(waiting, what, idle)
            elif not self._is_over_in(timeout, waiting):
                raise DeadlineExceededError(f"{what}, for {timeout} s in vain: {self._state()}")
            if waiting.ended is not None:
                raise CancelledError(f"{what}, but {waiting.ended}")
        except BaseException:  # Ctrl-C, too
            self.cancel(waiting)
            raise

    def _wait_endlessly(self, waiting: Sync | TokenTaker, what: str, idle: bool) -> None:
        with Wait(lambda: waiting.is_over) as wait:
            while not waiting.is_over:
                if not idle and (reason := self._stuck(wait)):
                    raise DeadlockError(f"{what}, but {reason}")
                self._changed.wait(wait.pause)

    def _is_over_in(self, seconds: float, waiting: Sync | TokenTaker) -> bool:
        end = time.monotonic() + seconds
        while not waiting.is_over:
            seconds_left = end - time.monotonic()
            if seconds_left <= 0:
                return False
            # In slices: on Windows Ctrl-C doesn't interrupt a sleeping lock.
            self._changed.wait(min(seconds_left, Wait.PAUSE))
        return True

    def _waiting(self) -> Iterator[Waiting]:
        """Everybody who waits: chiefs for gradients, workers for tokens."""
        has = len(self._rounds.contributors)
        for k in range(1, len(self._rounds.waiting) + 1):
            yield Waiting(
                CHIEF, self._needs, has, k, f"the chief waits for gradients: {self._gradients()}"
            )
        for k, taker in enumerate(self._tokens.takers, 1):
            text = (
                f"worker {taker.worker} waits for a token, number {k} in the queue: {self._state()}"
            )
            yield Waiting(taker.worker, 1, 0, k, text)

    def _state(self) -> str:
        """Return what the next tokens depend on."""
        if self._chiefs or self._rounds.waiting or self._rounds.served:
            return f"tokens come with the next update: {self._gradients()}"
        return f"no chief is there, start one by `with opt.chief():`; {self._gradients()}"

    def _gradients(self) -> str:
        """Return what an update needs and what has come."""
        rounds = self._rounds
        text = (
            f"an update needs {self._needs}, {len(rounds.contributors)} have "
            f"come{_names(rounds.contributors)}"
        )
        if rounds.dropped:
            text += (
                f"; {len(rounds.dropped)} came too late and were dropped{_names(rounds.dropped)}"
            )
        silent = self._crew.present - {t.worker for t in self._tokens.takers}
        return text + (f"; still to push: {_listed(silent)}" if silent else "")

    def _stuck(self, wait: Wait) -> str | None:
        """Why what is waited for can never come, or None where it may."""
        if not self._may_push():
            gone = _listed(self._crew.gone)
            return f"no worker is left that could push: {self._state()}" + (
                f"; done for good: {gone}" if gone else ""
            )
        return f"every other thread waits, too: {self._state()}" if wait.is_hopeless() else None

    def _may_push(self) -> bool:
        """Tell whether tokens are there, or may arrive from a worker or another thread; when in
        doubt, True.
        """
        waiting = [taker.worker for taker in self._tokens.takers if taker.is_patient]
        served = self._rounds.served or len(self._rounds.contributors) >= self._needs
        return bool(
            served
            or not self._chiefs
            or not self._crew.is_known_to_all_wait(waiting, self._local_steps)
        )

    def _require_build(self, what: str) -> None:
        if not self._rounds.sparse:
            raise ValueError(
                f"{what} comes later: call opt.build(grads_and_vars, global_step) first, or "
                "apply_gradient should be called"
            )

    def _refuse_if_closed(self) -> None:
        if self._closed is not None:
            raise CancelledError(self._closed)


def thread_key(worker: Worker) -> Worker:
    """Return what a worker is known by: the name of its thread, if nothing else was given."""
    return threading.current_thread().name if worker is None else worker


def _names(workers: list[Worker]) -> str:
    return f" (from {', '.join(map(str, workers))})" if workers else ""


def _listed(workers: set[Worker]) -> str:
    return ", ".join(sorted(map(str, workers)))

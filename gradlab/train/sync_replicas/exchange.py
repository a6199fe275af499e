"""The exchange between workers and the chief: rounds and tokens behind one lock, and the waits.

A worker pushes gradients and takes a token; the chief requests a sync and finishes it, which
applies the mean gradients and puts in tokens. `Rounds` and `TokenQueue` decide who gets what.
`Exchange` holds the lock around them, lets threads wait on a condition, and explains waits: what
is missing, and whether it can still come. `SyncReplicasOptimizer` adds the optimizer.

The invariant: whenever the lock is free, accumulators, tokens and local steps are consistent. A
thread releases it at the end of a method, and while `_wait` sleeps.
"""

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

REMEMBERED = 10_000  # updates that `updates` holds
CHIEF = "chief"


@dataclass(frozen=True)
class Waiting:
    """Why a worker or the chief waits."""

    who: Worker
    needs: int  # tokens or gradients
    has: int
    position: int  # in the queue, from 1
    text: str


class Exchange(ABC):
    """State shared by the workers and the chief.

    Other threads see every method as one step. Only `sync`, `take_token` and what calls them wait.

    A worker that Ctrl-C stops in a wait leaves the queue. After Ctrl-C in the middle of another
    call, or in a child forked while another thread was in one, make a new optimizer: the
    accumulators may disagree.
    """

    def __init__(self, needs: int, workers: int) -> None:
        self._needs = needs
        self._workers = workers
        self._changed: threading.Condition
        renew_in_child(self, "_changed", threading.Condition)
        self._rounds = Rounds({}, needs, 0)
        self._start = 0  # the local step of a worker that hasn't taken a token yet
        self._local_steps: dict[Worker, int] = {}
        self._tokens = TokenQueue(self._local_steps.__setitem__)
        self._updates: deque[Update] = deque(maxlen=REMEMBERED)
        self._chiefs: set[object] = set()  # those that run as threads
        self._crew = Crew(workers)
        self._closed: str | None = None  # the reason, once it is closed

    @abstractmethod
    def _step(self) -> int:
        """Return the global step."""

    @abstractmethod
    def _update(self, pairs: Pairs) -> None:
        """Apply mean gradients and add 1 to the global step."""

    @abstractmethod
    def _after_update(self) -> None:
        """Finish an update that counts; this isn't repeated if it raises."""

    @abstractmethod
    def _read_pairs(self, grads_and_vars: Any) -> Pairs:
        """Return the pairs with a gradient; refuse others than those of the accumulators."""

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
        """The accumulators of the variables that have a gradient.

        Peek, but do not take: the chief would wait for the gradients that you took.
        """
        return dict(self._rounds.accumulators)

    @property
    def updates(self) -> tuple[Update, ...]:
        """The last 10,000 updates, the oldest first."""
        with self._changed:
            return tuple(self._updates)

    def why_waiting(self) -> list[Waiting]:
        """Return every wait, of chiefs and workers, and its reason."""
        with self._changed:
            return list(self._waiting())

    def local_step(self, worker: Worker = None) -> int:
        """Return the step of the worker's next gradients; at first the global step at the start."""
        return self._local_steps.get(thread_key(worker), self._start)

    def push(self, grads_and_vars: Any, worker: Worker = None) -> Push:
        """Add the gradients of one worker, without waiting.

        Raises what `apply_gradients` raises.
        """
        with self._changed:
            self._refuse_if_closed()
            key = thread_key(worker)
            step = self.local_step(worker)
            push = self._rounds.push(self._read_pairs(grads_and_vars), key, step)
            self._local_steps[key] = step
            self._changed.notify_all()
            return push

    def put_tokens(self, number: int) -> None:
        """Put in this many tokens of the present global step."""
        self._require_build("put_tokens")
        with self._changed:
            self._tokens.put(self._step(), number)
            self._changed.notify_all()

    def request_sync(self) -> Sync:
        """Request the gradients of an update without waiting; `finish` it once it is `done`."""
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
        """Withdraw a `request_sync` or `request_token`.

        If it was served already, the next request gets its gradients or its token.
        """
        with self._changed:
            if isinstance(waiting, Sync):
                self._rounds.cancel(waiting)
            else:
                self._tokens.cancel(waiting)
            self._changed.notify_all()

    def try_sync(self) -> Update | None:
        """Make an update, or return None if too few gradients have come."""
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
        """Request a token without waiting; once `done`, it is the worker's local step."""
        with self._changed:
            self._refuse_if_closed()
            return self._tokens.request(thread_key(worker))

    def try_token(self, worker: Worker = None) -> int | None:
        """Take a token as the worker's local step, or return None if there is none."""
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
            self._changed.notify_all()  # others check again whether any worker can still push
            self._wait(taker, timeout, f"worker {taker.worker} waits for a token")
            return self._local_steps[taker.worker]

    @contextmanager
    def worker(self, worker: Worker = None) -> Iterator[Worker]:
        """Declare a worker, by default the calling thread, for the time of the block.

        Its local step becomes the present global step. If all workers are declared so, one that
        waits for gradients of others that have ended gets a DeadlockError. When the chief stops,
        the block ends without an error.
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
        """End all waits with CancelledError, which later calls get, too."""
        with self._changed:
            reason = self._closed or reason
            self._closed = reason
            for waiting in (*self._tokens.takers, *self._rounds.waiting):
                waiting.ended = reason
                self.cancel(waiting)  # type: ignore[arg-type]  # mypy takes their common base
            self._changed.notify_all()

    def _reopen(self) -> None:
        """Start again if an earlier chief has closed the exchange."""
        with self._changed:
            if self._closed is not None:
                self._begin(self._rounds.sparse)

    def _wait_for_build(self) -> None:
        """Wait for the accumulators, which `build` or the first push makes."""
        with self._changed:
            while not self._rounds.sparse:
                self._refuse_if_closed()
                self._changed.wait()

    def _add_chief(self, chief: object, start_tokens: int | None) -> None:
        """Put in the start tokens, unless that is left to the caller, and count on this chief.

        From now on new tokens come only after pushes, so that a wait may turn out to be hopeless.
        """
        with self._changed:
            if start_tokens is not None:
                self._rounds.set_global_step(self._step())
                self.put_tokens(start_tokens)
            self._chiefs.add(chief)

    def _remove_chief(self, chief: object) -> None:
        self._chiefs.discard(chief)  # atomic without the lock

    def _begin(self, sparse: Mapping[Variable, bool]) -> None:
        """Start again at the present global step, without gradients, tokens and local steps."""
        with self._changed:
            self._start = self._step()
            self._rounds = Rounds(sparse, self._needs, self._start)
            self._local_steps = {}
            self._closed = None
            self._tokens = TokenQueue(self._local_steps.__setitem__)
            self._crew.gone.clear()
            self._changed.notify_all()

    def _sync(self, timeout: float | None, idle: bool) -> Update:
        with self._changed:
            sync = self.request_sync()
            what = f"the chief waits for {counted(self._needs, 'gradient')}"
            self._wait(sync, timeout, what, idle)
            return self.finish(sync)

    def _wait(
        self, waiting: Sync | TokenTaker, timeout: float | None, what: str, idle: bool = False
    ) -> None:
        """Wait, with the lock released, until a request is done; on an error it is withdrawn.

        Args:
            what: who waits for what, for errors.
            idle: whether it may wait for ever, as a chief may between two trainings.
        """
        try:
            check_timeout(timeout)
            if timeout is None:
                self._wait_endlessly(waiting, what, idle)
            elif not self._is_over_in(timeout, waiting):
                raise DeadlineExceededError(
                    f"{what}, for {timeout} s in vain: {self._describe_state()}"
                )
            if waiting.ended is not None:
                raise CancelledError(f"{what}, but {waiting.ended}")
        except BaseException:  # Ctrl-C, too
            self.cancel(waiting)
            raise

    def _wait_endlessly(self, waiting: Sync | TokenTaker, what: str, idle: bool) -> None:
        with Wait(lambda: waiting.is_over) as wait:
            while not waiting.is_over:
                reason = None if idle else self._why_stuck(wait)
                if reason is not None:
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
        """Yield the waits: of chiefs for gradients, of workers for tokens."""
        has = len(self._rounds.contributors)
        for k in range(1, len(self._rounds.waiting) + 1):
            text = f"the chief waits for gradients: {self._describe_gradients()}"
            yield Waiting(CHIEF, self._needs, has, k, text)
        for k, taker in enumerate(self._tokens.takers, 1):
            text = (
                f"worker {taker.worker} waits for a token, number {k} in the queue: "
                f"{self._describe_state()}"
            )
            yield Waiting(taker.worker, 1, 0, k, text)

    def _describe_state(self) -> str:
        """Return what the next tokens depend on."""
        if self._chiefs or self._rounds.waiting or self._rounds.served:
            return f"tokens come with the next update: {self._describe_gradients()}"
        return f"no chief is there, start one by `with opt.chief():`; {self._describe_gradients()}"

    def _describe_gradients(self) -> str:
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
        if silent:
            text += f"; still to push: {_join_sorted(silent)}"
        return text

    def _why_stuck(self, wait: Wait) -> str | None:
        """Return why a wait can never end, or None if it may."""
        if not self._may_continue():
            reason = f"no worker is left that could push: {self._describe_state()}"
            if self._crew.gone:
                reason += f"; done for good: {_join_sorted(self._crew.gone)}"
            return reason
        if wait.is_hopeless():
            return f"every other thread waits, too: {self._describe_state()}"
        return None

    def _may_continue(self) -> bool:
        """Tell whether an update is due, or a worker or another thread may push; in doubt True."""
        is_due = self._rounds.served or len(self._rounds.contributors) >= self._needs
        if is_due or not self._chiefs:
            return True
        waiting = [taker.worker for taker in self._tokens.takers if taker.is_patient]
        return not self._crew.is_known_to_all_wait(waiting, self._local_steps)

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
    """Return the key of a worker: the name of the calling thread, unless a key is given."""
    return threading.current_thread().name if worker is None else worker


def _names(workers: list[Worker]) -> str:
    return f" (from {', '.join(map(str, workers))})" if workers else ""


def _join_sorted(workers: set[Worker]) -> str:
    return ", ".join(sorted(map(str, workers)))

"""Tokens, which workers wait for, and the workers that are present.

A token is a global step. After each update the chief puts one into the queue for every worker; a
worker that takes it goes on with that step. There are no locks and clocks here: `Exchange` calls
these classes under its lock.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

Worker = Any  # the key of a worker: any hashable value, by default the name of its thread


class Request(ABC):
    """A request in a queue, for a token or for gradients."""

    def __init__(self) -> None:
        self.ended: str | None = None  # why it will never be served

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether the request was served."""

    @property
    def is_over(self) -> bool:
        return self.done or self.ended is not None


class TokenTaker(Request):
    """A worker's request for a token; `token` is None until it is served."""

    def __init__(self, worker: Worker) -> None:
        super().__init__()
        self.worker = worker
        self.token: int | None = None
        self.is_patient = False  # whether the worker waits without a timeout

    @property
    def done(self) -> bool:
        return self.token is not None

    def __repr__(self) -> str:
        if self.done:
            return f"<{self.worker} has token {self.token}>"
        return f"<{self.worker} waits for a token>"


class TokenQueue:
    """A first-in, first-out queue of tokens, and another of the workers that wait for one.

    The invariant: after each method one of the two is empty. `on_served(worker, token)` is called
    for each token that a worker gets.

    >>> queue = TokenQueue(lambda worker, token: print(worker, "gets", token))
    >>> first, second = queue.request("w0"), queue.request("w1")
    >>> queue.put(4, 3)
    w0 gets 4
    w1 gets 4
    >>> queue.tokens, queue.try_take("w2"), queue.try_take("w2")
    w2 gets 4
    ((4,), 4, None)
    """

    def __init__(self, on_served: Callable[[Worker, int], None]) -> None:
        self._on_served = on_served
        self._tokens: deque[int] = deque()
        self._takers: deque[TokenTaker] = deque()

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(self._tokens)

    @property
    def takers(self) -> tuple[TokenTaker, ...]:
        """The waiting workers, in the order in which they will be served."""
        return tuple(self._takers)

    def put(self, token: int, number: int) -> None:
        """Put in `number` equal tokens; workers that wait get them at once."""
        if operator.index(number) < 0:
            raise ValueError(f"tokens can only be put in, got {number} of them")
        self._tokens.extend([token] * number)
        self._serve()

    def request(self, worker: Worker) -> TokenTaker:
        """Join the queue; the request is served at once if there is a token."""
        taker = TokenTaker(worker)
        self._takers.append(taker)
        self._serve()
        return taker

    def try_take(self, worker: Worker) -> int | None:
        """Take a token, or return None if there is none."""
        taker = self.request(worker)
        if not taker.done:
            self.cancel(taker)
        return taker.token

    def cancel(self, taker: TokenTaker) -> None:
        """Withdraw a request; a token that it got already goes back to the front of the queue."""
        if taker in self._takers:
            self._takers.remove(taker)
        elif taker.token is not None:
            self._tokens.appendleft(taker.token)
            taker.token = None
            self._serve()

    def _serve(self) -> None:
        while self._tokens and self._takers:
            taker = self._takers.popleft()
            taker.token = self._tokens.popleft()
            self._on_served(taker.worker, taker.token)


class Crew:
    """The workers that declare when they begin and when they end; `size` is their expected number.

    >>> crew = Crew(2)
    >>> crew.join("a"), crew.is_known_to_all_wait(["a"], ["a"])
    (None, False)
    >>> crew.join("b"), crew.leave("b"), crew.is_known_to_all_wait(["a"], ["a", "b"])
    (None, None, True)
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.present: set[Worker] = set()
        self.gone: set[Worker] = set()

    def join(self, worker: Worker) -> None:
        if worker in self.gone or len(self.present | self.gone) >= self.size:
            self.gone.clear()  # training starts again: workers that have ended may come back
        self.present.add(worker)

    def leave(self, worker: Worker) -> None:
        self.present.discard(worker)
        self.gone.add(worker)

    def is_known_to_all_wait(self, waiting: Iterable[Worker], seen: Iterable[Worker]) -> bool:
        """Tell whether all workers are known and those that are present wait.

        Args:
            waiting: the workers that wait for a token.
            seen: the workers that were seen in any call. Until all of them have declared
                themselves, others may push, so the answer is False.
        """
        known = self.present | self.gone
        return len(known) >= self.size and known.issuperset(seen) and self.present.issubset(waiting)

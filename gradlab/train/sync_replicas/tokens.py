"""Tokens, the steps that workers wait for, and which workers are present.

No lock, no clock: it is all decided here.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

Worker = Any  # what a worker is known by: any hashable value, by default the thread it runs in


class Queued(ABC):
    """Somebody in a queue: `done` once served, `ended` says why if it never will be."""

    def __init__(self) -> None:
        self.ended: str | None = None

    @property
    @abstractmethod
    def done(self) -> bool:
        """Tell whether the request was served."""

    @property
    def is_over(self) -> bool:
        return self.done or self.ended is not None


class TokenTaker(Queued):
    """A worker in the queue for a token; `token` is None until it is served."""

    def __init__(self, worker: Worker) -> None:
        super().__init__()
        self.worker = worker
        self.token: int | None = None
        self.is_patient = False  # waits without a limit

    @property
    def done(self) -> bool:
        return self.token is not None

    def __repr__(self) -> str:
        return (
            f"<{self.worker} has token {self.token}>"
            if self.done
            else f"<{self.worker} waits for a token>"
        )


class TokenQueue:
    """Tokens in the order in which they were put in, workers in the order in which they asked.

    Tokens and waiting workers are never both there. `served(worker, token)` is called for each
    token that is given.

    >>> queue = TokenQueue(lambda worker, token: print(worker, "gets", token))
    >>> first, second = queue.request("w0"), queue.request("w1")
    >>> queue.put(4, 3)
    w0 gets 4
    w1 gets 4
    >>> queue.tokens, queue.try_take("w2"), queue.try_take("w2")
    w2 gets 4
    ((4,), 4, None)
    """

    def __init__(self, served: Callable[[Worker, int], None]) -> None:
        self._served = served
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
        """Put in `number` equal tokens; those who wait are served first."""
        if operator.index(number) < 0:
            raise ValueError(f"tokens can only be put in, got {number} of them")
        self._tokens.extend([token] * number)
        self._serve()

    def request(self, worker: Worker) -> TokenTaker:
        """Join the queue; served at once if a token is there."""
        taker = TokenTaker(worker)
        self._takers.append(taker)
        self._serve()
        return taker

    def try_take(self, worker: Worker) -> int | None:
        """A token, or None if there is none."""
        taker = self.request(worker)
        if not taker.done:
            self.cancel(taker)
        return taker.token

    def cancel(self, taker: TokenTaker) -> None:
        """Leave the queue.

        A token that was given already goes back to where it was, for the next one.
        """
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
            self._served(taker.worker, taker.token)


class Crew:
    """The workers that declare when they begin and when they end; `size` is how many there will be.

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
            self.gone.clear()  # a second crew: who is done may come back
        self.present.add(worker)

    def leave(self, worker: Worker) -> None:
        self.present.discard(worker)
        self.gone.add(worker)

    def is_known_to_all_wait(self, waiting: Iterable[Worker], seen: Iterable[Worker]) -> bool:
        """Tell whether no thread can push any more; False if in doubt, until all that were `seen` have declared."""
        known = self.present | self.gone
        return len(known) >= self.size and known.issuperset(seen) and self.present.issubset(waiting)

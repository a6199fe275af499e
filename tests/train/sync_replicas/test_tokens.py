"""The token queue against a model of two lists: nothing lost, nothing double, first come, first
served.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import integers

from gradlab.train.sync_replicas.tokens import TokenQueue, TokenTaker


class Model(RuleBasedStateMachine):
    """What was put in comes out in that order, to workers in the order in which they asked."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[tuple[str, int]] = []
        self.queue = TokenQueue(lambda worker, token: self.given.append((worker, token)))
        self.takers: list[TokenTaker] = []
        self.tokens: list[int] = []  # the model
        self.asking: list[str] = []
        self.expected: list[tuple[str, int]] = []
        self.asked = 0

    def serve(self) -> None:
        while self.tokens and self.asking:
            self.expected.append((self.asking.pop(0), self.tokens.pop(0)))

    @rule(token=integers(0, 9), number=integers(0, 3))
    def put(self, token: int, number: int) -> None:
        self.queue.put(token, number)
        self.tokens += [token] * number
        self.serve()

    @rule()
    def request(self) -> None:
        worker = f"w{self.asked}"
        self.asked += 1
        self.takers.append(self.queue.request(worker))
        self.asking.append(worker)
        self.serve()

    @rule()
    def try_take(self) -> None:
        token = self.queue.try_take("hasty")
        assert token == (self.tokens[0] if self.tokens else None)
        if self.tokens:
            self.expected.append(("hasty", self.tokens.pop(0)))

    @precondition(lambda self: self.takers)
    @rule(k=integers(0))
    def cancel(self, k: int) -> None:
        taker = self.takers.pop(k % len(self.takers))
        token = taker.token
        self.queue.cancel(taker)
        if token is None:
            self.asking.remove(taker.worker)
        else:
            self.tokens.insert(0, token)
            self.serve()

    @invariant()
    def same(self) -> None:
        assert self.queue.tokens == tuple(self.tokens)
        assert [taker.worker for taker in self.queue.takers] == self.asking
        assert self.given == self.expected
        assert not (self.queue.tokens and self.queue.takers)


TestModel = Model.TestCase


@pytest.mark.parametrize("served", [False, True])
def test_a_second_cancel_changes_nothing(served: bool) -> None:
    queue = TokenQueue(lambda worker, token: None)
    taker: Any = queue.request("w")
    queue.put(7, int(served))
    queue.cancel(taker)
    queue.cancel(taker)
    assert (queue.tokens, queue.takers) == ((7,) * served, ())


def test_a_taker_says_what_it_has() -> None:
    queue = TokenQueue(lambda worker, token: None)
    taker = queue.request("w")
    assert (taker.done, repr(taker)) == (False, "<w waits for a token>")
    queue.put(3, 1)
    assert (taker.done, repr(taker)) == (True, "<w has token 3>")

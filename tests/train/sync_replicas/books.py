"""Books of who handed in what, by which all gradients and tokens of a SyncReplicasOptimizer add up after a Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from tests.train.accumulators.interrupts import interrupted

SIZE = 8


class Books:
    """Two variables, one of them with sparse gradients, and workers 0, 1, ... whose gradient is 1 at their own place.

    Workers 0 and 1 have made one update, which has left two tokens; 2 and 3 have handed in what the next one takes.
    """

    def __init__(self) -> None:
        self.step = gl.Variable(0, trainable=False)
        self.variables = gl.Variable(np.zeros(SIZE)), gl.Variable(np.zeros((SIZE, 1)))
        self.opt = gl.train.SyncReplicasOptimizer(gl.train.MomentumOptimizer(1.0, 0.0), 2)
        self.acknowledged = list[int]()
        self.opt.build(self.pairs(0), self.step)
        self.push(0)
        self.push(1)
        assert self.opt.try_sync() and self.opt.tokens == (1, 1)
        self.arrive(2)
        self.arrive(3)
        with self.opt.worker(4):
            self.sync: Any = None  # what `finish` is for

    def pairs(self, worker: int) -> list[Any]:
        one = np.zeros(SIZE)
        one[worker] = 1
        rows = gl.IndexedSlices(np.ones((1, 1)), np.array([worker]), (SIZE, 1))
        return list(zip((one, rows), self.variables, strict=True))

    def push(self, worker: int) -> Any:
        return self.noted(self.opt.push(self.pairs(worker), worker))

    def noted(self, push: Any) -> Any:
        """What its worker was told counts."""
        self.acknowledged += [push.worker] * push.accepted
        return push

    def arrive(self, worker: int) -> None:
        """One that begins at the global step of now."""
        with self.opt.worker(worker):
            self.push(worker)

    def train(self) -> Any:
        return self.noted(self.opt.apply_gradients(self.pairs(4), self.step, worker=4, timeout=5))

    def finish(self) -> Any:
        if self.sync is None:
            self.sync = self.opt.request_sync()
        return self.opt.finish(self.sync)

    def wrong(self, tokens: set[int]) -> str:
        """What does not add up once the updates that can be made are made; `tokens` may have been given to workers."""
        self.arrive(5)
        if self.sync is not None:  # whoever asked and was stopped before `finish` gives it back
            self.opt.cancel(self.sync)
        while self.opt.try_sync() is not None:
            pass
        opt, waiting = self.opt, [acc.num_accumulated() for acc in self.opt.accumulators.values()]
        counted = [worker for update in opt.updates for worker in update.contributors]
        right = np.zeros((2, SIZE))
        for update in opt.updates:  # rows are divided by how many gradients have them
            right[:, list(update.contributors)] -= [[1 / len(update.contributors)], [1]]
        if not np.array_equal([v.numpy().ravel() for v in self.variables], right):
            return f"{[v.numpy().ravel().tolist() for v in self.variables]} after {opt.updates}"
        if int(self.step) != len(opt.updates) or len(counted) != len(set(counted)):
            return f"step {int(self.step)} after {opt.updates}"
        if waiting[0] != waiting[1] or len(set(self.acknowledged) - set(counted)) > waiting[0]:
            return f"{waiting} gradients wait, {counted} of {self.acknowledged} counted"
        if 2 * len(opt.updates) - len(opt.tokens) not in tokens:
            return f"tokens {opt.tokens} are left after {opt.updates}"
        left = opt._rounds.waiting, opt._rounds.served, opt._rounds.abandoned, opt._tokens.takers
        return f"{left} are in a queue" if any(left) else ""


# Each call, and how many tokens it may have taken: none or one if it is stopped.
CALLS: dict[str, tuple[Callable[[Books], Any], int]] = {
    "push": (lambda books: books.push(4), 0),
    "try_sync": (lambda books: books.opt.try_sync(), 0),
    "sync": (lambda books: books.opt.sync(timeout=5), 0),
    "request_sync and finish": (Books.finish, 0),
    "try_token": (lambda books: books.opt.try_token(7), 1),
    "take_token": (lambda books: books.opt.take_token(7, timeout=5), 1),
    "apply_gradients": (Books.train, 1),
}


def stopped(name: str, instant: int) -> tuple[str, bool]:
    """What does not add up if Ctrl-C comes at an instant of a call; and whether it came before the call was over."""
    call, taken = CALLS[name]
    books = Books()
    got, came = interrupted(lambda: call(books), [instant], by_signal=True)
    tokens = {0, taken} if got is None else {taken}
    if name.endswith("token") and got is None:
        tokens = {int(books.opt.local_step(7) == 1)}  # whoever was given one has its step
    return books.wrong(tokens), came

"""SyncReplicasOptimizer against a plain model of TensorFlow's graph: a counter, a list of
gradients, a queue of tokens.

Workers push, ask for tokens, run out of time, hand in what does not fit, die in the middle of a
round and come back; chiefs ask for gradients, run out of time, and die as well; in the end all of
them may be told that it is over.
"""

from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import gradlab as gl

WORKERS = st.sampled_from("abc")


class Model:
    """What TensorFlow's ops do, one after the other, with one variable and plain gradient descent
    at rate 1.
    """

    def __init__(self, needs: int, workers: int) -> None:
        self.needs, self.tokens_per_step = needs, max(needs, workers)
        self.step, self.value = 0, np.float64(0)
        self.gradients: list[tuple[str, int]] = []
        self.late: list[str] = []
        self.local: dict[str, int] = {}
        self.tokens: deque[int] = deque()
        self.asking: deque[str] = deque()
        self.taken: list[Any] | None = None  # by a chief that has not applied them yet
        self.waits = False  # a chief
        self.is_closed = False
        self.updates: list[tuple[int, tuple[str, ...], tuple[str, ...]]] = []

    @property
    def barrier(self) -> int:
        """What local steps are compared with: a take raises it, before the update raises the global
        step.
        """
        return self.step + (self.taken is not None)

    def push(self, worker: str, gradient: int) -> bool:
        accepted = self.local.get(worker, 0) >= self.barrier
        if accepted:
            self.gradients.append((worker, gradient))
        else:
            self.late.append(worker)
        self.serve_chief()
        return accepted

    def serve_chief(self) -> None:
        if self.waits and len(self.gradients) >= self.needs:
            self.waits = False
            self.taken = [self.gradients, tuple(self.late)]
            self.gradients, self.late = [], []

    def finish(self) -> None:
        assert self.taken is not None
        gradients, late = self.taken
        total = np.float64(0)
        for _, gradient in gradients:
            total += gradient
        self.value -= total / np.float64(len(gradients))
        self.step += 1
        self.taken = None
        self.updates.append((self.step, tuple(worker for worker, _ in gradients), late))
        self.put(self.tokens_per_step)

    def put(self, number: int) -> None:
        self.tokens.extend([self.step] * number)
        self.serve_workers()

    def serve_workers(self) -> None:
        while self.tokens and self.asking:
            self.local[self.asking.popleft()] = self.tokens.popleft()


OPEN = precondition(lambda self: not self.model.is_closed)


class AgainstTheModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.takers: dict[str, Any] = {}
        self.sync: Any = None

    @initialize(needs=st.integers(1, 3), workers=st.integers(1, 3), tokens=st.integers(0, 3))
    def make(self, needs: int, workers: int, tokens: int) -> None:
        self.v, self.step = (
            gl.Variable(np.zeros(1), name="v"),
            gl.Variable(0, trainable=False, name="step"),
        )
        self.opt = gl.train.SyncReplicasOptimizer(
            gl.train.GradientDescentOptimizer(1.0), needs, workers
        )
        self.opt.build([(np.zeros(1), self.v)], self.step)
        self.model = Model(needs, workers)
        self.opt.put_tokens(tokens)
        self.model.put(tokens)

    @OPEN
    @rule(worker=WORKERS, gradient=st.integers(-9, 9))
    def push(self, worker: str, gradient: int) -> None:
        push = self.opt.push([(np.array([float(gradient)]), self.v)], worker)
        assert push.local_step == self.model.local.get(worker, 0)
        self.model.local.setdefault(worker, 0)
        assert push.accepted == self.model.push(worker, gradient)

    @OPEN
    @rule(worker=WORKERS)
    def ask_for_a_token(self, worker: str) -> None:
        if worker in self.takers:
            return
        self.takers[worker] = self.opt.request_token(worker)
        self.model.asking.append(worker)
        self.model.serve_workers()

    @OPEN
    @rule(worker=WORKERS)
    def die_and_come_back(self, worker: str) -> None:
        """In the middle of whatever it was at: what it pushed counts, the token it waited for is
        another's.
        """
        if worker in self.takers:
            self.opt.cancel(self.takers.pop(worker))
            self.model.asking.remove(worker)
        with self.opt.worker(worker):
            self.model.local[worker] = self.model.step

    @OPEN
    @precondition(lambda self: self.sync is None)
    @rule()
    def ask_for_gradients(self) -> None:
        """A chief; another one takes over what a dead one had taken."""
        self.sync = self.opt.request_sync()
        if self.model.taken is None:
            self.model.waits = True
            self.model.serve_chief()

    @OPEN
    @precondition(lambda self: self.sync is not None)
    @rule()
    def the_chief_dies(self) -> None:
        self.opt.cancel(self.sync)
        self.sync, self.model.waits = None, False

    @OPEN
    @precondition(lambda self: self.sync is not None and self.model.taken is not None)
    @rule()
    def the_chief_updates(self) -> None:
        self.opt.finish(self.sync)
        self.model.finish()
        self.sync = None

    @OPEN
    @rule(worker=WORKERS)
    def wait_for_a_token_without_patience(self, worker: str) -> None:
        if worker in self.takers:
            return
        try:
            assert self.opt.take_token(worker, timeout=0) == self.model.tokens.popleft()
        except gl.errors.DeadlineExceededError:
            assert not self.model.tokens
        else:
            self.model.local[worker] = self.opt.local_step(worker)

    @OPEN
    @precondition(lambda self: self.sync is None)
    @rule()
    def wait_for_gradients_without_patience(self) -> None:
        model = self.model
        if model.taken is None and len(model.gradients) < model.needs:
            with pytest.raises(gl.errors.DeadlineExceededError):
                self.opt.sync(timeout=0)
            return
        if model.taken is None:
            model.waits = True
            model.serve_chief()
        model.finish()
        assert self.opt.sync(timeout=0).step == model.step

    @OPEN
    @rule(
        worker=WORKERS,
        bad=st.sampled_from([np.ones(1, np.float32), np.ones(1, int), np.ones(2), 1j, "a", None]),
    )
    def refuse_a_gradient(self, worker: str, bad: Any) -> None:
        """Of another dtype or shape: the invariant says that nothing has changed."""
        with pytest.raises(ValueError, match="gradient"):
            self.opt.push([(bad, self.v)], worker)
        with pytest.raises(ValueError, match="gradients of the same variables"):
            self.opt.push([(np.ones(1), self.v), (np.ones(1), gl.Variable(np.zeros(1)))], worker)

    @OPEN
    @rule(really=st.sampled_from([False] * 9 + [True]))
    def close(self, really: bool) -> None:
        if not really:
            return
        self.opt.close("that was all")
        for taker in self.takers.values():
            assert taker.ended == "that was all"
        self.takers, self.model.is_closed = {}, True
        self.model.asking.clear()
        if self.model.waits:
            self.sync, self.model.waits = None, False

    @precondition(lambda self: self.model.is_closed)
    @rule(worker=WORKERS)
    def refuse_when_closed(self, worker: str) -> None:
        opt = self.opt
        calls = (
            lambda: opt.push([(np.ones(1), self.v)], worker),
            opt.try_sync,
            opt.sync,
            opt.request_sync,
        )
        for call in (*calls, lambda: opt.try_token(worker), lambda: opt.take_token(worker)):
            with pytest.raises(gl.errors.CancelledError, match="that was all"):
                call()

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "model"):
            return
        model = self.model
        assert (int(self.step), self.v.numpy().tolist()) == (model.step, [model.value])
        assert self.opt.tokens == tuple(model.tokens)
        assert all(self.opt.local_step(worker) == step for worker, step in model.local.items())
        assert [(u.step, u.contributors, u.dropped) for u in self.opt.updates] == model.updates
        acc = self.opt.accumulators[self.v]
        assert (acc.num_accumulated(), acc.global_step) == (len(model.gradients), model.barrier)
        assert self.sync is None or self.sync.done == (model.taken is not None)
        self.takers = {worker: taker for worker, taker in self.takers.items() if not taker.done}
        assert list(self.takers) == [] or set(self.takers) == set(model.asking)


TestAgainstTheModel = AgainstTheModel.TestCase
TestAgainstTheModel.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)

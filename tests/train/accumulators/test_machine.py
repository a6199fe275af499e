"""The state machine against a list: every sequence of calls, and what it says about who waits and
why.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import gradlab as gl
from gradlab.errors import StalenessWarning
from gradlab.train.accumulators.dense_sum import DenseSum
from gradlab.train.accumulators.machine import Machine, PendingTake


class Model:
    """What an accumulator is."""

    def __init__(self) -> None:
        self.step, self.grads, self.queue, self.got = 0, [], [], {}
        self.is_closed = False

    def apply(self, grad: int, step: int) -> bool:
        self.grads += [grad] * (step >= self.step)
        kept = step >= self.step
        self.serve()
        return kept

    def serve(self) -> None:
        if self.queue and len(self.grads) >= self.queue[0][1]:
            taker, _ = self.queue.pop(0)
            self.got[taker] = sum(self.grads) / len(self.grads)
            self.step, self.grads = self.step + 1, []


OPEN = precondition(lambda self: not self.model.is_closed)


class AgainstTheModel(RuleBasedStateMachine):
    """Integers, so that sums are exact; takers are named by numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.model, self.takers = Model(), []

    @initialize(strict=st.sampled_from([None, "tf"]), kind=st.sampled_from(["dense", "sparse"]))
    def make(self, strict: str | None, kind: str) -> None:
        make = gl.ConditionalAccumulator if kind == "dense" else gl.SparseConditionalAccumulator
        with gl.Graph().as_default():  # TensorFlow has sparse ones nowhere else
            self.acc = make("float64", (1,), strict=strict)
        self.warns = strict is None

    def value(self, taken: Any) -> float:
        return getattr(taken, "values", taken)[0]

    def gradient(self, values: Any, index: int = 0) -> tuple[Any, ...]:
        return (
            ([index], values)
            if isinstance(self.acc, gl.SparseConditionalAccumulator)
            else (values,)
        )

    @OPEN
    @rule(grad=st.integers(-50, 50), age=st.integers(-2, 2))
    def apply(self, grad: int, age: int) -> None:
        step, waiting = self.model.step - age, [taker for taker, _ in self.model.queue]
        receipt = self.acc.apply_grad(*self.gradient(np.array([float(grad)])), local_step=step)
        before = self.model.step, len(self.model.grads)
        assert receipt.accepted == self.model.apply(grad, step)
        assert receipt[1:4] == (step, before[0], before[1] + receipt.accepted)
        served = [k for k in waiting if k in self.model.got]
        assert receipt.served is (self.takers[served[0]] if served else None)

    @OPEN
    @rule(needs=st.integers(1, 4))
    def request(self, needs: int) -> None:
        self.model.queue.append((len(self.takers), needs))
        self.takers.append(self.acc.request(needs))
        self.model.serve()

    @OPEN
    @rule(needs=st.integers(1, 4))
    def try_take(self, needs: int) -> None:
        ready = not self.model.queue and len(self.model.grads) >= needs
        taken = self.acc.try_take(needs)
        assert (taken is not None) == ready
        if ready:
            self.model.queue.append(("now", needs))
            self.model.serve()
            assert self.value(taken) == self.model.got.pop("now")

    @OPEN
    @rule(needs=st.integers(1, 4))
    def take_without_patience(self, needs: int) -> None:
        if not self.model.queue and len(self.model.grads) >= needs:
            return
        with pytest.raises(gl.errors.DeadlineExceededError, match=f"needs {needs}"):
            self.acc.take_grad(needs, timeout=0)

    @rule(which=st.integers(0, 9))
    def cancel(self, which: int) -> None:
        if which >= len(self.takers):
            return
        waited = [entry for entry in self.model.queue if entry[0] == which]
        assert self.takers[which].cancel() == bool(waited)
        for entry in waited:
            self.model.queue.remove(entry)
            self.model.serve()

    @OPEN
    @rule(step=st.integers(-3, 9))
    def set_global_step(self, step: int) -> None:
        with (
            pytest.warns(StalenessWarning)
            if self.warns and step < self.model.step
            else nullcontext()
        ):
            self.acc.set_global_step(step)
        self.model.step = step

    @OPEN
    @rule(needs=st.integers(-3, 0))
    def refuse(self, needs: int) -> None:
        for call in (self.acc.request, self.acc.try_take, self.acc.take_grad):
            with pytest.raises(gl.errors.InvalidArgumentError):
                call(needs)

    @OPEN
    @rule(bad=st.sampled_from([np.array([1j]), np.array(["a"]), np.ones(2), None]))
    def refuse_a_gradient(self, bad: Any) -> None:
        """Of another dtype or shape: the invariant says that nothing has changed."""
        with pytest.raises(ValueError, match="grad"):
            self.acc.apply_grad(*self.gradient(bad), local_step=self.model.step)
        if isinstance(self.acc, gl.SparseConditionalAccumulator):
            with pytest.raises(ValueError, match="must be in"):
                self.acc.apply_grad(*self.gradient(np.ones(1), index=1), local_step=self.model.step)

    @OPEN
    @rule(really=st.sampled_from([False] * 9 + [True]))
    def close(self, really: bool) -> None:
        if really:
            self.acc.close()
            for taker, _ in self.model.queue:
                with pytest.raises(gl.errors.CancelledError):
                    self.takers[taker].result(0)
            self.model.queue, self.model.is_closed = [], True

    @precondition(lambda self: self.model.is_closed)
    @rule()
    def refuse_when_closed(self) -> None:
        acc, one = self.acc, self.gradient(np.ones(1))
        calls = (
            lambda: acc.apply_grad(*one),
            lambda: acc.request(1),
            lambda: acc.try_take(1),
            lambda: acc.take_grad(1),
        )
        for call in (*calls, lambda: acc.set_global_step(self.model.step)):
            with pytest.raises(RuntimeError, match="is closed; make a new accumulator"):
                call()

    @invariant()
    def both_say_the_same(self) -> None:
        if not hasattr(self, "acc"):
            return
        model, peek = self.model, self.acc.peek()
        assert (peek.step, peek.count) == (model.step, len(model.grads))
        assert (self.acc.global_step, self.acc.num_accumulated()) == (model.step, len(model.grads))
        if model.grads:
            assert self.value(peek.sum) == sum(model.grads)
            assert self.value(peek.value) == sum(model.grads) / len(model.grads)
        for k, taker in enumerate(self.takers):
            if k in model.got:
                assert self.value(taker.result(0)) == model.got[k]
        waiting = [(self.takers.index(w.taker), w.needs) for w in self.acc.why_waiting()]
        assert waiting == model.queue
        assert [self.takers[k].position for k, _ in waiting] == list(range(1, len(waiting) + 1))


TestAgainstTheModel = AgainstTheModel.TestCase
TestAgainstTheModel.settings = settings(max_examples=60, stateful_step_count=40)


def test_the_machine_needs_no_shell() -> None:
    dtype = np.dtype("float32")
    machine = Machine(DenseSum(dtype, None, is_mean=True, sum_dtype=dtype, flushes_denormals=False))
    first, second = PendingTake(2), PendingTake(1)
    machine.request(first)
    machine.request(second)
    one, two = np.float32([1]), np.float32([3])
    assert machine.apply(one, 0).served is None
    assert machine.apply(two, 0).served is first
    assert (first.value.tolist(), second.done, machine.step) == ([2], False, 1)
    machine.close(RuntimeError("over"))
    assert (second.done, str(second.error)) == (True, "over")


def test_why_somebody_waits() -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.apply_grad(1.0)
    acc.take_grad(1)
    first, second = acc.request(3), acc.request(1)
    acc.apply_grad(1.0, local_step=1)
    for _ in range(4):
        acc.apply_grad(1.0)
    third = acc.request(2)
    acc.apply_grad(1.0, local_step=-1)
    one, two, three = acc.why_waiting()
    assert (one.taker, one.needs, one.has, one.position, one.dropped) == (
        first,
        3,
        1,
        1,
        {0: 4, -1: 1},
    )
    assert one.text == (
        "needs 3, has 1, position 1; 5 gradients dropped since: local_step was -1, 0 (the "
        "default), step is 1"
    )
    assert two.taker is second
    assert two.text.startswith("needs 1, has 1, position 2 behind one that needs 3; ")
    assert three.taker is third
    assert three.text.endswith("1 gradient dropped since: all had local_step -1, step is 1")


def test_a_receipt_reads_well() -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.set_global_step(3)
    late = acc.apply_grad(1.0, local_step=2)
    assert not late
    assert (late.comparison, late.step, late.count, late.served) == ("2 < 3", 3, 0, None)
    taker = acc.request(1)
    assert repr(taker) == "<gradlab Taker num_required=1 done=False>"
    kept = acc.apply_grad(1.0, local_step=3)
    assert kept
    assert (kept.comparison, kept.step, kept.count, kept.served) == ("3 >= 3", 3, 1, taker)
    assert taker.position is None
    assert repr(late) == "Receipt(accepted=False, comparison='2 < 3', count=0)"
    assert repr(kept) == (
        "Receipt(accepted=True, comparison='3 >= 3', count=1, served=<gradlab Taker "
        "num_required=1 done=True>)"
    )

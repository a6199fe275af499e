"""What an accumulator still guarantees when Ctrl-C arrives: see the top of `kernel.py`."""

from typing import Any

import pytest

import gradlab as gl
from gradlab.train.accumulators.dense_sum import DenseSum
from gradlab.train.accumulators.kernel import Taker


def press_ctrl_c(*args: Any) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_take_leaves_the_queue_and_consumes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.apply_grad([1.0])
    monkeypatch.setattr(Taker, "wait", press_ctrl_c)

    with pytest.raises(KeyboardInterrupt):
        acc.take_grad(2)

    assert acc.why_waiting() == []
    assert acc.num_accumulated() == 1
    assert acc.global_step == 0
    assert acc.take_grad(1).tolist() == [1.0]


def test_an_interrupted_take_lets_the_next_one_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    acc = gl.ConditionalAccumulator("float32")

    def queue_another_then_press_ctrl_c(taker: Taker, timeout: float) -> None:
        acc.request(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Taker, "wait", queue_another_then_press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        acc.take_grad(5)

    (waiting,) = acc.why_waiting()
    assert waiting.position == 1
    assert acc.apply_grad([3.0]).served is waiting.taker


def test_the_lock_is_free_after_an_interrupted_addition(monkeypatch: pytest.MonkeyPatch) -> None:
    acc = gl.ConditionalAccumulator("float32")
    with monkeypatch.context() as patch:
        patch.setattr(DenseSum, "add", press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            acc.apply_grad([1.0])

    assert acc.num_accumulated() == 0
    assert acc.apply_grad([2.0]).accepted

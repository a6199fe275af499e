"""Keras's momentum, step by step in float32, and beside TensorFlow 1's."""

import numpy as np
import pytest

from gradlab.rules import KerasMomentum, Momentum


@pytest.mark.parametrize("nesterov", [False, True])
def test_three_steps_bit_for_bit(nesterov: bool) -> None:
    f = np.float32
    rule, mu, lr = KerasMomentum(float(f(0.9)), nesterov), f(0.9), f(0.1)
    w, m = f(1.0), f(0.0)
    state = np.float32([1.0]), rule.init(np.float32([1.0]))
    for g in (f(0.3), f(-2.0), f(0.7)):
        m = f(m * mu) - f(g * lr)
        w = w + (f(m * mu) - f(g * lr) if nesterov else m)
        state = rule(*state, np.array([g]), lr)
        assert (state[0].item(), state[1][0].item()) == (w, m)


def _run(rule: KerasMomentum | Momentum, rates: list[float]) -> float:
    w = np.array([1.0])
    slots = rule.init(w)
    for lr in rates:
        w, slots = rule(w, slots, np.array([1.0]), lr)
    return w.item()


@pytest.mark.parametrize(
    ("ours", "tf1"), [(KerasMomentum(0.5), Momentum(0.5)), (KerasMomentum(0.5, True), Momentum(0.5, True))]
)
def test_it_is_momentum_until_the_rate_changes(ours: KerasMomentum, tf1: Momentum) -> None:
    assert _run(ours, [0.25, 0.25, 0.25]) == _run(tf1, [0.25, 0.25, 0.25])
    assert _run(ours, [0.25, 0.0]) < _run(tf1, [0.25, 0.0])

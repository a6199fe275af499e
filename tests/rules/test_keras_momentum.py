"""Keras's momentum beside TensorFlow 1's; golden files hold TensorFlow's numbers."""

import numpy as np
import pytest

from gradlab.rules import KerasMomentum, Momentum


def _run(rule: KerasMomentum | Momentum, rates: list[float]) -> float:
    w = np.array([1.0])
    slots = rule.init(w)
    for lr in rates:
        w, slots = rule(w, slots, np.array([1.0]), lr)
    return w.item()


@pytest.mark.parametrize(
    ("ours", "tf1"),
    [(KerasMomentum(0.5), Momentum(0.5)), (KerasMomentum(0.5, True), Momentum(0.5, True))],
)
def test_it_is_momentum_until_the_rate_changes(ours: KerasMomentum, tf1: Momentum) -> None:
    assert _run(ours, [0.25, 0.25, 0.25]) == _run(tf1, [0.25, 0.25, 0.25])
    assert _run(ours, [0.25, 0.0]) < _run(tf1, [0.25, 0.0])

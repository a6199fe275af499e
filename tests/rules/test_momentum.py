"""Momentum's two formulas, step by step in float32."""

from typing import Any

import numpy as np
import pytest

from gradlab.rules import Momentum


@pytest.mark.parametrize(("use_nesterov", "order"), [(False, "dense"), (True, "dense"), (True, "sparse")])
def test_three_steps_bit_for_bit(use_nesterov: bool, order: Any) -> None:
    f = np.float32
    rule, mu, lr = Momentum(float(f(0.9)), use_nesterov, order), f(0.9), f(0.1)
    w, m = f(1.0), f(0.0)
    state = np.float32([1.0]), rule.init(np.float32([1.0]))
    for g in (f(0.3), f(-2.0), f(0.7)):
        m = f(m * mu) + g
        ahead = f(f(m * mu) * lr) if order == "dense" else f(f(lr * mu) * m)
        w = w - (f(g * lr) + ahead) if use_nesterov else w - f(m * lr)
        state = rule(*state, np.array([g]), lr)
        assert (state[0].item(), state[1][0].item()) == (w, m)


def test_without_momentum_it_is_gradient_descent() -> None:
    w, (m,) = Momentum(0.0)(np.array([1.0]), (np.array([5.0]),), np.array([2.0]), 0.25)
    assert (w.tolist(), m.tolist()) == ([0.5], [2.0])


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be one of 'dense', 'sparse'; got 'up'"):
        Momentum(order="up")  # type: ignore[arg-type]

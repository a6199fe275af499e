"""Momentum without momentum; golden files hold TensorFlow's numbers."""

import numpy as np
import pytest

from gradlab.rules import Momentum


def test_without_momentum_it_is_gradient_descent() -> None:
    w, (m,) = Momentum(0.0)(np.array([1.0]), (np.array([5.0]),), np.array([2.0]), 0.25)
    assert (w.tolist(), m.tolist()) == ([0.5], [2.0])


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be one of 'dense', 'sparse'; got 'up'"):
        Momentum(order="up")  # type: ignore[arg-type]

"""Against `tf.compat.v1.train.ProximalGradientDescentOptimizer`, and without penalties."""

import numpy as np
import pytest

from gradlab.rules import ProximalGradientDescent, StochasticGradientDescent
from tests.rules.recorded import GRADIENTS, W


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be one of 'dense', 'scalar'; got 'sparse'"):
        ProximalGradientDescent(order="sparse")


def test_without_penalties_it_is_gradient_descent() -> None:
    plain, proximal = StochasticGradientDescent(), ProximalGradientDescent()
    np.testing.assert_array_equal(plain(W, (), GRADIENTS[0], 0.1)[0], proximal(W, (), GRADIENTS[0], 0.1)[0])


def test_a_strong_l1_holds_a_weight_at_zero() -> None:
    assert ProximalGradientDescent(2.0)(np.zeros(2), (), np.array([1.9, -1.9]), 0.5)[0].tolist() == [0.0, 0.0]

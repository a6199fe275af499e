"""Slices of one element as in TensorFlow, and no penalties; golden files hold the other numbers."""

import numpy as np
import pytest

from gradlab.rules import ProximalGradientDescent, StochasticGradientDescent
from tests.rules.recorded import GRADIENTS, W, check_bits

ONE_ELEMENT = [
    ([0.9460785, -1.8872548, 0.13235293],),
    ([0.96184164, -1.8551518, 0.06603228],),
    ([0.9380801, -1.9021096, 0.18728656],),
]


def test_slices_of_one_element_bit_for_bit() -> None:
    check_bits(ProximalGradientDescent(0.05, 0.2, "scalar"), 0.1, ONE_ELEMENT)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be one of 'dense', 'scalar'; got 'sparse'"):
        ProximalGradientDescent(order="sparse")


def test_without_penalties_it_is_gradient_descent() -> None:
    plain, proximal = StochasticGradientDescent(), ProximalGradientDescent()
    np.testing.assert_array_equal(
        plain(W, (), GRADIENTS[0], 0.1)[0], proximal(W, (), GRADIENTS[0], 0.1)[0]
    )


def test_a_strong_l1_holds_a_weight_at_zero() -> None:
    assert ProximalGradientDescent(2.0)(np.zeros(2), (), np.array([1.9, -1.9]), 0.5)[
        0
    ].tolist() == [0.0, 0.0]

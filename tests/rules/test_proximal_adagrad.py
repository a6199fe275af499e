"""Slices of one element as in TensorFlow, and no penalties; golden files hold the other numbers."""

import numpy as np
import pytest

from gradlab.rules import ProximalAdagrad
from gradlab.rules.adagrad import LIBRARIES
from tests.rules.recorded import GRADIENTS, W, check_bits

ONE_ELEMENT = [
    ([0.87935686, -1.8540821, 0.14695612], [0.19, 0.59, 1.3100001]),
    ([0.9078275, -1.8137074, 0.09518448], [0.35000002, 0.59999996, 1.6700001]),
    ([0.8699658, -1.8540622, 0.16161422], [0.35000002, 1.4099998, 3.36]),
]


def test_slices_of_one_element_bit_for_bit() -> None:
    check_bits(ProximalAdagrad(0.1, 0.05, 0.2, "scalar"), 0.1, ONE_ELEMENT)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be one of 'dense', 'scalar'; got 'sparse'"):
        ProximalAdagrad(order="sparse")


def test_without_penalties_it_is_adagrad() -> None:
    proximal, plain = ProximalAdagrad(), LIBRARIES["TensorFlow 1"]
    w, slots = proximal(W, proximal.init(W), GRADIENTS[0], 0.1)
    w2, slots2 = plain(W, plain.init(W), GRADIENTS[0], 0.1)
    np.testing.assert_allclose(w, w2, rtol=2e-7)
    np.testing.assert_array_equal(slots[0], slots2[0])


def test_the_penalty_follows_the_rate_of_each_weight() -> None:
    w, slots = np.ones(2), (np.array([1.0, 4.0]),)
    assert ProximalAdagrad(l1_regularization_strength=1.0)(w, slots, np.zeros(2), 0.5)[
        0
    ].tolist() == [0.5, 0.75]

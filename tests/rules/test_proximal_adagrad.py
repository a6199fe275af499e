"""Against `tf.compat.v1.train.ProximalAdagradOptimizer`, and without penalties."""

import numpy as np
import pytest

from gradlab.rules import ProximalAdagrad
from gradlab.rules.adagrad import LIBRARIES
from tests.rules.recorded import GRADIENTS, W


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
    assert ProximalAdagrad(l1_regularization_strength=1.0)(w, slots, np.zeros(2), 0.5)[0].tolist() == [0.5, 0.75]

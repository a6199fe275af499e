"""PowerSign without a decay of the sign; golden files hold TensorFlow's numbers."""

import numpy as np

from gradlab.rules import PowerSign


def test_without_sign_decay_it_is_gradient_descent() -> None:
    w, _ = PowerSign(sign_decay=0.0)(
        np.array([1.0, 2.0]), (np.array([-5.0, 5.0]),), np.array([2.0, 2.0]), 0.25
    )
    assert w.tolist() == [0.5, 1.5]

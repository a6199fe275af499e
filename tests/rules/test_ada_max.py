"""The size of AdaMax's first step; golden files hold TensorFlow's numbers."""

import numpy as np

from gradlab.rules import AdaMax


def test_the_first_step_is_as_long_as_the_rate() -> None:
    rule, w = AdaMax(), np.zeros(2)
    w, _ = rule.at(rule.start())(w, rule.init(w), np.array([1e-3, -50.0]), 0.1)
    np.testing.assert_allclose(w, [-0.1, 0.1], rtol=2e-4)

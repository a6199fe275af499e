"""The size of Adadelta's first step; golden files hold TensorFlow's numbers."""

import numpy as np
import pytest

from gradlab.rules import Adadelta


@pytest.mark.parametrize("g", [1e-3, 1.0, 1e3])
def test_the_first_step_is_the_root_of_epsilon_whatever_the_gradient(g: float) -> None:
    rule, w = Adadelta(0.75, 1e-10), np.zeros(1)
    assert rule(w, rule.init(w), np.array([g]), 1.0)[0][0] == pytest.approx(-2e-5, rel=1e-3)

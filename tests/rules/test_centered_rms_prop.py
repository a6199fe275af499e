"""Centered RMSProp without variance; golden files hold TensorFlow's numbers."""

import numpy as np
import pytest

from gradlab.rules import CenteredRMSProp


def test_a_gradient_that_never_changes_has_no_variance_but_epsilon() -> None:
    rule, w = CenteredRMSProp(rho=0.0, epsilon=4.0), np.zeros(1)
    assert rule(w, rule.init(w), np.array([3.0]), 0.5)[0].tolist() == [-0.75]


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"order must be one of 'dense', 'sparse', 'keras'; got 'up'"
    ):
        CenteredRMSProp(order="up")

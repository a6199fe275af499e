"""Where RMSProp's mean starts; golden files hold TensorFlow's numbers."""

import numpy as np
import pytest

from gradlab.rules import RMSProp


def test_the_mean_starts_where_it_is_told() -> None:
    assert [s.item() for s in RMSProp().init(np.zeros(1))] == [1.0, 0.0]
    assert [s.item() for s in RMSProp(initial_rms=0.0).init(np.zeros(1))] == [0.0, 0.0]


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"order must be one of 'dense', 'sparse', 'keras'; got 'up'"
    ):
        RMSProp(order="up")

"""AddSign: the sign decides how long a step is."""

import numpy as np
import pytest

from gradlab.rules import AddSign


@pytest.mark.parametrize(("mean", "factor"), [(8.0, 1.75), (-8.0, 0.25)])
def test_the_mean_gradient_decides(mean: float, factor: float) -> None:
    w, (m,) = AddSign(sign_decay=0.75, beta=0.5)(np.array([1.0]), (np.array([mean]),), np.array([2.0]), 0.5)
    assert (w.item(), m.item()) == (1.0 - 0.5 * factor * 2.0, mean / 2 + 1.0)


def test_without_sign_decay_it_is_gradient_descent() -> None:
    w, _ = AddSign(sign_decay=0.0)(np.array([1.0, 2.0]), (np.array([-5.0, 5.0]),), np.array([2.0, 2.0]), 0.25)
    assert w.tolist() == [0.5, 1.5]

"""Numbers with bars."""

import numpy as np

from gradlab.figures._numbers import Numbers, written
from gradlab.figures._style import new_figure


def test_numbers_have_a_true_minus_and_only_an_exact_zero_is_short() -> None:
    assert [written(x) for x in (-1.234, 0.0, -0.0, 0.001, -0.001)] == ["−1.23", "0", "0", "0.00", "0.00"]
    assert written(-0.26, 1) == "−0.3"


def test_bars_start_in_the_middle_and_end_with_the_cell() -> None:
    axes = new_figure(4, 2).add_subplot()
    numbers = Numbers(axes, 4)
    numbers.draw(np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([1.0, -0.5, 9.0]), 1.0)
    more, less = (patch.get_path().vertices for patch in axes.patches)
    np.testing.assert_allclose([more[:, 0].min(), more[:, 0].max()], [0.0, 2.42])
    np.testing.assert_allclose([less[:, 0].min(), less[:, 0].max()], [0.79, 1.0])
    assert [t.get_text() for t in axes.texts if t.get_visible()] == ["1.00", "−0.50", "9.00"]

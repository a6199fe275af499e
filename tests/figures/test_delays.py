"""The picture of delays: a line for each variant, and what is never reached has no value."""

import numpy as np

from gradlab.figures.delays import DelaysView

UPDATES, DELAYS = np.array([10, 20, 30]), (0, 8)


def test_lines_show_what_they_are_given() -> None:
    view = DelaysView(["one", "two"], [["a", "b"], ["c"]], UPDATES, DELAYS, 0.9)
    curves = [np.array([[1, 2, 3], [4, 5, 6.0]]), np.array([[7, 8, 9.0]])]
    view.draw(1, curves, [np.array([[10, 20], [20, np.inf]]), np.array([[10, 30]])])
    assert view._lines[0][1].get_xydata().tolist() == [[10, 4], [20, 5], [30, 6]]
    assert view._lines[1][0].get_ydata().tolist() == [7, 8, 9]
    np.testing.assert_array_equal(view._medians[0][1].get_ydata(), [20, np.nan])  # never has no value
    above = view._beyond[0][1].get_ydata()
    assert np.isnan(above[0]) and above[1] > UPDATES[-1]
    assert [name.get_text() for name in view._names[0][0]._names] == ["a", "b"]
    assert view._here[0].get_xdata() == [8, 8]


def test_it_fits_a_narrow_page() -> None:
    view = DelaysView(["one", "two"], [["a"], ["b"]], UPDATES, DELAYS, 0.9)
    view.arrange(narrow=True)
    assert view.figure.get_size_inches()[0] < 4

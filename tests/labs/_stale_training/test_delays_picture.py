"""The picture of delays: a line for each variant, and what is never reached has no value."""

import numpy as np

from gradlab.labs._stale_training.delays_picture import _MOST, DelaysView
from gradlab.live.drawing.style import BLACK, QUIET, SELECTED

UPDATES, DELAYS = np.array([10, 20, 30]), (0, 8)
MEANS = [np.array([[1, 2], [1, np.inf]]), np.array([[1, 3]])]
SLOWDOWN = [np.stack([0.9 * mean, mean, 1.2 * mean]) for mean in MEANS]


def drawn(*told: list[bool]) -> DelaysView:
    view = DelaysView(["one", "two"], [["a", "b"], ["c"]], UPDATES, DELAYS, 0.9)
    curves = [np.array([[1, 2, 3], [4, 5, 6.0]]), np.array([[7, 8, 9.0]])]
    view.draw(1, curves, SLOWDOWN, [np.array(group) for group in told or ([False, True], [False])])
    return view


def test_lines_show_what_they_are_given() -> None:
    view = drawn()
    assert view._lines[0][1].get_xydata().tolist() == [[10, 4], [20, 5], [30, 6]]
    assert view._lines[1][0].get_ydata().tolist() == [7, 8, 9]
    np.testing.assert_array_equal(view._means[0][1].get_ydata(), [1, np.nan])  # never has no value
    above = view._beyond[0][1].get_ydata()
    assert np.isnan(above[0]) and above[1] > _MOST
    assert [name.get_text() for name in view._names[0][0]._names] == ["a", "b"]
    assert view._here[0].get_xdata() == [8, 8]


def test_what_the_sentence_speaks_of_is_heavy() -> None:
    view = drawn()
    for artists in (view._lines, view._means, view._beyond):
        assert [artist.get_color() for artist in artists[0]] == [QUIET, BLACK]
    assert view._lines[0][1].get_linewidth() == SELECTED > view._lines[0][0].get_linewidth()
    assert [name.get_fontweight() for name in view._names[0][1]._names] == ["normal", "bold"]


def test_two_lines_that_never_get_there_have_two_rows_of_marks() -> None:
    view = DelaysView(["one"], [["a", "b"]], UPDATES, DELAYS, 0.9)
    view.draw(1, [np.zeros((2, 3))], [np.full((3, 2, 2), np.inf)], [np.array([True, False])])
    first, second = (mark.get_ydata() for mark in view._beyond[0])
    assert (second > first).all()
    assert (first > _MOST).all()


def test_a_bar_is_the_middle_half_of_the_seeds() -> None:
    first, second = drawn()._spreads[0]
    np.testing.assert_allclose(first.get_ydata()[[0, 1, 3, 4]], [0.9, 1.2, 1.8, 2.4])
    np.testing.assert_allclose(second.get_ydata()[:2], [0.9, 1.2])
    assert len(second.get_ydata()) == 3  # no bar where some run never gets there
    assert first.get_xdata()[0] < second.get_xdata()[0]


def test_it_fits_a_narrow_page() -> None:
    view = DelaysView(["one", "two"], [["a"], ["b"]], UPDATES, DELAYS, 0.9)
    view.arrange(narrow=True)
    assert view.figure.get_size_inches()[0] < 4

"""The picture of rows: a box for each row of each gradient, a line for each row that comes out."""

import numpy as np

from gradlab.labs._accumulators.rows_picture import RowSums, RowsView

ROWS = RowSums(
    [((0, 1, 1), (2.0, 4.0, 1.5)), ((1,), (3.0,))],
    np.array([0, 1]),
    np.array([2.0, 8.5]),
    np.array([1, 2]),
    np.array([2.0, 4.25]),
    np.array([1.0, 4.25]),
)


def drawn(rows: RowSums) -> RowsView:
    view = RowsView()
    view.draw(rows)
    return view


def test_every_row_of_a_gradient_is_a_box_with_its_values() -> None:
    view = drawn(ROWS)
    assert [t.get_text() for t in view._values if t.get_visible()] == ["2", "4 + 1.5", "3"]
    assert len(view._earlier.get_path().vertices) == 10
    assert len(view._latest.get_path().vertices) == 5


def test_both_means_stand_on_the_line_of_their_row() -> None:
    view = drawn(ROWS)
    assert view._by_row.get_xydata().tolist() == [[2, 0], [4.25, 1]]
    assert view._by_gradient.get_xydata().tolist() == [[1, 0], [4.25, 1]]
    assert [t.get_text() for t in view._rows if t.get_visible()] == ["2 in 1 of 2", "8.5 in 2 of 2"]
    assert [t.get_position()[1] for t in view._rows[:2]] == [0, 1]


def test_the_row_whose_means_differ_most_is_marked_in_both_panels_and_says_what_its_marks_are() -> (
    None
):
    view = drawn(ROWS)
    assert ROWS.told == 0
    assert [(band.get_y(), band.get_height()) for band in view._bands] == [(-0.5, 1)] * 2
    assert [t.get_text() for t in view._words] == ["÷ 1 = 2", "÷ all 2 = 1"]
    assert [t.get_weight() for t in view._rows[:2]] == ["bold", "normal"]


def test_a_row_that_is_returned_twice_has_two_lines_in_its_place() -> None:
    rows = RowSums(
        [((1, 1, 2), (2.0, 3.0, 1.0))],
        np.array([1, 1, 2]),
        np.array([2.0, 3.0, 1.0]),
        np.ones(3, int),
        np.array([2.0, 3.0, 1.0]),
        np.array([2.0, 3.0, 1.0]),
    )
    view = drawn(rows)
    assert rows.twice.tolist() == [1] and rows.told == 0
    y = view._by_row.get_ydata()
    assert 0.5 < y[0] < 1 < y[1] < 1.5 and y[2] == 2 and y[1] - y[0] > 0.3
    # At a row of one line.
    assert {t.get_position()[1] for t in view._words} == {2 - 0.32, 2 + 0.32}


def test_nothing_is_said_to_be_nothing() -> None:
    view = drawn(RowSums([], *[np.zeros(0)] * 5))
    assert view._nothing.get_text() == "nothing is in it"
    assert not any(
        t.get_visible()
        for t in (*view._values, *view._rows, *view._words, *view._bands, view._newest)
    )

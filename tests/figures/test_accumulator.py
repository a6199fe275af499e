"""The picture of an accumulator: marks where gradients came, boxes for what is in it and what is asked for."""

import numpy as np

from gradlab.figures.accumulator import AccumulatorView, Arrivals, Inside

ZERO = np.zeros(4, np.float32)
PAST = Arrivals([0, 2, 1], [0, 0, 1], [0, 1, 1], [True, False, True], [1, 0, 1], ["A", "", ""], [1, 0, 0], [ZERO] * 3)


def drawn(now: Inside, past: Arrivals = PAST) -> AccumulatorView:
    view = AccumulatorView(3, 8)
    view.draw(len(past.worker), past, now)
    return view


def inside(**changes: object) -> Inside:
    now = Inside(1, 1, [("A", 2), ("B", 1)], ZERO + 1, ZERO + 3, ZERO + 1.5, 2)
    return now._replace(**changes)


def test_accepted_and_dropped_gradients_are_marked_apart() -> None:
    view = drawn(inside())
    assert view._accepted.get_xydata().tolist() == [[1, 1], [3, 2]]
    assert view._dropped.get_xydata().tolist() == [[2, 3]]
    assert view._newest.get_xydata().tolist() == [[3, 2]]
    assert [t.get_text() for t in view._steps if t.get_visible()] == ["0", "0", "1"]
    assert [t.get_text() for t in view._served if t.get_visible()] == ["A: 1", "", ""]


def test_the_queue_has_a_row_for_everybody_in_line() -> None:
    view = drawn(inside())
    assert [t.get_text() for t in view._rows] == ["step 1", "1. A needs 2", "2. B needs 1"]
    assert len(view._asked.get_path().vertices) == 5 * 3
    assert len(view._count.get_path().vertices) == 5
    assert [t.get_text() for t in drawn(inside(queue=[]))._rows] == ["step 1", "nobody in line", ""]


def test_a_count_beyond_the_panel_stands_there_as_a_number() -> None:
    view = drawn(inside(count=25))
    assert len(view._count.get_path().vertices) == 5 * 10
    assert view._has.get_text() == "25"


def test_an_empty_accumulator_has_no_mean() -> None:
    assert len(drawn(inside(of=0))._value.get_xydata()) == 0
    np.testing.assert_array_equal(drawn(inside())._value.get_ydata(), [1.5] * 4)


def test_a_step_from_the_far_future_is_short() -> None:
    view = drawn(inside(), PAST._replace(local_step=[1000, 7, 1000]))
    assert [t.get_text() for t in view._steps if t.get_visible()] == ["1k", "7", "1k"]

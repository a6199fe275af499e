"""Norms of tensors: merged buckets show their range, what fires is marked apart."""

import numpy as np
import pytest

from gradlab.labs._run_layers.picture import Layers, LayersView


def test_a_merged_row_is_a_line_from_its_smallest_to_its_largest_norm() -> None:
    view = LayersView(2, np.array([0, 4, 8]), 12, (0.1, 100.0), "every bucket of 4 steps")
    low, high = np.array([1.0, 2.0, 3.0]), np.array([1.0, 20.0, 30.0])
    marks = np.array([[1.0, 0.0], [2.0, 0.0], [10.0, 0.0], [30.0, 0.0]])
    view.draw(
        Layers(["a", "b"], marks, np.ones(2), ["", ""], "", 0, "a", low, high, high > 25, 25.0)
    )
    assert np.unique(view._range.get_xdata()[~np.isnan(view._range.get_xdata())]).tolist() == [4, 8]
    assert view._fired.get_xdata().tolist() == [8] and view._calm.get_xdata().tolist() == [0, 4]
    assert np.isnan(view._marks[0].get_xdata()).tolist() == [False, True], (
        "a tensor without a gradient has no mark"
    )
    assert view.story.get_title(loc="left") == "Norm at every bucket of 4 steps"


def drawn(marks: np.ndarray, limit: float) -> LayersView:
    view, high = LayersView(3, np.arange(2), 2, (0.1, 100.0), "every step"), np.array([1.0, 30.0])
    names = ["a", "b", "c"][: marks.shape[1]]
    view.draw(
        Layers(
            names, marks, np.ones(len(names)), [""] * 3, "", 0, "a", high, high, high > limit, limit
        )
    )
    return view


def test_what_a_limit_clips_of_a_row_is_heavy() -> None:
    marks = np.array([[1.0, 30.0, 1.0], [2.0, 40.0, 2.0], [10.0, 50.0, 3.0], [30.0, 60.0, 4.0]])
    view = drawn(marks, 25.0)
    x, y = view._above.get_data()
    assert np.reshape(x, (-1, 3))[:, :2].tolist() == [[25, 30], [30, 60]] and y[::3].tolist() == [
        0,
        1,
    ]
    assert view._word.get_text() == "limit 25" and view._word.get_visible()
    assert [words.get_visible() for words in view._states] == [True, True]
    nowhere = drawn(marks, np.nan)
    assert not len(nowhere._above.get_xdata()) and not nowhere._word.get_visible()
    assert [words.get_visible() for words in nowhere._states] == [True, False]


@pytest.mark.exhaustive
def test_marks_are_named_above_the_first_row_apart_and_in_order() -> None:
    view = drawn(np.array([[9.9], [10.0], [10.1], [0.0]]), 25.0)
    for narrow, words in ((False, "10% below"), (True, "10%")):
        view.arrange(narrow)
        view.figure.draw_without_rendering()
        view._names._place()
        there = [name for name in view._names._names if name.get_visible()]
        assert [name.get_text() for name in there] == [
            words,
            "median",
            view._names._names[2].get_text(),
        ]
        places = np.log([name.get_position()[0] for name in there])
        assert (np.diff(places) > 0.3).all(), "without a largest norm it isn't named"

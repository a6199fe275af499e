"""The arrow is the step, and what leaves the picture is told in words."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._descent.picture import TOP


def test_the_arrow_ends_where_the_ball_goes_next() -> None:
    lab = gl.labs.descent()
    view = lab.make_view()
    for rate in (0.05, 1.0, 1.7, 2.5):
        trace = lab.compute({"learning_rate": rate, "step": 1})
        view.draw(trace)
        assert view._head.get_path().vertices[0, 0] == trace.weights[2]
        assert view._ghost.get_data()[1] == [trace.loss[2]]
        told = " ".join(words.get_text() for words in view._gone)
        assert told.strip() == (
            "" if trace.loss[1] <= TOP else "above the picture: weight 6, loss 18"
        )


@pytest.mark.exhaustive
def test_a_step_shorter_than_the_ball_is_drawn_above_it() -> None:
    lab = gl.labs.descent()
    for rate, step, above in ((0.05, 2, True), (0.05, 12, True), (1.7, 2, False)):
        view, trace = lab.make_view(), lab.compute({"learning_rate": rate, "step": step})
        view.draw(trace)
        view.figure.draw_without_rendering()
        arrow = view._head.get_window_extent()
        ball = view.bowl.transData.transform((trace.weights[step], trace.loss[step]))
        radius = view._ball.get_markersize() / 2 * view.figure.dpi / 72
        assert arrow.width > 2
        assert (arrow.y0 > ball[1] + radius) == above


@pytest.mark.exhaustive
def test_the_word_at_the_start_is_not_struck_through_by_the_first_step() -> None:
    lab = gl.labs.descent()
    for narrow in (False, True):
        view = lab.make_view()
        view.arrange(narrow)
        for rate in (0.05, 1.7, 2.0, 2.1, 2.5):
            trace = lab.compute({"learning_rate": rate, "step": 2})
            view.draw(trace)
            view.figure.draw_without_rendering()
            x, y = view.bowl.transData.transform(view._start.get_position())
            points = view.bowl.transData.transform(
                np.stack([trace.weights[:2], trace.loss[:2]], axis=1)
            )
            chord = np.interp([x, x + 30], *points.T)  # below or above the word
            assert (np.abs(chord - y) > 7).all(), rate


def test_a_weight_below_zero_has_a_true_minus() -> None:
    lab = gl.labs.descent(learning_rate=2.5)
    lab.draw(view := lab.make_view(), lab.compute(lab.params))
    assert view._gone[1].get_text() == "weight −9, loss 40.5"


def test_a_value_above_its_panel_stands_where_the_line_leaves_it() -> None:
    lab = gl.labs.descent(learning_rate=2.5, step=12)
    lab.draw(view := lab.make_view(), lab.compute(lab.params))
    *_, words = view._curves[0]
    assert words.get_text() == "134,673 ↑"
    assert 0 < words.get_position()[0] < 1, "the loss leaves the panel in the first step"


def test_a_reader_begins_where_ball_chords_arrow_and_ghost_are_seen() -> None:
    lab = gl.labs.descent()
    trace = lab.compute(lab.params)
    k = trace.step
    assert k >= 1 and abs(trace.weights[k] - trace.weights[k - 1]) > 1 < abs(
        trace.weights[k + 1] - trace.weights[k]
    )
    assert trace.loss[: k + 2].max() < TOP


def test_the_ball_stands_on_the_bowl() -> None:
    lab = gl.labs.descent(learning_rate=1.7)
    trace, bowl = lab.compute(lab.params), lab.make_view()._given
    np.testing.assert_allclose(
        np.interp(trace.weights, bowl.weights, bowl.loss), trace.loss, atol=1e-3
    )

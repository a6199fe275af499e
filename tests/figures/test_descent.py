"""The arrow is the step, and what leaves the picture is told in words."""

import numpy as np

import gradlab as gl
from gradlab.figures.descent import TOP


def test_the_arrow_ends_where_the_ball_goes_next() -> None:
    lab = gl.labs.descent()
    view = lab.make_view()
    for rate in (0.05, 1.0, 1.7, 2.5):
        trace = lab.compute({"learning_rate": rate, "step": 1})
        view.draw(trace)
        assert view._head.get_path().vertices[0].tolist() == [trace.weights[2], trace.loss[1]]
        assert view._ghost.get_data()[1] == [trace.loss[2]]
        told = " ".join(words.get_text() for words in view._gone)
        assert told.strip() == (
            "" if trace.loss[1] <= TOP else f"above the picture: weight {trace.weights[1]:g}, loss 18"
        )


def test_the_next_step_is_seen_over_the_ball_however_short() -> None:
    lab = gl.labs.descent(learning_rate=0.05, step=12)
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert view._ball.get_zorder() < view._next.get_zorder() < view._head.get_zorder()
    assert np.ptp(view._head.get_path().vertices[:, 0]) > 0.05


def test_a_reader_begins_where_ball_chords_arrow_and_ghost_are_seen() -> None:
    lab = gl.labs.descent()
    trace = lab.compute(lab.params)
    k = trace.step
    assert k >= 1 and abs(trace.weights[k] - trace.weights[k - 1]) > 1 < abs(trace.weights[k + 1] - trace.weights[k])
    assert trace.loss[: k + 2].max() < TOP


def test_the_ball_stands_on_the_bowl() -> None:
    lab = gl.labs.descent(learning_rate=1.7)
    trace, bowl = lab.compute(lab.params), lab.make_view()._given
    np.testing.assert_allclose(np.interp(trace.weights, bowl.weights, bowl.loss), trace.loss, atol=1e-3)

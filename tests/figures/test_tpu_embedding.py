"""The step's figure: a link for each lookup, the chosen row marked wherever it is."""

import numpy as np

from gradlab.figures.tpu_embedding import EmbeddingView, Line, OneStep

STEP = OneStep(
    sample=np.array([0, 0, 1, 2]),
    id=np.array([3, 5, 3, 9]),
    gain=np.array([0.5, 0.5, 1.0, np.nan]),
    place=np.array([0, 1, 0, 0]),
    unique=np.array([3, 5]),
    activations=np.array([[1.0, -2.0], [0.0, 0.5], [0.0, 0.0]]),
    gradients=np.ones((3, 2)),
    table=np.zeros((6, 2)),
    slots={},
    row=3,
    story=[Line("sum", np.array([1.0, 2.0]), True), Line("words")],
)


def drawn(step: OneStep) -> EmbeddingView:
    view = EmbeddingView(3, 6, 2, 3)
    view.draw(step)
    return view


def test_every_lookup_that_is_made_has_a_link() -> None:
    view = drawn(STEP)
    assert np.isnan(view._chosen_links.get_xdata()).sum() == 2
    assert np.isnan(view._links.get_xdata()).sum() == 1
    assert [t.get_text() for t in view._names if t.get_visible()] == ["3 × 0.50", "5 × 0.50", "3 × 1.00", "9 ✗"]


def test_links_end_at_the_row_they_ask_for() -> None:
    view = drawn(STEP)
    x, y = view.places(STEP.unique, 6)
    assert np.isfinite(x).tolist() == [False, False, False, True, False, True]
    assert set(view._chosen_links.get_ydata()[1::3]) == {y[3]}
    assert view._links.get_ydata()[1] == y[5]


def test_samples_that_hold_the_row_have_a_dot() -> None:
    assert drawn(STEP)._of.get_ydata().tolist() == [0, 1]
    assert drawn(STEP._replace(row=4))._of.get_ydata().tolist() == []


def test_what_is_not_a_number_is_not_written() -> None:
    view = drawn(STEP._replace(activations=np.full((3, 2), np.nan)))
    assert sum(t.get_visible() for t in view._numbers._texts) == 6


def test_the_story_is_told_line_by_line() -> None:
    view = drawn(STEP)
    assert [(t.get_text(), t.get_weight()) for t in view._lines[:2]] == [("sum", "bold"), ("words", "normal")]
    assert [t.get_text() for t in view._told._texts if t.get_visible()] == ["1.00", "2.00"]

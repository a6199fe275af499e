"""The step's figure: the row that is followed is marked wherever it is, and its numbers are on the way."""

import numpy as np

from gradlab.figures.tpu_embedding import EmbeddingView, OneStep

STEP = OneStep(
    row=3,
    sample=np.array([0, 0, 1, 2]),
    id=np.array([3, 5, 3, 9]),
    made=np.array([True, True, True, False]),
    mine=np.array([True, False, True, False]),
    gain=np.array([0.5, 0.5, 1.0, np.nan]),
    activations=np.array([[1.0, -2.0], [0.0, 0.5], [np.nan, np.nan]]),
    gradients=np.ones((3, 2)),
    before=np.array([0.5, -0.5]),
    total=np.array([1.5, 2.0]),
    after=np.array([0.25, -1.0]),
    memory=("accumulator", np.array([0.1, 40.0])),
    touched=np.array([3, 5]),
    times=1,
    note=(),
)


def drawn(step: OneStep = STEP) -> EmbeddingView:
    view = EmbeddingView(3, 6, 2, 3)
    view.draw(step)
    return view


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def said(texts) -> list[str]:  # type: ignore[no-untyped-def]
    return [words.get_text() for words in texts if words.get_text()]


def test_ids_of_the_row_are_marked_and_those_not_made_are_crossed() -> None:
    view = drawn()
    assert (boxes(view._own), boxes(view._others), boxes(view._dropped)) == (2, 1, 1)
    assert said(view._ids) == ["3", "5", "3", "9 ✗"]
    assert said(view._gains) == ["× 0.5", "× 1"]
    assert said(view._heads)[0] == "1  Two ids name row 3"


def test_a_way_leads_from_every_sample_that_uses_the_row_to_its_sum() -> None:
    view = drawn()
    for bands in (view._fetch, view._use, view._back):
        there = [band for band in bands if band.get_visible()]
        assert len(there) == 2
        assert [band.get_linewidth() for band in there] == [1.8, 3.6]  # as the gains 0.5 and 1
    nobody = drawn(STEP._replace(mine=np.zeros(4, bool), total=np.zeros(2), after=STEP.before))
    assert not any(band.get_visible() for band in nobody._back) and "no id names it" in said(nobody._said)
    assert said(nobody._heads)[-1] == "6  It stays"


def test_the_boxes_hold_the_row_its_sum_its_memory_and_the_row_after() -> None:
    view = drawn()
    assert [said(numbers) for numbers in view._numbers] == [
        ["0.5", "−0.5"],
        ["1.5", "2.0"],
        ["0.1", "40.0"],
        ["0.2", "−1.0"],
    ]
    assert [boxes(shape) for shape in view._bars] == [2, 2, 2, 2]
    assert "none kept" in said(drawn(STEP._replace(memory=None))._said)


def test_what_is_not_a_number_is_not_drawn() -> None:
    assert boxes(drawn()._values["quiet"]) == 2  # the gradient of the third sample, not its activation


def test_rows_that_are_looked_up_stand_out_in_the_table() -> None:
    view = drawn()
    assert (boxes(view._moves), boxes(view._still), boxes(view._chosen)) == (2, 4, 1)
    assert view.places()[0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    view.arrange(narrow=True)
    assert len(set(view.places()[1].tolist())) == 2

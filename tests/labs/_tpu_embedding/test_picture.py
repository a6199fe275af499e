"""The step's figure: the row that is followed is marked wherever it is, and its numbers are on the
way.
"""

import numpy as np
import pytest

from gradlab.labs._tpu_embedding.picture import EmbeddingView, OneStep
from gradlab.live.drawing.style import BLACK, QUIET

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
    memory=("accumulator", np.array([0.1, 0.1]), np.array([0.1, 40.0])),
    rule=("− rate × sum",),
    touched=np.array([3, 5]),
    times=1,
    note=("",),
)


def drawn(step: OneStep = STEP) -> EmbeddingView:
    view = EmbeddingView(3, 6, 2, 3)
    view.draw(step)
    return view


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def said(texts) -> list[str]:  # type: ignore[no-untyped-def]
    return [words.get_text() for words in texts if words.get_text()]


def test_ids_of_the_row_are_filled_last_in_their_sample_and_those_not_made_are_hatched() -> None:
    view = drawn()
    assert (boxes(view._own), boxes(view._others), boxes(view._dropped)) == (2, 1, 1)
    assert said(view._ids) == ["5", "3", "3", "9"]
    assert [(words.get_color(), words.on) for words in view._ids[:3]] == [
        (QUIET, None), ("white", BLACK), ("white", BLACK)
    ]  # fmt: skip
    strokes = view._strokes.get_xydata()
    assert np.isfinite(strokes).any() and np.nanmin(strokes[:, 1]) > view._middle(1.5)
    assert said(view._gains) == ["× ½", "× 1"]
    assert said(view._heads)[0] == "Two ids name row 3"


def test_a_band_leads_from_every_sample_that_uses_the_row_to_its_sum() -> None:
    view = drawn()
    for bands in (view._fetch, view._use, view._back):
        there = [band for band in bands if band.get_visible()]
        assert len(there) == 2
        # As the gains 0.5 and 1.
        assert there[1].get_linewidth() == pytest.approx(2 * there[0].get_linewidth())
    nobody = drawn(
        STEP._replace(mine=np.zeros(4, bool), total=np.zeros(2), after=STEP.before, times=0)
    )
    assert not any(band.get_visible() for band in nobody._back)
    assert said(nobody._heads)[1:4] == ["It isn't fetched", "No samples use it", "No gradients"]
    assert said(nobody._heads)[-1] == "The row stays" and not said(nobody._rule)


def test_bands_stay_together_however_many_there_are() -> None:
    view, eight = EmbeddingView(8, 8, 2, 2), np.arange(8)
    view.draw(
        STEP._replace(
            sample=eight,
            id=eight,
            made=eight >= 0,
            mine=eight >= 0,
            gain=np.ones(8),
            activations=np.ones((8, 2)),
            gradients=np.ones((8, 2)),
        )
    )
    right = view.flow.get_xlim()[1]
    lanes = [band.get_xdata().max() for band in view._back]
    assert np.all(np.diff(lanes) < 0) and lanes[0] < right and lanes[-1] > right - 45
    ends = [band.get_ydata()[-1] for band in view._back]
    assert np.all(np.diff(ends) < 0), "the way that turns last ends lowest, so none crosses another"


def test_the_boxes_hold_the_row_its_sum_its_memory_and_the_row_after() -> None:
    view = drawn()
    assert [said(numbers) for numbers in view._numbers] == [
        ["0.5", "−0.5"],
        ["1.5", "2.0"],
        ["0.1", "40.0"],
        ["0.2", "−1.0"],
    ]
    assert [boxes(shape) for shape in view._bars] == [2, 2, 2, 2]
    assert said(view._heads)[3:] == ["Gradients summed", "Memory grows", "The row moves"]
    assert said(view._rule) == ["− rate × sum", "dashed: before"] and said(view._said) == [
        "row 3",
        "accumulator",
    ]
    assert "none kept" in said(drawn(STEP._replace(memory=None))._said)
    small = drawn(STEP._replace(total=np.array([0.05, -0.049])))
    assert said(small._numbers[1]) == ["0.05", "−0.05"], "as many digits as tell them from 0"


def test_memory_stands_on_the_ground_of_its_box_unless_it_has_signs() -> None:
    grows, signs = (
        drawn(),
        drawn(STEP._replace(memory=("momenta", np.zeros(2), np.array([-1.0, 2.0])))),
    )
    lowest = [np.nanmax(view._bars[2].get_path().vertices[:, 1]) for view in (grows, signs)]
    zero = [view._zero.get_ydata()[6] for view in (grows, signs)]
    assert lowest[0] == zero[0] and lowest[1] > zero[1]
    assert said(signs._heads)[4] == "Memory changes"


def test_what_is_not_a_number_is_not_drawn() -> None:
    # The third sample has no activation.
    assert [boxes(shape) for shape in drawn()._values] == [4, 0, 4, 2]


def test_rows_that_are_looked_up_stand_out_in_the_table_and_the_one_that_is_followed_is_filled() -> (
    None
):
    view = drawn()
    strip = view.strip
    assert view.table.axison, "what is off cannot be pointed at"
    assert (boxes(strip._touched), boxes(strip._rest), boxes(strip._chosen)) == (1, 4, 1)
    assert said([strip._count]) == ["2 of 6 looked up"]
    assert strip.places()[0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    view.arrange(narrow=True)
    assert len(set(strip.places()[1].tolist())) == 2


def test_samples_are_named_again_where_they_are_far_from_their_ids() -> None:
    view = drawn()
    assert not said(view._again)
    view.arrange(narrow=True)
    view.draw(STEP)
    assert said(view._again) == ["sample 0", "sample 1", "sample 2"]
    view.draw(STEP._replace(note=("refused",)))
    assert not said(view._again) and said(view._note) == ["refused"]

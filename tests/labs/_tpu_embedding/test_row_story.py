"""The steps of a small table, and why a row moved."""

import numpy as np
import pytest

from gradlab.labs import tpu_embedding
from gradlab.labs._one_table import (
    FAR,
    ROWS,
    SAMPLES,
    STEPS,
    ascii_words,
)
from gradlab.labs._tpu_embedding.row_story import (
    LIMIT,
    Moved,
    in_a_sentence,
    listed,
    story,
    trained,
)


def moved(**params: object) -> Moved:
    lab = tpu_embedding(**params)
    return lab.compute(lab.params)


@pytest.mark.parametrize(("last", "row"), [("clamp", ROWS - 1), ("wrap", FAR % ROWS)])
def test_an_id_out_of_range_goes_where_the_policy_says(last: str, row: int) -> None:
    assert SAMPLES - 1 in [one.sample for one in moved(last=last, row=row).why.contributions]


def test_what_is_dropped_still_counts_in_the_mean() -> None:
    found = moved(last="drop").lookups
    assert found.weights[found.samples == SAMPLES - 1].tolist() == [0.5]


def test_a_refused_batch_changes_nothing() -> None:
    trace = moved(last="raise", step=STEPS)
    assert f"id {FAR} of feature 'id', sample 7" in trace.run.refused
    np.testing.assert_array_equal(
        trace.run.trace.states.tables[0][0], trace.run.trace.states.tables[0][STEPS]
    )
    assert not len(trace.lookups.unique) and not trace.wanted


@pytest.mark.parametrize("clip", ["none", "sum", "contribution"])
def test_sgd_moves_a_row_by_its_contributions(clip: str) -> None:
    trace = moved(rule="sgd", clip=clip, zipf=1.5, learning_rate=0.1)
    each = np.array([one.product for one in trace.why.contributions])
    total = (np.clip(each, -LIMIT, LIMIT) if clip == "contribution" else each).sum(axis=0)
    used = np.clip(total, -LIMIT, LIMIT) if clip == "sum" else total
    np.testing.assert_allclose(trace.total, total, atol=1e-6)
    tables = trace.run.trace.states.tables[0]
    np.testing.assert_allclose(tables[0, 0] - tables[1, 0], 0.1 * used, atol=1e-6)


def test_what_is_explained_is_what_happened() -> None:
    for params in (
        {"rule": "adam_corrected", "step": 4},
        {"accumulate": False},
        {"decay": "after", "clip": "sum"},
    ):
        trace = moved(**params)
        assert trace.why.ulps is not None and trace.why.ulps <= 8
        np.testing.assert_array_equal(
            trace.why.weights_before, trace.run.trace.states.tables[0][trace.step - 1, 0]
        )


def test_a_row_that_nobody_asks_for_stands_still() -> None:
    trace = moved(rule="adam", decay="before", row=23)
    assert not trace.wanted and not trace.why.moved and trace.distance == 0


def test_a_setting_is_trained_once() -> None:
    assert moved(step=1).run is moved(step=9, row=5).run
    assert trained.cache_info().hits


def lines(**params: object) -> dict[str, list[float] | None]:
    lab = tpu_embedding(**params)
    return {
        line.words: None if line.values is None else line.values
        for line in story(lab.compute(lab.params))
    }


def test_contributions_add_up_to_the_sum() -> None:
    told = lines(zipf=1.5, duplicates=0.0, row=15)
    np.testing.assert_allclose(told["sample 7 × 0.50"], told["their sum"])
    assert list(told)[-3:] == ["row 15 before", "row 15 after", "accumulator after"]


def test_many_contributions_are_told_together() -> None:
    lab = tpu_embedding(zipf=2.0, duplicates=0.0)
    trace = lab.compute(lab.params)
    found = story(trace)
    assert found[5].words == f"{trace.wanted - 5} more"
    np.testing.assert_allclose(
        np.sum([line.values for line in found[:6]], axis=0), found[6].values, rtol=1e-5
    )


def test_clipping_and_missing_accumulation_are_told() -> None:
    assert "clipped to ±0.5" in lines(clip="sum")
    assert "one update for each, 4 in all" in lines(accumulate=False)
    assert "decay takes" in lines(decay="before") and "decay takes" not in lines()


def test_a_sentence_says_who_asked() -> None:
    lab = tpu_embedding(row=23, zipf=2.0)
    assert in_a_sentence(lab.compute(lab.params)).startswith(
        "Row 23 of table 'words' did not move: no id "
    )
    lab = tpu_embedding(last="clamp", row=23)
    words = in_a_sentence(lab.compute(lab.params))
    assert words.startswith(
        "Row 23 of table 'words' moved: 1 lookup on 1 core. Gradients of sample 7 sum to ("
    )


def test_words_for_pages_are_ascii_and_lists_are_plain() -> None:
    assert ascii_words("don't ±0.5 × −1") == "dont +-0.5 x -1"
    assert listed(np.uint32([3, 2])) == "3, 2" and listed(np.float32([0.33333])) == "0.333"

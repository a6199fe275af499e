"""Steps of the small table: what is asked for, and what of it is made."""

import numpy as np
import pytest

from gradlab.labs import tpu_embedding
from gradlab.labs._embedding_run import FAR, LIMIT, ROWS, SAMPLES, STEPS, Moved, asked, trained


def moved(**params: object) -> Moved:
    lab = tpu_embedding(**params)
    return lab.compute(lab.params)


@pytest.mark.parametrize(
    ("last", "ids", "weights"),
    [("ordinary", 2, [1, 1]), ("empty", 0, []), ("zero", 2, [1, -1]), ("drop", 2, [1, 1])],
)
def test_the_last_sample_holds_what_its_menu_says(last: str, ids: int, weights: list[int]) -> None:
    batch = asked(0, 1.0, 0.0, last)
    mine = batch.sample == SAMPLES - 1
    assert mine.sum() == ids and batch.weight[mine].tolist() == weights
    assert (batch.id == FAR).sum() == (last == "drop") == (~batch.made).sum()


def test_repeated_ids_are_those_of_their_sample() -> None:
    batch = asked(3, 0.0, 1.0, "ordinary")
    assert all(len(set(batch.id[batch.sample == s].tolist())) == 1 for s in range(SAMPLES))


@pytest.mark.parametrize(("last", "row"), [("clamp", ROWS - 1), ("wrap", FAR % ROWS)])
def test_an_id_out_of_range_goes_where_the_policy_says(last: str, row: int) -> None:
    assert SAMPLES - 1 in [one.sample for one in moved(last=last, row=row).why.contributions]


def test_what_is_dropped_still_counts_in_the_mean() -> None:
    found = moved(last="drop").lookups
    assert found.weights[found.samples == SAMPLES - 1].tolist() == [0.5]


def test_a_refused_batch_changes_nothing() -> None:
    trace = moved(last="raise", step=STEPS)
    assert f"id {FAR} of feature 'id', sample 7" in trace.run.refused
    np.testing.assert_array_equal(trace.run.trace.states.tables[0][0], trace.run.trace.states.tables[0][STEPS])
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
    for params in ({"rule": "adam_corrected", "step": 4}, {"accumulate": False}, {"decay": "after", "clip": "sum"}):
        trace = moved(**params)
        assert trace.why.ulps is not None and trace.why.ulps <= 8
        np.testing.assert_array_equal(trace.why.weights_before, trace.run.trace.states.tables[0][trace.step - 1, 0])


def test_a_row_that_nobody_asks_for_stands_still() -> None:
    trace = moved(rule="adam", decay="before", row=23)
    assert not trace.wanted and not trace.why.moved and trace.distance == 0


def test_a_setting_is_trained_once() -> None:
    assert moved(step=1).run is moved(step=9, row=5).run
    assert trained.cache_info().hits

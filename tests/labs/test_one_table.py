"""Popular ids, a menu of rules that all train a table, and the batches of one."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._one_table import (
    FAR,
    RULES,
    SAMPLES,
    asked,
    chances,
    labeled,
    popular,
    weights,
)


def test_row_r_is_wanted_in_proportion_to_a_power_of_its_rank() -> None:
    ids = popular((np.arange(60_000) + 0.5) / 60_000, 3, 1.0)
    np.testing.assert_allclose(np.bincount(ids) / 60_000, np.array([6, 3, 2]) / 11, atol=1e-4)
    assert np.ptp(np.bincount(popular((np.arange(60) + 0.5) / 60, 3, 0.0))) == 0


def test_every_rule_has_a_name_of_its_own_and_needs_no_other_settings() -> None:
    assert len({label for _, label in labeled()}) == len(RULES) >= 17
    for _, rule in RULES.values():
        w = np.ones((2, 4), np.float32)
        moved, _ = rule(w, rule.init(w), np.full((2, 4), 0.5, np.float32), 0.1)
        assert np.isfinite(moved).all() and (moved != w).any(), rule


def test_every_rule_of_tables_that_descends_is_there() -> None:
    # Assign and FrequencyEstimator do not go downhill, UserDefined not by itself, LaProp is of
    # another engine.
    kinds = {type(rule).__name__ for _, rule in RULES.values()}
    assert len(kinds) == 16 and kinds <= {rule.__name__ for rule in gl.rules.catalog().values()}


def test_chances_and_tables_are_the_same_every_time() -> None:
    np.testing.assert_array_equal(chances(1, 3), chances(1, 3))
    begin, end = weights(5, 2)
    assert begin.shape == end.shape == (5, 2) and begin.dtype == np.float32


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

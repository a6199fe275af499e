"""Popular ids, and a menu of rules that all train a table."""

import numpy as np

import gradlab as gl
from gradlab.labs._tables import RULES, chances, labelled, popular, weights


def test_row_r_is_wanted_in_proportion_to_a_power_of_its_rank() -> None:
    ids = popular((np.arange(60_000) + 0.5) / 60_000, 3, 1.0)
    np.testing.assert_allclose(np.bincount(ids) / 60_000, np.array([6, 3, 2]) / 11, atol=1e-4)
    assert np.ptp(np.bincount(popular((np.arange(60) + 0.5) / 60, 3, 0.0))) == 0


def test_every_rule_has_a_name_of_its_own_and_needs_no_other_settings() -> None:
    assert len({label for _, label in labelled()}) == len(RULES) >= 17
    for _, rule in RULES.values():
        w = np.ones((2, 4), np.float32)
        moved, _ = rule(w, rule.init(w), np.full((2, 4), 0.5, np.float32), 0.1)
        assert np.isfinite(moved).all() and (moved != w).any(), rule


def test_every_rule_of_tables_that_descends_is_there() -> None:
    # Assign and FrequencyEstimator do not go downhill, UserDefined not by itself, LaProp is of another engine.
    kinds = {type(rule).__name__ for _, rule in RULES.values()}
    assert len(kinds) == 16 and kinds <= {rule.__name__ for rule in gl.rules.catalogue().values()}


def test_chances_and_tables_are_the_same_every_time() -> None:
    np.testing.assert_array_equal(chances(1, 3), chances(1, 3))
    begin, end = weights(5, 2)
    assert begin.shape == end.shape == (5, 2) and begin.dtype == np.float32

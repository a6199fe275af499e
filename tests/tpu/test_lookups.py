"""Lookups as coordinates: gains of each combiner, and neighbors joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.tpu import combiner_gains, coo_rows
from gradlab.tpu.lookups import Combiner

SAMPLES, IDS = [0, 0, 0, 1, 3, 3, 3], [5, 5, 7, 2, 4, 9, 4]
WEIGHTS = [1.0, 2.0, 1.0, 0.0, 0.5, 1.5, 2.0]
lookups = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.floats(0.125, 4.0, width=32)))


def test_gains_of_each_combiner() -> None:
    sums, squares = np.array([4.0, 0.0, 0.0, 4.0]), np.array([6.0, 0.0, 0.0, 6.5])
    assert combiner_gains(SAMPLES, WEIGHTS, 4, "sum").tolist() == WEIGHTS
    for combiner, size in (("mean", sums), ("sqrtn", np.sqrt(squares))):
        with np.errstate(all="ignore"):
            expected = np.nan_to_num(np.array(WEIGHTS) / size[SAMPLES])
        np.testing.assert_allclose(combiner_gains(SAMPLES, WEIGHTS, 4, combiner), expected, rtol=2e-7)


def test_neighbors_are_joined_and_others_are_not() -> None:
    rows = coo_rows(SAMPLES, IDS, WEIGHTS, 4, "sum")
    assert [x.tolist() for x in rows] == [[0, 0, 1, 3, 3, 3], [5, 7, 2, 4, 9, 4], [3.0, 1.0, 0.0, 0.5, 1.5, 2.0]]
    assert [x.dtype for x in rows] == [np.int32, np.int32, np.float32]


def test_the_same_id_in_the_next_sample_is_another_lookup() -> None:
    assert coo_rows([0, 1], [5, 5], None, 2, "sum").gains.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@given(lookups)
def test_joining_changes_no_activation(combiner: Combiner, given_lookups: list[tuple[int, int, float]]) -> None:
    ordered = sorted(given_lookups, key=lambda x: x[0])
    samples, ids, weights = ([x[k] for x in ordered] for k in range(3))
    table, rows = np.array([1.0, 10.0, 100.0, 1000.0]), coo_rows(samples, ids, weights, 5, combiner)
    plain, joined = np.zeros(5), np.zeros(5)
    np.add.at(plain, np.array(samples, int), combiner_gains(samples, weights, 5, combiner) * table[np.array(ids, int)])
    np.add.at(joined, rows.row_ids, rows.gains * table[rows.col_ids])
    np.testing.assert_allclose(joined, plain, rtol=1e-6)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([0, 1], [3, 4], [1.0], 2, "sum"), "2 sample_ids, 1 weights"),
        (([0, 1], [3], None, 2, "sum"), "2 sample_ids, 1 values"),
        (([0, 2], [3, 4], None, 2, "sum"), r"sample_ids must be in \[0, 2\), got 0 to 2"),
        (([-1, 0], [3, 4], None, 2, "sum"), "got -1 to 0"),
        (([[0]], [3], None, 2, "sum"), r"sample_ids must be a vector, got shape \(1, 1\)"),
        (([0], [3], None, 2, "max"), "combiner must be 'sum', 'mean' or 'sqrtn', got 'max'"),
    ],
)
def test_refused(args: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coo_rows(*args)

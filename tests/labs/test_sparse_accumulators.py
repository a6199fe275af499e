"""The lab of rows: what TensorFlow's golden runs say of merging, and both means beside each other."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs.sparse_accumulators import CASES, Taken


def shown(**params: object) -> Taken:
    lab = gl.labs.sparse_accumulators(**params)
    return lab.compute(lab.params)


def test_a_row_is_divided_by_the_gradients_that_hold_it_or_by_all() -> None:
    rows = shown(case="two", event=2).rows
    assert rows.row.tolist() == [0, 1, 3]
    assert rows.by_row.tolist() == [2, 6, 6]
    assert rows.by_gradient.tolist() == [1, 6, 3]
    assert rows.held_by.tolist() == [1, 2, 1]


@pytest.mark.parametrize("case", CASES)
def test_the_mean_over_all_gradients_is_that_of_a_dense_accumulator(case: str) -> None:
    dense, trace = gl.ConditionalAccumulator(np.float32, [8]), shown(case=case, event=6)
    for indices, values in trace.rows.given:
        dense.apply_grad(gl.IndexedSlices(np.float32(values), np.array(indices, int), (8,)).to_dense())
    expected = dense.take_grad(len(trace.rows.given))
    np.testing.assert_allclose(trace.rows.by_gradient, expected[trace.rows.row], rtol=1e-6)
    assert not np.delete(expected, trace.rows.row).any()


def test_tensorflow_keeps_rows_apart_that_it_does_not_find() -> None:
    assert shown(case="twice", merge="tf", event=1).rows.row.tolist() == [1, 1, 4]
    assert shown(case="unsorted", merge="tf", event=2).rows.row.tolist().count(0) == 2
    assert shown(case="unsorted", event=2).rows.row.tolist() == [0, 3]


def test_an_empty_gradient_counts() -> None:
    rows = shown(case="empty", event=2).rows
    assert rows.by_row.tolist() == [4, 6]
    assert rows.by_gradient.tolist() == [2, 3]


def test_before_the_first_there_is_nothing() -> None:
    lab = gl.labs.sparse_accumulators(event=0)
    assert lab.description.summary == "0 gradients, 0 rows. Nothing."
    assert lab.columns(lab.compute(lab.params))["row"].size == 0


def test_the_target_can_be_reached() -> None:
    measure = gl.labs.sparse_accumulators.targets["apart"].measure
    assert measure(shown(case="words", event=6))[0]
    assert not measure(shown(case="words", event=3))[0]

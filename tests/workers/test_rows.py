"""Rows dealt out over shards come back as they were, and a server moves them as gl.tpu and accumulators do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.rules import RowWiseAdagrad
from gradlab.tpu import Policy, Table, update_table
from gradlab.workers.rows import (
    Rows,
    check_rows,
    dealt,
    dealt_ids,
    flat,
    gradients,
    joined,
    mean,
    moved,
    taken,
    whole,
)

TABLE = Table("t", 9, 2, RowWiseAdagrad(), 0.5, weight_decay=0.1, gradient_limits=(-1.0, 1.0))


def slices(ids: list[int], rows: int = 9) -> gl.IndexedSlices:
    values = np.random.default_rng(ids).standard_normal((len(ids), 2)).astype(np.float32)
    return gl.IndexedSlices(values, np.array(ids, np.int32), (rows, 2))


@given(st.integers(1, 5), st.sets(st.integers(0, 8)).map(sorted))
def test_what_is_dealt_out_comes_back(shards: int, ids: list[int]) -> None:
    table = np.arange(18.0).reshape(9, 2)
    own = [table[shard::shards] for shard in range(shards)]
    assert (whole(own) == table).all()
    read = joined(
        np.array(ids, np.int32), [w[i] for w, i in zip(own, dealt_ids(np.array(ids, int), shards), strict=True)]
    )
    assert (read.values == table[ids]).all()
    g = slices(ids)
    parts = list(dealt(g, shards))
    assert (whole([part.to_dense() for part in parts]) == g.to_dense()).all()


def test_rows_move_as_the_whole_table_does() -> None:
    w = np.random.default_rng(0).standard_normal((9, 2)).astype(np.float32)
    slots = tuple(s + np.float32(0.5) for s in TABLE.rule.init(w))
    g = slices([1, 4, 8])
    ids, *new = moved(TABLE, Policy(), {}, w, slots, g)
    expected_w, expected_slots = update_table(TABLE, w, slots, g, np.float32(0.5))
    for x, rows, expected in zip((w, *slots), new, (expected_w, *expected_slots), strict=True):
        x[ids] = rows
        np.testing.assert_array_equal(x, expected)


def test_the_mean_is_that_of_an_accumulator() -> None:
    parts = [slices([1, 4]), slices([4, 8]), slices([4])]
    accumulator = gl.SparseConditionalAccumulator(np.float32, [9, 2])
    for part in parts:
        accumulator.apply_indexed_slices_grad(part)
    expected = accumulator.take_indexed_slices_grad(3)
    np.testing.assert_array_equal(mean(parts).to_dense(), expected.to_dense())


def test_a_record_holds_gradients_of_both_kinds() -> None:
    given = {"t": slices([2, 3]), "w": np.ones(3)}
    like = {"t": np.zeros((9, 2)), "w": np.zeros(3)}
    again = gradients(flat(given), like)
    assert again.keys() == given.keys() and (again["w"] == 1).all()
    assert again["t"].dense_shape == (9, 2) and (again["t"].to_dense() == given["t"].to_dense()).all()


def test_rows_are_taken_from_a_table_or_from_what_was_read_of_it() -> None:
    table, ids = np.arange(18.0).reshape(9, 2), np.array([2, 7])
    assert (taken(Rows(np.array([2, 3, 7]), table[[2, 3, 7]]), ids) == taken(table, ids)).all()


@pytest.mark.parametrize(
    ("g", "complaint"),
    [
        (np.zeros((9, 2)), "the gradient of table t must be gl.IndexedSlices, got ndarray"),
        (slices([3, 3]), "the rows of table t must ascend, each once: sum those of one id first"),
        (slices([4, 2]), "the rows of table t must ascend"),
        (slices([9], 10), r"indices of t must be in \[0, 9\), got 9"),
    ],
)
def test_what_is_no_gradient_of_rows_is_refused(g: object, complaint: str) -> None:
    with pytest.raises(gl.errors.InvalidArgumentError, match=complaint):
        check_rows("t", g, (9, 2))

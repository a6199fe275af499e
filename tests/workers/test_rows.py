"""Rows dealt out over shards come back as they were, and a server moves them as gl.tpu and
accumulators do.
"""

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
    flatten_gradient,
    join_rows,
    join_tables,
    mean_of_rows,
    restore_gradient,
    split_gradient,
    split_ids,
    take_rows,
    update_rows,
)

TABLE = Table("t", 9, 2, RowWiseAdagrad(), 0.5, weight_decay=0.1, gradient_limits=(-1.0, 1.0))


def slices(ids: list[int], rows: int = 9) -> gl.IndexedSlices:
    values = np.random.default_rng(ids).standard_normal((len(ids), 2)).astype(np.float32)
    return gl.IndexedSlices(values, np.array(ids, np.int32), (rows, 2))


@given(st.integers(1, 5), st.sets(st.integers(0, 8)).map(sorted))
def test_parts_of_shards_join_to_the_whole(shards: int, chosen: list[int]) -> None:
    table = np.arange(18.0).reshape(9, 2)
    ids = np.array(chosen, np.int32)
    shard_tables = [table[shard::shards] for shard in range(shards)]
    assert (join_tables(shard_tables) == table).all()

    rows = [
        w[part["t"]] for w, part in zip(shard_tables, split_ids({"t": ids}, shards), strict=True)
    ]
    assert (join_rows(ids, rows).values == table[ids]).all()

    g = slices(chosen)
    parts = split_gradient({"t": g, "b": np.ones(2)}, shards)
    assert (join_tables([part["t"].to_dense() for part in parts]) == g.to_dense()).all()
    assert ["b" in part for part in parts] == [shard == 0 for shard in range(shards)]


def test_rows_move_as_the_whole_table_does() -> None:
    w = np.random.default_rng(0).standard_normal((9, 2)).astype(np.float32)
    slots = tuple(s + np.float32(0.5) for s in TABLE.rule.init(w))
    g = slices([1, 4, 8])
    ids, *new = update_rows(TABLE, Policy(), {}, w, slots, g)
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
    np.testing.assert_array_equal(mean_of_rows(parts).to_dense(), expected.to_dense())


def test_a_record_holds_gradients_of_both_kinds() -> None:
    gradient = {"t": slices([2, 3]), "w": np.ones(3)}
    again = restore_gradient(flatten_gradient(gradient), {"t": (9, 2), "w": (3,)})
    assert again.keys() == gradient.keys() and (again["w"] == 1).all()
    assert (
        again["t"].dense_shape == (9, 2)
        and (again["t"].to_dense() == gradient["t"].to_dense()).all()
    )


def test_rows_are_taken_from_a_table_or_from_the_rows_that_were_read() -> None:
    table, ids = np.arange(18.0).reshape(9, 2), np.array([2, 7])
    assert (
        take_rows(Rows(np.array([2, 3, 7]), table[[2, 3, 7]]), ids) == take_rows(table, ids)
    ).all()


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

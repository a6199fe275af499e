"""Lookups as vectors; `tests/conformance/test_sparsecore_ops.py` compares them with TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import Feature, Ids, Plan, Table, sparsecore
from gradlab.tpu.sparsecore.coo import Coo, make_coo, merge_runs, read_coo, sort_coo, split_coo
from tests.differences import differs


def coo(rows: list[int], cols: list[int], gains: list[float]) -> Coo:
    return Coo(np.int32(rows), np.int32(cols), np.float32(gains))


@differs(
    "`ConvertToCooTensor`: row splits or indices that don't cover the values",
    tensorflow="memory past their end is read",
    gradlab="InvalidArgumentError",
)
@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ([1, 2, 3], "must go from 0 to 3"),
        ([0, 2, 2], "must go from 0 to 3"),
        ([0, 4, 3], "must go from 0 to 3"),
        ([[0, 0], [1, 0]], "3 values, and 2 indices"),
        ([[0, 0, 0]] * 3, "must have 2 columns, got 3"),
        ([[-1, 0], [0, 0], [1, 0]], "sorted in ascending order"),
    ],
)
def test_what_tensorflow_reads_past_the_end_of_is_refused(splits: Any, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        make_coo(splits, [1, 2, 3], 1.0, 2, "sum")


def test_gains_of_a_sample_without_weight_are_zero() -> None:
    lookups = make_coo([0, 2, 3], [1, 2, 3], [1.0, -1.0, 2.0], 2, "mean")

    assert lookups.gains.tolist() == [0, 0, 1]


def test_only_neighbors_are_merged() -> None:
    lookups = make_coo([0, 4], [7, 7, 3, 7], [1.0, 2.0, 4.0, 8.0], 1, "sum")

    assert lookups.col_ids.tolist() == [7, 3, 7]
    assert lookups.gains.tolist() == [3, 4, 8]


def test_merging_leaves_what_is_given_as_it_is() -> None:
    given = coo([0, 0], [1, 1], [1.0, 2.0])

    assert merge_runs(given, np.array([True, False])).gains.tolist() == [3]
    assert given.gains.tolist() == [1, 2]


def test_samples_that_cores_cannot_share_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="sample_count 3 is not divisible"):
        split_coo(coo([0], [1], [1.0]), 3, 2, 0, 0, 0, 2, 3)


def test_features_of_one_table_are_merged_and_of_two_are_not() -> None:
    features = [coo([0], [4], [1.0]), coo([0], [4], [2.0])]

    together = sort_coo(features, [0, 0], 1, 2)
    apart = sort_coo(features, [0, 8], 1, 2)

    assert together.coo.gains.tolist() == [3]
    assert apart.coo.gains.tolist() == [1, 2]
    assert apart.most_unique_ids.tolist() == [2, 0]


def test_ids_below_0_are_last() -> None:
    # Measured in tensorflow-tpu 2.20, like the next two.
    found = sort_coo([coo([0, 0, 1], [-1, 4, -2], [1.0, 2.0, 4.0])], [0], 2, 2)

    assert found.coo.col_ids.tolist() == [2, -1, -1]
    assert found.most_unique_ids.max() == 2


def test_id_minus_1_is_no_row_where_it_is_first() -> None:
    found = sort_coo([coo([0, 1], [-1, -1], [1.0, 2.0])], [0], 2, 2)

    assert found.most_ids.tolist() == [0, 2]
    assert found.most_unique_ids.tolist() == [0, 0]


def test_samples_below_0_keep_their_sign() -> None:
    found = sort_coo([coo([-3, -1, 1], [4, 4, 5], [1.0, 2.0, 4.0])], [0], 2, 2)

    assert found.coo.row_ids.tolist() == [-1, -1, 1]
    assert found.coo.gains.tolist() == [1, 2, 4]


@pytest.mark.parametrize(("name", "k"), [("Row ids", 0), ("Gains", 2)])
def test_vectors_of_several_lengths_are_refused(name: str, k: int) -> None:
    vectors: list[Any] = [[0, 0], [1, 2], [1.0, 1.0]]
    vectors[k] = vectors[k][:1]
    with pytest.raises(InvalidArgumentError, match=f"{name} and col ids should have same elements"):
        read_coo(*vectors)


def test_the_steps_are_what_preprocess_does_at_once() -> None:
    tables = (Table("a", 20, 8, combiner="mean"), Table("b", 30, 8, combiner="mean"))
    plan = Plan(tables, (Feature("x", 0, (4,)), Feature("y", 1, (2,)), Feature("z", 0, (2,))))
    ids = {
        "x": Ids([0, 0, 1, 3, 3], [7, 3, 5, 6, 6]),
        "y": Ids([0, 1, 1], [29, 0, 9]),
        "z": Ids([0, 1], [7, 19]),
    }
    made = sparsecore.preprocess(plan, ids, per_core=2)
    (stack,) = made.layout.stacks
    places = {place.table: place for place in stack.places}

    split = []
    offsets = []
    before = 0
    for feature in plan.features:
        place = places[plan.tables[feature.table].name]
        given = ids[feature.name]
        where = np.stack([given.samples, np.zeros_like(given.samples)], 1)
        lookups = make_coo(where, given.ids, 1.0, feature.samples, "mean")
        offset = place.offset * stack.shards
        offsets.append(offset)
        split.append(split_coo(lookups, feature.samples, 2, before, offset, place.rotation, 2, 8))
        before += feature.samples

    for core in range(2):
        found = sort_coo([by_core[core] for by_core in split], offsets, 4, 2)
        read = made.reads[stack.name]
        own = read.sparse_cores == core
        order = np.lexsort((found.coo.row_ids, found.coo.col_ids, partitions(found.id_counts)))
        assert found.coo.row_ids[order].tolist() == read.samples[own].tolist()
        assert found.coo.col_ids[order].tolist() == read.positions[own].tolist()
        assert found.coo.gains[order].tolist() == read.gains[own].tolist()


def partitions(id_counts: np.ndarray) -> np.ndarray:
    """The partition of each lookup."""
    return np.repeat(np.arange(id_counts.size - 1), np.diff(id_counts))

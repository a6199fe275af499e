"""Counts of what a batch asks, by partition."""

import dataclasses
from typing import Literal

import numpy as np
import pytest

from gradlab.tpu import Feature, Ids, Plan, Policy, Table, partition_statistics
from gradlab.tpu.sparsecore import Limits

PLAN = Plan((Table("t", 16, 8, combiner="sum"), Table("u", 16, 8, combiner="sum")),
            (Feature("f", 0, (2,)), Feature("g", 1, (2,))), 2)  # fmt: skip
IDS = [{"f": Ids([0, 0, 0, 0, 1], [0, 4, 0, 8, 1])}, {"g": Ids([0, 1, 1], [2, 2, 6])}]


def test_counts_are_made_after_merging_and_before_dropping() -> None:
    (found,) = partition_statistics(PLAN, IDS, per_core=2, limits=Limits(2, 2)).values()
    assert found.ids.tolist() == [[3, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]]
    assert found.unique_ids.tolist() == found.ids.tolist()
    assert [x.tolist() for x in found.most(2)] == [[[3, 1, 0, 0], [2, 0, 0, 0]]] * 2
    assert found.dropped.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert found.required.tolist() == [8, 8, 8, 8]


def test_every_given_id_of_a_dropped_lookup_counts() -> None:
    (found,) = partition_statistics(PLAN, IDS, per_core=2, limits=Limits(9, 0)).values()
    assert found.dropped.tolist() == [[4, 1, 0, 0], [3, 0, 0, 0]]


def test_lookups_beyond_the_buffers_are_counted_apart() -> None:
    ids = [{"f": Ids([0] * 12, np.arange(12))}, {}]
    (found,) = partition_statistics(PLAN, ids, per_core=2, buffer_size=32).values()
    assert found.cut.tolist() == [[0, 0, 3, 3], [0, 0, 0, 0]]
    assert not found.dropped.any()
    assert (
        "partition 3: at most 3 ids, 3 different, of one SparseCore; 3 dropped" in found.describe()
    )


def test_ids_outside_their_table_are_told() -> None:
    ids = [{"f": Ids([0, 0], [-1, 15]), "g": Ids([1], [16])}, {}]
    (found,) = partition_statistics(PLAN, ids, per_core=2, out_of_range="as_found").values()
    assert found.outside.tolist() == [1, 1]
    assert found.describe().endswith("outside their table: 1 of t, 1 of u")
    assert found.describe().startswith("tables t, u: no limits")


@pytest.mark.parametrize("way", ["drop", "clamp", "wrap"])
def test_given_ids_outside_their_table_are_told_whatever_the_policy_makes_of_them(
    way: Literal["drop", "clamp", "wrap"],
) -> None:
    plan = dataclasses.replace(PLAN, policy=Policy(out_of_range=way))
    ids = [{"f": Ids([0, 0], [-1, 15])}, {"g": Ids([0, 1], [16, 99])}]
    (found,) = partition_statistics(plan, ids, per_core=2).values()
    assert found.outside.tolist() == [1, 2]

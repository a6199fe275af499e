"""Sorting, merging and counting against plain loops."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import InvalidArgumentError
from gradlab.tpu.sparsecore import Limits, Unplaced, stacked
from gradlab.tpu.sparsecore.entries import Entries
from gradlab.tpu.sparsecore.partitions import check_limits, counts, grouped, within

SHARDS = 4
lookups = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 2), st.integers(0, 20), st.sampled_from([0.5, 1.0, 2.0])
    ),
    max_size=40,
)


def made(lookups: list[tuple[int, int, int, float]]) -> Entries:
    ordered = sorted(lookups, key=lambda x: x[1])  # as the samples of a feature are
    columns = [
        np.array([x[k] for x in ordered], t) for k, t in enumerate((int, int, int, np.float32))
    ]
    return Entries(*columns, np.zeros(len(lookups), int))


@given(lookups)
def test_lookups_are_sorted_and_merged(given_lookups: list[tuple[int, int, int, float]]) -> None:
    expected: dict[tuple[int, ...], float] = defaultdict(float)
    for core, sample, column, gain in given_lookups:
        expected[core, column % SHARDS, column // SHARDS, sample] += gain
    g = grouped(made(given_lookups), SHARDS)
    keys = list(zip(g.sparse_cores, g.partitions, g.columns // SHARDS, g.samples, strict=True))
    assert keys == sorted(expected)
    assert g.gains.tolist() == [expected[k] for k in sorted(expected)]
    assert g.merged.sum() == len(given_lookups)


@given(lookups, st.integers(1, 5), st.integers(1, 4))
def test_what_is_within_the_limits_comes_first_and_by_whole_rows(
    given_lookups: list[tuple[int, int, int, float]], most: int, rows: int
) -> None:
    g = grouped(made(given_lookups), SHARDS)
    kept, seen = within(g, Limits(most, rows)), defaultdict(list)
    for k, (core, partition, column) in enumerate(
        zip(g.sparse_cores, g.partitions, g.columns, strict=True)
    ):
        before = seen[core, partition]
        before.append(column)
        assert kept[k] == (len(before) <= most and len(set(before)) <= rows)


@given(lookups)
def test_counts(given_lookups: list[tuple[int, int, int, float]]) -> None:
    ids, rows = counts(grouped(made(given_lookups), SHARDS), SHARDS)
    pairs = {(core, column, sample) for core, sample, column, _ in given_lookups}
    for core in range(SHARDS):
        for p in range(SHARDS):
            own = [x for x in pairs if x[0] == core and x[1] % SHARDS == p]
            assert (ids[core, p].sum(), rows[core, p].sum()) == (len(own), len({x[1] for x in own}))


def test_ids_below_zero_are_last_of_their_partition() -> None:
    g = grouped(made([(0, 0, -1, 1.0), (0, 0, 19, 1.0), (0, 0, 2, 1.0)]), SHARDS)
    assert g.columns.tolist() == [2, 19, -1]
    assert g.partitions.tolist() == [2, 3, 3]


def test_beyond_a_limit_is_refused_by_name() -> None:
    (s,) = stacked([Unplaced("a", 9, 8), Unplaced("b", 9, 8)], 2, 2).stacks
    ids = np.zeros((4, 4), int)
    ids[3, 2] = 7
    message = (
        r"SparseCore 1 of core 1 asks partition 2 of 'a_b' \(tables a, b\) for 7 ids, "
        r"the limit is 6; raise max_ids"
    )
    with pytest.raises(InvalidArgumentError, match=message):
        check_limits(s, ids, ids, Limits(6, 6), 2)
    with pytest.raises(
        InvalidArgumentError,
        match="7 different ids, the limit is 6; raise max_unique_ids in limits",
    ):
        check_limits(s, ids, ids, Limits(7, 6), 2)
    check_limits(s, ids, ids, Limits(7, 7), 2)

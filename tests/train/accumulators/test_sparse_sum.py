"""How the rows of two sparse gradients are merged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.train.accumulators import sparse_sum
from gradlab.train.accumulators.sparse_sum import is_sorted, union, walk

INDICES = st.lists(st.integers(-3, 9), max_size=8)


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        ([0, 1], [1, 2], [0, 1, 2]),
        ([1, 1], [1, 1], [1, 1]),
        ([1], [1, 1], [1, 1]),
        ([2, 0], [0, 2], [0, 2, 0]),
        ([0, 5, 5, 9], [5, 9, 9], [0, 5, 5, 9, 9]),
        ([], [4], [4]),
        ([4], [], [4]),
    ],
)
def test_the_walk(a: list[int], b: list[int], merged: list[int]) -> None:
    assert walk(np.array(a, int), np.array(b, int))[0].tolist() == merged


@given(INDICES, INDICES)
def test_each_row_goes_to_a_place_of_its_index_and_every_place_is_taken(
    a: list[int], b: list[int]
) -> None:
    merged, to_a, to_b = walk(np.array(a, int), np.array(b, int))
    assert merged[to_a].tolist() == a
    assert merged[to_b].tolist() == b
    assert sorted({*to_a.tolist(), *to_b.tolist()}) == list(range(merged.size))
    assert len(set(to_a.tolist())) == len(a)
    assert len(set(to_b.tolist())) == len(b)


@given(st.sets(st.integers(-3, 30)), st.sets(st.integers(-3, 30)))
def test_of_sorted_lists_the_walk_makes_the_union(a: set[int], b: set[int]) -> None:
    left, right = np.array(sorted(a), int), np.array(sorted(b), int)
    quick = union(left, right)
    seen, sparse_sum.is_sorted = sparse_sum.is_sorted, lambda _: False  # step by step
    try:
        slow = walk(left, right)
    finally:
        sparse_sum.is_sorted = seen
    assert [x.tolist() for x in quick] == [x.tolist() for x in slow]
    assert is_sorted(quick[0])

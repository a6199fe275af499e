"""Distinct rows and the sizes of vectors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradlab._base.indices import find_distinct, mark_changes, pad_to, padded_size, rank_in_groups


@given(st.lists(st.integers(0, 2**31 - 2)), st.sampled_from([np.uint32, np.int32, np.int64]))
def test_distinct_is_unique(ids: list[int], dtype: type) -> None:
    unique, inverse = find_distinct(np.array(ids, dtype))
    expected = np.unique(np.array(ids, np.uint32), return_inverse=True)
    assert (unique.dtype, inverse.dtype) == (np.uint32, np.uint32)
    assert (unique.tolist(), inverse.tolist()) == (expected[0].tolist(), expected[1].tolist())


@given(st.integers(1, 10**6))
def test_at_most_half_of_the_room_is_spare(size: int) -> None:
    assert size <= padded_size(size) <= max(1.5 * size, size + 1)
    assert padded_size(padded_size(size)) == padded_size(size)


def test_filled_up_with_a_value() -> None:
    x = pad_to(np.array([1, 2], np.uint32), 4, 9)
    assert (x.tolist(), x.dtype) == ([1, 2, 9, 9], np.uint32)


@given(st.lists(st.integers(0, 4)))
def test_ranks_count_the_entries_of_a_group(groups: list[int]) -> None:
    ordered = np.sort(np.array(groups, np.int64))
    assert rank_in_groups(ordered).tolist() == [
        ordered[:k].tolist().count(x) for k, x in enumerate(ordered.tolist())
    ]
    np.testing.assert_array_equal(mark_changes(ordered), rank_in_groups(ordered) == 0)


@given(st.lists(st.integers(0, 9), max_size=20), st.sampled_from([10, 5000]))
def test_distinct_of_a_table_is_unique_in_some_order(ids: list[int], rows: int) -> None:
    indices = np.array(ids, np.int32)
    named, place = find_distinct(indices, rows)
    assert sorted(named.tolist()) == sorted(set(ids))
    np.testing.assert_array_equal(named[place], indices)

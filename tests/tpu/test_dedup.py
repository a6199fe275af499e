"""Deduplication data: split and merge undo each other, and bad masks are refused."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import InternalError, InvalidArgumentError
from gradlab.tpu import (
    dedup_mask,
    dedup_size,
    merge_dedup,
    parse_tuple_mask,
    split_dedup,
    write_tuple_mask,
)

MIXED = [np.array([1, 2], np.uint32), np.float32([0.5]), np.array([3], np.uint32)]
MASK = [[0, 2], [1, 1], [0, 1]]

vectors = st.one_of(
    st.lists(st.integers(0, 2**32 - 1)).map(lambda x: np.array(x, np.uint32)),
    st.lists(st.floats(width=32)).map(np.float32),
)


@given(st.lists(vectors, max_size=5))
def test_merge_undoes_split(elements: list[np.ndarray]) -> None:
    mask = dedup_mask(elements)
    integers, floats = split_dedup(elements, mask)
    assert (integers.dtype, floats.dtype) == (np.uint32, np.float32)
    assert dedup_size(mask) == integers.size + floats.size
    back = merge_dedup(integers, floats, mask)
    assert [x.tobytes() for x in back] == [x.tobytes() for x in elements]


def test_integers_and_floats_keep_their_order() -> None:
    integers, floats = split_dedup(MIXED, MASK)
    assert (integers.tolist(), floats.tolist()) == ([1, 2, 3], [0.5])


def test_no_vectors_give_empty_ones_of_the_types_asked_for() -> None:
    integers, floats = split_dedup([], [], np.int64, np.float16)
    assert (integers.dtype, integers.shape, floats.dtype, floats.shape) == (
        np.int64,
        (0,),
        np.float16,
        (0,),
    )
    assert merge_dedup(integers, floats, []) == []


def test_jax_in_jax_out() -> None:
    integers, floats = split_dedup([jnp.arange(3), jnp.ones(2)], [[0, 3], [1, 2]])
    assert (integers.dtype, floats.dtype) == (jnp.uint32, jnp.float32)
    assert [x.tolist() for x in merge_dedup(integers, floats, [[0, 3], [1, 2]])] == [
        [0, 1, 2],
        [1.0, 1.0],
    ]


def test_cores_hold_shares() -> None:
    assert [
        x.tolist() for x in merge_dedup([1, 2, 3], [], [[0, 4], [0, 2]], num_cores_per_replica=2)
    ] == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[0, 2], [1, 1]], r"the mask says lengths \[2, 1\], the vectors have \[2, 1, 1\]"),
        ([[0, 2], [1, 1], [0, 2]], "the mask says lengths"),
        ([0, 2], r"got int64 of shape \(2,\)"),
        ([[0.0, 2.0]], "got float64"),
        ([[2, 1]], r"rows \(0 or 1, length >= 0\), got \[\[2, 1\]\]"),
        ([[0, -1]], "length >= 0"),
    ],
)
def test_masks_that_split_refuses(mask: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_dedup(MIXED, mask)


@pytest.mark.parametrize(
    ("integers", "floats", "cores", "message"),
    [
        ([1, 2], [0.5], 1, "the mask asks for 1 more integers, but only 0 are left"),
        ([1, 2, 3, 4], [0.5, 0.5], 1, "the mask leaves 1 integers and 1 floats over"),
        ([[1, 2, 3]], [0.5], 1, r"vectors, got an array of shape \(1, 3\)"),
        ([1], [0.5], 2, "a vector of 1 entries cannot be shared by 2 cores"),
    ],
)
def test_vectors_that_merge_refuses(integers: Any, floats: Any, cores: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        merge_dedup(np.array(integers), np.array(floats), MASK, cores)


ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), st.integers(0, 2**31 - 1)), max_size=8)


@given(ROWS)
def test_a_mask_comes_back(rows: list[tuple[int, int]]) -> None:
    found = parse_tuple_mask(write_tuple_mask(rows))
    assert found.dtype == np.int32 and found.shape == (len(rows), 2)
    assert found.tolist() == [list(r) for r in rows]


@given(st.binary(max_size=40))
def test_any_bytes_are_a_mask_or_a_value_error(data: bytes) -> None:
    try:
        found = parse_tuple_mask(data)
    except ValueError:
        return
    assert found.shape[1] == 2


@pytest.mark.parametrize(
    ("hexes", "why"),
    [
        ("ffffff", "not a TensorProto: byte 0"),
        ("08031204120208023a020002", r"rank 2, got shape \[2\]"),
        ("0803120812020801120208023a020204", r"rows \(0 or 1, length >= 0\)"),
    ],
)
def test_what_is_no_mask_is_refused(hexes: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_tuple_mask(bytes.fromhex(hexes))


def test_entries_must_be_as_many_as_the_shape_says() -> None:
    two_rows_of_one = bytes.fromhex("0803120812020802120208023a020002")
    with pytest.raises(InternalError, match="4 entries in int_val, got 2"):
        parse_tuple_mask(two_rows_of_one)


def test_a_length_below_0_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="length >= 0"):
        parse_tuple_mask(write_tuple_mask([[0, -1]]))

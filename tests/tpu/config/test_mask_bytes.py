"""Masks of deduplication data as bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import InternalError, InvalidArgumentError
from gradlab.tpu import parse_tuple_mask, write_tuple_mask

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

"""Sums in TensorFlow's order: exact where order does not matter, and the order where it does."""

import numpy as np
import pytest

from gradlab._base.sums import eigen_sum

SIZES = [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 100, 8191, 8192, 8193, 20_000]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_every_entry_is_counted_once(size: int, dtype: type) -> None:
    # Small enough for every order to be exact.
    x = np.random.default_rng(size).integers(-8, 8, size).astype(dtype)
    assert (eigen_sum(x), eigen_sum(x).dtype) == (x.sum(), np.dtype(dtype))


def test_a_packet_is_added_pairwise() -> None:
    # Entry 0 meets entry 4 before the small ones come.
    x = np.float32([1e8, 1, 1, 1, -1e8, 1, 1, 1])
    assert eigen_sum(x) == 6
    one_by_one = np.float32(0)
    for entry in x:
        one_by_one = one_by_one + entry
    assert one_by_one == 3


def test_what_fills_no_packet_comes_last() -> None:
    assert eigen_sum(np.float32([1, 0, 0, 0, 0, 0, 0, 0, 1e8, -1e8])) == 1
    assert eigen_sum(np.float32([1, 0, 0, 0, 0, 0, 0, 1e8, -1e8])) == 0


def test_rows_are_summed_as_they_are_alone() -> None:
    x = np.random.default_rng(0).normal(size=(4, 3, 77)).astype(np.float32)
    np.testing.assert_array_equal(eigen_sum(x), [[eigen_sum(row) for row in block] for block in x])

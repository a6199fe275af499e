"""The hash is HighwayHash, and boundaries keep every minibatch within its limit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradlab.tpu.sparsecore import Limits
from gradlab.tpu.sparsecore.minibatches import boundaries, buckets_of, minibatch_of

sizes = st.lists(st.integers(0, 6), min_size=64, max_size=64)


def test_all_buckets_are_used_about_equally() -> None:
    counted = np.bincount(buckets_of(np.arange(64_000)), minlength=64)
    assert counted.min() > 850
    assert counted.max() < 1150


def test_a_bucket_is_the_id_s_own() -> None:
    ids = np.array([5, 2**31 - 1, 0, 5, 1_000_000])
    assert buckets_of(ids).tolist() == [buckets_of(ids[k : k + 1])[0] for k in range(5)]


@given(sizes, st.integers(6, 40))
def test_minibatches_are_within_the_limit(given_sizes: list[int], limit: int) -> None:
    x = np.array(given_sizes)
    number = np.cumsum(boundaries(x, limit))
    assert np.bincount(number, x).max() <= limit


@given(sizes, sizes)
def test_one_split_serves_all(first: list[int], second: list[int]) -> None:
    a, b = np.array(first), np.array(second)
    together = minibatch_of([(a, a, Limits(9, 99)), (b, b, Limits(99, 12))])
    assert (np.diff(together) == (boundaries(a, 9) | boundaries(b, 12))[1:]).all()
    assert together[0] == 0


def test_nothing_is_split_that_fits() -> None:
    assert not boundaries(np.full((3, 64), 2), 128).any()
    assert boundaries(np.full((3, 64), 2), 127).sum() == 1

"""The decaying mean in two roundings."""

import numpy as np
import pytest

from gradlab._base.sums import decaying_mean

F = np.float32


@pytest.mark.parametrize("order", ["dense", "sparse"])
def test_it_stays_between_the_old_mean_and_the_new_value(order: str) -> None:
    rng = np.random.default_rng(0)
    mean, new = rng.normal(size=(2, 100)).astype(F)
    got = decaying_mean(mean, new, F(0.9), order)
    np.testing.assert_allclose(got, 0.9 * mean + 0.1 * new, rtol=1e-5, atol=1e-7)
    assert got.dtype == F


def test_the_orders_differ_in_their_last_bits_only() -> None:
    mean, new = F(0.1), F(0.3)
    dense, sparse = (decaying_mean(mean, new, F(0.999), order) for order in ("dense", "sparse"))
    assert dense == mean + F(new - mean) * F(F(1) - F(0.999))
    assert sparse == F(mean * F(0.999)) + F(new * F(F(1) - F(0.999)))
    assert decaying_mean(F(0.7), F(0.7), F(0.9), "dense") == F(
        0.7
    )  # a mean of equal values stays; the other one drifts

"""Closed forms against the minimum of what they minimize."""

import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.rules._proximal import shrink, soft_threshold, wide


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 2.0)])
@pytest.mark.parametrize("x", [-2.0, -0.4, 0.0, 0.5, 3.0])
def test_nothing_nearby_is_lower(x: float, l1: float, l2: float) -> None:
    def cost(w: np.ndarray) -> np.ndarray:
        return (w - x) ** 2 / 2 + l1 * abs(w) + l2 * w * w / 2

    best = shrink(np.float64(x), l1, l2)
    assert (cost(best) <= cost(best + np.linspace(-1, 1, 201))).all()


def test_what_is_smaller_than_the_limit_becomes_zero() -> None:
    np.testing.assert_array_equal(
        soft_threshold(np.float32([-3, -1, 0, 1, 3]), np.float32(1)), [-2, 0, 0, 0, 2]
    )


@pytest.mark.parametrize("order", ["dense", "scalar"])
def test_the_dtype_stays(order: str) -> None:
    assert shrink(np.float16([1]), np.float16(0.5), np.float16(0.5), order).dtype == np.float16


def test_numpy_widens_and_jax_does_not() -> None:
    for like, dtype in ((np.float32(1), np.float64), (jnp.float32(1), np.float32)):
        assert [x.dtype for x in wide(like, np.float32(2), np.float32(3))] == [dtype, dtype]

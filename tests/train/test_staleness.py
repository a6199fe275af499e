"""What the age of a gradient means, on NumPy and JAX."""

from typing import Any

import numpy as np
import pytest

from gradlab._base.arrays import is_traced
from gradlab.train.staleness import compensate, compensate_adaptively, damping, is_accepted
from tests import ways

F = np.float32
AGES = np.arange(ways.SHARDS) - 2


@pytest.mark.parametrize("way", ways.ALL.values(), ids=ways.ALL)
def test_equal_is_accepted(way: ways.Way) -> None:
    assert way(is_accepted, AGES, np.int64(1)).tolist() == [True] * 4 + [False] * 4


def test_a_negative_limit_asks_that_the_step_went_back() -> None:
    assert [is_accepted(s, -2) for s in (-3, -2, -1, 0)] == [True, True, False, False]


@pytest.mark.parametrize("way", ways.ALL.values(), ids=ways.ALL)
def test_damping(way: ways.Way) -> None:
    np.testing.assert_allclose(
        way(damping, AGES + 2), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7, 1 / 8], rtol=1e-7
    )


@pytest.mark.parametrize("curvature", [0.5, -2.0])
def test_compensation_is_exact_where_the_curvature_is_what_it_takes_it_for(
    curvature: float,
) -> None:
    """On a parabola the gradient is curvature * w, and Taylor's series ends after its first step."""
    read, now = np.float64([1.0, -3.0]), np.float64([2.0, 0.5])
    g = curvature * read
    np.testing.assert_allclose(
        compensate(g, now, read, curvature / (g * g)), curvature * now, rtol=1e-14
    )


def test_nothing_to_compensate() -> None:
    g, w = F([2.0, -1.0]), F([5.0, 7.0])
    assert compensate(g, w, w, 3.0).tolist() == g.tolist()
    assert compensate(g, w + 1, w, 0.0).tolist() == g.tolist()


def test_the_adaptive_form_step_by_step() -> None:
    mean, rng = np.zeros(3), np.random.default_rng(0)
    for k in range(4):
        g, now, read = rng.normal(size=(3, 3))
        got, mean_after = compensate_adaptively(g, now, read, mean, 2.0, 0.75, 1e-7)
        mean = 0.75 * mean + 0.25 * g**2
        np.testing.assert_allclose(mean_after, mean, rtol=1e-14)
        np.testing.assert_allclose(
            got, g + 2.0 / np.sqrt(mean + 1e-7) * g * g * (now - read), rtol=1e-12, err_msg=k
        )


@pytest.mark.parametrize("way", ways.ROW_LOCAL.values(), ids=ways.ROW_LOCAL)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_one_formula_for_numpy_and_jax(way: ways.Way, dtype: str) -> None:
    def both(g: Any, now: Any, read: Any, mean: Any) -> Any:
        return compensate(g, now, read, 0.5), compensate_adaptively(g, now, read, mean, 2.0)

    args = list(np.abs(np.random.default_rng(1).normal(size=(4, ways.SHARDS))).astype(dtype))
    # XLA fuses products with sums.
    assert ways.ulps(way(both, *args), ways.numpy(both, *args)) <= 16


def test_the_age_may_be_traced() -> None:
    import jax

    seen = []
    jax.jit(lambda s: seen.append((is_accepted(s, 1), damping(s))) or s)(3)
    assert all(is_traced(x) for x in seen[0])

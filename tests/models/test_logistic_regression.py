"""Logistic regression: its gradient is that of the loss, its minimum is where that vanishes, a unit
is a unit.
"""

import numpy as np
import pytest

from gradlab.models.logistic_regression import logistic_regression
from gradlab.models.surfaces import Surface


def curvature(surface: Surface, w: np.ndarray) -> np.ndarray:
    """The matrix of second derivatives, by differences of the gradient."""
    steps = 1e-5 * np.eye(2)
    return np.stack([(surface.gradient(w + s) - surface.gradient(w - s)) / 2e-5 for s in steps])


@pytest.mark.parametrize("condition", [1.0, 30.0])
def test_the_gradient_is_that_of_the_loss(condition: float) -> None:
    surface = logistic_regression(condition)
    for w in np.random.default_rng(0).normal(0, 2, (10, 2)):
        slopes = [(surface.loss(w + s) - surface.loss(w - s)) / 2e-5 for s in 1e-5 * np.eye(2)]
        np.testing.assert_allclose(surface.gradient(w), slopes, rtol=1e-5, atol=1e-8)


def test_many_weights_at_once_give_what_each_gives_alone() -> None:
    surface, w = logistic_regression(10.0), np.random.default_rng(1).normal(0, 2, (3, 4, 2))
    for index in np.ndindex(3, 4):
        np.testing.assert_allclose(surface.loss(w)[index], surface.loss(w[index]))
        np.testing.assert_allclose(surface.gradient(w)[index], surface.gradient(w[index]))


@pytest.mark.parametrize("condition", [1.0, 100.0])
def test_the_bottom_is_the_lowest_point(condition: float) -> None:
    surface = logistic_regression(condition)
    np.testing.assert_allclose(surface.gradient(np.array(surface.minima[0])), 0, atol=1e-9)
    assert surface.above(np.array(surface.minima[0])) == 0
    around = np.array(surface.minima[0]) + 0.01 * np.random.default_rng(2).normal(size=(50, 2))
    assert (surface.above(around) > 0).all()


def test_a_unit_changes_the_steepness_along_one_weight_and_nothing_else() -> None:
    plain, finer = logistic_regression(1.0), logistic_regression(25.0)
    w = np.array([1.0, -2.0])
    assert finer.loss(w / [1, 5]) == pytest.approx(plain.loss(w))
    np.testing.assert_allclose(
        curvature(finer, w / [1, 5]), curvature(plain, w) * [[1, 5], [5, 25]], rtol=1e-5
    )


def test_the_regression_tells_most_tumors_apart_and_survives_far_off_weights() -> None:
    surface = logistic_regression(1.0)
    assert surface.loss(np.array(surface.minima[0])) == pytest.approx(0.2757571, abs=1e-6)
    far = np.array([-1e4, 1e4])
    assert np.isfinite(surface.loss(far)) and np.isfinite(surface.gradient(far)).all()


def test_results_have_the_dtype_of_the_weights_but_are_computed_in_float64() -> None:
    surface, w = logistic_regression(10.0), np.float32([[0.5, -1.5], [3.0, 0.1]])
    exact = w.astype(np.float64)
    np.testing.assert_array_equal(
        surface.gradient(w), surface.gradient(exact).astype(np.float32), strict=True
    )
    np.testing.assert_array_equal(
        surface.loss(w), surface.loss(exact).astype(np.float32), strict=True
    )

"""Gradients are those of the losses, bottoms are where they vanish, and a condition is a condition."""

from collections.abc import Callable

import numpy as np
import pytest

import gradlab as gl
from gradlab.surfaces import Surface, bowl, logistic_regression, walk

MAKERS = [bowl, logistic_regression]
every = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


def curvature(surface: Surface, w: np.ndarray) -> np.ndarray:
    """The matrix of second derivatives, by differences of the gradient."""
    steps = 1e-5 * np.eye(2)
    return np.stack([(surface.gradient(w + s) - surface.gradient(w - s)) / 2e-5 for s in steps])


@every
@pytest.mark.parametrize("condition", [1.0, 30.0])
def test_the_gradient_is_that_of_the_loss(make: Callable[[float], Surface], condition: float) -> None:
    surface = make(condition)
    for w in np.random.default_rng(0).normal(0, 2, (10, 2)):
        slopes = [(surface.loss(w + s) - surface.loss(w - s)) / 2e-5 for s in 1e-5 * np.eye(2)]
        np.testing.assert_allclose(surface.gradient(w), slopes, rtol=1e-5, atol=1e-8)


@every
def test_many_weights_at_once_give_what_each_gives_alone(make: Callable[[float], Surface]) -> None:
    surface, w = make(10.0), np.random.default_rng(1).normal(0, 2, (3, 4, 2))
    for index in np.ndindex(3, 4):
        np.testing.assert_allclose(surface.loss(w)[index], surface.loss(w[index]))
        np.testing.assert_allclose(surface.gradient(w)[index], surface.gradient(w[index]))


@every
@pytest.mark.parametrize("condition", [1.0, 100.0])
def test_the_bottom_is_the_lowest_point(make: Callable[[float], Surface], condition: float) -> None:
    surface = make(condition)
    np.testing.assert_allclose(surface.gradient(np.array(surface.bottom)), 0, atol=1e-9)
    assert surface.above(np.array(surface.bottom)) == 0
    around = np.array(surface.bottom) + 0.01 * np.random.default_rng(2).normal(size=(50, 2))
    assert (surface.above(around) > 0).all()


def test_the_bowl_is_as_ill_conditioned_as_asked() -> None:
    assert np.linalg.cond(curvature(bowl(30.0), np.array([1.0, 1.0]))) == pytest.approx(30)


def test_a_unit_changes_the_steepness_along_one_weight_and_nothing_else() -> None:
    plain, finer = logistic_regression(1.0), logistic_regression(25.0)
    w = np.array([1.0, -2.0])
    assert finer.loss(w / [1, 5]) == pytest.approx(plain.loss(w))
    np.testing.assert_allclose(curvature(finer, w / [1, 5]), curvature(plain, w) * [[1, 5], [5, 25]], rtol=1e-5)


def test_the_regression_tells_most_tumours_apart_and_survives_far_off_weights() -> None:
    surface = logistic_regression(1.0)
    assert surface.loss(np.array(surface.bottom)) == pytest.approx(0.2757571, abs=1e-6)
    far = np.array([-1e4, 1e4])
    assert np.isfinite(surface.loss(far)) and np.isfinite(surface.gradient(far)).all()


def test_a_walk_is_the_rule_again_and_again_in_float32() -> None:
    rule, surface = gl.rules.Adagrad(initial_accumulator_value=0.5), bowl(3.0)
    weights, (accumulator,) = walk(surface, rule, (1.0, -2.0), np.array([0.5, 0.25]), clip=2.0)
    w = np.float32([1.0, -2.0])
    slots = rule.init(w)
    for step, rate in ((1, 0.5), (2, 0.25)):
        g = gl.clip_by_norm(surface.gradient(w.astype(float)).astype(np.float32), 2.0)
        w, slots = rule(w, slots, g, rate)
        np.testing.assert_array_equal(weights[step], w)
        np.testing.assert_array_equal(accumulator[step], slots[0])
    assert weights.dtype == accumulator.dtype == np.float32
    assert accumulator[0].tolist() == [0.5, 0.5]


def test_a_walk_that_leaves_every_number_behind_ends_in_nan_without_a_warning() -> None:
    weights, slots = walk(bowl(30.0), gl.rules.StochasticGradientDescent(), (1.0, 1.0), np.full(60, 10.0))
    assert slots == [] and weights.shape == (61, 2)
    assert np.isnan(weights[-1]).any() and np.isfinite(weights[10]).all()

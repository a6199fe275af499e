"""Landscapes: gradients are derivatives, minima the lowest places, and every race starts on the square."""

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.landscapes import LANDSCAPES, REACH, Landscape, race

every_landscape = pytest.mark.parametrize("landscape", LANDSCAPES.values(), ids=LANDSCAPES)
DRAWN = np.random.default_rng(0).uniform(-REACH, REACH, (40, 2))


@every_landscape
def test_the_gradient_is_the_derivative_of_the_value(landscape: Landscape) -> None:
    with jax.enable_x64(True):
        plane = jax.grad(lambda w: landscape.f(w[0], w[1]))
        expected = np.stack([plane(w) for w in DRAWN])
    np.testing.assert_allclose(landscape.gradient(DRAWN), expected, rtol=1e-9, atol=1e-9)


@every_landscape
def test_the_minima_are_the_lowest_places_and_flat(landscape: Landscape) -> None:
    minima = np.array(landscape.minima)
    np.testing.assert_allclose(landscape.value(minima), landscape.lowest, atol=1e-9)
    np.testing.assert_allclose(landscape.gradient(minima), 0, atol=1e-4)
    grid = np.stack(np.meshgrid(*[np.linspace(-REACH, REACH, 401)] * 2), axis=-1)
    values = landscape.value(grid)
    assert values.min() >= landscape.lowest
    near = landscape.distance(grid) < 0.05
    assert near.any()
    assert values[near].min() == values.min()


@every_landscape
def test_the_start_is_on_the_square_and_above_the_minimum(landscape: Landscape) -> None:
    start = np.array(landscape.start)
    assert (np.abs(start) <= REACH).all()
    assert landscape.value(start) > landscape.lowest + 0.2
    assert np.hypot(*landscape.gradient(start)) > 0.01


@every_landscape
def test_shapes_and_dtype_are_those_of_the_weights(landscape: Landscape) -> None:
    for shape in ((2,), (3, 2), (4, 3, 2)):
        w = np.full(shape, 0.5, np.float32)
        assert landscape.value(w).shape == landscape.distance(w).shape == shape[:-1]
        assert landscape.gradient(w).shape == shape
        assert landscape.gradient(w).dtype == landscape.value(w).dtype == np.float32


def test_the_distance_is_to_the_nearest_minimum() -> None:
    two = LANDSCAPES["saddle"]
    assert two.distance(np.array([0.5, 0.7])) == pytest.approx(0.3)
    assert two.distance(np.array([[3.5, 1.0], [0.5, -1.0]])).tolist() == [3.0, 0.0]


def test_no_minimum_is_where_all_weights_are_0() -> None:
    assert all(landscape.distance(np.zeros(2)) > 0.5 for landscape in LANDSCAPES.values())


RULES = {
    name: rule
    for name, rule in gl.rules.catalogue().items()
    if name not in ("Assign", "FrequencyEstimator", "UserDefined")
}


@pytest.mark.parametrize("name", RULES)
def test_a_rate_races_beside_others_as_it_does_alone(name: str) -> None:
    rule, rates, start = RULES[name](), [0.001, 0.03, 1.0], (-1.2, 1.0)
    together = race(LANDSCAPES["rosenbrock"], rule, start, rates, 30, noise=0.1)
    for k, rate in enumerate(rates):
        alone = race(LANDSCAPES["rosenbrock"], rule, start, [rate], 30, noise=0.1)
        np.testing.assert_array_equal(together[:, k], alone[:, 0])


@pytest.mark.parametrize(
    ("rule", "optimizer"),
    [
        (gl.rules.StochasticGradientDescent(), gl.train.GradientDescentOptimizer(0.01)),
        (gl.rules.Momentum(), gl.train.MomentumOptimizer(0.01, 0.9)),
    ],
)
def test_a_race_is_what_the_optimizer_does(rule: gl.rules.Rule, optimizer: gl.train.Optimizer) -> None:
    landscape, v = LANDSCAPES["turned"], gl.Variable([-1.0, 0.5])
    path = race(landscape, rule, (-1.0, 0.5), [0.01], 5)
    for step in range(5):
        np.testing.assert_array_equal(path[step, 0], v.numpy())
        optimizer.apply_gradients([(landscape.gradient(v.numpy()), v)])


def test_noise_is_the_same_for_all_and_as_large_as_asked() -> None:
    landscape, rule = LANDSCAPES["plateau"], gl.rules.StochasticGradientDescent()
    path = race(landscape, rule, (-1.0, 0.5), [1e-3], 2000, noise=0.5)[:, 0]
    noise = -np.diff(path, axis=0) / 1e-3 - landscape.gradient(path[:-1])
    assert noise.std() == pytest.approx(0.5 * np.linalg.norm(landscape.gradient(path[0])), rel=0.05)
    again = race(landscape, gl.rules.Momentum(), (-1.0, 0.5), [1e-3], 1, noise=0.5)
    np.testing.assert_array_equal(again[1, 0], path[1])


def test_a_path_that_leaves_the_numbers_goes_on() -> None:
    path = race(LANDSCAPES["rosenbrock"], gl.rules.StochasticGradientDescent(), (-1.2, 1.0), [1e-3, 1.0], 30)
    assert not np.isfinite(path[-1, 1]).any()
    assert np.isfinite(path[:, 0]).all()

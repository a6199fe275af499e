"""Landscapes: gradients are derivatives, minima the lowest places, and every race starts on the square."""

import jax
import numpy as np
import pytest

from gradlab.landscapes import LANDSCAPES, REACH, Landscape

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
    assert two.distance(np.array([0.0, 0.7])) == pytest.approx(0.3)
    assert two.distance(np.array([[3.0, 1.0], [0.0, -1.0]])).tolist() == [3.0, 0.0]

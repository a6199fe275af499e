"""Surfaces: gradients are derivatives, minima the lowest places; a walk is the rule again and
again.
"""

import dataclasses

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.models.surfaces import REACH, SURFACES, Surface, bowl, walk

every = pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
DRAWN = np.random.default_rng(0).uniform(-REACH, REACH, (40, 2))


@every
def test_the_gradient_is_the_derivative_of_the_loss(surface: Surface) -> None:
    with jax.enable_x64(True):
        expected = jax.vmap(jax.grad(surface.loss))(DRAWN)
    np.testing.assert_allclose(surface.gradient(DRAWN), expected, rtol=1e-9, atol=1e-9)


@every
def test_the_minima_are_the_lowest_places_and_flat(surface: Surface) -> None:
    minima = np.array(surface.minima)
    np.testing.assert_allclose(surface.loss(minima), surface.lowest, atol=1e-9)
    np.testing.assert_allclose(surface.gradient(minima), 0, atol=1e-4)
    grid = np.stack(np.meshgrid(*[np.linspace(-REACH, REACH, 401)] * 2), axis=-1)
    values = surface.loss(grid)
    assert values.min() >= surface.lowest
    near = surface.distance(grid) < 0.05
    assert near.any()
    assert values[near].min() == values.min()


@every
def test_the_start_is_on_the_square_and_above_the_minimum(surface: Surface) -> None:
    start = np.array(surface.start)
    assert (np.abs(start) <= REACH).all()
    assert surface.loss(start) > surface.lowest + 0.2
    assert np.hypot(*surface.gradient(start)) > 0.01


@every
def test_shapes_and_dtype_are_those_of_the_weights(surface: Surface) -> None:
    for shape in ((2,), (3, 2), (4, 3, 2)):
        w = np.full(shape, 0.5, np.float32)
        assert surface.loss(w).shape == surface.distance(w).shape == shape[:-1]
        assert surface.gradient(w).shape == shape
        assert surface.gradient(w).dtype == surface.loss(w).dtype == np.float32


def test_the_distance_is_to_the_nearest_minimum() -> None:
    two = SURFACES["saddle"]
    assert two.distance(np.array([0.5, 0.7])) == pytest.approx(0.3)
    assert two.distance(np.array([[3.5, 1.0], [0.5, -1.0]])).tolist() == [3.0, 0.0]


def test_the_bowl_is_as_steep_as_asked_and_lowest_where_asked() -> None:
    tilted = bowl(30.0, (1.0, -2.0))
    assert tilted.gradient(np.array([[2.0, -2.0], [1.0, -1.0], [1.0, -2.0]])).tolist() == [
        [1, 0],
        [0, 30],
        [0, 0],
    ]
    assert tilted.loss(np.array([2.0, -1.0])) == tilted.above(np.array([2.0, -1.0])) == 15.5
    assert bowl(30.0).minima == ((0.0, 0.0),)


def test_the_condition_is_not_rounded_to_the_dtype_of_the_weights() -> None:
    w = np.random.default_rng(0).normal(size=(100, 2)).astype(np.float32)
    np.testing.assert_array_equal(
        bowl(1.1).gradient(w), bowl(1.1).gradient(w.astype(np.float64)).astype(np.float32)
    )


def test_above_counts_from_the_lowest_loss_and_is_never_negative() -> None:
    two = SURFACES["saddle"]
    assert two.above(np.array([0.5, 0.0], np.float32)) == 0.25
    rounded_up = dataclasses.replace(two, lowest=np.nextafter(two.lowest, 0))
    assert rounded_up.above(np.array(two.minima)).tolist() == [0, 0]


def test_no_minimum_is_where_all_weights_are_0() -> None:
    assert all(surface.distance(np.zeros(2)) > 0.5 for surface in SURFACES.values())


RULES = {  # those that walk by themselves
    name: rule
    for name, rule in gl.rules.catalog().items()
    if name not in ("Assign", "FrequencyEstimator", "UserDefined")
}


@pytest.mark.parametrize("name", RULES)
def test_a_path_beside_others_is_what_it_is_alone(name: str) -> None:
    rule, start = RULES[name](), (-1.2, 1.0)
    rates = np.float32([0.001, 0.03, 1.0]) * np.linspace(1, 0.5, 30)[:, None]
    together, slots = walk(SURFACES["rosenbrock"], rule, start, rates, clip=2.0, noise=0.1)
    assert together.shape == (31, 3, 2)
    for k in range(3):
        alone, (*kept,) = walk(
            SURFACES["rosenbrock"], rule, start, rates[:, k], clip=2.0, noise=0.1
        )
        np.testing.assert_array_equal(together[:, k], alone)
        for one, other in zip(slots, kept, strict=True):
            np.testing.assert_array_equal(one[:, k], other)


@pytest.mark.parametrize(
    ("rule", "optimizer"),
    [
        (gl.rules.StochasticGradientDescent(), gl.train.GradientDescentOptimizer(0.01)),
        (gl.rules.Momentum(), gl.train.MomentumOptimizer(0.01, 0.9)),
        # Whose bias correction changes from step to step.
        (gl.rules.Adam(), gl.train.AdamOptimizer(0.01)),
    ],
)
def test_a_walk_is_what_the_optimizer_does(
    rule: gl.rules.Rule, optimizer: gl.train.Optimizer
) -> None:
    surface, v = SURFACES["turned"], gl.Variable([-1.0, 0.5])
    path, _ = walk(surface, rule, (-1.0, 0.5), np.full(5, 0.01))
    for step in range(6):
        np.testing.assert_array_equal(path[step], v.numpy())
        optimizer.apply_gradients([(surface.gradient(v.numpy()), v)])


def test_noise_is_the_same_for_all_and_as_large_as_asked() -> None:
    surface, rule = SURFACES["plateau"], gl.rules.StochasticGradientDescent()
    path, _ = walk(surface, rule, (-1.0, 0.5), np.full(2000, 1e-3), noise=0.5)
    noise = -np.diff(path, axis=0) / 1e-3 - surface.gradient(path[:-1])
    assert noise.std() == pytest.approx(0.5 * np.linalg.norm(surface.gradient(path[0])), rel=0.05)
    again, _ = walk(surface, gl.rules.Momentum(), (-1.0, 0.5), np.full(1, 1e-3), noise=0.5)
    np.testing.assert_array_equal(again[1], path[1])


def test_each_path_can_have_a_draw_of_the_noise_of_its_own() -> None:
    rule, start = gl.rules.Momentum(), (1.0, 0.0)
    together, _ = walk(bowl(1.0), rule, start, np.full((20, 2), 0.1), noise=0.5, seeds=(0, 3))
    first, _ = walk(bowl(1.0), rule, start, np.full(20, 0.1), noise=0.5)
    other, _ = walk(bowl(1.0), rule, start, np.full(20, 0.1), noise=0.5, seeds=(3,))
    np.testing.assert_array_equal(together[:, 0], first)
    np.testing.assert_array_equal(together[:, 1], other)
    assert not np.array_equal(first, other)


def test_noise_comes_before_the_clip() -> None:
    path, _ = walk(
        bowl(1.0),
        gl.rules.StochasticGradientDescent(),
        (1.0, 0.0),
        np.full(50, 0.1),
        clip=0.5,
        noise=3.0,
    )
    lengths = np.hypot(*np.diff(path, axis=0).T)
    assert lengths.max() == pytest.approx(0.05, rel=1e-5)


def test_a_walk_clips_and_keeps_the_slots_in_float32() -> None:
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


def test_a_path_that_leaves_the_numbers_ends_in_nan_without_a_warning_and_the_others_go_on() -> (
    None
):
    rates = np.tile([1e-3, 1.0], (60, 1))
    path, (accumulator,) = walk(bowl(30.0), gl.rules.Momentum(), (1.0, 1.0), rates)
    assert np.isfinite(path[:, 0]).all()
    first = int(np.isnan(path[:, 1, 1]).argmax())
    assert 5 < first < 60
    for lost in (path, accumulator):
        assert np.isnan(lost[first:, 1]).all()
        assert np.isfinite(lost[: first - 1, 1]).all()


def test_a_gradient_that_is_not_finite_is_not_clipped_to_something_that_is() -> None:
    path, _ = walk(
        SURFACES["rosenbrock"],
        gl.rules.StochasticGradientDescent(),
        (1e30, 1.0),
        np.full(3, 1.0),
        clip=1.0,
    )
    assert path[0].tolist() == np.float32([1e30, 1.0]).tolist()
    assert np.isnan(path[1:]).all()

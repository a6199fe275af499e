"""The interface, and what holds for every schedule: ways to call it, dtypes, config, refusals."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest

import gradlab as gl
from gradlab import schedules
from tests import ways
from tests.differences import differs

EVERY: dict[str, tuple[type[schedules.LearningRateSchedule], dict[str, Any]]] = {
    "exponential": (schedules.ExponentialDecay, {"decay_steps": 3, "decay_rate": 0.7}),
    "exponential in stairs": (
        schedules.ExponentialDecay,
        {"decay_steps": 3, "decay_rate": 0.7, "staircase": True},
    ),
    "inverse time": (schedules.InverseTimeDecay, {"decay_steps": 2.0, "decay_rate": 0.5}),
    "inverse time in stairs": (
        schedules.InverseTimeDecay,
        {"decay_steps": 2, "decay_rate": 0.5, "staircase": True},
    ),
    "polynomial": (
        schedules.PolynomialDecay,
        {"decay_steps": 5, "end_learning_rate": 0.01, "power": 2.0},
    ),
    "polynomial cycle": (
        schedules.PolynomialDecay,
        {"decay_steps": 3, "power": 0.5, "cycle": True},
    ),
    "cosine": (schedules.CosineDecay, {"decay_steps": 7, "alpha": 0.1}),
    "cosine with warmup": (
        schedules.CosineDecay,
        {"decay_steps": 7, "warmup_target": 0.5, "warmup_steps": 3},
    ),
    "linear cosine": (
        schedules.LinearCosineDecay,
        {"decay_steps": 7, "num_periods": 1.5, "alpha": 0.1},
    ),
    "waves": (
        schedules.PeriodicCosineDecay,
        {"decay_steps": 7, "num_periods": 2, "zero_after": 1.5},
    ),
    "saw": (schedules.PeriodicCosineDecay, {"decay_steps": 7, "num_periods": 2, "restarts": True}),
    "noisy linear cosine": (
        schedules.NoisyLinearCosineDecay,
        {"decay_steps": 7, "alpha": 0.1, "seed": 1},
    ),
    "restarts": (
        schedules.CosineDecayRestarts,
        {"first_decay_steps": 2, "m_mul": 0.5, "alpha": 0.1},
    ),
    "equal restarts": (
        schedules.CosineDecayRestarts,
        {"first_decay_steps": 3, "t_mul": 1.0, "m_mul": 0.9},
    ),
}
STEPS = np.arange(16, dtype=np.int32)


def make(name: str, rate: Any = 0.1) -> schedules.LearningRateSchedule:
    kind, config = EVERY[name]
    return kind(rate, **config)


def piecewise(*values: Any) -> schedules.PiecewiseConstantDecay:
    return schedules.PiecewiseConstantDecay([2, 5], values or [1.0, 0.5, 0.1])


ALL = {**{name: make(name) for name in EVERY}, "piecewise": piecewise()}


@pytest.fixture(params=ALL)
def schedule(request: pytest.FixtureRequest) -> Any:
    return ALL[request.param]


def test_an_array_of_steps_gives_what_each_step_gives(schedule: Any) -> None:
    assert schedule(STEPS).tolist() == [schedule(int(step)).item() for step in STEPS]
    assert schedule(STEPS.reshape(4, 4)).shape == (4, 4)


@pytest.mark.parametrize(
    "step", [3, 3.0, np.int64(3), np.float16(3), np.array(3), jnp.int32(3), jnp.float32(3)]
)
def test_any_kind_of_step_gives_one_float32_number(schedule: Any, step: Any) -> None:
    rate = schedule(step)
    assert (rate.dtype, rate.shape, isinstance(rate, jax.Array)) == (
        np.float32,
        (),
        isinstance(step, jax.Array),
    )
    assert np.asarray(rate) == pytest.approx(schedule(3), rel=1e-6)


def test_a_variable_is_a_step_too(schedule: Any) -> None:
    iterations = gl.Variable(np.array(3, np.int64), name="iter")
    assert schedule(iterations) == schedule(3)


@pytest.mark.parametrize("way", [ways.eager, ways.jit, ways.vmap, ways.shard_map, ways.sharded])
def test_every_way_gives_numpy_s_numbers(schedule: Any, way: ways.Way) -> None:
    # A cosine near -1 and what is left of a quotient of periods cancel, so small rates have the
    # error of large ones.
    assert np.allclose(way(schedule, STEPS), schedule(STEPS), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("name", EVERY)
def test_the_dtype_of_the_rate_is_the_dtype_of_the_result(name: str, dtype: Any) -> None:
    schedule = make(name, np.asarray(0.1, dtype)[()])
    for way in (ways.numpy, ways.eager, ways.jit):
        assert way(schedule, STEPS).dtype == dtype
    wide = make(name, np.float64(0.1))(STEPS)
    eps = float(ml_dtypes.finfo(dtype).eps)
    assert np.allclose(schedule(STEPS).astype(np.float64), wide, rtol=16 * eps, atol=eps)


@pytest.mark.parametrize("name", EVERY)
def test_a_traced_rate_works_so_that_rates_can_be_swept(name: str) -> None:
    rates = jax.vmap(lambda rate: make(name, rate)(2))(jnp.float32([0.1, 0.2]))
    assert np.asarray(rates) == pytest.approx([make(name, 0.1)(2), make(name, 0.2)(2)], rel=1e-6)


@differs(
    "`ExponentialDecay` and the other decays with an integer rate",
    tensorflow="an error",
    gradlab="converted to float",
)
def test_an_integer_rate_is_a_float() -> None:
    assert make("exponential", 1)(3) == np.float32(0.7)


def test_config_round_trip(schedule: Any) -> None:
    again = type(schedule).from_config(schedule.get_config())
    assert again.get_config() == schedule.get_config()
    assert again(STEPS).tolist() == schedule(STEPS).tolist()


def test_jit_tells_equal_rates_of_two_dtypes_apart() -> None:
    with jax.enable_x64(True):
        dtypes = [
            jax.jit(make("exponential", rate))(STEPS).dtype for rate in (0.5, np.float64(0.5))
        ]
    assert dtypes == [np.float32, np.float64]


def test_an_unknown_name_in_a_config_is_refused(schedule: Any) -> None:
    with pytest.raises(TypeError, match="half_life"):
        type(schedule).from_config({**schedule.get_config(), "half_life": 3})


def test_it_is_an_optax_schedule(schedule: Any) -> None:
    w, g = jnp.float32([1.0]), jnp.float32([1.0])
    scale, adagrad = optax.scale_by_schedule(schedule), optax.adagrad(learning_rate=schedule)
    state, other = scale.init(w), adagrad.init(w)
    for step in range(4):
        update, state = jax.jit(scale.update)(g, state)
        assert update[0] == pytest.approx(schedule(step), rel=1e-6)
        step_of_adagrad, other = jax.jit(adagrad.update)(g, other)
        assert step_of_adagrad[0] == pytest.approx(
            -schedule(step) / np.sqrt(0.1 + step + 1), rel=1e-5
        )


def test_jit_compiles_once_for_all_steps(schedule: Any) -> None:
    traces = []
    jitted = jax.jit(lambda step: traces.append(0) or schedule(step))
    for step in (0, 1, 9):
        jitted(jnp.int32(step))
    assert len(traces) == 1


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("rate", "error"), [(None, ValueError), ("fast", TypeError), ([0.1, 0.2], ValueError)]
)
def test_what_is_no_rate_is_refused(name: str, rate: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="initial_learning_rate"):
        make(name, rate)


@differs(
    "`ExponentialDecay` and the other decays over no steps",
    tensorflow="any number or NaN, silently",
    gradlab="ValueError, as in Keras 3",
)
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("steps", [0, -3, 0.0, float("nan")])
def test_no_steps_to_decay_over_are_refused(name: str, steps: float) -> None:
    kind, config = EVERY[name]
    key = next(key for key in config if key.endswith("decay_steps"))
    if steps == 0 and "warmup_steps" in config:
        config = {**config, "warmup_steps": 0}  # nor steps to warm up
    with pytest.raises(ValueError, match=f"{key} must be > 0, got"):
        kind(0.1, **{**config, key: steps})


@pytest.mark.parametrize(("step", "error"), [(None, ValueError), ("soon", TypeError)])
def test_what_is_no_step_is_refused(schedule: Any, step: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="step"):
        schedule(step)


def test_a_subclass_must_bring_both_halves() -> None:
    class Lazy(schedules.LearningRateSchedule):
        pass

    with pytest.raises(NotImplementedError, match=r"Lazy must define __call__"):
        Lazy()(1)
    with pytest.raises(NotImplementedError, match=r"Lazy must define get_config"):
        Lazy().get_config()

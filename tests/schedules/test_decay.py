"""Powers, quotients, polynomials and pieces: TensorFlow 2.21's numbers and the corners of each
formula.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.schedules import (
    ExponentialDecay,
    InverseTimeDecay,
    PiecewiseConstantDecay,
    PolynomialDecay,
)


def hexes(schedule, steps) -> list[str]:
    return [float(schedule(step)).hex() for step in steps]


def test_exponential_gives_tensorflow_s_bits() -> None:
    assert hexes(ExponentialDecay(0.1, 3, 0.7), [0, 1, 3, 4]) == [
        "0x1.99999a0000000p-4",
        "0x1.6baf7c0000000p-4",
        "0x1.1eb8520000000p-4",
        "0x1.fd28e00000000p-5",
    ]


def test_stairs_change_at_multiples_only() -> None:
    smooth, stairs = ExponentialDecay(0.1, 3, 0.7), ExponentialDecay(0.1, 3, 0.7, staircase=True)
    steps = np.arange(9)
    assert stairs(steps).tolist() == smooth(steps // 3 * 3).tolist()
    stairs = InverseTimeDecay(0.1, 3, 0.7, staircase=True)
    assert stairs(steps).tolist() == InverseTimeDecay(0.1, 3, 0.7)(steps // 3 * 3).tolist()


@pytest.mark.parametrize("kind", [ExponentialDecay, InverseTimeDecay])
def test_both_take_the_same_arguments_and_refuse_the_same(kind: Any) -> None:
    config = {
        "initial_learning_rate": 0.5,
        "decay_steps": 2,
        "decay_rate": 0.25,
        "staircase": True,
        "name": "n",
    }
    assert kind(*config.values()).get_config() == config
    assert repr(kind(0.5, 2, 0.25)).startswith(
        f"{kind.__name__}(initial_learning_rate=0.5, decay_steps=2,"
    )
    with pytest.raises(ValueError, match="decay_steps must be > 0, got 0"):
        kind(0.5, 0, 0.25)
    with pytest.raises(ValueError, match=r"must be a scalar, got shape \(2,\)"):
        kind([0.5, 0.5], 2, 0.25)


def test_inverse_time_gives_tensorflow_s_bits() -> None:
    assert hexes(InverseTimeDecay(0.1, 2.0, 0.5), [0, 1, 2, 4]) == [
        "0x1.99999a0000000p-4",
        "0x1.47ae140000000p-4",
        "0x1.1111120000000p-4",
        "0x1.99999a0000000p-5",
    ]


def test_polynomial_gives_tensorflow_s_bits_and_stays_at_its_end() -> None:
    schedule = PolynomialDecay(0.1, 3, end_learning_rate=0.01, power=2.0)
    assert hexes(schedule, [0, 1, 2, 3, 99]) == [
        "0x1.99999a0000000p-4",
        "0x1.9999980000000p-5",
        "0x1.47ae140000000p-6",
        "0x1.47ae140000000p-7",
        "0x1.47ae140000000p-7",
    ]


def test_a_cycle_starts_again_above_the_end() -> None:
    schedule = PolynomialDecay(0.1, 3, end_learning_rate=0.01, power=0.5, cycle=True)
    values = [0.1, 0.083484687, 0.061961524, 0.01, 0.061961524, 0.046742350, 0.01, 0.052426405]
    assert schedule(np.arange(8)) == pytest.approx(np.float32(values), rel=1e-6)


def test_hyperparameters_pass_through_float32_also_to_float64() -> None:
    wide = ExponentialDecay(np.float64(1.0), 1, 0.1)
    assert wide(1) == np.float64(np.float32(0.1))
    assert ExponentialDecay(np.float64(1.0), 1, np.float64(0.1))(1) == 0.1


def test_a_rate_that_underflows_is_zero_as_on_tensorflow_s_kernels() -> None:
    assert ExponentialDecay(0.1, 1, 0.5)(140) == 0.0
    assert ExponentialDecay(1e10, 1, 0.5)(140) == 0.0


def test_a_boundary_belongs_to_the_piece_before_it() -> None:
    schedule = PiecewiseConstantDecay([1, 3], [1.0, 0.5, 0.1])
    assert schedule(np.arange(6)).tolist() == np.float32([1.0, 1.0, 0.5, 0.5, 0.1, 0.1]).tolist()
    assert schedule(1.5) == 0.5


def test_boundaries_take_the_dtype_of_the_step() -> None:
    schedule = PiecewiseConstantDecay([2049], [1.0, 0.0])
    assert (schedule(2049), schedule(np.float16(2049)), schedule(2050)) == (1.0, 1.0, 0.0)
    assert PiecewiseConstantDecay([1.5], [1.0, 0.0])(1) == 1.0


def test_the_dtype_of_pieces_is_that_of_the_values() -> None:
    assert PiecewiseConstantDecay([1], [2, 1])(0).dtype == np.int32
    assert PiecewiseConstantDecay([1], [1, 0.5])(0).dtype == np.float32
    assert PiecewiseConstantDecay([1], np.array([1.0, 0.5]))(0).dtype == np.float64
    assert PiecewiseConstantDecay([1], [np.float16(1), np.float16(2)])(0).dtype == np.float16
    assert PiecewiseConstantDecay([1], jnp.bfloat16([1, 2]))(0).dtype == jnp.bfloat16


def test_one_value_needs_no_boundary() -> None:
    assert PiecewiseConstantDecay([], [0.25])(7) == 0.25


def test_a_boundary_may_come_twice() -> None:
    assert PiecewiseConstantDecay([2, 2], [1.0, 0.5, 0.25])(np.arange(4)).tolist() == [
        1.0,
        1.0,
        1.0,
        0.25,
    ]


@pytest.mark.parametrize("values", [[1.0, 0.5], [1.0, 0.5, 0.25, 0.1], []])
def test_values_must_be_one_more_than_boundaries(values: list[float]) -> None:
    with pytest.raises(ValueError, match=rf"got {len(values)} values for boundaries of length 2"):
        PiecewiseConstantDecay([1, 3], values)


def test_boundaries_that_decrease_are_refused() -> None:
    with pytest.raises(ValueError, match=r"boundaries must increase, got \[3, 1\]"):
        PiecewiseConstantDecay([3, 1], [1.0, 0.5, 0.1])

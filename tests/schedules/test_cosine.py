"""Half a cosine, with warmup and with restarts: TensorFlow 2.21's numbers and the corners of each
formula.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.errors import KerasWarning
from gradlab.schedules import (
    CosineDecay,
    CosineDecayRestarts,
    LinearCosineDecay,
    PeriodicCosineDecay,
)


def test_half_a_cosine_down_to_alpha() -> None:
    schedule = CosineDecay(0.1, 4, alpha=0.1)
    values = [0.1, 0.08681981, 0.055, 0.023180196, 0.01, 0.01]
    assert schedule(np.arange(6)) == pytest.approx(np.float32(values), rel=1e-6)


def test_a_line_that_a_cosine_bends() -> None:
    schedule = LinearCosineDecay(2.0, 8, num_periods=2, alpha=0.5, beta=0.25)
    x = np.minimum(np.arange(10), 8) / 8
    bent = (0.5 + 1 - x) * (1 + np.cos(4 * np.pi * x)) / 2
    assert schedule(np.arange(10)) == pytest.approx(2 * (bent + 0.25), rel=1e-6)


def test_periods_go_up_again_or_restart_until_they_are_over() -> None:
    steps, p = np.arange(12), 2 * np.minimum(np.arange(12), 10) / 10
    waves, saw = (PeriodicCosineDecay(3.0, 10, 2, restarts) for restarts in (False, True))
    assert waves(steps) == pytest.approx(3 * (1 + np.cos(2 * np.pi * p)) / 2, rel=1e-5, abs=1e-6)
    assert saw(steps) == pytest.approx(3 * (1 + np.cos(np.pi * (p % 1))) / 2, rel=1e-5, abs=1e-6)
    over = PeriodicCosineDecay(3.0, 10, 2, zero_after=1.2)
    assert over(steps).tolist() == np.where(p >= 1.2, 0, waves(steps)).tolist()


def test_warmup_climbs_in_a_line_then_the_cosine_falls_from_the_target() -> None:
    schedule = CosineDecay(0.25, 8, warmup_target=1.0, warmup_steps=3)
    assert schedule(np.arange(4)).tolist() == [0.25, 0.5, 0.75, 1.0]
    assert schedule(np.arange(3, 14)).tolist() == CosineDecay(1.0, 8)(np.arange(11)).tolist()


def test_a_target_without_steps_is_the_top_at_once() -> None:
    assert CosineDecay(0.25, 8, warmup_target=1.0)(0) == 1.0


def test_a_warmup_without_a_target_is_none() -> None:
    assert CosineDecay(0.25, 8, warmup_steps=3)(0) == 0.25


def test_each_restart_is_longer_and_lower() -> None:
    schedule = CosineDecayRestarts(1.0, 2, t_mul=2.0, m_mul=0.5)
    assert schedule(np.array([0, 2, 6, 14])).tolist() == [1.0, 0.5, 0.25, 0.125]
    assert schedule(1) == pytest.approx(0.5, rel=1e-6)
    assert schedule(4) == pytest.approx(0.25, rel=1e-6)


def test_rounding_of_the_first_restart_shows_as_in_tensorflow() -> None:
    schedule = CosineDecayRestarts(0.1, 2, t_mul=2.0, m_mul=0.5, alpha=0.1)
    assert [str(schedule(step)) for step in (1, 2)] == ["0.054999996", "0.055000003"]


def test_equal_periods_repeat() -> None:
    schedule = CosineDecayRestarts(1.0, 4, t_mul=1.0)
    assert schedule(np.arange(4)).tolist() == schedule(np.arange(4) + 8).tolist()


def test_periods_may_shrink() -> None:
    schedule = CosineDecayRestarts(1.0, 8, t_mul=0.5)
    assert schedule(np.array([0, 8, 12])).tolist() == [1.0, 1.0, 1.0]
    assert schedule(np.array([4, 10])) == pytest.approx([0.5, 0.5], rel=1e-6)


@pytest.mark.parametrize("t_mul", [1.0, 1.5, 2.0, 3.0])
def test_jax_restarts_at_the_same_steps(t_mul: float) -> None:
    schedule, steps = CosineDecayRestarts(1.0, 5, t_mul=t_mul), np.arange(400, dtype=np.int32)
    assert np.asarray(schedule(jnp.asarray(steps))) == pytest.approx(
        schedule(steps), abs=2e-5
    )  # 7e-6: ulp of 80 periods


def test_a_warmup_alone_says_what_comes_after_it() -> None:
    with pytest.warns(KerasWarning, match="from step 1500 on, after the warmup, the rate is NaN"):
        schedule = CosineDecay(0.0, 0, warmup_target=10.0, warmup_steps=1500)
    assert [float(schedule(step)) for step in (0, 750)] == [0, 5]
    assert np.isnan([schedule(1500), schedule(jnp.int32(3000))]).all()


@pytest.mark.parametrize("more", [{}, {"warmup_target": 1.0}, {"warmup_steps": 5}])
def test_no_steps_at_all_are_refused(more: Any) -> None:
    with pytest.raises(ValueError, match="decay_steps must be > 0, got 0"):
        CosineDecay(0.5, 0, **more)

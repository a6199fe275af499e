"""Noise that is normal, gets less, and is the same whenever a step is asked for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.schedules import LinearCosineDecay, NoisyLinearCosineDecay
from tests.differences import differs

STEPS = np.arange(4000)


def test_without_noise_it_is_the_linear_cosine() -> None:
    quiet = NoisyLinearCosineDecay(2.0, 8, 0.0, num_periods=2, alpha=0.5, beta=0.25)
    assert (
        quiet(STEPS).tolist()
        == LinearCosineDecay(2.0, 8, num_periods=2, alpha=0.5, beta=0.25)(STEPS).tolist()
    )


def test_noise_is_normal_and_its_variance_falls_with_the_step() -> None:
    def noise(seed: int | None, variance_decay: float) -> np.ndarray:
        # A cosine of 1 and a line of 0.
        kept = dict(initial_variance=4.0, num_periods=0.0, alpha=-1.0, beta=0.0)
        found: np.ndarray = NoisyLinearCosineDecay(
            1.0, 10**9, variance_decay=variance_decay, seed=seed, **kept
        )(STEPS)
        return found / 2

    z = noise(None, 0.0)
    below = [np.mean(z < x) for x in (-1.96, -0.674, 0, 0.674, 1.96)]
    # 0.02: 2.5 deviations of 4000 draws.
    assert below == pytest.approx([0.025, 0.25, 0.5, 0.75, 0.975], abs=0.02)
    assert (
        np.abs([np.corrcoef(z[1:], z[:-1])[0, 1], np.corrcoef(z, noise(7, 0.0))[0, 1]]).max() < 0.05
    )
    # The line falls by 4e-6.
    assert noise(None, 0.5) == pytest.approx(z / (1 + STEPS) ** 0.25, rel=1e-4, abs=1e-5)
    assert z.tolist() == noise(0, 0.0).tolist()


@differs(
    "`NoisyLinearCosineDecay`: its noise",
    tensorflow="drawn again at every call",
    gradlab="a function of seed and step, the same at every call, for NumPy and JAX",
)
@pytest.mark.exhaustive
def test_a_step_has_one_rate() -> None:
    schedule = NoisyLinearCosineDecay(0.1, 1000, num_periods=5, seed=3)
    assert schedule(STEPS).tolist() == [float(schedule(step)) for step in STEPS]
    again = NoisyLinearCosineDecay.from_config(schedule.get_config())
    assert np.asarray(jax.jit(again)(jnp.asarray(STEPS))) == pytest.approx(
        schedule(STEPS), abs=1e-6
    )


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (0.5, TypeError), ("one", TypeError)]
)
def test_what_is_no_seed_is_refused(seed: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        NoisyLinearCosineDecay(0.1, 10, seed=seed)  # type: ignore[arg-type]

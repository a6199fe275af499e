"""Agreement: it finds what true gradients do under noise many times as large, and says where it
can't tell.
"""

import numpy as np
import pytest

import gradlab as gl
from gradlab import Recorder

SIZE = 400


def run(
    turn: float, noise: float, steps: int = 400, every: int = 1, seed: int = 0, factor: float = 1.0
) -> Recorder:
    """True gradients of norm 1 turn by the same angle in each step; those of batches have noise of
    a given norm.
    """
    rng = np.random.default_rng(seed)
    rec = Recorder(steps)
    for step in range(steps):
        true = np.zeros(SIZE)
        true[:2] = np.cos(turn * step), np.sin(turn * step)
        batch = true + noise * rng.normal(size=SIZE) / SIZE**0.5
        other = true + noise * rng.normal(size=SIZE) / SIZE**0.5
        if step % every == 0:
            rec.probe([factor * other])
        rec.record([factor * batch])
    return rec


@pytest.mark.parametrize("every", [1, 3])
def test_without_noise_it_is_the_cosine_itself(every: int) -> None:
    found = run(0.1, 0.0, every=every).agreement()
    np.testing.assert_allclose(found.value, np.cos(0.1 * np.arange(17)), atol=1e-6)


def test_noise_three_times_as_large_as_the_gradient_does_not_bend_it() -> None:
    found = run(0.1, 3.0).agreement()
    true = np.cos(0.1 * np.arange(17))
    assert ((found.low <= true) & (true <= found.high)).sum() >= 15
    assert np.abs(found.value - true).max() < 0.2
    assert found.pairs.tolist() == [400 - lag for lag in range(17)]


@pytest.mark.exhaustive
def test_intervals_hold_the_truth_in_95_of_100_runs() -> None:
    hits = 0
    for seed in range(20):
        found = run(0.1, 3.0, steps=200, seed=seed).agreement()
        hits += sum(found.low[lag] <= np.cos(0.1 * lag) <= found.high[lag] for lag in (1, 4, 8))
    assert hits >= 0.9 * 60


def test_it_is_near_the_full_gradients_of_the_shipped_run() -> None:
    """The products of gradients of all lines gave 0.78, 0.43, 0.16, 0.00 and -0.09 at lags 1 to 5,
    means of 5 seeds.
    """
    mean = np.mean([found.value[1:6] for found in gl.models.reader_run.agreements()], axis=0)
    np.testing.assert_allclose(mean, [0.78, 0.43, 0.16, 0.0, -0.09], atol=0.1)


def test_too_few_probes_cant_tell() -> None:
    found = run(0.1, 3.0, steps=400, every=25).agreement()
    assert np.isnan(found.value).all() and found.in_words(3) == "can't tell from 15 probes"
    wide = run(0.1, 30.0, steps=60).agreement()
    assert wide.in_words(3) == "can't tell from 57 probes", (
        "an interval wider than 1, or no gradient in the noise"
    )


def test_without_probes_it_says_what_to_add() -> None:
    rec = Recorder()
    for _ in range(50):
        rec.record([np.ones(4)], micro_norms=[2.0, 2.0])
    with pytest.raises(
        ValueError, match=r"rec.probe\(grads\) with the gradient of a batch that is not trained on"
    ):
        rec.agreement()


def test_it_can_be_asked_of_a_part_of_the_run() -> None:
    found = gl.models.reader_run.shipped().agreement(200, 328)
    assert (found.first, found.last, found.probes) == (200, 328, 64)
    with pytest.raises(
        ValueError, match="first and last must be steps with 0 <= first < last <= 512"
    ):
        gl.models.reader_run.shipped().agreement(5, 5)


def test_no_lag_beyond_16_is_made_up() -> None:
    found = gl.models.reader_run.shipped().agreement()
    assert not found.is_known(17) and "16 steps after them" in found.in_words(17)

"""The recording of depths and delays is what the code gives, and the stack of runs is the engine,
run by run.
"""

from pathlib import Path

import numpy as np
import pytest

from gradlab.models import curves
from gradlab.models.curves import arrays, best_rate, unpack_times
from gradlab.workers import studies
from gradlab.workers.experiment import Experiment
from gradlab.workers.problems import Digits, Weights
from gradlab.workers.replays import replay
from gradlab.workers.simulated import uniform_delays
from gradlab.workers.studies import (
    EVERY,
    FRESH_SEEDS,
    GOAL,
    RATES,
    STALENESS,
    TUNING_SEEDS,
    UPDATES,
    VARIANTS,
    accuracy_curves,
    chosen_rates,
    is_sweep_decided,
    recorded,
    slowdown,
    sweep,
    updates_to,
)


def engine_curve(variant: int, most: int, seed: int, rate: float, updates: int) -> np.ndarray:
    """The accuracies of one run of the engine in which delays are drawn."""
    chosen = VARIANTS[variant]
    digits = Digits(hidden=chosen.hidden, seed=seed)
    experiment = Experiment(
        digits,
        chosen.optimizer,
        rate,
        workers=updates,
        gradients=updates,
        policy="apply",
        seed=seed,
    )
    accuracies = []

    def watch(step: int, time: int, weights: Weights) -> None:
        if step % EVERY == 0:
            accuracies.append(digits.accuracy(weights))

    replay(experiment, uniform_delays(most)(experiment), watch)
    return np.array(accuracies)


@pytest.mark.parametrize("variant", [1, 3, 4, 5])
def test_a_run_of_a_stack_is_the_run_of_the_engine(variant: int) -> None:
    rate = VARIANTS[variant].rates[6]
    stacked = accuracy_curves(
        VARIANTS[variant], 8, seeds=[0, 3], rates=[rate / 2, rate], updates=100
    )
    # Another processor may round a product otherwise, and a few of the 297 digits follow.
    np.testing.assert_allclose(stacked[1], engine_curve(variant, 8, 3, rate, 100), atol=0.01)


@pytest.mark.parametrize(("variant", "delay"), [(0, 1), (4, 2)])
def test_a_run_gives_what_was_recorded(variant: int, delay: int) -> None:
    rate = chosen_rates()[variant, delay]
    again = accuracy_curves(
        VARIANTS[variant], STALENESS[delay], [FRESH_SEEDS[2]], [rate], updates=300
    )
    np.testing.assert_allclose(again[0], recorded()[variant, delay, 2, :15], atol=0.03)


def test_the_recording_has_every_run() -> None:
    assert recorded().shape == (len(VARIANTS), len(STALENESS), len(FRESH_SEEDS), UPDATES // EVERY)
    assert sweep().shape == (len(VARIANTS), len(STALENESS), RATES, len(TUNING_SEEDS))
    assert not set(TUNING_SEEDS) & set(FRESH_SEEDS)


def test_all_runs_arrive_at_their_own_rates() -> None:
    assert np.isfinite(updates_to(GOAL, recorded())).all()
    assert np.isfinite(slowdown()).all()


def test_a_sweep_ends_once_its_best_rate_is_certain() -> None:
    seeds = len(TUNING_SEEDS)
    runs = np.zeros((RATES * seeds, 10))
    # The fourth rate is above the goal from the fifth point on.
    runs[3 * seeds : 4 * seeds, 4:] = 1.0
    assert not is_sweep_decided(runs[:, :4])
    assert not is_sweep_decided(runs[:, :8])
    assert is_sweep_decided(runs)
    runs[3 * seeds, :] = 0  # one seed never arrives
    assert not is_sweep_decided(runs)


def test_the_chosen_rate_is_the_best_of_the_sweep() -> None:
    swept = unpack_times(arrays("staleness")["sweep"])
    for variant, by_delay, rates in zip(VARIANTS, swept, chosen_rates(), strict=True):
        for times, rate in zip(by_delay, rates, strict=True):
            assert variant.rates[best_rate(times)] == rate


@pytest.mark.exhaustive
def test_a_study_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One network, without delay, and two seeds."""
    shipped = recorded()[0, 0, :2, :10]
    swept = sweep()[0, 0]
    monkeypatch.setattr(curves, "files", lambda package: tmp_path)
    monkeypatch.setattr(studies, "VARIANTS", VARIANTS[:1])
    monkeypatch.setattr(studies, "STALENESS", (0,))
    monkeypatch.setattr(studies, "FRESH_SEEDS", FRESH_SEEDS[:2])
    for reader in (curves.arrays, curves.load):
        reader.cache_clear()
    studies.main()
    again = recorded()[0, 0, :, :10]
    written = sweep()[0, 0]
    for reader in (curves.arrays, curves.load):
        reader.cache_clear()
    np.testing.assert_allclose(again, shipped, atol=0.03)
    assert best_rate(written) == best_rate(swept)


def test_the_rates_of_a_sweep_are_a_factor_of_two_apart() -> None:
    for variant in VARIANTS:
        np.testing.assert_allclose(np.array(variant.rates[1:]) / variant.rates[:-1], 2)

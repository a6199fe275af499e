"""The recording of backup workers is what the code gives, and all rates at once are the engine,
rate by rate.
"""

import numpy as np
import pytest

from gradlab.models.asynchrony import backup_curves, backup_rates, measured_rounds
from gradlab.workers.problems import Weights
from gradlab.workers.replays import replay
from gradlab.workers.simulated import decide, run
from gradlab.workers.spare_workers import (
    DIGITS,
    END,
    EVERY,
    FRESH_SEEDS,
    RATES,
    SPEEDS,
    TUNING_SEEDS,
    WORKERS,
    accuracy_curves,
    experiment,
    round_ends,
    round_length,
)


def engine_curve(aggregate: int, seed: int, rate: float, end: int) -> np.ndarray:
    """The accuracies of one run of the engine at every 200th tick."""
    one = experiment(aggregate, seed, rate, end)
    times, accuracies = [0], [DIGITS.accuracy(one.start())]

    def watch(step: int, time: int, weights: Weights) -> None:
        times.append(time)
        accuracies.append(DIGITS.accuracy(weights))

    replay(one, run(one), watch)
    at = np.arange(EVERY, end + 1, EVERY)
    return np.array(accuracies)[np.searchsorted(times, at, side="right") - 1]


def test_the_recording_has_every_run() -> None:
    assert backup_curves().shape == (WORKERS, len(FRESH_SEEDS), END // EVERY)
    assert not set(FRESH_SEEDS) & set(TUNING_SEEDS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("aggregate", [3, 16])
def test_a_rate_of_a_stack_is_the_run_of_the_engine(aggregate: int) -> None:
    stacked = accuracy_curves(aggregate, seed=1, rates=RATES, end=3000)
    # Another processor may round a product otherwise, and a few of the 297 digits follow.
    np.testing.assert_allclose(stacked[4], engine_curve(aggregate, 1, RATES[4], 3000), atol=0.01)


def test_a_run_gives_what_was_recorded() -> None:
    again = accuracy_curves(12, seed=1, rates=[backup_rates()[11]], end=4000)[0]
    np.testing.assert_allclose(again, backup_curves()[11, 1, : len(again)], atol=0.03)


def test_rounds_are_measured_in_runs() -> None:
    """A round of all 16 begins with all of them; with backup workers a stalled one is still busy."""
    together = np.sort(SPEEDS.ticks(0, WORKERS, 4000), axis=0).mean(axis=1)
    measured = measured_rounds()
    assert measured[15] == pytest.approx(together[15], rel=0.05)
    assert measured[14] > 1.2 * together[14]
    assert measured[13] > 1.12 * together[13]


def test_a_measured_round_gives_what_was_recorded() -> None:
    assert round_length(14, seeds=[0], end=40_000) == pytest.approx(measured_rounds()[13], rel=0.05)


def test_the_last_worker_costs_most() -> None:
    rounds = measured_rounds()
    assert [round(float(rounds[k - 1])) for k in (16, 15, 14)] == [254, 167, 134]
    assert rounds[0] > 0.35 * rounds[15]


def test_a_round_ends_with_its_last_gradient() -> None:
    trace = decide(experiment(4, seed=0, learning_rate=0.1, end=1000))
    ends = round_ends(trace, 1000)
    assert (np.diff(ends) > 0).all()
    assert ends[-1] <= 1000
    accepted = trace.times[trace.moves[:, 0] == 3][trace.accepted]
    np.testing.assert_array_equal(ends, accepted[3::4][: len(ends)])

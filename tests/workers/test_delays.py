"""Delays are those that were asked for, and the run repeats."""

import numpy as np
import pytest

from gradlab.workers import Bowl, Experiment, replay, run
from gradlab.workers.delays import uniform_delays


def experiment(count: int = 400) -> Experiment:
    return Experiment(Bowl(noise=0.1), learning_rate=0.01, workers=count, gradients=count, policy="apply", seed=3)


def test_every_delay_up_to_the_largest_is_about_as_likely() -> None:
    stale = run(experiment(), uniform_delays(3)).true_staleness
    counts = np.bincount(stale[10:], minlength=4)
    assert len(counts) == 4
    assert counts.min() > 70


def test_without_delay_it_is_plain_descent() -> None:
    e = experiment(5)
    w = e.start()["w"]
    for worker in range(5):
        w = w - np.float32(0.01) * e.gradient({"w": w}, worker, 0)["w"]
    np.testing.assert_array_equal(run(e, uniform_delays(0)).weights["w"], w)


def test_the_trace_repeats_bit_for_bit() -> None:
    trace = run(experiment(), uniform_delays(9))
    assert trace.updates == 400
    np.testing.assert_array_equal(replay(trace.experiment, trace)["w"], trace.weights["w"])


def test_it_wants_a_worker_for_each_gradient() -> None:
    with pytest.raises(ValueError, match="workers=7"):
        run(Experiment(Bowl(), workers=2, gradients=7), uniform_delays(1))


@pytest.mark.parametrize("most", [-1, 1.5, None])
def test_it_wants_a_whole_number(most: int) -> None:
    with pytest.raises(ValueError, match="most must be a whole number of at least 0"):
        uniform_delays(most)

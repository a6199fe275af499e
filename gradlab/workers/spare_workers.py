"""A published result, run small: with a few workers more than one waits for, stalls cost little.

`python -m gradlab.workers.spare_workers` runs it again and writes the recording that ships; it takes some minutes.
"""

from __future__ import annotations

import numpy as np

from . import recordings
from .experiment import Experiment
from .problems import Digits, Weights
from .replays import replay
from .simulated import run
from .speeds import Speeds

WORKERS, SEEDS, END, EVERY, GOAL = 16, 5, 40_000, 200, 0.87  # times in ticks
SPEEDS = Speeds(spread=0.1, stall=0.02, stall_factor=6.0)
DIGITS = Digits(batch=1)  # so that there is noise which a mean takes out


def time_to_collect(speeds: Speeds = SPEEDS, workers: int = WORKERS, rounds: int = 2000) -> np.ndarray:
    """Mean ticks until the k fastest of all workers have a gradient, for k = 1, 2, ..., workers.

    >>> time_to_collect(Speeds(spread=0.0), workers=2).tolist()
    [100.0, 100.0]
    """
    mean: np.ndarray = np.sort(speeds.ticks(0, workers, rounds), axis=0).mean(axis=1)
    return mean


def accuracy_curve(aggregate: int, seed: int, end: int = END) -> np.ndarray:
    """Accuracy on held-out digits at every 200th tick, where a round ends with `aggregate` of 16 gradients.

    >>> accuracy_curve(8, seed=0, end=400).shape
    (2,)
    """
    experiment = Experiment(
        DIGITS, learning_rate=0.3, workers=WORKERS, policy="backup", aggregate=aggregate, speeds=SPEEDS, seed=seed,
        gradients=WORKERS * (end // int(time_to_collect()[0]) + 2),
    )  # fmt: skip
    trace, times, right = run(experiment), [0], [DIGITS.accuracy(experiment.start())]

    def watch(step: int, time: int, weights: Weights) -> None:
        if time <= end:
            times.append(time)
            right.append(DIGITS.accuracy(weights))

    replay(experiment, trace, watch)
    at = np.arange(EVERY, end + 1, EVERY)
    return np.array(right)[np.searchsorted(times, at, side="right") - 1]


def time_to(goal: float, curves: np.ndarray) -> np.ndarray:
    """Ticks until a curve (..., points) first reaches the goal in the mean of five points; infinity if it does not.

    >>> time_to(0.5, np.array([[0.1, 0.9, 0.1, 0.6, 0.9, 0.9]])).tolist()
    [1000.0]
    """
    smooth = np.lib.stride_tricks.sliding_window_view(curves, 5, axis=-1).mean(axis=-1)
    there = smooth >= goal
    return np.where(there.any(axis=-1), (there.argmax(axis=-1) + 5.0) * EVERY, np.inf)


def recorded() -> np.ndarray:
    """Accuracy curves (WORKERS, SEEDS, END / EVERY) for k = 1, 2, ..., as they came out when they were recorded."""
    return recordings.load("spare_workers")


def main() -> None:
    """Run everything and write the recording."""
    curves = np.array([[accuracy_curve(k, seed) for seed in range(SEEDS)] for k in range(1, WORKERS + 1)])
    recordings.save("spare_workers", curves)


if __name__ == "__main__":
    main()

"""A published result, run small: with a few workers more than one waits for, stalls cost little.

A round ends with the first k of 16 gradients. A mean of many gradients bears a larger learning rate
than a mean of few, so every k has a rate of its own, as in Chen et al. (2016): of `RATES` the one
that reaches `GOAL` soonest on `TUNING_SEEDS`. The curves are recorded with `FRESH_SEEDS`. No chosen
rate is the first or the last of the sweep.

`python -m gradlab.workers.spare_workers` runs it again and writes the recording that ships; it
takes some minutes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.arrays import quiet
from ..models import curves as shipped
from ..models import datasets
from ..models.asynchrony import BACKUP_END, BACKUP_EVERY, BACKUP_GOAL, BACKUP_RATES, BACKUP_WORKERS
from ..models.curves import best_rate, pack_times, time_to
from .experiment import Experiment
from .ledger import UPDATE
from .problems import Digits
from .simulated import decide
from .speeds import Speeds
from .trace import Trace

WORKERS = BACKUP_WORKERS
RATES = BACKUP_RATES
END = BACKUP_END
EVERY = BACKUP_EVERY
GOAL = BACKUP_GOAL
FRESH_SEEDS = tuple(range(15))
TUNING_SEEDS = tuple(range(15, 30))
# Longer runs, without training, in which the length of a round is measured.
TIMING_SEEDS = tuple(range(5))
TIMING_END = 400_000
SPEEDS = Speeds(spread=0.1, stall=0.02, stall_factor=6.0)
DIGITS = Digits(batch=1)  # so that there is noise which a mean takes out
_TRAINING_IMAGES = 1500
# Ticks; shorter than any round, so that a run has gradients enough to last to its end.
_QUICKEST_ROUND = 60


def experiment(aggregate: int, seed: int, learning_rate: float, end: int = END) -> Experiment:
    """Sixteen workers whose rounds end with the first `aggregate` gradients.

    >>> experiment(15, seed=0, learning_rate=0.8).policy
    'backup'
    """
    return Experiment(
        DIGITS,
        learning_rate=learning_rate,
        workers=WORKERS,
        policy="backup",
        aggregate=aggregate,
        speeds=SPEEDS,
        seed=seed,
        gradients=WORKERS * (end // _QUICKEST_ROUND + 2),
    )


def round_ends(trace: Trace, end: int = END) -> np.ndarray:
    """Return when the rounds of a run ended, in ticks, up to `end`."""
    settled = trace.times[trace.moves[:, 0] == UPDATE]
    ends: np.ndarray = settled[trace.rounds["moved"] > 0]
    return ends[ends <= end]


def round_length(
    aggregate: int, seeds: Sequence[int] = TIMING_SEEDS, end: int = TIMING_END
) -> float:
    """Measure the mean ticks of a round.

    A worker that stalls goes on with its old gradient and misses the rounds that end meanwhile. So
    with backup workers rounds are longer than if all workers began each of them together: with one,
    167 ticks instead of 131.

    >>> round_length(1, seeds=[0], end=4000) < round_length(16, seeds=[0], end=4000)
    True
    """
    ends = [round_ends(decide(experiment(aggregate, seed, 0.1, end)), end) for seed in seeds]
    return float(sum(each[-1] for each in ends) / sum(len(each) for each in ends))


@quiet
def accuracy_curves(
    aggregate: int, seed: int, rates: Sequence[float], end: int = END
) -> np.ndarray:
    """Train at several rates at once; which worker hands in when, and which digit, doesn't depend on the rate.

    A run is the one that the engine makes of `experiment`, up to rounding.

    Returns:
        (rates, end / 200) accuracy on held-out digits at every 200th tick.

    >>> accuracy_curves(8, seed=0, rates=[0.1, 0.3], end=400).shape
    (2, 2)
    """
    run = experiment(aggregate, seed, learning_rate=rates[0], end=end)
    trace = decide(run)
    ends = round_ends(trace, end)
    images, labels = datasets.digits()
    learning_rate = np.array(rates, np.float32)[:, None, None]
    start = run.start()
    weights = np.repeat(start["w0"][None], len(rates), axis=0)
    bias = np.repeat(start["b0"][None, None], len(rates), axis=0)
    held_out = images[_TRAINING_IMAGES:]
    accuracies = [_accuracy(weights, bias, held_out, labels[_TRAINING_IMAGES:])]
    for digits in _digits_of_rounds(run, trace)[: len(ends)]:
        x = images[digits]
        # The gradient of the mean cross-entropy by the logits: softmax less the one-hot label, over
        # the batch.
        logits = x @ weights + bias
        error = np.exp(logits - logits.max(axis=-1, keepdims=True))
        error /= error.sum(axis=-1, keepdims=True)
        error[:, np.arange(len(digits)), labels[digits]] -= 1
        error /= np.float32(len(digits))
        weights = weights - learning_rate * (x.T @ error)
        bias = bias - learning_rate * error.sum(axis=1, keepdims=True)
        accuracies.append(_accuracy(weights, bias, held_out, labels[_TRAINING_IMAGES:]))
    at = np.arange(EVERY, end + 1, EVERY)
    after = np.searchsorted(ends, at, side="right")  # rounds that have ended by then
    return np.array(accuracies)[after].T


def _digits_of_rounds(run: Experiment, trace: Trace) -> list[list[int]]:
    """Return which digits the accepted gradients of each round are of."""
    number = np.zeros(WORKERS, int)
    rounds: list[list[int]] = []
    digits: list[int] = []
    moved = trace.rounds["moved"] > 0
    for worker, accepted, ends_round in zip(
        trace.rounds["worker"], trace.accepted, moved, strict=True
    ):
        if accepted:
            drawn = run.rng(int(worker), int(number[worker])).integers(
                _TRAINING_IMAGES, size=DIGITS.batch
            )
            digits.append(int(drawn[0]))
        number[worker] += 1
        if ends_round:
            rounds.append(digits)
            digits = []
    return rounds


def _accuracy(
    weights: np.ndarray, bias: np.ndarray, images: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    accuracy: np.ndarray = ((images @ weights + bias).argmax(axis=-1) == labels).mean(axis=-1)
    return accuracy


def ticks_to(goal: float, curves: np.ndarray) -> np.ndarray:
    """Ticks until the mean of five points of a curve (..., points) reaches the goal; infinity if it does not."""
    return time_to(goal, curves, EVERY)


def main() -> None:
    """Sweep the rates, run each k at its own on fresh seeds, and write the recording."""
    sweep = np.zeros((WORKERS, len(RATES), len(TUNING_SEEDS)))
    curves = np.zeros((WORKERS, len(FRESH_SEEDS), END // EVERY))
    for k in range(1, WORKERS + 1):
        tuning = np.array([accuracy_curves(k, seed, RATES) for seed in TUNING_SEEDS])
        sweep[k - 1] = ticks_to(GOAL, tuning).T
        rate = RATES[best_rate(sweep[k - 1])]
        curves[k - 1] = [accuracy_curves(k, seed, [rate])[0] for seed in FRESH_SEEDS]
        print(k, rate, ticks_to(GOAL, curves[k - 1]).tolist(), flush=True)
    lengths = np.array([round_length(k) for k in range(1, WORKERS + 1)], np.float32)
    shipped.save("spare_workers", curves, sweep=pack_times(sweep), round=lengths)


if __name__ == "__main__":
    main()

"""Staleness and depth: networks of several depths, and several optimizers, trained with random delays.

The size of a step that a training bears falls with the delay, and differently for each network and
method. So every network is trained at a learning rate of its own for every delay: of the `rates` of
its variant, a factor of 2 apart, the one that reaches the goal soonest on the seeds `TUNING_SEEDS`.
The curves are then recorded with the other seeds `FRESH_SEEDS`. Both ship: `sweep` and `recorded`.
No chosen rate is the first or the last of its sweep.

`python -m gradlab.workers.studies` trains everything again and writes the recording; it takes some
minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import rules
from .._base.arrays import Array, quiet
from ..models import curves as shipped
from ..models import datasets
from ..models.asynchrony import DELAY_EVERY, DELAY_GOAL, DELAYS
from ..models.curves import POINTS, best_rate, pack_times, time_to, unpack_times
from .experiment import Experiment
from .problems import Digits

STALENESS = DELAYS  # the largest delay, in updates
TUNING_SEEDS = tuple(range(10, 15))
FRESH_SEEDS = tuple(range(10))
UPDATES = 3000
EVERY = DELAY_EVERY  # updates between two points of a curve
GOAL = DELAY_GOAL
RATES = 11  # of a sweep, each twice the one before
_TRAINING_IMAGES = 1500
_DESCENT = rules.StochasticGradientDescent()


@dataclass(frozen=True)
class Variant:
    """One model with one optimizer.

    Attributes:
        group: what varies: "depth" or "optimizer".
        hidden: the widths of its hidden layers.
        highest_rate: of its sweep.
    """

    group: str
    label: str
    hidden: tuple[int, ...]
    optimizer: rules.Rule
    highest_rate: float

    @property
    def rates(self) -> tuple[float, ...]:
        """The learning rates of the sweep, lowest first."""
        return tuple(self.highest_rate / 2**k for k in reversed(range(RATES)))


VARIANTS = (
    Variant("depth", "1 hidden layer", (32,), _DESCENT, 3.2),
    Variant("depth", "2 hidden layers", (32, 32), _DESCENT, 3.2),
    Variant("depth", "4 hidden layers", (32,) * 4, _DESCENT, 3.2),
    Variant("depth", "6 hidden layers", (32,) * 6, _DESCENT, 3.2),
    Variant("optimizer", "Momentum 0.9", (32, 32), rules.Momentum(0.9), 0.32),
    Variant("optimizer", "Adam", (32, 32), rules.Adam(), 0.064),
)


@quiet
def accuracy_curves(
    variant: Variant,
    most: int,
    seeds: Sequence[int],
    rates: Sequence[float],
    updates: int = UPDATES,
    is_decided: Callable[[np.ndarray], bool] | None = None,
) -> np.ndarray:
    """Train one network for each pair of seed and rate, all in one stack of arrays.

    A run is the one that `Experiment` with the engine `uniform_delays(most)` makes, up to rounding.

    Args:
        most: delays are drawn from 0 to `most` updates.
        seeds, rates: (runs,) each.
        is_decided: of the curves so far, (runs, points); training ends early once it returns True.

    Returns:
        (runs, updates / 20) accuracy on held-out digits after every 20th update, of fewer updates
        if it ended early.

    >>> accuracy_curves(VARIANTS[0], most=8, seeds=[0, 1], rates=[0.1, 0.1], updates=40).shape
    (2, 2)
    """
    runs = np.arange(len(seeds))
    distinct = {seed: _schedule(seed, most, updates) for seed in set(seeds)}
    batches = np.stack([distinct[seed][0] for seed in seeds], axis=1)  # (updates, runs, 32)
    delays = np.stack([distinct[seed][1] for seed in seeds], axis=1)  # (updates, runs)
    learning_rate = np.array(rates, np.float32)[:, None, None]
    weights = _start(variant, seeds)
    slots = [variant.optimizer.init(w) for w in weights]
    shared = variant.optimizer.start()
    # Version n is at n modulo most + 1.
    versions = [np.repeat(w[None], most + 1, axis=0) for w in weights]
    images, labels = datasets.digits()
    curves = []
    for n in range(updates):
        at = (n - delays[n]) % (most + 1)
        stale = [version[at, runs] for version in versions]
        gradients = _gradients(stale, images[batches[n]], labels[batches[n]])
        rule = variant.optimizer.at(shared)
        for k, gradient in enumerate(gradients):
            weights[k], slots[k] = rule(weights[k], slots[k], gradient, learning_rate)
            versions[k][(n + 1) % (most + 1)] = weights[k]
        shared = variant.optimizer.advance(shared)
        if (n + 1) % EVERY == 0:
            logits = _layers(weights, images[_TRAINING_IMAGES:])[-1]
            curves.append((logits.argmax(axis=-1) == labels[_TRAINING_IMAGES:]).mean(axis=-1))
            if is_decided is not None and is_decided(np.stack(curves, axis=1)):
                break
    return np.stack(curves, axis=1)


def _schedule(seed: int, most: int, updates: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the batches (updates, 32) and delays (updates,) of a seed, those of `uniform_delays`."""
    experiment = Experiment(Digits(), workers=updates, gradients=updates, policy="apply", seed=seed)
    size = experiment.problem.batch  # type: ignore[attr-defined]
    batches = [experiment.rng(n, 0).integers(_TRAINING_IMAGES, size=size) for n in range(updates)]
    drawn = np.random.default_rng([seed, most]).integers(0, most + 1, updates)
    return np.array(batches), np.minimum(drawn, np.arange(updates))


def _start(variant: Variant, seeds: Sequence[int]) -> list[Array]:
    """Return w0, b0, w1, ... of all runs: matrices (runs, rows, columns), biases (runs, 1,
    columns).
    """
    starts = [Digits(hidden=variant.hidden, seed=seed).start() for seed in seeds]
    stacked: list[Array] = []
    for name in starts[0]:
        arrays = np.stack([start[name] for start in starts])
        stacked.append(arrays if arrays.ndim == 3 else arrays[:, None, :])
    return stacked


def _layers(weights: Sequence[Array], x: Array) -> list[Array]:
    """Return the input, every hidden layer, and the logits, each (runs, images, units)."""
    layers = [x]
    for k in range(0, len(weights), 2):
        z = layers[-1] @ weights[k] + weights[k + 1]
        layers.append(z if k == len(weights) - 2 else np.maximum(z, 0))
    return layers


def _gradients(weights: Sequence[Array], x: Array, labels: np.ndarray) -> list[Array]:
    """Return the gradients of the mean cross-entropy of each run's batch, in the order of the
    weights.
    """
    layers = _layers(weights, x)
    # By the logits it is softmax less the one-hot label, over the batch; then back through the
    # layers.
    error = np.exp(layers[-1] - layers[-1].max(axis=-1, keepdims=True))
    error /= error.sum(axis=-1, keepdims=True)
    run, image = np.indices(labels.shape)
    error[run, image, labels] -= 1
    error /= np.float32(labels.shape[1])
    gradients: list[Array] = []
    for k in reversed(range(len(weights) // 2)):
        gradients[:0] = [layers[k].transpose(0, 2, 1) @ error, error.sum(axis=1, keepdims=True)]
        if k > 0:
            error = error @ weights[2 * k].transpose(0, 2, 1) * (layers[k] > 0)
    return gradients


def updates_to(goal: float, curves: np.ndarray) -> np.ndarray:
    """Updates until the mean of five points of an accuracy curve (..., points) reaches the goal; else infinity."""
    return time_to(goal, curves, EVERY)


def sweep_rates(variant: Variant, most: int) -> np.ndarray:
    """Return the updates to the goal (RATES, TUNING_SEEDS), infinite where the sweep was decided before that."""
    rates = [rate for rate in variant.rates for _ in TUNING_SEEDS]
    tuning = accuracy_curves(
        variant, most, TUNING_SEEDS * RATES, rates, is_decided=is_sweep_decided
    )
    return updates_to(GOAL, tuning).reshape(RATES, -1)


def is_sweep_decided(curves: np.ndarray) -> bool:
    """Whether the best rate of a sweep is certain, whatever the runs that haven't reached the goal do later.

    Args:
        curves: (RATES * TUNING_SEEDS, points).
    """
    if curves.shape[1] < POINTS:
        return False
    now = curves.shape[1] * EVERY
    needed = updates_to(GOAL, curves).reshape(RATES, -1)
    at_least = np.where(np.isfinite(needed), needed, now + EVERY).mean(axis=1)
    best = best_rate(needed)
    return bool(np.isfinite(needed[best]).all() and at_least[best] == at_least.min())


def sweep() -> np.ndarray:
    """Updates to the goal (variants, STALENESS, RATES, TUNING_SEEDS) by which the rates were chosen.

    Infinite where the sweep was decided before the run arrived.
    """
    return unpack_times(shipped.arrays("staleness")["sweep"])


def chosen_rates() -> np.ndarray:
    """The learning rate of each variant at each delay: (variants, STALENESS)."""
    return np.array(
        [
            [variant.rates[best_rate(needed)] for needed in by_delay]
            for variant, by_delay in zip(VARIANTS, sweep(), strict=True)
        ]
    )


def recorded() -> np.ndarray:
    """Accuracy curves (variants, STALENESS, FRESH_SEEDS, UPDATES / EVERY) at the chosen rates."""
    return shipped.load("staleness")


def slowdown() -> np.ndarray:
    """How many times as many updates the goal takes as without delay: (variants, STALENESS, FRESH_SEEDS)."""
    needed = updates_to(GOAL, recorded())
    times: np.ndarray = needed / needed[:, :1]
    return times


def main() -> None:
    """Sweep the rates, train with the chosen ones, and write the recording."""
    swept = np.zeros((len(VARIANTS), len(STALENESS), RATES, len(TUNING_SEEDS)))
    curves = np.zeros((len(VARIANTS), len(STALENESS), len(FRESH_SEEDS), UPDATES // EVERY))
    for v, variant in enumerate(VARIANTS):
        for d, most in enumerate(STALENESS):
            swept[v, d] = sweep_rates(variant, most)
            best = variant.rates[best_rate(swept[v, d])]
            curves[v, d] = accuracy_curves(variant, most, FRESH_SEEDS, [best] * len(FRESH_SEEDS))
            print(variant.label, most, best, updates_to(GOAL, curves[v, d]).tolist(), flush=True)
    shipped.save("staleness", curves, sweep=pack_times(swept))


if __name__ == "__main__":
    main()

"""A published result, run small: staleness slows deeper models and methods with momentum more.

`python -m gradlab.workers.studies` runs it again and writes the recording that ships; it takes some minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import rules
from . import recordings
from .experiment import Experiment
from .problems import Digits, Weights
from .replays import replay
from .simulated import uniform_delays

STALENESS = (0, 8, 16, 24, 32)  # the largest delay, in updates
SEEDS, UPDATES, EVERY, GOAL = 5, 3000, 20, 0.9
_DESCENT = rules.StochasticGradientDescent()


@dataclass(frozen=True)
class Variant:
    """One model with one optimizer."""

    group: str  # what varies: "depth" or "optimizer"
    label: str
    hidden: tuple[int, ...]
    optimizer: rules.Rule
    learning_rate: float


# The rates of the optimizers are such that all learn about equally fast without staleness; Momentum's is descent's
# times 1 - momentum, so that both go as far in the long run.
VARIANTS = (
    *(Variant("depth", f"{n} hidden layer{'s' * (n > 1)}", (32,) * n, _DESCENT, 0.1) for n in (1, 2, 4, 6)),
    Variant("optimizer", "gradient descent", (32, 32), _DESCENT, 0.05),
    Variant("optimizer", "Momentum 0.9", (32, 32), rules.Momentum(0.9), 0.005),
    Variant("optimizer", "Momentum 0.95", (32, 32), rules.Momentum(0.95), 0.0025),
    Variant("optimizer", "Adam", (32, 32), rules.Adam(), 0.001),
)


def accuracy_curve(variant: Variant, most: int, seed: int, updates: int = UPDATES) -> np.ndarray:
    """Accuracy on held-out digits after every 20th update, with delays drawn from 0 to `most` updates.

    >>> accuracy_curve(VARIANTS[0], most=8, seed=0, updates=40).shape
    (2,)
    """
    digits, v = Digits(hidden=variant.hidden, seed=seed), variant
    experiment = Experiment(
        digits, v.optimizer, v.learning_rate, workers=updates, gradients=updates, policy="apply", seed=seed
    )
    found: list[float] = []

    def watch(step: int, time: int, weights: Weights) -> None:
        if step % EVERY == 0:
            found.append(digits.accuracy(weights))

    replay(experiment, uniform_delays(most)(experiment), watch)
    return np.array(found)


def updates_to(goal: float, curves: np.ndarray) -> np.ndarray:
    """Updates until an accuracy curve (..., points) first reaches the goal; infinity if it does not.

    >>> updates_to(0.9, np.array([[0.5, 0.91, 0.8], [0.1, 0.2, 0.3]])).tolist()
    [40.0, inf]
    """
    there = curves >= goal
    return np.where(there.any(axis=-1), (there.argmax(axis=-1) + 1.0) * EVERY, np.inf)


def recorded() -> np.ndarray:
    """Accuracy curves (variants, STALENESS, SEEDS, UPDATES / EVERY), as they came out when they were recorded."""
    return recordings.load("staleness")


def main() -> None:
    """Run everything and write the recording."""
    curves = np.array(
        [[[accuracy_curve(v, most, seed) for seed in range(SEEDS)] for most in STALENESS] for v in VARIANTS]
    )
    recordings.save("staleness", curves)


if __name__ == "__main__":
    main()

"""Losses of two weights to see Adagrad walk on: a bowl, and a real logistic regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from .clip import clip_by_norm
from .datasets import breast_cancer
from .rules import Rule


@dataclass(frozen=True)
class Surface:
    """A loss of two weights, in float64.

    Args:
        loss: weights (..., 2) to losses (...).
        gradient: weights (..., 2) to gradients (..., 2).
        bottom: the weights at which the loss is least.
    """

    loss: Callable[[np.ndarray], np.ndarray]
    gradient: Callable[[np.ndarray], np.ndarray]
    bottom: tuple[float, float]

    def above(self, w: np.ndarray) -> np.ndarray:
        """How far the loss of weights (..., 2) is above the least one: (...)."""
        return np.maximum(self.loss(np.asarray(w, np.float64)) - self.loss(np.array(self.bottom)), 0)


@lru_cache(64)
def bowl(condition: float = 30.0) -> Surface:
    """A bowl that is `condition` times as steep along the second weight as along the first.

        loss = (w1 ** 2 + condition * w2 ** 2) / 2

    >>> bowl(10.0).gradient(np.array([1.0, 1.0])).tolist()
    [1.0, 10.0]
    """
    steepness = np.array([1.0, condition])
    return Surface(lambda w: (steepness * w * w).sum(axis=-1) / 2, lambda w: steepness * w, (0.0, 0.0))


@lru_cache(64)
def logistic_regression(condition: float = 30.0) -> Surface:
    """Tell malignant tumours from benign ones by the radius and the texture of their nuclei.

        loss = mean(log(1 + exp(-side * (features @ w)))),  side = 1 if malignant else -1

    Both features are standardised; then the second is written in a unit sqrt(condition) times as small, which makes the
    loss `condition` times as steep along its weight and changes nothing else. There is no bias.

    >>> np.round(logistic_regression(1.0).bottom, 2).tolist()
    [3.96, 0.89]
    """
    unit = np.array([1.0, condition**0.5])
    features, side = _standardised()
    signed = side[:, None] * features * unit

    def gradient(w: np.ndarray) -> np.ndarray:
        wrong = 1 / (1 + np.exp(np.minimum(w @ signed.T, 700)))  # the probability of the other class
        return -wrong @ signed / len(signed)

    def loss(w: np.ndarray) -> np.ndarray:
        margins = w @ signed.T
        return (np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0)).mean(axis=-1)

    first, second = (_best() / unit).tolist()
    return Surface(loss, gradient, (first, second))


@cache
def _standardised() -> tuple[np.ndarray, np.ndarray]:
    """Radius and texture (569, 2) with mean 0 and variance 1, and 1 for malignant, -1 for benign."""
    features, malignant, names = breast_cancer()
    chosen = features[:, [names.index("radius"), names.index("texture")]].astype(np.float64)
    return (chosen - chosen.mean(axis=0)) / chosen.std(axis=0), np.where(malignant, 1.0, -1.0)


@cache
def _best() -> np.ndarray:
    """The weights of the standardised features at which the loss is least, by Newton's method."""
    features, side = _standardised()
    w = np.zeros(2)
    for _ in range(12):
        wrong = 1 / (1 + np.exp(side * (features @ w)))
        curvature = (features.T * (wrong * (1 - wrong))) @ features
        w += np.linalg.solve(curvature, (side * wrong) @ features)
    return w


def walk(
    surface: Surface, rule: Rule, start: tuple[float, float], rates: np.ndarray, clip: float | None = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Follow a rule down a surface in float32, one step for each learning rate.

        g = gradient(w), clipped to norm `clip` if one is given;  w, slots = rule(w, slots, g, rate)

    Returns: (weights, slots): (steps + 1, 2), and the same for each slot; NaN after what is no longer finite.

    >>> from .rules import StochasticGradientDescent
    >>> walk(bowl(2.0), StochasticGradientDescent(), (4.0, 1.0), np.full(2, 0.5))[0].tolist()
    [[4.0, 1.0], [2.0, 0.0], [1.0, 0.0]]
    """
    w = np.array(start, np.float32)
    slots = rule.init(w)
    path = np.full((len(rates) + 1, 1 + len(slots), 2), np.nan, np.float32)
    path[0] = w, *slots
    for step, rate in enumerate(rates.astype(np.float32), start=1):
        with np.errstate(over="ignore"):
            g = surface.gradient(w.astype(np.float64)).astype(np.float32)
        if not np.isfinite(g).all():
            break
        g = g if clip is None else clip_by_norm(g, clip)
        w, slots = rule(w, slots, g, rate)
        path[step] = w, *slots
    weights, *kept = np.moveaxis(path, 1, 0)
    return weights, kept

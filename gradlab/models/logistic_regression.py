"""A real loss of two weights: logistic regression of breast tumors by two of their features."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from .._base.types import Array
from .datasets import breast_cancer
from .surfaces import Surface


@lru_cache(64)
def logistic_regression(condition: float = 30.0) -> Surface:
    """Tell malignant tumors from benign ones by the radius and the texture of their nuclei.

        loss = mean(log(1 + exp(-side * (features @ w)))),  side = 1 if malignant else -1

    Both features are standardized; then the second is written in a unit sqrt(condition) times as
    small. That multiplies the slope along its weight by sqrt(condition) and the curvature by
    `condition`, and changes nothing else. There is no bias.

    >>> np.round(logistic_regression(1.0).minima, 2).tolist()
    [[3.96, 0.89]]
    """
    unit = np.array([1.0, condition**0.5])
    features, side = _standardized()
    signed = side[:, None] * features * unit

    def gradient(w: Array) -> Array:
        # The probability of the other class.
        wrong = 1 / (1 + np.exp(np.minimum(w @ signed.T, 700)))
        mean: np.ndarray = -wrong @ signed / len(signed)
        return mean.astype(w.dtype)

    def loss(w: Array) -> Array:
        margins = w @ signed.T
        mean: np.ndarray = (np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0)).mean(
            axis=-1
        )
        return mean.astype(w.dtype)

    best = _best() / unit
    first, second = best.tolist()
    return Surface(loss, gradient, ((first, second),), float(loss(best)))


@cache
def _standardized() -> tuple[np.ndarray, np.ndarray]:
    """Radius and texture (569, 2) with mean 0 and variance 1, and 1 for malignant, -1 for benign."""
    features, malignant, names = breast_cancer()
    chosen = features[:, [names.index("radius"), names.index("texture")]].astype(np.float64)
    return (chosen - chosen.mean(axis=0)) / chosen.std(axis=0), np.where(malignant, 1.0, -1.0)


@cache
def _best() -> np.ndarray:
    """The weights of the standardized features at which the loss is least, by Newton's method."""
    features, side = _standardized()
    w = np.zeros(2)
    for _ in range(12):
        wrong = 1 / (1 + np.exp(side * (features @ w)))
        curvature = (features.T * (wrong * (1 - wrong))) @ features
        w += np.linalg.solve(curvature, (side * wrong) @ features)
    return w

"""Stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array
from .rule import Rule, Slots


@dataclass(frozen=True)
class StochasticGradientDescent(Rule):
    """Step against the gradient.

        w = w - g * lr

    Shapes: w, g (...). No slots. Source: Robbins & Monro, "A Stochastic Approximation Method"
    (1951); `ApplyGradientDescent`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> w, g = np.array([1.0, 2.0]), np.array([4.0, -4.0])
    >>> StochasticGradientDescent()(w, (), g, 0.25)[0].tolist()
    [0.0, 3.0]
    """

    adds: ClassVar[bool] = True
    table_message: ClassVar[str] = "stochastic_gradient_descent"

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        return w - g * lr, slots

"""Gradient descent with L1 and L2 penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._base.arrays import Array
from .._base.options import check_choice
from ._proximal import shrink
from .rule import Rule, Slots


@dataclass(frozen=True)
class ProximalGradientDescent(Rule):
    """Step against the gradient, then shrink toward 0 as the penalties ask.

        p = w - g * lr
        w = sign(p) * max(|p| - lr * l1, 0) / (1 + lr * l2)

    l1 and l2 are `l1_regularization_strength` and `l2_regularization_strength`. With the order
    "scalar" the division is in double precision (not under JAX), as in TensorFlow's kernel for
    slices of one element; the last bits differ.

    Shapes: w, g (...). No slots. Raises ValueError for an order that is neither.

    Source: Duchi & Singer, "Efficient Learning using Forward-Backward Splitting" (2009);
    `ApplyProximalGradientDescent`, TensorFlow 2.21 (2026), which has a branch for l1 = 0 with the
    same result.

    >>> import numpy as np
    >>> rule = ProximalGradientDescent(
    ...     l1_regularization_strength=1.0, l2_regularization_strength=2.0
    ... )
    >>> rule(np.array([4.0, 0.25]), (), np.array([1.0, 0.0]), 0.5)[0].tolist()
    [1.5, 0.0]
    """

    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    order: Literal["dense", "scalar"] = "dense"

    def __post_init__(self) -> None:
        check_choice("order", self.order, ("dense", "scalar"))

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        l1 = lr * self.l1_regularization_strength
        l2 = lr * self.l2_regularization_strength
        return shrink(w - g * lr, l1, l2, self.order), slots

"""Momentum as Keras keeps it: the slot holds the step, learning rate included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array
from .rule import Rule, Slots


@dataclass(frozen=True)
class KerasMomentum(Rule):
    """Step by the last step times `momentum`, plus a step against the gradient.

        m = m * momentum - g * lr
        w = w + m                              plain
        w = w + (m * momentum - g * lr)        nesterov

    With a constant learning rate the weights are those of `Momentum`; when the rate changes,
    Keras's old steps keep the rate they were made with, TensorFlow 1's take the new one.

    Shapes: w, g, m (...). Slot: momentum, from 0. Source: Sutskever et al., "On the importance of
    initialization and momentum in deep learning" (2013); `ResourceApplyKerasMomentum`, TensorFlow
    2.21 (2026).

    >>> import numpy as np
    >>> rule, w = KerasMomentum(0.5), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([1.0]), 0.25)
    >>> w, slots = rule(w, slots, np.array([1.0]), 0.25)
    >>> w.tolist(), slots[0].tolist()
    ([0.375], [-0.375])
    """

    momentum: float = 0.9
    nesterov: bool = False
    slots: ClassVar[dict[str, float | str]] = {"momentum": 0.0}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        m = slots[0] * self.momentum - g * lr
        if self.nesterov:
            return w + (m * self.momentum - g * lr), (m,)
        return w + m, (m,)

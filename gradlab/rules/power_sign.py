"""PowerSign: steps that grow by a power where the gradient still points where it used to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .rule import Rule, Slots


@dataclass(frozen=True)
class PowerSign(Rule):
    """Multiply the step where gradient and mean gradient agree in sign, divide it elsewhere.

        m = m * beta + g * (1 - beta)
        w = w - (lr * exp(logbase * sign_decay * (sign(g) * sign(m)))) * g

    Shapes: w, g, m (...). Slot: m, from 0. TensorFlow's exp may differ in the last bit.

    Source: Bello et al., "Neural Optimizer Search with Reinforcement Learning" (2017);
    `ApplyPowerSign`, TensorFlow 2.21 (2026).

    >>> import math, numpy as np
    >>> rule, w = PowerSign(logbase=math.log(2.0), beta=0.5), np.array([1.0, 1.0])
    >>> rule(w, (np.array([1.0, -8.0]),), np.array([1.0, 1.0]), 0.25)[0].tolist()
    [0.5, 0.875]
    """

    logbase: float = 1.0
    sign_decay: float = 1.0
    beta: float = 0.9
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        xp = namespace(w)
        m = decaying_mean(slots[0], g, self.beta, "sparse")
        scale = xp.exp(self.logbase * self.sign_decay * (xp.sign(g) * xp.sign(m)))
        return w - (lr * scale) * g, (m,)

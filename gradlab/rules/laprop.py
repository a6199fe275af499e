"""LaProp: gradients are scaled first, then averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .rule import Rule, Shared, Slots, float32


@dataclass(frozen=True)
class LaProp(Rule):
    """Scale the gradient by the root of its mean square, then step along a decaying sum of these.

        decay = (beta2 - beta2_power) / (1 - beta2_power)
        nu = nu * decay + (g * g + epsilon) * (1 - decay)
        mu = mu * beta1 + sqrt(1 - beta1 * beta1) * (g / sqrt(nu))
        w = w - lr * mu

    `beta2_power` is beta2 ** t at step t, counted from 1. So `decay` is 0 at the first step, whose
    mean is g * g itself, and tends to beta2. With a `beta2_power` of 0 it is beta2 from the start.

    Shapes: w, g, mu, nu (...). Slots: mu and nu, from `initial_slot_value`. Where nu is 0 the
    scaled gradient is 0: in float16 an epsilon of 1e-30 is 0. Source: Ziyin, Wang & Ueda, "LaProp:
    Separating Momentum and Adaptivity in Adam" (2020), in the form of the JAX SparseCore library
    (2025).

    >>> import numpy as np
    >>> rule, w = LaProp(beta1=0.6, beta2=0.5), np.array([1.0])
    >>> w, (mu, nu) = rule.at(rule.start())(w, rule.init(w), np.array([4.0]), 0.5)
    >>> w.tolist(), mu.tolist(), nu.tolist()
    ([0.6], [0.8], [16.0])
    """

    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-30
    beta2_power: float = 0.0
    initial_slot_value: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {
        "mu": "initial_slot_value",
        "nu": "initial_slot_value",
    }

    def start(self) -> Shared:
        return {"beta2_power": float32(self.beta2)}

    def advance(self, shared: Shared) -> Shared:
        return {"beta2_power": shared["beta2_power"] * float32(self.beta2)}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        mu, nu = slots
        xp = namespace(w)
        one = w.dtype.type(1)
        decay = (self.beta2 - self.beta2_power) / (one - self.beta2_power)
        nu = decaying_mean(nu, g * g + self.epsilon, decay, "sparse")
        scaled = xp.where(nu == 0, g, g / xp.sqrt(nu))
        mu = mu * self.beta1 + xp.sqrt(one - self.beta1 * self.beta1) * scaled
        return w - lr * mu, (mu, nu)

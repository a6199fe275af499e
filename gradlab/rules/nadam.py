"""Nadam: Adam that looks ahead by a momentum that grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .._base.sums import ORDERS, Order, decaying_mean
from .rule import Shared, SizedRule, Slots, float32


@dataclass(frozen=True)
class Nadam(SizedRule):
    """Step along Nesterov's mean gradient over the root of the mean square.

        mu(t) = beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay))
        product = mu(1) * ... * mu(t)
        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)         order="dense"
        m = m * beta1 + g * (1 - beta1);  v = v * beta2 + g * g * (1 - beta2)     "sparse"
        ahead = mu(t + 1) * m / (1 - product * mu(t + 1)) + (1 - mu(t)) * g / (1 - product)
        w = w - (ahead * lr) / (sqrt(v / (1 - beta2 ** t)) + epsilon)

    where t is the number of the step, from 1. Four fields change from step to step: `decay_power`
    is 0.96 ** (t * momentum_decay), `next_decay_power` that of step t + 1, `mu_product` is product,
    and `beta2_power` is beta2 ** t. With all of them 0 mu is beta1, and nothing is corrected.

    Shapes: w, g, m, v (...). Slots: m and v, from 0. Raises ValueError for an order that is
    neither.

    Differs from the paper: "product" and "mu" are those of its published code, as in Keras and
    PyTorch. Source: Dozat, "Incorporating Nesterov Momentum into Adam" (2016);
    `tf.keras.optimizers.Nadam`, Keras 3.15 (2026), where momentum_decay is 1.

    >>> import numpy as np
    >>> rule, w = Nadam(beta1=0.5, beta2=0.75, epsilon=0.0), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0]), 0.25)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([0.625], [2.0], [4.0])
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-7
    momentum_decay: float = 0.004
    order: Order = "dense"
    decay_power: float = 0.0
    next_decay_power: float = 0.0
    mu_product: float = 0.0
    beta2_power: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0, "v": 0.0}

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)

    def start(self) -> Shared:
        decay = self._decay()
        return {
            "decay_power": decay,
            "next_decay_power": decay * decay,
            "mu_product": self._momentum(float32(self.beta1), decay),
            "beta2_power": float32(self.beta2),
        }

    def advance(self, shared: Shared) -> Shared:
        power = shared["next_decay_power"]
        return {
            "decay_power": power,
            "next_decay_power": power * self._decay(),
            "mu_product": shared["mu_product"] * self._momentum(float32(self.beta1), power),
            "beta2_power": shared["beta2_power"] * float32(self.beta2),
        }

    def _decay(self) -> Any:
        return float32(0.96**self.momentum_decay)

    def _momentum(self, beta1: Any, decay_power: Any) -> Any:
        """Return mu of the step that has this `decay_power`, in the dtype of beta1."""
        return beta1 * (beta1.dtype.type(1) - beta1.dtype.type(0.5) * decay_power)

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        one = w.dtype.type(1)
        m = decaying_mean(slots[0], g, self.beta1, self.order)
        v = decaying_mean(slots[1], size, self.beta2, self.order)
        now = self._momentum(self.beta1, self.decay_power)
        following = self._momentum(self.beta1, self.next_decay_power)
        from_mean = following * m / (one - self.mu_product * following)
        ahead = from_mean + (one - now) * g / (one - self.mu_product)
        root = namespace(w).sqrt(v / (one - self.beta2_power))
        return w - (ahead * lr) / (root + self.epsilon), (m, v)

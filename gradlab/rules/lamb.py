"""Lamb: Adam whose steps are scaled by the norm of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .rule import Shared, SizedRule, Slots, float32


@dataclass(frozen=True)
class Lamb(SizedRule):
    """Step along Adam's direction, by the norm of the weights.

        m = m + (g - m) * (1 - beta1)
        v = v + (g * g - v) * (1 - beta2)
        u = m / (1 - beta1_power) / (sqrt(v / (1 - beta2_power)) + epsilon) + weight_decay * w
        w = w - norm(w) / norm(u) * lr * u

    The norms are of whole tensors. Where one of them is 0 their ratio counts as 1. The powers,
    beta1 and beta2 to the power of the step, change from step to step. `share1` and `share2` are as
    of `Adam`. weight_decay is that of the paper and of optax, inside the norm; Keras decays weights
    outside.

    Shapes: w, g, m, v (...). Slots: m and v, from 0. A tensor rule. Source: You et al., "Large
    Batch Optimization for Deep Learning: Training BERT in 76 minutes" (2019);
    `keras.optimizers.Lamb`, Keras 3.15 (2026); `optax.lamb`, optax 0.2.8 (2026).

    >>> import numpy as np
    >>> rule, w = Lamb(), np.array([3.0, 4.0])
    >>> w, slots = rule.at(rule.start())(w, rule.init(w), np.array([1.0, 0.0]), 0.5)
    >>> w.round(3).tolist()
    [0.5, 4.0]
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-7
    beta1_power: float = 0.0
    beta2_power: float = 0.0
    share1: float | None = None
    share2: float | None = None
    weight_decay: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0, "v": 0.0}
    is_row_local: ClassVar[bool] = False

    def start(self) -> Shared:
        return {"beta1_power": float32(self.beta1), "beta2_power": float32(self.beta2)}

    def advance(self, shared: Shared) -> Shared:
        return {name: shared[name] * beta for name, beta in self.start().items()}

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        xp = namespace(w)
        one = w.dtype.type(1)
        m = decaying_mean(slots[0], g, self.beta1, "dense", self.share1)
        v = decaying_mean(slots[1], size, self.beta2, "dense", self.share2)
        root = xp.sqrt(v / (one - self.beta2_power)) + self.epsilon
        update = m / (one - self.beta1_power) / root
        # With no decay the bits are Keras's.
        update = update + self.weight_decay * w
        w_norm = xp.sqrt((w * w).sum())
        update_norm = xp.sqrt((update * update).sum())
        has_norms = (w_norm > 0) & (update_norm > 0)
        ratio = xp.where(has_norms, w_norm / xp.where(has_norms, update_norm, one), one)
        return w - ratio * lr * update, (m, v)

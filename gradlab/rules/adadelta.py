"""Adadelta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .rule import Rule, Slots


@dataclass(frozen=True)
class Adadelta(Rule):
    """Step by the gradient times the root mean square of past steps over that of past gradients.

        accum = accum * rho + g * g * (1 - rho)
        u = sqrt(accum_update + epsilon) * (1 / sqrt(accum + epsilon)) * g
        w = w - u * lr
        accum_update = accum_update * rho + u * u * (1 - rho)

    Shapes: w, g, accum, accum_update (...). Slots: accum and accum_update, both from 0; TPU
    embeddings call them accumulators and updates. `share` takes the place of 1 - rho in the means.
    The first steps are about sqrt(epsilon), whatever the gradient. TensorFlow estimates 1 / sqrt
    where it computes 8 entries at once, 1 or 2 ulp of u away from this.

    Source: Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012); `ApplyAdadelta`, TensorFlow
    2.21 (2026). The defaults are those of `tf.compat.v1.train.AdadeltaOptimizer`.

    >>> import numpy as np
    >>> rule, w = Adadelta(rho=0.75, epsilon=1.0), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([0.0]), 1.0)
    >>> w, slots = rule(w, slots, np.array([2.0]), 1.0)
    >>> w.round(4).tolist(), slots[0].tolist(), slots[1].round(4).tolist()
    ([-0.4142], [1.0], [0.5])
    """

    rho: float = 0.95
    epsilon: float = 1e-8
    share: float | None = None
    slots: ClassVar[dict[str, float | str]] = {"accum": 0.0, "accum_update": 0.0}
    table_message: ClassVar[str] = "adadelta"
    table_slots: ClassVar[tuple[str, ...]] = ("accumulators", "updates")

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        one = w.dtype.type(1)
        sqrt = namespace(w).sqrt
        accum = decaying_mean(slots[0], g * g, self.rho, "sparse", self.share)
        update = sqrt(slots[1] + self.epsilon) * (one / sqrt(accum + self.epsilon)) * g
        accum_update = decaying_mean(slots[1], update * update, self.rho, "sparse", self.share)
        return w - update * lr, (accum, accum_update)

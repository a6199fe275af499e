"""Adagrad with momentum, the form of TPU embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .rule import Rule, Slots


@dataclass(frozen=True)
class AdagradMomentum(Rule):
    """Step along a decaying sum of gradients that Adagrad has scaled.

        accumulators = accumulators + g * g                                if beta2 is 1
                       beta2 * accumulators + (1 - beta2) * g * g          else
        s = g * (accumulators + epsilon) ** (-1 / exponent)
        momenta = momentum * momenta + s
        w = w - lr * momenta                                               plain
            w - lr * (momentum * momenta + s)                              use_nesterov

    Shapes: w, g, both slots (...). Slots: accumulators, from `initial_accumulator_value`; momenta,
    from `initial_momentum_value`. TensorFlow starts both at 0, jax-tpu-embedding at 0.1 and 0.9.
    The defaults are those of `tf.tpu.experimental.embedding.AdagradMomentum`. A beta2 that rounds
    to 1 in the dtype of w counts as 1. In float16 an epsilon of 1e-10 is 0, so that a weight
    without any gradient yet becomes NaN. Certain for SparseCore (TPU v5p and later), whose
    arithmetic is public; documented for the older engine.

    Source: `AdagradMomentumParameters` in TensorFlow's `optimization_parameters.proto` and the
    SparseCore ops of TensorFlow 2.21 (2026); jax-tpu-embedding 0.1 (2025).

    >>> import numpy as np
    >>> rule = AdagradMomentum(momentum=0.5, initial_accumulator_value=9.0, epsilon=0.0)
    >>> w = np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0]), 0.5)
    >>> w.round(6).tolist(), slots[0].tolist(), slots[1].round(6).tolist()
    ([0.6], [25.0], [0.8])
    """

    momentum: float = 0.0
    use_nesterov: bool = False
    exponent: float = 2.0
    beta2: float = 1.0
    epsilon: float = 1e-10
    initial_accumulator_value: float = 0.0
    initial_momentum_value: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {
        "accumulators": "initial_accumulator_value",
        "momenta": "initial_momentum_value",
    }
    table_message: ClassVar[str] = "adagrad_momentum"

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        xp = namespace(w)
        one = w.dtype.type(1)
        share = xp.where(self.beta2 == one, one, one - self.beta2)
        accumulators = self.beta2 * slots[0] + share * (g * g)
        scaled = g * xp.power(accumulators + self.epsilon, -one / self.exponent)
        momenta = self.momentum * slots[1] + scaled
        move = self.momentum * momenta + scaled if self.use_nesterov else momenta
        return w - lr * move, (accumulators, momenta)

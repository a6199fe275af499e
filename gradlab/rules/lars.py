"""LARS: momentum whose learning rate grows with the weights over the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._base.arrays import Array, namespace
from .rule import Rule, Slots


@dataclass(frozen=True)
class LARS(Rule):
    """Momentum whose learning rate grows with the norm of the weights over that of the gradient.

        trust = eeta * norm(w) / (norm(g) + weight_decay * norm(w) + epsilon)
        g = (g + weight_decay * w) * (lr * trust)
        m = m * momentum + g
        w = w - m                                        use_nesterov=False
            w - (g + m * momentum)                                    True

    The norms are of whole tensors; where one of them is 0 trust counts as 1. With is_scaled=False
    the step is that of momentum alone, without trust and weight decay.

    Shapes: w, g, m (...). Slots: momentum, from 0. A tensor rule. Source: You, Gitman & Ginsburg,
    "Large Batch Training of Convolutional Networks" (2017); `tf.contrib.opt.LARSOptimizer`,
    TensorFlow 1.15 (2019).

    >>> import numpy as np
    >>> rule, w = LARS(weight_decay=0.0, eeta=0.5), np.array([3.0, 4.0])
    >>> w, (m,) = rule(w, rule.init(w), np.array([0.0, 2.0]), 1.0)
    >>> w.tolist(), m.tolist()
    ([3.0, 1.5], [0.0, 2.5])
    """

    momentum: float = 0.9
    weight_decay: float = 0.0001
    eeta: float = 0.001
    epsilon: float = 0.0
    use_nesterov: bool = False
    is_scaled: bool = True
    slots: ClassVar[dict[str, float | str]] = {"momentum": 0.0}
    is_row_local: ClassVar[bool] = False

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        rate, g = self.scale(w, g, lr)
        g = g * rate
        m = slots[0] * self.momentum + g
        if self.use_nesterov:
            return w - (g + m * self.momentum), (m,)
        return w - m, (m,)

    def scale(self, w: Array, g: Array, lr: Any) -> tuple[Any, Array]:
        """Return the learning rate of these weights, and their gradient with weight decay."""
        if not self.is_scaled:
            return lr, g
        xp = namespace(w, g)
        one = w.dtype.type(1)
        w_norm = xp.sqrt((w * w).sum())
        g_norm = xp.sqrt((g * g).sum())
        is_usual = (w_norm > 0) & (g_norm > 0)
        divisor = g_norm + self.weight_decay * w_norm + self.epsilon
        ratio = self.eeta * w_norm / xp.where(is_usual, divisor, one)
        return lr * xp.where(is_usual, ratio, one), g + self.weight_decay * w

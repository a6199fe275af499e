"""Momentum, plain and Nesterov's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array
from .._base.options import check_choice
from .._base.sums import ORDERS, Order
from .rule import Rule, Slots


@dataclass(frozen=True)
class Momentum(Rule):
    """Step along a decaying sum of gradients.

        m = m * momentum + g
        w = w - m * lr                          plain
        w = w - (g * lr + m * momentum * lr)    use_nesterov, order="dense"
            w - (g * lr + lr * momentum * m)    use_nesterov, "sparse": TensorFlow's for slices

    The orders differ in their last bits only. Shapes: w, g, m (...). Slot: momentum, from 0. Raises
    ValueError for an order that is neither. Source: Polyak (1964); Sutskever et al., "On the
    importance of initialization and momentum in deep learning" (2013); `ApplyMomentum`, TensorFlow
    2.21 (2026).

    >>> import numpy as np
    >>> rule, w = Momentum(0.5), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([1.0]), 0.1)
    >>> w, slots = rule(w, slots, np.array([1.0]), 0.1)
    >>> w.tolist(), slots[0].tolist()
    ([0.75], [1.5])
    """

    momentum: float = 0.9
    use_nesterov: bool = False
    order: Order = "dense"
    slots: ClassVar[dict[str, float | str]] = {"momentum": 0.0}
    table_message: ClassVar[str] = "momentum"
    table_slots: ClassVar[tuple[str, ...]] = ("momenta",)

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        m = slots[0] * self.momentum + g
        if not self.use_nesterov:
            return w - m * lr, (m,)
        ahead = m * self.momentum * lr if self.order == "dense" else lr * self.momentum * m
        return w - (g * lr + ahead), (m,)

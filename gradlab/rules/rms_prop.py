"""RMSProp."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .._base.sums import ORDERS, Order, decaying_mean
from .rule import Rule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class RMSProp(Rule):
    """Step along a decaying sum of gradients over the root of their mean square.

        rms = mean of g * g, decaying by rho
        momentum = momentum * mu + (g * lr) / sqrt(rms + epsilon)         order="dense"
                   momentum * mu + (1 / sqrt(rms + epsilon)) * lr * g           "sparse"
        w = w - momentum

    with mu the field `momentum`. The two orders, of the mean as well, are TensorFlow's for dense
    gradients and for slices; they differ in their last bits only.

    Shapes: w, g, rms, momentum (...). Slots: rms, from `initial_rms`, and momentum, from 0. Raises
    ValueError for an order that is none of these. Differs: TensorFlow 1 starts rms at 1, its TPU
    embedding layer at 0. Source: Hinton, "Neural Networks for Machine Learning", lecture 6 (2012);
    `ApplyRMSProp`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> rule, w = RMSProp(rho=0.75, epsilon=0.0, initial_rms=0.0), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0]), 0.25)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([0.5], [4.0], [0.5])
    """

    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10
    initial_rms: float = field(default=1.0, metadata=in_tables(preset=0.0))
    order: Order = "dense"
    slots: ClassVar[dict[str, float | str]] = {"rms": "initial_rms", "momentum": 0.0}
    table_message: ClassVar[str] = "rms_prop"
    table_slots: ClassVar[tuple[str, ...]] = ("ms", "mom")

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        rms = decaying_mean(slots[0], g * g, self.rho, self.order)
        momentum = slots[1] * self.momentum + scaled(g, lr, rms + self.epsilon, self.order)
        return w - momentum, (rms, momentum)


def scaled(g: Array, lr: Array, square: Array, order: Order) -> Array:
    """The gradient, times the rate, over the root of `square`."""
    root = namespace(g).sqrt(square)
    return (g * lr) / root if order == "dense" else (g.dtype.type(1) / root) * lr * g

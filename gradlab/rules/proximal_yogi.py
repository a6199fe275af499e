"""Yogi with proximal regularization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .._base.types import Number
from ._proximal import shrink
from .rule import Rule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class ProximalYogi(Rule):
    """Adam whose mean square moves by a share of the new square, whichever side it is on.

        v = v + (1 - beta2) * sign(g * g - v) * g * g
        m = m * beta1 + g * (1 - beta1)
        rate = lr / (sqrt(v) + epsilon)
        p = w - rate * m
        w = sign(p) * max(|p| - rate * l1, 0) / (1 + rate * l2)

    Shapes: w, g, v, m (...). Slots: v, from `initial_accumulator_value`, and m, from 0. No bias
    is corrected: the TPU embedding engine wants lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) as
    its rate. Differs: the engine's arithmetic is not public; this is the order of TensorFlow
    Addons' Yogi. Source: Zaheer et al., "Adaptive Methods for Nonconvex Optimization" (2018);
    `tfa.optimizers.Yogi`, TensorFlow Addons 0.23 (2023).

    >>> import numpy as np
    >>> rule = ProximalYogi(0.5, 0.75, 0.0, l1=0.5, initial_accumulator_value=0.0)
    >>> w = np.array([1.0])
    >>> w, (v, m) = rule(w, rule.init(w), np.array([4.0]), 0.5)
    >>> w.tolist(), v.tolist(), m.tolist()
    ([0.375], [4.0], [2.0])
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-3
    l1: float = field(default=0.0, metadata=in_tables(argument="l1_regularization_strength"))
    l2: float = field(default=0.0, metadata=in_tables(argument="l2_regularization_strength"))
    initial_accumulator_value: float = 1e-6
    slots: ClassVar[dict[str, float | str]] = {"v": "initial_accumulator_value", "m": 0.0}
    table_message: ClassVar[str] = "proximal_yogi"

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        v = yogi(slots[0], g, self.beta2)
        m = decaying_mean(slots[1], g, self.beta1, "sparse")
        rate = lr / (namespace(w).sqrt(v) + self.epsilon)
        return shrink(w - rate * m, rate * self.l1, rate * self.l2), (v, m)


def yogi(v: Array, g: Array, beta2: Number) -> Array:
    """Return Yogi's mean square: v moves toward g * g by a share of g * g, not of the distance.

    >>> import numpy as np
    >>> yogi(np.float32([9.0, 1.0]), np.float32([2.0, 2.0]), np.float32(0.75)).tolist()
    [8.0, 2.0]
    """
    square = g * g
    new: Array = v + namespace(v).sign(square - v) * (v.dtype.type(1) - beta2) * square
    return new

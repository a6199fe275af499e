"""Yogi's mean square with FTRL's linear slot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .._base.arrays import Array, namespace
from .proximal_yogi import yogi
from .rule import Rule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class OnlineYogi(Rule):
    """FTRL whose sum of squares is Yogi's mean square.

        v' = v + (1 - beta2) * sign(g * g - v) * g * g
        sigma = (sqrt(v') - sqrt(v)) / lr
        linear = linear + (g - sigma * w)
        w = (clip(linear, -l1, l1) - linear) / (sqrt(v') / lr + 2 * l2)

    Shapes: w, g, vs v, linears (...). Slots: vs, from `initial_accumulator_value`, and linears,
    from 0. As in FTRL the weights before the first step are forgotten. Differs: the TPU embedding
    engine's arithmetic is not public, only that the rule is "analogous to FTRL" with these fields
    and slots; putting Yogi's mean where `Ftrl` has its sum is this library's choice. Source: Zaheer
    et al., "Adaptive Methods for Nonconvex Optimization" (2018); `OnlineYogiParameters` of
    TensorFlow's TPU embedding configuration (2026).

    >>> import numpy as np
    >>> rule, w = OnlineYogi(beta2=0.75, initial_accumulator_value=0.0), np.array([1.0])
    >>> w, (v, linear) = rule(w, rule.init(w), np.array([4.0]), 1.0)
    >>> w.tolist(), v.tolist(), linear.tolist()
    ([-1.0], [4.0], [2.0])
    """

    beta2: float = 0.999
    l1: float = field(default=0.0, metadata=in_tables(argument="l1_regularization_strength"))
    l2: float = field(default=0.0, metadata=in_tables(argument="l2_regularization_strength"))
    initial_accumulator_value: float = 0.1
    slots: ClassVar[dict[str, float | str]] = {"vs": "initial_accumulator_value", "linears": 0.0}
    table_message: ClassVar[str] = "online_yogi"

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        v, linear = slots
        xp = namespace(w)
        new = yogi(v, g, self.beta2)
        # Computed once for both uses, as in `Ftrl.step_sized`.
        root = xp.sqrt(new)
        sigma = (root - xp.sqrt(v)) / lr
        linear = linear + (g - sigma * w)
        quadratic = root / lr + w.dtype.type(2) * self.l2
        return (xp.clip(linear, -self.l1, self.l1) - linear) / quadratic, (new, linear)

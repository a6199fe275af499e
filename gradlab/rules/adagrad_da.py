"""Adagrad by dual averaging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from ._proximal import soft_threshold, wide
from .rule import Rule, Shared, Slots, float32


@dataclass(frozen=True)
class AdagradDA(Rule):
    """Set each weight by the sum of its gradients so far, whatever its initial value.

        s, q = gradient_accumulator + g, gradient_squared_accumulator + g * g
        w = -lr * soft(s, T * l1) / (T * lr * l2 + sqrt(q))         order="dense"
            -soft(s / T, l1) / (l2 + sqrt(q) / (T * lr))            "sparse" and "scalar"
        gradient_accumulator, gradient_squared_accumulator = s, q

    where T is `global_step` and `soft(x, limit) = sign(x) * max(|x| - limit, 0)`. "sparse" is
    TensorFlow's kernel for slices, "scalar" the one for slices of one element: in double precision
    but for the root, with g * g not rounded before it is added (not under JAX, nor for float64).
    The orders differ in their last bits only.

    l1 and l2 are `l1_regularization_strength` and `l2_regularization_strength`. Shapes: w, g and
    both slots (...).

    Slots: gradient_accumulator, from 0; gradient_squared_accumulator, from
    `initial_gradient_squared_accumulator_value`. `global_step` counts from 1, as the count of
    `tf.compat.v1.train.AdagradDAOptimizer` does for a step variable from 0; in float32 it is exact
    up to 2**24. A gradient of 0 sets a weight too: to 0 if all gradients so far were 0. L1 keeps
    weights with rare gradients at 0. Raises ValueError for any other order.

    Source: Duchi, Hazan & Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization" (2011); Xiao, "Dual Averaging Methods for Regularized Stochastic Learning and
    Online Optimization" (2010); `ApplyAdagradDA`, TensorFlow 2.21 (2026), which has a branch for
    l1 = 0 with the same result.

    >>> import numpy as np
    >>> rule, w = AdagradDA(9.0, l1_regularization_strength=1.0), np.array([7.0, 7.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0, 0.5]), 0.5)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([-0.3, -0.0], [4.0, 0.5], [25.0, 9.25])
    """

    initial_gradient_squared_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    order: Literal["dense", "sparse", "scalar"] = "dense"
    global_step: float = 1.0
    slots: ClassVar[dict[str, float | str]] = {
        "gradient_accumulator": 0.0,
        "gradient_squared_accumulator": "initial_gradient_squared_accumulator_value",
    }

    def __post_init__(self) -> None:
        check_choice("order", self.order, ("dense", "sparse", "scalar"))

    def start(self) -> Shared:
        return {"global_step": float32(self.global_step)}

    def advance(self, shared: Shared) -> Shared:
        return {"global_step": shared["global_step"] + float32(1)}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        total = slots[0] + g
        squared = self._add_square(slots[1], g)
        root = namespace(w).sqrt(squared)
        steps: Any = self.global_step
        l1: Any = self.l1_regularization_strength
        l2: Any = self.l2_regularization_strength
        if self.order == "dense":
            new_w = -lr * soft_threshold(total, steps * l1) / (steps * lr * l2 + root)
            return new_w, (total, squared)
        x: Any = total
        if self.order == "scalar":
            x, root, steps, lr, l1, l2 = wide(w, total, root, steps, lr, l1, l2)
        new_w = -soft_threshold(x / steps, l1) / (l2 + root / (steps * lr))
        return namespace(w).asarray(new_w, w.dtype), (total, squared)

    def _add_square(self, accumulator: Array, g: Array) -> Array:
        if self.order == "scalar":
            accumulator, x = wide(g, accumulator, g)
        else:
            x = g
        return namespace(g).asarray(accumulator + x * x, g.dtype)

"""RMSProp over the variance of the gradient."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .rms_prop import ORDERS, Order, mean, scaled
from .rule import SizedRule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class CenteredRMSProp(SizedRule):
    """Step along a decaying sum of gradients over their standard deviation.

        rms = mean of g * g, mg = mean of g, both decaying by rho
        variance = (rms - mg * mg) + epsilon                    order="dense", "keras"
                   (rms + epsilon) - mg * mg                          "sparse"
        momentum = momentum * mu + (g * lr) / sqrt(variance)
        w = w - momentum

    where mu is the field `momentum`. In all else the orders, `epsilon_place` and `share` are those
    of `RMSProp`.

    Shapes: w, g, rms, momentum, mg (...). Slots: rms, from `initial_rms`, momentum and mg, from 0.
    Raises ValueError for any other order. A variance below 0, which rounding can
    make, gives NaN, as in TensorFlow.

    Differs: TensorFlow 1 starts rms at 1, its TPU embedding layer at 0. Source: Graves, "Generating
    Sequences With Recurrent Neural Networks" (2013); `ApplyCenteredRMSProp`, TensorFlow 2.21
    (2026).

    >>> import numpy as np
    >>> rule, w = CenteredRMSProp(rho=0.5, epsilon=0.0, initial_rms=0.0), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0]), 0.25)
    >>> w.tolist(), [s.item() for s in slots]
    ([0.5], [8.0, 0.5, 2.0])
    """

    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10
    initial_rms: float = field(default=1.0, metadata=in_tables(preset=0.0))
    order: Order = "dense"
    epsilon_place: Literal["inside", "outside"] = field(
        default="inside", metadata=in_tables(fixed="inside")
    )
    share: float | None = None
    slots: ClassVar[dict[str, float | str]] = {"rms": "initial_rms", "momentum": 0.0, "mg": 0.0}
    table_message: ClassVar[str] = "centered_rms_prop"
    table_slots: ClassVar[tuple[str, ...]] = ("ms", "mom", "mg")

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)
        check_choice("epsilon_place", self.epsilon_place, ("inside", "outside"))

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        sqrt = namespace(w).sqrt
        rms = mean(slots[0], size, self)
        mg = mean(slots[2], g, self)
        if self.epsilon_place == "outside":
            root = sqrt(rms - mg * mg) + self.epsilon
        elif self.order == "sparse":
            root = sqrt((rms + self.epsilon) - mg * mg)
        else:
            root = sqrt((rms - mg * mg) + self.epsilon)
        momentum = slots[1] * self.momentum + scaled(g, lr, root, self.order)
        return w - momentum, (rms, momentum, mg)

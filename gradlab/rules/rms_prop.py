"""RMSProp."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .._base.sums import decaying_mean
from .rule import SizedRule, Slots
from .table_field import in_tables

Order = Literal["dense", "sparse", "keras"]
ORDERS = ("dense", "sparse", "keras")


@dataclass(frozen=True)
class RMSProp(SizedRule):
    """Step along a decaying sum of gradients over the root of their mean square.

        rms = mean of g * g, decaying by rho
        momentum = momentum * mu + (g * lr) / sqrt(rms + epsilon)         order="dense", "keras"
                   momentum * mu + (1 / sqrt(rms + epsilon)) * lr * g           "sparse"
        w = w - momentum

    with mu the field `momentum`. The orders "dense" and "sparse", of the mean as well, are those of
    TensorFlow for dense gradients and for slices; "keras", of Keras's own formulas, has the mean of
    "sparse". They differ in their last bits only. With epsilon_place="outside" the divisor is
    sqrt(rms) + epsilon, as in Keras without momentum. `share` takes the place of 1 - rho in the
    mean.

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
    epsilon_place: Literal["inside", "outside"] = field(
        default="inside", metadata=in_tables(fixed="inside")
    )
    share: float | None = None
    slots: ClassVar[dict[str, float | str]] = {"rms": "initial_rms", "momentum": 0.0}
    table_message: ClassVar[str] = "rms_prop"
    table_slots: ClassVar[tuple[str, ...]] = ("ms", "mom")

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)
        check_choice("epsilon_place", self.epsilon_place, ("inside", "outside"))

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        sqrt = namespace(w).sqrt
        rms = mean(slots[0], size, self)
        is_outside = self.epsilon_place == "outside"
        root = sqrt(rms) + self.epsilon if is_outside else sqrt(rms + self.epsilon)
        momentum = slots[1] * self.momentum + scaled(g, lr, root, self.order)
        return w - momentum, (rms, momentum)


def scaled(g: Array, lr: Array, root: Array, order: Order) -> Array:
    """Return the gradient, times the rate, over `root`."""
    return (g.dtype.type(1) / root) * lr * g if order == "sparse" else (g * lr) / root


def mean(old: Array, new: Array, rule: Any) -> Array:
    """Return the decaying mean with `new` added, in the order of the rule."""
    order: Any = "dense" if rule.order == "dense" else "sparse"
    return decaying_mean(old, new, rule.rho, order, rule.share)

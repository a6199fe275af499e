"""Adagrad with L1 and L2 penalties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from ._proximal import shrink
from .rule import Rule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class ProximalAdagrad(Rule):
    """Step as Adagrad does, then shrink toward 0 as the penalties ask, at the rate of each weight.

        accumulator = accumulator + g * g
        e = lr * (1 / sqrt(accumulator))        order="dense"
            lr / sqrt(accumulator)              "scalar"
        p = w - g * e
        w = sign(p) * max(|p| - e * l1, 0) / (1 + e * l2)

    l1 and l2 are `l1_regularization_strength` and `l2_regularization_strength`. "scalar" is
    TensorFlow's kernel for slices of one element, with the last division in double precision (not
    under JAX); only last bits differ.

    Shapes: w, g, accumulator (...). Slot: accumulator, from `initial_accumulator_value`; 0 and a
    gradient of 0 give NaN, as in TensorFlow. Raises ValueError for an order that is neither.
    TensorFlow estimates 1 / sqrt where it computes 8 entries at once, 1 ulp away from this on the
    processors we tried.

    Source: Duchi & Singer (2009) for the shrinking, Duchi, Hazan & Singer (2011) for Adagrad;
    `ApplyProximalAdagrad`, TensorFlow 2.21 (2026), which has a branch for l1 = 0 with the same
    result.

    >>> import numpy as np
    >>> rule, w = ProximalAdagrad(9.0, l1_regularization_strength=1.0), np.array([4.0, 0.05])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0, 0.0]), 0.5)
    >>> w.tolist(), slots[0].tolist()
    ([3.5, 0.0], [25.0, 9.0])
    """

    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = field(default=0.0, metadata=in_tables(message="l1"))
    l2_regularization_strength: float = field(default=0.0, metadata=in_tables(message="l2"))
    order: Literal["dense", "scalar"] = "dense"
    slots: ClassVar[dict[str, float | str]] = {"accumulator": "initial_accumulator_value"}
    table_message: ClassVar[str] = "proximal_adagrad"
    table_slots: ClassVar[tuple[str, ...]] = ("accumulators",)

    def __post_init__(self) -> None:
        check_choice("order", self.order, ("dense", "scalar"))

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        accumulator = slots[0] + g * g
        root = namespace(w).sqrt(accumulator)
        rate = lr / root if self.order == "scalar" else lr * (w.dtype.type(1) / root)
        l1 = rate * self.l1_regularization_strength
        l2 = rate * self.l2_regularization_strength
        return shrink(w - g * rate, l1, l2, self.order), (accumulator,)

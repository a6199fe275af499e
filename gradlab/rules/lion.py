"""Lion: steps of one size, along the sign of a mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .rule import Rule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class Lion(Rule):
    """Step by the learning rate along the sign of a mean of gradients.

        w = w - lr * sign(m * beta1 + g * (1 - beta1))
        m = m * beta2 + g * (1 - beta2)

    With `lazy` rows without a gradient keep their weights and slots; otherwise they move as by a
    gradient of 0, see `dense_and_sparse.sparse`.

    Shapes: w, g, momenta m (...). Slot: momenta, from 0. Differs from the TPU embedding engine,
    whose arithmetic is not public: this is the published rule. Source: Chen et al., "Symbolic
    Discovery of Optimization Algorithms" (2023).

    >>> import numpy as np
    >>> rule, w = Lion(beta1=0.5, beta2=0.75), np.array([1.0, 1.0])
    >>> w, (m,) = rule(w, rule.init(w), np.array([4.0, -8.0]), 0.25)
    >>> w.tolist(), m.tolist()
    ([0.75, 1.25], [1.0, -2.0])
    """

    beta1: float = 0.9
    beta2: float = 0.99
    lazy: bool = field(
        default=True,
        metadata=in_tables(argument="lazy_lion", message="use_non_lazy_lion", flag=(True, False)),
    )
    slots: ClassVar[dict[str, float | str]] = {"momenta": 0.0}
    table_message: ClassVar[str] = "lion"

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        direction = namespace(w).sign(decaying_mean(slots[0], g, self.beta1, "sparse"))
        return w - lr * direction, (decaying_mean(slots[0], g, self.beta2, "sparse"),)

"""Adam with one mean square for each row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .rule import Rule, Shared, Slots, float32, row_mean


@dataclass(frozen=True)
class PartialRowWiseAdam(Rule):
    """Adam with one mean square for a whole row, and a mean gradient for each weight.

        m = m * beta1 + g * (1 - beta1)
        row_v = row_v * beta2 + (mean over a row of g * g) * (1 - beta2)
        w = w - lr * (m / (1 - beta1_power)) / (sqrt(row_v / (1 - beta2_power)) + epsilon)

    `beta1_power` and `beta2_power` are beta1 ** t and beta2 ** t at step t. A row whose first
    gradient comes late is corrected by the same t, as in FBGEMM without
    `use_rowwise_bias_correction`. With `lazy` rows without a gradient keep weights and slots.

    Shapes: w, g, m (rows, ...); row_v (rows, 1, ...). Slots from 0. For a vector every entry is a
    row. Differs from `Adam`: epsilon is added to the corrected root, as in the paper. Powers are
    products of float32 here and made by `powf` in FBGEMM, so last bits of the correction differ.
    Not in TensorFlow.

    Source: `PARTIAL_ROWWISE_ADAM`, FBGEMM 1.8 (2026), on GPU only, and TorchRec's
    `PartialRowWiseAdam` (2026), which is made of it; Kingma & Ba, "Adam: A Method for Stochastic
    Optimization" (2014).

    >>> import numpy as np
    >>> rule, w = PartialRowWiseAdam(beta1=0.5, beta2=0.75, epsilon=0.0), np.array([[1.0, 2.0]])
    >>> w, slots = rule.at(rule.start())(w, rule.init(w), np.array([[1.0, 7.0]]), 0.25)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([[0.95, 1.65]], [[0.5, 3.5]], [[6.25]])
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    lazy: bool = True
    beta1_power: float = 0.0
    beta2_power: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0, "row_v": 0.0}
    row_slots: ClassVar[tuple[str, ...]] = ("row_v",)

    def start(self) -> Shared:
        return {"beta1_power": float32(self.beta1), "beta2_power": float32(self.beta2)}

    def advance(self, shared: Shared) -> Shared:
        return {name: shared[name] * beta for name, beta in self.start().items()}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        one = w.dtype.type(1)
        m = decaying_mean(slots[0], g, self.beta1, "sparse")
        v = decaying_mean(slots[1], row_mean(g * g, slots[1].shape), self.beta2, "sparse")
        root = namespace(w).sqrt(v / (one - self.beta2_power)) + self.epsilon
        return w - lr * ((m / (one - self.beta1_power)) / root), (m, v)

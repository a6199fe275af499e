"""Adagrad with one accumulator for each row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .rule import Rule, Slots, row_mean


@dataclass(frozen=True)
class RowWiseAdagrad(Rule):
    """Adagrad with one accumulator a row, 1/d of Adagrad's memory for rows of d weights.

        row_accumulator = row_accumulator + mean over a row of g * g
        w = w - (lr / (sqrt(row_accumulator) + epsilon)) * g

    All weights of a row share a rate, so the step keeps the direction of the row's gradient.

    Shapes: w, g (rows, ...); row_accumulator (rows, 1, ...), from `initial_accumulator_value`. For
    a vector every entry is a row, and the rule is Adagrad. With an accumulator and an epsilon of 0
    a gradient of 0 gives NaN. In float16 an epsilon of 1e-8 is 0. In NumPy the bits are FBGEMM's on
    a CPU. Not in TensorFlow.

    Source: `EXACT_ROWWISE_ADAGRAD`, FBGEMM 1.8 (2026); `RowWiseAdagrad`, TorchRec 1.9 (2026), whose
    epsilon is 1e-10.

    >>> import numpy as np
    >>> rule, w = RowWiseAdagrad(initial_accumulator_value=3.5, epsilon=0.0), np.array([[1.0, 2.0]])
    >>> w, slots = rule(w, rule.init(w), np.array([[3.0, 4.0]]), 0.5)
    >>> w.tolist(), slots[0].tolist()
    ([[0.625, 1.5]], [[16.0]])
    """

    initial_accumulator_value: float = 0.0
    epsilon: float = 1e-8
    slots: ClassVar[dict[str, float | str]] = {"row_accumulator": "initial_accumulator_value"}
    row_slots: ClassVar[tuple[str, ...]] = ("row_accumulator",)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        accumulator = slots[0] + row_mean(g * g, slots[0].shape)
        return w - (lr / (namespace(w).sqrt(accumulator) + self.epsilon)) * g, (accumulator,)

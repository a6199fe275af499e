"""Assign: the gradient is the new weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array
from .rule import Rule, Slots


@dataclass(frozen=True)
class Assign(Rule):
    """Set the weight to what came in as its gradient.

        w = g

    Shapes: w, g (...). No slots, and the learning rate has no effect. Slices of one row are summed
    before, as for all rules, so a row that is named twice gets the sum; with
    `dense_and_sparse.each` it gets the last slice. Uncertain: the formula is read off the name,
    because the configuration of TPU embeddings documents nothing else.

    Source: `AssignParameters` in TensorFlow's `optimization_parameters.proto` (2026), where it has
    no members.

    >>> import numpy as np
    >>> Assign()(np.array([1.0, 2.0]), (), np.array([4.0, -4.0]), 0.25)[0].tolist()
    [4.0, -4.0]
    """

    table_message: ClassVar[str] = "assign"

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        return g, slots

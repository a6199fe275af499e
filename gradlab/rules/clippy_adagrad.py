"""Clippy: Adagrad whose step of a tensor is shrunk until it is small for each of its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .rule import Rule, Slots


@dataclass(frozen=True)
class ClippyAdagrad(Rule):
    """Shrink the step of Adagrad by one factor for the whole tensor, so that no entry moves far.

        accumulator = accumulator + g * g                     accumulates="before"
        scale = 1 / sqrt(accumulator + epsilon)
        delta = lr * g * scale
        limit = variable_threshold * |w| + accumulator_threshold * scale + absolute_threshold
        factor = min(1, smallest limit / |delta|)             over entries whose delta isn't 0
        w = w - factor * delta
        accumulator = accumulator + g * g                     accumulates="after"
                      accumulator + (factor * g) ** 2                     "clipped"

    A limit of 0 for an entry that would move stops the whole tensor.

    Shapes: w, g, accumulator (...). Slots: accumulator, from `initial_accumulator_value`. A tensor
    rule. Raises ValueError for accumulates that is none of these. TensorFlow Recommenders steps
    slices, too, by one factor for the rows of a step; here they are refused.

    Source: Tang et al., "Improving Training Stability for Multitask Ranking Models in Recommender
    Systems" (2023); `tfrs.experimental.optimizers.ClippyAdagrad`, TensorFlow Recommenders (2026).

    >>> import numpy as np
    >>> rule, w = ClippyAdagrad(1.0, 0.5, epsilon=0.0), np.array([1.0, 4.0])
    >>> w, (accumulator,) = rule(w, rule.init(w), np.array([2.0, 1.0]), 1.0)
    >>> w.round(3).tolist(), accumulator.tolist()
    ([0.5, 3.75], [5.0, 2.0])
    """

    initial_accumulator_value: float = 0.1
    variable_threshold: float = 0.1
    accumulator_threshold: float = 0.0
    absolute_threshold: float = 1e-7
    epsilon: float = 1e-7
    accumulates: Literal["before", "after", "clipped"] = "after"
    slots: ClassVar[dict[str, float | str]] = {"accumulator": "initial_accumulator_value"}
    is_row_local: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("accumulates", self.accumulates, ("before", "after", "clipped"))

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        xp = namespace(w)
        one = w.dtype.type(1)
        (accumulator,) = slots
        if self.accumulates == "before":
            accumulator = accumulator + g * g

        scale = one / xp.sqrt(accumulator + self.epsilon)
        delta = lr * g * scale
        limit = self.variable_threshold * xp.abs(w) + self.accumulator_threshold * scale
        limit = limit + self.absolute_threshold
        moves = delta != 0
        factors = xp.where(moves, limit / xp.where(moves, xp.abs(delta), one), one)
        factor = xp.minimum(one, factors.min(initial=one))

        if self.accumulates == "after":
            accumulator = accumulator + g * g
        elif self.accumulates == "clipped":
            accumulator = accumulator + (factor * g) ** 2
        return w - factor * delta, (accumulator,)

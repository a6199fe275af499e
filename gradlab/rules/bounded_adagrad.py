"""Adagrad with a bound on the update and on the accumulator, the form of TPU embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .rule import Rule, Slots, limit_or_infinity


@dataclass(frozen=True)
class BoundedAdagrad(Rule):
    """Adagrad whose update, and whose accumulator, stay within limits.

        new = min(accumulators + g * g, max_accumulator)
        root = sqrt(new) if update_accumulator_first else sqrt(accumulators)
        accumulators = new
        w = w - clip(lr * (g / root))      bounded="update"
            w - lr * clip(g / root)        "scaled_gradient"
            w - lr * (clip(g) / root)      "gradient"; new has the square of clip(g) too

    where clip(x) = min(max(x, -max_var_update), max_var_update); a limit of 0 is off.

    Shapes: w, g, accumulators (...). Slot: accumulators, from `initial_accumulator_value`. Raises
    ValueError for any other `bounded`. The proto documents what the flag and the limits are for,
    and that 0 switches them off. It leaves open which quantity `max_var_update` limits: the field's
    name says the update, its comment says the gradient, hence `bounded`. Two things are guesses:
    that the accumulator is capped before it is used, and its initial value, 0.1 as in Adagrad.

    Source: `BoundedAdagradParameters` in TensorFlow's `optimization_parameters.proto` (2026), which
    refers to Duchi, Hazan & Singer (2011).

    >>> import numpy as np
    >>> rule = BoundedAdagrad(True, 0.25, 16.0, initial_accumulator_value=9.0)
    >>> w = np.array([1.0, 1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0, 0.0]), 0.5)
    >>> w.tolist(), slots[0].tolist()
    ([0.75, 1.0], [16.0, 9.0])
    """

    update_accumulator_first: bool = False
    max_var_update: float = 0.0
    max_accumulator: float = 0.0
    bounded: Literal["update", "scaled_gradient", "gradient"] = "update"
    initial_accumulator_value: float = 0.1
    slots: ClassVar[dict[str, float | str]] = {"accumulators": "initial_accumulator_value"}
    table_message: ClassVar[str] = "bounded_adagrad"

    def __post_init__(self) -> None:
        check_choice("bounded", self.bounded, ("update", "scaled_gradient", "gradient"))

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        xp = namespace(w)
        g = self._limit("gradient", g)
        new = xp.minimum(slots[0] + g * g, limit_or_infinity(self.max_accumulator))
        root = xp.sqrt(new if self.update_accumulator_first else slots[0])
        update = lr * self._limit("scaled_gradient", g / root)
        return w - self._limit("update", update), (new,)

    def _limit(self, quantity: str, x: Array) -> Array:
        """Return x, clipped if it is the quantity that this rule bounds."""
        if quantity != self.bounded:
            return x
        limit = limit_or_infinity(self.max_var_update)
        return namespace(x).clip(x, -limit, limit)

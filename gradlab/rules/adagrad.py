"""Adagrad, in the form of every library that ships one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from .._base.arrays import Array, is_jax, namespace
from .._base.options import check_choice
from .rule import Rule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class Adagrad(Rule):
    """Step by the gradient over the root of the sum of its squares so far.

        accumulator = accumulator + g * g      unchanged if update_slots is False
        root = sqrt(accumulator)               epsilon_place="none"
               sqrt(accumulator) + epsilon     "outside"
               sqrt(accumulator + epsilon)     "inside"
        w = w - (g * lr) / root                order="divide"
            w - (g * lr) * (1 / root)          "reciprocal"
            w - (g * (1 / root)) * lr          "scale_first", with 0 for 1 / root where
                                               the accumulator is 0

    The three orders differ in their last bits only. `LIBRARIES` has the fields of each library.

    Shapes: w, g, accumulator (...). Raises ValueError for any other epsilon_place or order.
    An accumulator of 0 with no epsilon and a gradient of 0 gives NaN, as in Keras 3; Keras
    replaces epsilon 0, this rule does not. Signs are not checked, as in Keras 3: the root of a
    negative accumulator is NaN. The optimizers of TensorFlow 1 and of older Keras, here `gl.train`
    and `gl.keras`, refuse a negative start.

    Source: Duchi, Hazan & Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization" (2011); `ApplyAdagrad` and `ApplyAdagradV2`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> rule, w = Adagrad(initial_accumulator_value=9.0, epsilon=0.0), np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0]), 0.5)
    >>> w.tolist(), slots[0].tolist()
    ([0.6], [25.0])
    """

    initial_accumulator_value: float = 0.1
    epsilon: float = field(
        default=1e-7, metadata=in_tables(fixed=0.0, instead="put it into the initial accumulator")
    )
    epsilon_place: Literal["none", "outside", "inside"] = field(
        default="outside", metadata=in_tables(fixed="none")
    )
    order: Literal["divide", "reciprocal", "scale_first"] = "divide"
    update_slots: bool = field(default=True, metadata=in_tables(fixed=True))
    slots: ClassVar[dict[str, float | str]] = {"accumulator": "initial_accumulator_value"}
    table_message: ClassVar[str] = "adagrad"
    table_slots: ClassVar[tuple[str, ...]] = ("accumulators",)

    def __post_init__(self) -> None:
        check_choice("epsilon_place", self.epsilon_place, ("none", "outside", "inside"))
        check_choice("order", self.order, ("divide", "reciprocal", "scale_first"))

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        accumulator = slots[0] + g * g if self.update_slots else slots[0].copy()
        return w - self.scaled(g, lr, accumulator), (accumulator,)

    def root(self, accumulator: Array) -> Array:
        """The divisor of the gradient: lr / root is the effective learning rate of a weight."""
        if self.epsilon_place == "inside":
            return _sqrt(accumulator + self.epsilon)
        root = _sqrt(accumulator)
        divisor: Array = root + self.epsilon if self.epsilon_place == "outside" else root
        return divisor

    def scaled(self, g: Array, lr: Array, accumulator: Array) -> Array:
        """The step that a gradient makes with this accumulator."""
        root = self.root(accumulator)
        one = g.dtype.type(1)
        step: Array
        if self.order == "divide":
            step = (g * lr) / root
        elif self.order == "reciprocal":
            step = (g * lr) * (one / root)
        else:
            # optax, too, takes 0 where nothing was accumulated, in place of 1 / 0.
            inverse = namespace(g).where(accumulator > 0, one / root, one - one)
            step = (g * inverse) * lr
        return step


def _sqrt(x: Array) -> Array:
    # NumPy's root of complex64 is some ulp off; that of complex128, rounded, is TensorFlow's.
    if x.dtype == np.complex64 and not is_jax(x):
        return np.sqrt(x.astype(np.complex128)).astype(np.complex64)
    return namespace(x).sqrt(x)


# Each library's own formula and defaults; a rule has no learning rate.
LIBRARIES = {
    "TensorFlow 1": Adagrad(epsilon=0.0, epsilon_place="none", order="reciprocal"),
    "Keras legacy": Adagrad(),
    "Keras 3": Adagrad(epsilon_place="inside"),
    "optax": Adagrad(epsilon_place="inside", order="scale_first"),
    "PyTorch": Adagrad(initial_accumulator_value=0.0, epsilon=1e-10),
}

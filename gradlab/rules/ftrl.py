"""FTRL-Proximal: weights as a function of all gradients so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .._base.arrays import Array, is_jax, namespace, power
from .._base.options import check_choice
from .._base.types import Number
from .rule import SizedRule, Slots
from .table_field import in_tables


@dataclass(frozen=True)
class Ftrl(SizedRule):
    """Follow the regularized leader: the weights that would have been best on all gradients so far.

        g' = g + 2 * l2_shrinkage * w
        accum' = accum + g * g
        root(x) = x ** -lr_power
        sigma = (root(accum') - root(accum)) / lr
        linear = linear + g' - sigma * w
        w = (clip(linear, -l1, l1) - linear) / ((root(accum') + beta) / lr + 2 * l2)

    With `multiply_linear_by_lr` numerator and denominator are multiplied by lr, which lets lr be 0:

        sigma = root(accum') - root(accum);  linear = linear + g' * lr - sigma * w
        w = (clip(linear, -l1 * lr, l1 * lr) - linear) / (root(accum') + 2 * l2 * lr + beta)

    `order` is TensorFlow's: "dense"; "sparse", as for slices; or "scalar", as for slices whose rows
    have one element, which sums from the left and takes a power for sigma even where lr_power is
    -0.5. They differ in their last bits, and "dense" gives 0 where `linear` is 0 or NaN.

    Shapes: w, g, accum, linear (...). Slots: accum, from `initial_accumulator_value`, and linear,
    from `initial_linear_value`. Raises ValueError for an order that is none of these.

    Source: McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013);
    `ApplyFtrlV2`, TensorFlow 2.21 (2026); `beta`: the TPU embedding engine;
    `initial_linear_value`: jax-tpu-embedding 0.1 (2025).

    With `linear` at 0, and l1, l2 and beta at 0, the first step gives

        w = (1 - root(accum) / root(accum')) * w - lr / root(accum') * g

    so it keeps a share of the initial weights only: none where g is 0, 70% where g is 1 and accum
    0.1. With an accumulator of 0 and slices, a gradient of 0 gives NaN.

    >>> import numpy as np
    >>> rule, w = Ftrl(l1=1.0, initial_accumulator_value=9.0), np.array([1.0, 1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0, 0.0]), 0.5)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([0.0, 0.0], [25.0, 9.0], [0.0, 0.0])
    """

    lr_power: float = field(default=-0.5, metadata=in_tables(argument="learning_rate_power"))
    l1: float = field(default=0.0, metadata=in_tables(argument="l1_regularization_strength"))
    l2: float = field(default=0.0, metadata=in_tables(argument="l2_regularization_strength"))
    l2_shrinkage: float = field(default=0.0, metadata=in_tables(fixed=0.0, instead="use l2"))
    beta: float = 0.0
    initial_accumulator_value: float = 0.1
    multiply_linear_by_lr: bool = field(
        default=False, metadata=in_tables(argument="multiply_linear_by_learning_rate")
    )
    order: Literal["dense", "sparse", "scalar"] = field(
        default="dense", metadata=in_tables(preset="sparse")
    )
    initial_linear_value: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {
        "accum": "initial_accumulator_value",
        "linear": "initial_linear_value",
    }
    table_message: ClassVar[str] = "ftrl"
    table_slots: ClassVar[tuple[str, ...]] = ("accumulators", "linears")

    def __post_init__(self) -> None:
        check_choice("order", self.order, ("dense", "sparse", "scalar"))

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        accum, linear = slots
        two = w.dtype.type(2)
        l1: Number = self.l1
        new_accum = accum + size
        penalized = g
        if _may_differ(self.l2_shrinkage, 0):
            penalized = g + two * self.l2_shrinkage * w
        # Computed once for both uses. If it is computed twice, XLA simplifies the two differently,
        # and the last bits on a mesh aren't those on one device.
        root = self.root(new_accum)
        new_root = self._root_for_sigma(new_accum) if self.order == "scalar" else root
        sigma = new_root - self._root_for_sigma(accum)
        if self.multiply_linear_by_lr:
            linear = self._add(linear, penalized * lr, sigma * w)
            l1 = l1 * lr
            quadratic = root + two * self.l2 * lr + self.beta
        else:
            linear = self._add(linear, penalized, sigma / lr * w)
            quadratic = (root + self.beta) / lr + two * self.l2
        return self._solve(linear, l1, quadratic), (new_accum, linear)

    def _solve(self, linear: Array, l1: Number, quadratic: Array) -> Array:
        """Return the weights that minimize the linearized losses so far plus the penalties."""
        xp = namespace(linear)
        if self.order == "dense":
            return xp.where(
                xp.abs(linear) > l1,
                (xp.sign(linear) * l1 - linear) / quadratic,
                xp.zeros_like(linear),
            )
        return (xp.minimum(xp.maximum(linear, -l1), l1) - linear) / quadratic

    def root(self, accum: Array) -> Array:
        """Return accum ** -lr_power."""
        if _may_differ(self.lr_power, -0.5):
            return power(accum, -self.lr_power)
        return namespace(accum).sqrt(accum)

    def _root_for_sigma(self, accum: Array) -> Array:
        """Return the root as `order` computes it for sigma."""
        if self.order == "scalar":
            return power(accum, -self.lr_power)
        return self.root(accum)

    def _add(self, linear: Array, g: Array, pull: Array) -> Array:
        return linear + g - pull if self.order == "scalar" else linear + (g - pull)


def _may_differ(field: Number, value: float) -> bool:
    """Return False if a field is known to have this value; a JAX array may be traced."""
    return is_jax(field) or bool(field != value)

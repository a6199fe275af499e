"""Adam, in TensorFlow's forms and the TPU's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .._base.sums import ORDERS, Order, decaying_mean
from .rule import Shared, SizedRule, Slots, float32
from .table_field import in_tables


@dataclass(frozen=True)
class Adam(SizedRule):
    """Step along the mean gradient over the root of the mean square.

        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)         order="dense"
        m = m * beta1 + g * (1 - beta1);  v = v * beta2 + g * g * (1 - beta2)     "sparse"
        rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
        w = w - (m * rate) / (sqrt(v) + epsilon)                          epsilon_place="outside"
            w - (m * rate) / sqrt(v + epsilon * epsilon)                  "inside"

    With `use_nesterov` the step is along g * (1 - beta1) + beta1 * m. `beta1_power` and
    `beta2_power` are beta1 ** t and beta2 ** t at step t, counted from 1. They are 0, which leaves
    the correction out, until `rule.at(rule.start())` sets those of the first step, as in the
    example, and `advance` returns those of the next. With `bias_correction` off they stay 0, as in
    the TPU embedding engine.

    The two orders are TensorFlow's for dense gradients and for slices; they differ in their last
    bits only. With `lazy` rows without a gradient keep their weights and slots; otherwise they move
    as by a gradient of 0, see `dense_and_sparse.sparse`.

    `share1` and `share2` take the place of 1 - beta1 and 1 - beta2 in the means, for libraries that
    round these from double precision.

    Shapes: w, g, m, v (...). Slots: m and v, from 0. Raises ValueError for any other epsilon_place
    or order.

    Differs from the paper: epsilon is its "epsilon hat". In float16 an epsilon of 1e-8
    is 0. Source: Kingma & Ba, "Adam: A Method for Stochastic Optimization" (2014);
    `ApplyAdam`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> rule, w = Adam(beta1=0.5, beta2=0.75, epsilon=0.0), np.array([1.0])
    >>> w, slots = rule.at(rule.start())(w, rule.init(w), np.array([4.0]), 0.25)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([0.75], [2.0], [4.0])
    """

    beta1: float = field(default=0.9, metadata=in_tables(argument="beta_1"))
    beta2: float = field(default=0.999, metadata=in_tables(argument="beta_2"))
    epsilon: float = 1e-7
    epsilon_place: Literal["outside", "inside"] = field(
        default="outside",
        metadata=in_tables(message="use_sum_inside_sqrt", flag=("outside", "inside")),
    )
    use_nesterov: bool = field(default=False, metadata=in_tables(fixed=False))
    bias_correction: bool = field(
        default=True, metadata=in_tables(fixed=False, instead="put the correction into the rate")
    )
    lazy: bool = field(
        default=True,
        metadata=in_tables(argument="lazy_adam", message="use_non_lazy_adam", flag=(True, False)),
    )
    order: Order = field(default="dense", metadata=in_tables(preset="sparse"))
    beta1_power: float = 0.0
    beta2_power: float = 0.0
    share1: float | None = None
    share2: float | None = None
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0, "v": 0.0}
    table_message: ClassVar[str] = "adam"
    table_slots: ClassVar[tuple[str, ...]] = ("momenta", "velocities")

    def __post_init__(self) -> None:
        check_choice("epsilon_place", self.epsilon_place, ("outside", "inside"))
        check_choice("order", self.order, ORDERS)

    def start(self) -> Shared:
        if not self.bias_correction:
            return {}
        return {"beta1_power": float32(self.beta1), "beta2_power": float32(self.beta2)}

    def advance(self, shared: Shared) -> Shared:
        # The powers of the first step are the betas themselves.
        return {name: shared[name] * beta for name, beta in self.start().items()}

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        xp = namespace(w)
        one = w.dtype.type(1)
        rate = lr * xp.sqrt(one - self.beta2_power) / (one - self.beta1_power)
        m = decaying_mean(slots[0], g, self.beta1, self.order, self.share1)
        v = decaying_mean(slots[1], size, self.beta2, self.order, self.share2)
        ahead = g * (one - self.beta1) + self.beta1 * m if self.use_nesterov else m
        if self.epsilon_place == "inside":
            return w - (ahead * rate) / xp.sqrt(v + self.epsilon * self.epsilon), (m, v)
        return w - (ahead * rate) / (xp.sqrt(v) + self.epsilon), (m, v)

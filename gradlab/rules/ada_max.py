"""AdaMax: Adam with the largest gradient in place of the root of the mean square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .._base.sums import Order, decaying_mean
from .rule import Shared, SizedRule, Slots, float32


@dataclass(frozen=True)
class AdaMax(SizedRule):
    """Step along the mean gradient, in units of the largest recent gradient.

        m = m + (g - m) * (1 - beta1);  m * beta1 + g * (1 - beta1) if order="sparse"
        v = max(beta2 * v, |g|)
        w = w - lr / (1 - beta1_power) * (m / (v + epsilon))        order="dense", "sparse"
            w - (lr * m) / ((1 - beta1_power) * (v + epsilon))            "keras"

    `beta1_power` is beta1 ** t at step t, counted from 1; 0 leaves the correction out. `share1`
    takes the place of 1 - beta1 in the mean. The orders, of TensorFlow's kernel, of its steps by
    slices and of Keras's own formula, differ in their last bits only.

    Shapes: w, g, m, v (...). Slots: m and v, from 0. Raises ValueError for an order that is
    none of these. In float16 an epsilon of 1e-8 would be 0. Source: Kingma & Ba, "Adam: A Method for
    Stochastic Optimization", section 7.1 (2014); `ApplyAdaMax`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> rule, w = AdaMax(beta1=0.5, beta2=0.5, epsilon=0.0), np.array([1.0])
    >>> w, slots = rule.at({"beta1_power": 0.5})(w, rule.init(w), np.array([4.0]), 0.25)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([0.75], [2.0], [4.0])
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-7
    beta1_power: float = 0.0
    share1: float | None = None
    order: Literal["dense", "sparse", "keras"] = "dense"
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0, "v": 0.0}

    def __post_init__(self) -> None:
        check_choice("order", self.order, ("dense", "sparse", "keras"))

    def start(self) -> Shared:
        return {"beta1_power": float32(self.beta1)}

    def advance(self, shared: Shared) -> Shared:
        return {"beta1_power": shared["beta1_power"] * float32(self.beta1)}

    def size(self, g: Array) -> Array:
        return namespace(g).abs(g)

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        m, v = slots
        xp = namespace(w)
        one = w.dtype.type(1)
        order: Order = "sparse" if self.order == "sparse" else "dense"
        m = decaying_mean(m, g, self.beta1, order, self.share1)
        decayed = self.beta2 * v
        # A gradient of NaN does not count, as in TensorFlow.
        v = xp.where(size > decayed, size, decayed)
        correction = one - self.beta1_power
        if self.order == "keras":
            return w - (lr * m) / (correction * (v + self.epsilon)), (m, v)
        return w - lr / correction * (m / (v + self.epsilon)), (m, v)

"""Schedule-free Adam: a mean of the iterates in place of a falling learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .._base.sums import decaying_mean
from .rule import Shared, SizedRule, Slots, float32


@dataclass(frozen=True)
class ScheduleFreeAdam(SizedRule):
    """Step a hidden iterate, and keep the weights between it and the mean of all iterates.

        v = v + (g * g - v) * (1 - beta2)
        rate = lr * min(steps / warmup_steps, 1)
        z' = z - (rate * g) / (sqrt(v / (1 - beta2_power)) + epsilon)
        x = (w - (1 - beta1) * z) / beta1             recovers_from="old"
            (w - (1 - beta1) * z') / beta1                          "new"
        x' = (1 - 1 / steps) * x + 1 / steps * z'
        w = (1 - beta1) * z' + beta1 * x'

    z is the iterate, x the mean, and w the point between them where the gradient is taken. `steps`,
    the number of the step, and `beta2_power`, beta2 to this power, change from step to step. With
    0 warmup_steps there is no warmup. "old" recovers the mean of the last step; "new" is what
    Keras 3 does on TensorFlow, where the variable of z has changed before it is read.

    Shapes: w, g, z, v (...). Slots: z, a copy of the weights, and v, from 0. Raises ValueError for
    recovers_from that is neither. A beta1 of 0 divides by 0, as in Keras. Differs from the paper's
    code: the mean is over steps, not weighted by rates. Source: Defazio et al., "The Road Less
    Scheduled" (2024); `keras.optimizers.ScheduleFreeAdamW`, Keras 3.15 (2026).

    >>> import numpy as np
    >>> rule, w = ScheduleFreeAdam(beta1=0.5, beta2=0.0, epsilon=0.0), np.array([1.0])
    >>> slots, shared = rule.init(w), rule.start()
    >>> for _ in range(2):
    ...     w, slots = rule.at(shared)(w, slots, np.array([4.0]), 0.25)
    ...     shared = rule.advance(shared)
    >>> w.tolist(), slots[0].tolist()
    ([0.5625], [0.5])
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    warmup_steps: float = 0.0
    recovers_from: Literal["old", "new"] = "old"
    steps: float = 1.0
    beta2_power: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {"z": 0.0, "v": 0.0}

    def __post_init__(self) -> None:
        check_choice("recovers_from", self.recovers_from, ("old", "new"))

    def init(self, w: Array) -> Slots:
        xp = namespace(w)
        return xp.array(w), xp.zeros_like(w)

    def start(self) -> Shared:
        return {"steps": float32(1.0), "beta2_power": float32(self.beta2)}

    def advance(self, shared: Shared) -> Shared:
        return {
            "steps": shared["steps"] + float32(1.0),
            "beta2_power": shared["beta2_power"] * float32(self.beta2),
        }

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        z, v = slots
        xp = namespace(w)
        one = w.dtype.type(1)
        rate = lr * xp.minimum(self.steps / xp.maximum(self.warmup_steps, one), one)
        v = decaying_mean(v, size, self.beta2, "dense")
        new_z = z - (rate * g) / (xp.sqrt(v / (one - self.beta2_power)) + self.epsilon)
        base = z if self.recovers_from == "old" else new_z
        mean = (w - (one - self.beta1) * base) / self.beta1
        share = one / self.steps
        new_mean = (one - share) * mean + share * new_z
        return (one - self.beta1) * new_z + self.beta1 * new_mean, (new_z, v)

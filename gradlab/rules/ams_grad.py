"""AMSGrad: Adam whose step sizes never grow back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .._base.sums import decaying_mean
from .rule import Shared, SizedRule, Slots, float32


@dataclass(frozen=True)
class AMSGrad(SizedRule):
    """Step along the mean gradient over the root of the largest mean square so far.

        m = m + (g - m) * (1 - beta1)
        v = v + (g * g - v) * (1 - beta2)
        vhat = max(vhat, v)
        w = w - (m * (lr * sqrt(1 - beta2_power) / (1 - beta1_power))) / (sqrt(vhat) + epsilon)

    `beta1_power` and `beta2_power` are beta1 ** t and beta2 ** t at step t, counted from 1; 0
    leaves the correction out. These two, `share1` and `share2` are as in `Adam`.

    Shapes: w, g, m, v, vhat (...). Slots: m, v and vhat, from 0. Source: Reddi, Kale & Kumar, "On
    the Convergence of Adam and Beyond" (2018); `ApplyAdamWithAmsgrad`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> rule, w = AMSGrad(beta1=0.5, beta2=0.75, epsilon=0.0), np.array([1.0])
    >>> w, slots = rule(w, (np.zeros(1), np.zeros(1), np.array([16.0])), np.array([4.0]), 0.5)
    >>> w.tolist(), [s.item() for s in slots]
    ([0.75], [2.0, 4.0, 16.0])
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-7
    beta1_power: float = 0.0
    beta2_power: float = 0.0
    share1: float | None = None
    share2: float | None = None
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0, "v": 0.0, "vhat": 0.0}

    def start(self) -> Shared:
        return {"beta1_power": float32(self.beta1), "beta2_power": float32(self.beta2)}

    def advance(self, shared: Shared) -> Shared:
        # The powers of the first step are the betas themselves.
        return {name: shared[name] * beta for name, beta in self.start().items()}

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        m, v, vhat = slots
        xp = namespace(w)
        one = w.dtype.type(1)
        rate = lr * xp.sqrt(one - self.beta2_power) / (one - self.beta1_power)
        m = decaying_mean(m, g, self.beta1, "dense", self.share1)
        v = decaying_mean(v, size, self.beta2, "dense", self.share2)
        vhat = xp.where(v > vhat, v, vhat)  # NaN does not count, as in TensorFlow
        return w - (m * rate) / (xp.sqrt(vhat) + self.epsilon), (m, v, vhat)

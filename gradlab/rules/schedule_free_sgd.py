"""Schedule-free gradient descent: a mean of the iterates in place of a falling learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._base.arrays import Array, namespace
from .rule import Rule, Shared, Slots, float32, rounded


@dataclass(frozen=True)
class ScheduleFreeSGD(Rule):
    """Step a hidden iterate, and keep the weights between it and the mean of all iterates.

        z' = z - lr * warmth * g
        x' = (1 - share) * x + share * z'
        w = (1 - momentum) * z' + momentum * x'

        warmth = min(steps / warmup_steps, 1)
        weight = steps ** power * warmth ** rate_power
        share = weight / sum of all weights so far

    z is the iterate, x the mean, and w the point between them where the gradient is taken. x isn't
    kept; in terms of z and the last w the step is

        w = w + (share * (z - w) - lr * warmth * pull * g)    pull = 1 - momentum * (1 - share)

    and the mean, the weights to evaluate with, is w + (w - z) * (1 / momentum - 1). `steps`, the
    number of the step, `weight_sum`, `share` and `pull` change from step to step. With 0
    warmup_steps there is no warmup.

    Shapes: w, g, z (...). Slots: z, a copy of the weights. The learning rate must stay the same:
    the paper's code and optax weigh iterates by the largest rate so far to the power of rate_power,
    which is that of a rate times warmth where the rate is constant. Differs from optax: there the
    warmup of the rate is one step behind that of the weights. Source: Defazio et al., "The Road
    Less Scheduled" (2024); `SGDScheduleFree` of facebookresearch/schedule_free (2026).

    >>> import numpy as np
    >>> rule, w = ScheduleFreeSGD(momentum=0.5), np.array([1.0])
    >>> slots, shared = rule.init(w), rule.start()
    >>> for _ in range(2):
    ...     w, slots = rule.at(shared)(w, slots, np.array([1.0]), 0.25)
    ...     shared = rule.advance(shared)
    >>> w.tolist(), slots[0].tolist()
    ([0.5625], [0.5])
    """

    momentum: float = 0.9
    warmup_steps: float = 0.0
    power: float = 0.0
    rate_power: float = 2.0
    steps: float = 1.0
    weight_sum: float = 1.0
    share: float = 1.0
    pull: float = 1.0
    slots: ClassVar[dict[str, float | str]] = {"z": 0.0}

    def init(self, w: Array) -> Slots:
        return (namespace(w).array(w),)

    def start(self) -> Shared:
        return self._share_of(float32(1.0), float32(0.0))

    def advance(self, shared: Shared) -> Shared:
        return self._share_of(shared["steps"] + float32(1.0), shared["weight_sum"])

    def _share_of(self, steps: Any, weight_sum: Any) -> Shared:
        """Return the shared fields of a step, given the sum of the weights before it."""
        weight = steps ** float32(self.power) * self._warmth(steps) ** float32(self.rate_power)
        weight_sum = weight_sum + weight
        share = weight / weight_sum
        # Not 1 - momentum * (1 - share), because a rounded momentum near 1 is far off in 1 - momentum.
        pull = float32(1 - self.momentum) + float32(self.momentum) * share
        return {"steps": steps, "weight_sum": weight_sum, "share": share, "pull": pull}

    def _warmth(self, steps: Any) -> Any:
        """Return the share of the learning rate that warmup leaves, in the dtype of `steps`."""
        xp = namespace(steps, self.warmup_steps)
        one = steps.dtype.type(1)
        warmup_steps = xp.maximum(rounded(self.warmup_steps, steps.dtype), one)
        return xp.minimum(steps / warmup_steps, one)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        (z,) = slots
        rate = lr * self._warmth(self.steps)
        # The small terms first, so that w is rounded once.
        new_w = w + (self.share * (z - w) - rate * self.pull * g)
        return new_w, (z - rate * g,)

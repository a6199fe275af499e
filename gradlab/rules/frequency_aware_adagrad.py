"""Adagrad with a larger learning rate for rare rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .._base.arrays import Array, namespace
from .rule import Rule, Shared, Slots, float32
from .table_field import in_tables


@dataclass(frozen=True)
class FrequencyAwareAdagrad(Rule):
    """Adagrad whose rate for a row is multiplied by a power of 1 / the frequency of its gradients.

        counters = counters + 1
        inverse_frequency = max(step_counter, 1) / counters
        multiplier = min(inverse_frequency ** probability_exponent, max_lr_multiplier)
        accumulators = accumulator_decay * accumulators + g * g
        w = w - lr * (multiplier * g / sqrt(accumulators) + l1 * sign(w) + l2 * w)

    l1 and l2 are `l1_regularization_strength` and `l2_regularization_strength`. Shapes: w, g, both
    slots (...).

    Slots: accumulators, from `initial_accumulator_value`; counters, from `initial_counter_value`.
    `step_counter` counts steps from 0, so the first two steps have the same multiplier. Counts are
    numbers of the dtype of w: exact up to 2**24 in float32, 2048 in float16, 256 in bfloat16.
    Certain for jax-tpu-embedding's F2A, where the exponent is rho and there is no decay. That the
    proto's fields mean the same is an analogy; that `accumulator_decay` multiplies the old
    accumulator is a guess, and 1 switches it off. The proto gives no defaults; exponent 0.5 and
    limit 100 are ours.

    Source: `FrequencyAwareAdagradParameters` in TensorFlow's `optimization_parameters.proto`
    (2026); F2A in jax-tpu-embedding 0.1 (2025).

    >>> import numpy as np
    >>> rule = FrequencyAwareAdagrad(initial_accumulator_value=9.0, step_counter=4.0)
    >>> w = np.array([1.0])
    >>> w, slots = rule(w, rule.init(w), np.array([4.0]), 0.25)
    >>> w.tolist(), slots[0].tolist(), slots[1].tolist()
    ([0.6], [25.0], [1.0])
    """

    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    max_lr_multiplier: float = 100.0
    probability_exponent: float = 0.5
    accumulator_decay: float = 1.0
    initial_accumulator_value: float = 0.1
    # The message holds a tag of this number, not the number itself.
    step_counter: float = field(default=0.0, metadata=in_tables(preset=0.0))
    initial_counter_value: float = 0.0
    slots: ClassVar[dict[str, float | str]] = {
        "accumulators": "initial_accumulator_value",
        "counters": "initial_counter_value",
    }
    table_message: ClassVar[str] = "frequency_aware_adagrad"

    def start(self) -> Shared:
        return {"step_counter": float32(self.step_counter)}

    def advance(self, shared: Shared) -> Shared:
        return {"step_counter": shared["step_counter"] + float32(1)}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        xp = namespace(w)
        one = w.dtype.type(1)
        counters = slots[1] + one
        inverse_frequency = xp.maximum(self.step_counter, one) / counters
        multiplier = xp.minimum(
            xp.power(inverse_frequency, self.probability_exponent), self.max_lr_multiplier
        )
        accumulators = self.accumulator_decay * slots[0] + g * g
        penalty = self.l1_regularization_strength * xp.sign(w) + self.l2_regularization_strength * w
        return w - lr * (multiplier * g / xp.sqrt(accumulators) + penalty), (accumulators, counters)

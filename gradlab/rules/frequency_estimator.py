"""The number of steps between two visits to a row: a rule that measures instead of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._base.arrays import Array, namespace
from .rule import Rule, Slots


@dataclass(frozen=True)
class FrequencyEstimator(Rule):
    """Average the number of steps between visits to a row, so that 1 / w is their frequency.

        delta = lr - last_hit_step
        c = min(delta, max_delta)
        w = c if delta >= outlier_threshold * w else (1 - tau) * w + tau * c
        last_hit_step = lr

    The number of the step comes in as the learning rate, as in TPU embeddings. The gradient has no
    effect; TPU embeddings require it to be 0, so stop gradients to this table. Start the weights at
    `max_delta`.

    Shapes: w, g, last_hit_step (...); a TPU table must have width 1. Slot: last_hit_step, from 0.
    Steps are numbers of the dtype of w: exact up to 2**24 in float32, 2048 in float16, 256 in
    bfloat16. All is documented but the place of `weight_exponent`: see `transformed`. The
    proto gives no defaults.

    Source: `FrequencyEstimatorParameters` in TensorFlow's `optimization_parameters.proto` (2026);
    compare Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item
    Recommendations" (2019), section 5.

    >>> import numpy as np
    >>> rule, w = FrequencyEstimator(tau=0.5, max_delta=100.0), np.array([[100.0]])
    >>> w, slots = rule(w, rule.init(w), np.zeros((1, 1)), 2)
    >>> w, slots = rule(w, slots, np.zeros((1, 1)), 5)
    >>> w.tolist(), slots[0].tolist()
    ([[27.0]], [[5.0]])
    """

    tau: float = 0.1
    max_delta: float = 100.0
    outlier_threshold: float = 3.0
    weight_exponent: float = 1.0
    slots: ClassVar[dict[str, float | str]] = {"last_hit_step": 0.0}
    table_message: ClassVar[str] = "frequency_estimator"

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        xp = namespace(w)
        one = w.dtype.type(1)
        delta = lr - slots[0]
        capped = xp.minimum(delta, self.max_delta)
        average = (one - self.tau) * w + self.tau * capped
        new_w = xp.where(delta >= self.outlier_threshold * w, capped, average)
        return new_w, (xp.full_like(slots[0], lr),)

    def transformed(self, w: Array) -> Array:
        """Return (w / max_delta) ** weight_exponent, the proto's weights of these estimates.

        The proto doesn't say where the engine applies it, so `step` doesn't.

        >>> import numpy as np
        >>> rule = FrequencyEstimator(max_delta=4.0, weight_exponent=2.0)
        >>> rule.transformed(np.array([2.0, 4.0])).tolist()
        [0.25, 1.0]
        """
        rule = self._in(w.dtype)
        return namespace(w).power(w / rule.max_delta, rule.weight_exponent)

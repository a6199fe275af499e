"""Adam."""

from __future__ import annotations

from .. import rules
from ..rules.rule import Shared
from .hyperparameters import LearningRate, Rate
from .kernel_order import with_order
from .rule_optimizer import RuleOptimizer
from .variable import GraphKey


class AdamOptimizer(RuleOptimizer):
    """Adam, with slots "m" and "v", and "beta1_power" and "beta2_power" for all variables of a graph together.

        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)
        w = w - (m * (lr * sqrt(1 - beta2_power) / (1 - beta1_power))) / (sqrt(v) + epsilon)

    IndexedSlices: slices of one row are summed first; then **every** row moves, rows not named as
    by a gradient of 0, with m = m * beta1 + g * (1 - beta1), which may change the last bits.

    Args:
        learning_rate, beta1, beta2, epsilon: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).
        use_own_namescope_for_non_slot_vars: name the powers "Adam/beta1_power", "Adam/beta2_power".

    Differs from the paper: epsilon is its "epsilon hat".

    Source: `tf.compat.v1.train.AdamOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 1.0], name="v")
    >>> opt = AdamOptimizer(0.25)
    >>> opt.apply_gradients([([4.0, -0.1], v)])
    >>> v.numpy().round(4).tolist(), [x.name for x in opt.variables()]
    ([0.75, 1.25], ['beta1_power:0', 'beta2_power:0', 'v/Adam:0', 'v/Adam_1:0'])
    """

    _sparse = staticmethod(with_order("sparse"))

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: Rate = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        super().__init__(
            rules.Adam(lazy=False),
            learning_rate,
            use_locking,
            name,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        self._scope = f"{name}/" if use_own_namescope_for_non_slot_vars else ""

    def _keep_shared(self, key: GraphKey, values: Shared) -> None:
        self._store.store_shared(key, values, self._scope)

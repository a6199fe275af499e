"""RMSProp, plain and centered, and Adadelta: both divide by the root of a decaying mean of squares."""

from __future__ import annotations

from collections.abc import Mapping

from .. import rules
from .hyperparameters import LearningRate, Rate
from .kernel_order import with_order
from .rule_optimizer import RuleOptimizer


class RMSPropOptimizer(RuleOptimizer):
    """RMSProp, with slots "rms" and "momentum", and "mg" if `centered`.

        rms = rms + (g * g - rms) * (1 - decay)
        momentum = momentum * mu + (g * lr) / sqrt(rms + epsilon)
        w = w - momentum

    with mu the argument `momentum`. If `centered`, mg = mg + (g - mg) * (1 - decay), and the root
    is of rms - mg * mg + epsilon. rms starts at 1, the others at 0.

    IndexedSlices: slices of one row are summed first; rows not named keep w and slots. The sums are
    written in another order, which may change the last bits.

    Args:
        learning_rate, decay, momentum, epsilon: number, scalar array or variable, or function
            without arguments; the learning rate also a schedule.
        use_locking: no effect on values.
        centered: divide by the variance.
        name: not empty (ValueError).

    Source: `tf.compat.v1.train.RMSPropOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = RMSPropOptimizer(0.5, decay=0.5)
    >>> opt.apply_gradients([([1.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "rms").numpy().tolist()
    ([0.5], [1.0])
    """

    _sparse = staticmethod(with_order("sparse"))

    def __init__(
        self,
        learning_rate: LearningRate,
        decay: Rate = 0.9,
        momentum: Rate = 0.0,
        epsilon: Rate = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        rule = rules.CenteredRMSProp() if centered else rules.RMSProp()
        super().__init__(
            rule, learning_rate, use_locking, name, rho=decay, momentum=momentum, epsilon=epsilon
        )

    def _labels(self, rule: rules.Rule) -> Mapping[str, str]:
        return {slot: self._name for slot in ("rms", "mg", "momentum") if slot in rule.slots}


class AdadeltaOptimizer(RuleOptimizer):
    """Adadelta, with slots "accum" and "accum_update".

        accum = accum * rho + g * g * (1 - rho)
        u = sqrt(accum_update + epsilon) * (1 / sqrt(accum + epsilon)) * g
        w = w - u * lr;  accum_update = accum_update * rho + u * u * (1 - rho)

    IndexedSlices: slices of one row are summed first; rows not named keep w and both slots.

    Args:
        learning_rate, rho, epsilon: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule. The paper has a learning rate of 1.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Source: `tf.compat.v1.train.AdadeltaOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> AdadeltaOptimizer(0.5, rho=0.25, epsilon=1.0).apply_gradients([([2.0], v)])
    >>> v.numpy().tolist()
    [0.5]
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        rho: Rate = 0.95,
        epsilon: Rate = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(
            rules.Adadelta(), learning_rate, use_locking, name, rho=rho, epsilon=epsilon
        )

"""Gradient descent, plain and with momentum."""

from __future__ import annotations

from .. import rules
from ..rules import dense_and_sparse
from .hyperparameters import LearningRate, Rate
from .kernel_order import with_order
from .rule_optimizer import RuleOptimizer


class GradientDescentOptimizer(RuleOptimizer):
    """Gradient descent.

        w = w - g * learning_rate;  IndexedSlices: w[i] = w[i] - g_k * learning_rate for each slice in turn

    Args:
        learning_rate: number, scalar array or variable, function without arguments, or schedule.
        use_locking: no effect on values; updates of one variable never interleave.
        name: not empty (ValueError).

    Source: `tf.compat.v1.train.GradientDescentOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 2.0], name="v")
    >>> GradientDescentOptimizer(0.5).apply_gradients([([2.0, 2.0], v)])
    >>> v.numpy().tolist()
    [0.0, 1.0]
    """

    _sparse = staticmethod(dense_and_sparse.each)

    def __init__(
        self, learning_rate: LearningRate, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(rules.StochasticGradientDescent(), learning_rate, use_locking, name)


class MomentumOptimizer(RuleOptimizer):
    """Momentum, plain or Nesterov's, with slot "momentum".

        m = m * momentum + g;  w = w - m * lr,  or with use_nesterov  w = w - (g * lr + m * momentum * lr)

    IndexedSlices: slices of one row are summed first; rows not named keep w and m.

    Args:
        learning_rate, momentum: number, scalar array or variable, or function without arguments;
            the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).
        use_nesterov: look ahead.

    Source: `tf.compat.v1.train.MomentumOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = MomentumOptimizer(0.5, 0.9)
    >>> opt.apply_gradients([([1.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "momentum").numpy().tolist()
    ([0.5], [1.0])
    """

    _sparse = staticmethod(with_order("sparse"))

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: Rate,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        rule = rules.Momentum(use_nesterov=bool(use_nesterov))
        super().__init__(rule, learning_rate, use_locking, name, momentum=momentum)

"""tf.train's optimizers, thin shells around rules, in order of increasing complexity."""

from __future__ import annotations

import numpy as np

from . import apply, rules
from .gate import GATE_GRAPH as GATE_GRAPH
from .gate import GATE_NONE as GATE_NONE
from .gate import GATE_OP as GATE_OP
from .gate import GateRace as GateRace
from .optimizer import Optimizer as Optimizer
from .optimizer import Rate
from .variable import Variable as Variable


class GradientDescentOptimizer(Optimizer):
    """Gradient descent.

        w = w - g * learning_rate;  IndexedSlices: w[i] = w[i] - g_k * learning_rate for each slice in turn

    Args:
        learning_rate: number, scalar array, or function without arguments.
        use_locking: no effect on values; updates of one variable never interleave.
        name: not empty (ValueError).

    Source: `tf.compat.v1.train.GradientDescentOptimizer`, TensorFlow 2.21 (2026).

    >>> v = Variable([1.0, 2.0], name="v")
    >>> GradientDescentOptimizer(0.5).apply_gradients([([2.0, 2.0], v)])
    >>> v.numpy().tolist()
    [0.0, 1.0]
    """

    _sparse = staticmethod(apply.each)

    def __init__(self, learning_rate: Rate, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(rules.StochasticGradientDescent(), learning_rate, use_locking, name)


class MomentumOptimizer(Optimizer):
    """Momentum, plain or Nesterov's, with slot "momentum".

        m = m * momentum + g;  w = w - m * lr,  or with use_nesterov  w = w - (g * lr + m * momentum * lr)

    IndexedSlices: slices of one row are summed first; rows not named keep w and m.

    Args:
        learning_rate: number, scalar array, or function without arguments.
        momentum: number.
        use_locking: no effect on values. name: not empty (ValueError). use_nesterov: look ahead.

    Source: `tf.compat.v1.train.MomentumOptimizer`, TensorFlow 2.21 (2026).

    >>> v = Variable([1.0], name="v")
    >>> opt = MomentumOptimizer(0.5, 0.9)
    >>> opt.apply_gradients([([1.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "momentum").numpy().tolist()
    ([0.5], [1.0])
    """

    def __init__(
        self,
        learning_rate: Rate,
        momentum: float,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        rule = rules.Momentum(float(np.float32(momentum)), bool(use_nesterov))
        super().__init__(rule, learning_rate, use_locking, name)

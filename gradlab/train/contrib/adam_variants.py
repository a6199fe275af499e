"""The variants of Adam in `tf.contrib.opt`: AdaMax, Nadam, lazy Adam, Adam by the global step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ... import rules
from ..._base.arrays import Array, as_array, set_rows, take_rows
from ..._base.slices import IndexedSlices
from ...rules import dense_and_sparse
from ...rules.rule import Shared, Slots
from ..hyperparameters import LearningRate, Rate
from ..kernel_order import with_order
from ..rule_optimizer import RuleOptimizer
from ..variable import GraphKey, Variable


class AdaMaxOptimizer(RuleOptimizer):
    """AdaMax, with slots "m" and "v", and "beta1_power" for all variables of a graph together.

        m = m + (g - m) * (1 - beta1);  v = max(beta2 * v, |g|)
        w = w - lr / (1 - beta1_power) * (m / (v + epsilon))

    IndexedSlices: slices of one row are summed first; rows not named keep w, m and v. m is then
    m * beta1 + g * (1 - beta1), which may change the last bits.

    Args:
        learning_rate, beta1, beta2, epsilon: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Source: `tf.contrib.opt.AdaMaxOptimizer`, TensorFlow 1.15 (2019); Kingma & Ba, "Adam: A Method
    for Stochastic Optimization", section 7.1 (2014).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = gl.contrib.opt.AdaMaxOptimizer(0.25, beta1=0.5, epsilon=0.0)
    >>> opt.apply_gradients([([4.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "v").numpy().tolist()
    ([0.75], [4.0])
    """

    _sparse = staticmethod(with_order("sparse"))

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: Rate = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(
            rules.AdaMax(),
            learning_rate,
            use_locking,
            name,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )


def _move_named_rows(
    rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Step every row of the slots, but only the named rows of the weights."""
    in_order = replace(rule, order="sparse")
    moved, slots = dense_and_sparse.every_row(in_order, w, slots, g, lr)
    w, _, g = dense_and_sparse.of_one_library(w, (), g, lr)
    return set_rows(w, g.indices, take_rows(moved, g.indices)), slots


class NadamOptimizer(RuleOptimizer):
    """Adam with Nesterov's look ahead, with Adam's slots "m" and "v" and its two powers.

        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)
        ahead = g * (1 - beta1) + beta1 * m
        w = w - (ahead * (lr * sqrt(1 - beta2_power) / (1 - beta1_power))) / (sqrt(v) + epsilon)

    IndexedSlices: slices of one row are summed first; then m and v decay in every row, and w moves
    in the named rows only.

    Args:
        learning_rate, beta1, beta2, epsilon: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Differs from the paper: the momentum does not grow from step to step, as it does in
    `gl.keras.Nadam`.

    Source: `tf.contrib.opt.NadamOptimizer`, TensorFlow 1.15 (2019); Dozat, "Incorporating Nesterov
    Momentum into Adam" (2016).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = gl.contrib.opt.NadamOptimizer(0.25, beta1=0.5, beta2=0.75, epsilon=0.0)
    >>> opt.apply_gradients([([4.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "m").numpy().tolist()
    ([0.625], [2.0])
    """

    _sparse = staticmethod(_move_named_rows)

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: Rate = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(
            rules.Adam(lazy=False, use_nesterov=True),
            learning_rate,
            use_locking,
            name,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )


class LazyAdamOptimizer(RuleOptimizer):
    """Adam whose sparse steps leave rows alone that have no gradient.

        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)
        w = w - (m * (lr * sqrt(1 - beta2_power) / (1 - beta1_power))) / (sqrt(v) + epsilon)

    Dense steps are those of `gl.train.AdamOptimizer`. IndexedSlices: slices of one row are summed
    first; rows not named keep w, m and v, but the powers of beta advance for all.

    Args:
        learning_rate, beta1, beta2, epsilon: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Source: `tf.contrib.opt.LazyAdamOptimizer`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v = gl.Variable([[1.0], [1.0]], name="v")
    >>> opt = gl.contrib.opt.LazyAdamOptimizer(0.25)
    >>> for row in (0, 1):
    ...     opt.apply_gradients([(gl.IndexedSlices([[4.0]], [row]), v)])
    >>> [round(x, 4) for x in v.numpy().ravel().tolist()]
    [0.75, 0.814]
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
    ) -> None:
        super().__init__(
            rules.Adam(lazy=True),
            learning_rate,
            use_locking,
            name,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )


class AdamGSOptimizer(RuleOptimizer):
    """Adam that takes the powers of its bias correction from the global step.

        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)
        w = w - (m * (lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t))) / (sqrt(v) + epsilon)

    with t = global_step + 1 and slots "m" and "v"; the powers are computed in float32.
    IndexedSlices: slices of one row are summed first; then every row moves, rows not named as by a
    gradient of 0, with m = m * beta1 + g * (1 - beta1), which may change the last bits.

    Args:
        global_step: a scalar variable, which is read at every step, or a number that stays. Give a
            variable to `apply_gradients` or `minimize` too, else every step is the first one.
        learning_rate, beta1, beta2, epsilon: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Raises:
        ValueError: `global_step` is None; raised by the first update.

    The pure form counts its own steps. Source: `tf.contrib.opt.AdamGSOptimizer`, TensorFlow 1.15
    (2019).

    >>> import gradlab as gl
    >>> v, step = gl.Variable([1.0]), gl.Variable(0, trainable=False)
    >>> opt = gl.contrib.opt.AdamGSOptimizer(step, 0.25)
    >>> opt.apply_gradients([([4.0], v)], global_step=step)
    >>> v.numpy().round(4).tolist(), [x.name for x in opt.variables()][-1].endswith("Adam_1:0")
    ([0.75], True)
    """

    _sparse = staticmethod(with_order("sparse"))
    _lazy = False

    def __init__(
        self,
        global_step: Variable | int = 0,
        learning_rate: LearningRate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: Rate = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(
            rules.Adam(lazy=self._lazy),
            learning_rate,
            use_locking,
            name,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        self._global_step = global_step

    def _reads(self) -> dict[str, Any]:
        return {**super()._reads(), "global_step": self._global_step}

    def _shared(self, key: GraphKey, rule: rules.Rule) -> Shared:
        step = as_array(self._global_step, "global_step")
        t = np.float32(step + step.dtype.type(1))
        return {name: np.float32(beta) ** t for name, beta in rule.start().items()}

    def _keep_shared(self, key: GraphKey, values: Shared) -> None:
        """The step is the caller's."""


class LazyAdamGSOptimizer(AdamGSOptimizer):
    """`AdamGSOptimizer` whose sparse steps leave rows alone that have no gradient.

        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)
        w = w - (m * (lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t))) / (sqrt(v) + epsilon)

    with t = global_step + 1. IndexedSlices: slices of one row are summed first; rows not named keep
    w, m and v.

    Args:
        global_step, learning_rate, beta1, beta2, epsilon, use_locking, name: as of
            `AdamGSOptimizer`.

    Raises:
        ValueError: `global_step` is None; raised by the first update.

    Source: `tf.contrib.opt.LazyAdamGSOptimizer`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v, step = gl.Variable([[1.0], [1.0]]), gl.Variable(0, trainable=False)
    >>> opt = gl.contrib.opt.LazyAdamGSOptimizer(step, 0.25)
    >>> for row in (0, 1):
    ...     opt.apply_gradients([(gl.IndexedSlices([[4.0]], [row]), v)], global_step=step)
    >>> [round(x, 4) for x in v.numpy().ravel().tolist()], int(step)
    ([0.75, 0.814], 2)
    """

    _lazy = True

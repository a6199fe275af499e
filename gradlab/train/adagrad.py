"""Adagrad."""

from __future__ import annotations

from dataclasses import replace

from .._variables.hyperparameters import Rate
from .._variables.optimizer import Optimizer
from ..rules.adagrad import LIBRARIES
from .checks import check_above_zero
from .kernels import rounded_as


class AdagradOptimizer(Optimizer):
    """Adagrad without an epsilon, with slot "accumulator".

        accumulator = accumulator + g * g;  w = w - (g * lr) * (1 / sqrt(accumulator))

    IndexedSlices: slices of one row are summed first; rows not named keep w and accumulator. Rows of one element divide
    by the root, which may change their last bit.

    Args:
        learning_rate: number, scalar array or variable, or function without arguments.
        initial_accumulator_value: above 0 (ValueError).
        use_locking: no effect on values. name: not empty (ValueError).

    Source: `tf.compat.v1.train.AdagradOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = AdagradOptimizer(0.5, initial_accumulator_value=12.0)
    >>> opt.apply_gradients([([2.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "accumulator").numpy().tolist()
    ([0.75], [16.0])
    """

    _sparse = staticmethod(rounded_as("reciprocal", one_each="divide"))

    def __init__(
        self,
        learning_rate: Rate,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        check_above_zero("initial_accumulator_value", initial_accumulator_value)
        rule = replace(LIBRARIES["TensorFlow 1"], initial_accumulator_value=initial_accumulator_value)
        super().__init__(rule, learning_rate, use_locking, name)

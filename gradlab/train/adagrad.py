"""Adagrad, and Adagrad by dual averaging."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import rules
from ..rules.adagrad import LIBRARIES
from ..rules.rule import Shared
from .gradient_checks import check_step
from .hyperparameters import LearningRate, Rate, check_positive
from .kernel_order import with_order
from .rule_optimizer import RuleOptimizer
from .variable import GraphKey, Variable


class AdagradOptimizer(RuleOptimizer):
    """Adagrad without an epsilon, with slot "accumulator".

        accumulator = accumulator + g * g;  w = w - (g * lr) * (1 / sqrt(accumulator))

    IndexedSlices: slices of one row are summed first; rows not named keep w and accumulator. Rows
    of one element divide by the root, which may change their last bit.

    Args:
        learning_rate: number, scalar array or variable, function without arguments, or schedule.
        initial_accumulator_value: above 0 (ValueError).
        use_locking: no effect on values.
        name: not empty (ValueError).

    Source: `tf.compat.v1.train.AdagradOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = AdagradOptimizer(0.5, initial_accumulator_value=12.0)
    >>> opt.apply_gradients([([2.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "accumulator").numpy().tolist()
    ([0.75], [16.0])
    """

    _sparse = staticmethod(with_order("reciprocal", scalar_row_order="divide"))

    def __init__(
        self,
        learning_rate: LearningRate,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        check_positive("initial_accumulator_value", initial_accumulator_value)
        rule = replace(
            LIBRARIES["TensorFlow 1"], initial_accumulator_value=initial_accumulator_value
        )
        super().__init__(rule, learning_rate, use_locking, name)


class AdagradDAOptimizer(RuleOptimizer):
    """Adagrad by dual averaging: weights from the sums of all gradients, with L1 that keeps them at 0.

        gradient_accumulator = gradient_accumulator + g
        gradient_squared_accumulator = gradient_squared_accumulator + g * g
        w = -lr * soft(gradient_accumulator, T * l1) / (T * lr * l2 + sqrt(gradient_squared_accumulator))

    with T = global_step + 1 and `soft(x, limit) = sign(x) * max(|x| - limit, 0)`. The weights
    before the first step are forgotten. IndexedSlices: slices of one row are summed first; rows not
    named keep w and both slots.

    Args:
        learning_rate: number, scalar array or variable, function without arguments, or schedule.
        global_step: integer variable, or an integer for a step that stays. It is only read: give it
            to `apply_gradients` or `minimize` too, else every step is the first one. Not an integer
            scalar: TypeError.
        initial_gradient_squared_accumulator_value: above 0 (ValueError).
        l1_regularization_strength, l2_regularization_strength: l1 and l2.
        use_locking: no effect on values.
        name: not empty (ValueError).

    The pure form counts its own steps. Source: `tf.compat.v1.train.AdagradDAOptimizer`, TensorFlow
    2.21 (2026).

    >>> import gradlab as gl
    >>> v, step = gl.Variable([7.0]), gl.get_or_create_global_step().assign(0)
    >>> opt = AdagradDAOptimizer(0.5, step, initial_gradient_squared_accumulator_value=12.0)
    >>> opt.apply_gradients([([2.0], v)], global_step=step)
    >>> v.numpy().tolist(), opt.get_slot(v, "gradient_squared_accumulator").numpy().tolist()
    ([-0.25], [16.0])
    """

    _sparse = staticmethod(with_order("sparse", scalar_row_order="scalar"))

    def __init__(
        self,
        learning_rate: LearningRate,
        global_step: Variable | int,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: Rate = 0.0,
        l2_regularization_strength: Rate = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        check_positive(
            "initial_gradient_squared_accumulator_value", initial_gradient_squared_accumulator_value
        )
        if not isinstance(global_step, int | np.integer):
            check_step(global_step)
        super().__init__(
            rules.AdagradDA(initial_gradient_squared_accumulator_value),
            learning_rate,
            use_locking,
            name,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self._global_step = global_step

    def _reads(self) -> dict[str, Any]:
        return {**super()._reads(), "global_step": self._global_step}

    def _shared(self, key: GraphKey, rule: rules.Rule) -> Shared:
        return {"global_step": np.int64(int(self._global_step) + 1)}

    def _keep_shared(self, key: GraphKey, values: Shared) -> None:
        """The step is the caller's."""

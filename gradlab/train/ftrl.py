"""FTRL-Proximal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import rules
from .._base.arrays import Array, namespace
from .hyperparameters import LearningRate, check_not_negative
from .kernel_order import with_order
from .rule_optimizer import RuleOptimizer


class FtrlOptimizer(RuleOptimizer):
    """Follow the regularized leader, with slots "accum" and "linear".

        accum' = accum + g * g;  root(x) = x ** -learning_rate_power
        linear = linear + (g + 2 * l2_shrinkage * w) - (root(accum') - root(accum)) / lr * w
        w = (clip(linear, -l1, l1) - linear) / (root(accum') / lr + 2 * (l2 + beta / (2 * lr)))

    l1, l2 and l2_shrinkage are the arguments whose names end in _regularization_strength. "linear"
    starts at 0, not at a value that agrees with the weights, so without l1, l2 and beta the first
    step keeps the share 1 - root(accum) / root(accum') of the initial weights and adds -lr /
    root(accum') * g: with an accumulator of 0.1 none of them after a gradient of 0, and 70% after a
    gradient of 1. IndexedSlices: slices of one row are summed first; rows not named keep w and
    slots.

    Args:
        learning_rate: number, scalar array or variable, function without arguments, or schedule.
        learning_rate_power: 0 or less. 0 is a rate that stays.
        initial_accumulator_value, l1_regularization_strength, l2_regularization_strength,
            l2_shrinkage_regularization_strength: 0 or more.
        use_locking: no effect on values.
        name: not empty.
        accum_name, linear_name: in place of `name`, for the names of the slots.
        beta: of the paper; None is 0.

    Raises: ValueError for a number that is not allowed, or an empty name.

    Source: `tf.compat.v1.train.FtrlOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 1.0], name="v")
    >>> opt = FtrlOptimizer(0.5, initial_accumulator_value=0.0, l1_regularization_strength=1.0)
    >>> opt.apply_gradients([([4.0, 0.5], v)])
    >>> v.numpy().tolist()
    [0.375, 0.0]

    >>> v = gl.Variable([5.0, 0.0], name="v")
    >>> FtrlOptimizer(0.1).apply_gradients([([1.0, 1.0], v)])
    >>> [round(x, 3) for x in v.numpy().tolist()]
    [3.397, -0.095]
    """

    _sparse = staticmethod(with_order("sparse", scalar_row_order="scalar"))

    def __init__(
        self,
        learning_rate: LearningRate,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        if learning_rate_power > 0:
            raise ValueError(f"learning_rate_power must be 0 or less, got {learning_rate_power}")
        check_not_negative("initial_accumulator_value", initial_accumulator_value)
        check_not_negative("l1_regularization_strength", l1_regularization_strength)
        check_not_negative("l2_regularization_strength", l2_regularization_strength)
        check_not_negative(
            "l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength
        )
        super().__init__(
            rules.Ftrl(initial_accumulator_value=initial_accumulator_value),
            learning_rate,
            use_locking,
            name,
            lr_power=learning_rate_power,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
            l2_shrinkage=l2_shrinkage_regularization_strength,
            beta=0.0 if beta is None else beta,
        )
        self._names = {"accum": accum_name or name, "linear": linear_name or name}

    def _labels(self, rule: rules.Rule) -> Mapping[str, str]:
        return self._names

    def _rule_at(self, rate: Array) -> rules.Rule:
        """TensorFlow's ops know no beta: it becomes a part of l2, in the precision of the rate."""
        rule, xp, number = self._rule, namespace(rate), rate.dtype.type
        assert isinstance(rule, rules.Ftrl)
        share = number(rule.beta) / (number(2) * xp.maximum(rate, number(1e-36)))
        return replace(rule, l2=number(rule.l2) + share, beta=0.0)

"""LARS: the learning rate of a variable grows with its weights over its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ... import rules
from ..._base.arrays import Array, as_array, namespace
from ..._base.slices import IndexedSlices
from ...errors import DTypeError
from ...rules import dense_and_sparse
from ...rules.rule import Slots
from ..hyperparameters import Rate, check_not_negative, is_function, is_plain
from ..rule_optimizer import RuleChoice, RuleOptimizer
from ..variable import Variable


def _step_by_momentum(
    rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Step the named rows by momentum alone, with Python's numbers in float32 first."""
    momentum = rules.Momentum(float(np.float32(rule.momentum)), rule.use_nesterov, "sparse")
    rate = np.float32(lr) if type(lr) is float else lr
    return dense_and_sparse.rows(momentum, w, slots, g, rate)


class LARSOptimizer(RuleOptimizer):
    """Momentum whose learning rate for a variable grows with its weights over its gradient.

        trust = eeta * |w| / (|g| + weight_decay * |w| + epsilon),  1 where a norm is 0
        g = (g + weight_decay * w) * (lr * trust)
        m = m * momentum + g;  w = w - m,  or with use_nesterov  w = w - (g + m * momentum)

    with norms of whole variables and slot "momentum". IndexedSlices: plain momentum, without trust
    and weight decay; slices of one row are summed first, rows not named keep w and m.

    Args:
        learning_rate: number, or scalar array or variable of the dtype of the weights.
        momentum, weight_decay: 0 or more (ValueError).
        eeta: number, the trust coefficient of the paper.
        epsilon: number, for gradients that are very small.
        name: not empty (ValueError).
        skip_list: strings; a variable whose name contains one of them steps by plain momentum,
            with dense gradients too.
        use_nesterov: look ahead.

    Numbers keep their double precision for dense gradients of float64, and are rounded to float32
    for slices, as in TensorFlow. `skip_list` has no effect on the pure form, whose weights have no
    names.

    Raises:
        TypeError: a function as `learning_rate` meets a dense gradient.
        DTypeError: a `learning_rate` of another dtype than the weights meets a dense gradient.

    Source: `tf.contrib.opt.LARSOptimizer`, TensorFlow 1.15 (2019); You, Gitman & Ginsburg, "Large
    Batch Training of Convolutional Networks" (2017).

    >>> import gradlab as gl
    >>> v = gl.Variable([3.0, 4.0], name="v")
    >>> opt = gl.contrib.opt.LARSOptimizer(1.0, weight_decay=0.0, eeta=0.5)
    >>> opt.apply_gradients([([0.0, 2.0], v)])
    >>> v.numpy().tolist()
    [3.0, 1.5]
    """

    _sparse = staticmethod(_step_by_momentum)

    def __init__(
        self,
        learning_rate: Rate,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        check_not_negative("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        rule = rules.LARS(momentum, weight_decay, eeta, epsilon, bool(use_nesterov))
        super().__init__(rule, learning_rate, False, name)
        self._skip_list = skip_list

    def compute_lr(self, grad: Any, var: Variable) -> tuple[Any, Any]:
        """Return the learning rate of a variable and its gradient with the decay of weights.

        Args:
            grad: dense gradient.
            var: its variable.
        """
        rule: Any = self._choose_rule(None)(self._fixed, var)
        settled = rule._in(var.dtype)
        rate = namespace(var._value).asarray(self._rate(None), var.dtype)
        scaled: tuple[Any, Any] = settled.scale(var.value, as_array(grad, "grad"), rate)
        return scaled

    def _rate(self, step: Any) -> Any:
        if is_plain(self._learning_rate):
            return float(self._learning_rate)  # type: ignore[arg-type]
        return super()._rate(step)

    def _choose_rule(self, global_step: Variable | None) -> RuleChoice:
        def choose(rule: Any, v: Variable) -> Any:
            is_skipped = any(part in v.name for part in self._skip_list or ())
            return replace(rule, is_scaled=not is_skipped)

        return choose

    def _update(self, pairs: Any, *args: Any) -> None:
        for g, v in pairs:
            if not isinstance(g, IndexedSlices):
                self._check_rate(v)
        super()._update(pairs, *args)

    def _check_rate(self, v: Variable) -> None:
        rate = self._learning_rate
        if is_plain(rate):
            return
        if is_function(rate):
            raise TypeError(
                "learning_rate must be a number, an array or a variable for dense gradients, got a "
                "function; assign to a variable between steps"
            )
        dtype = as_array(rate, "learning_rate").dtype
        if dtype != v.dtype:
            raise DTypeError(f"learning_rate is {dtype} but {v.name} is {v.dtype}")

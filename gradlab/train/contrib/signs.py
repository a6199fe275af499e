"""AddSign and PowerSign, and decays of the weight that they give to agreeing signs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ... import rules
from ..._base.arrays import Array, as_array, namespace
from ..._base.slices import IndexedSlices
from ...rules import dense_and_sparse
from ...rules.rule import Slots
from ..hyperparameters import Rate, is_function, read_scalar
from ..rule_optimizer import RuleChoice, RuleOptimizer
from ..variable import Variable

SignDecay: TypeAlias = Callable[[Any], Any]


class _SignOptimizer(RuleOptimizer):
    """What the two optimizers share: the decay is asked at every step."""

    _sparse = staticmethod(dense_and_sparse.every_row)
    _sign_decay_fn: SignDecay | None

    def _choose_rule(self, global_step: Variable | None) -> RuleChoice:
        if is_function(self._learning_rate):
            raise TypeError(
                "learning_rate must be a number, an array or a variable, got a function; assign to a "
                "variable between steps"
            )
        decay = self._sign_decay_fn
        if decay is None:
            return super()._choose_rule(global_step)
        decay(global_step)  # a bad step is refused while the update is described

        def choose(rule: Any, v: Variable) -> Any:
            return replace(rule, sign_decay=read_scalar(decay(global_step), "sign_decay"))

        return choose

    def _pure_rule(self, rule: Any, step: Any) -> Any:
        if self._sign_decay_fn is None:
            return rule
        return replace(rule, sign_decay=self._sign_decay_fn(step))


class AddSignOptimizer(_SignOptimizer):
    """Scale the step up where gradient and mean gradient agree in sign, down where they do not.

        m = m * beta + g * (1 - beta)
        w = w - (lr * (alpha + sign_decay * (sign(g) * sign(m)))) * g

    Slot: "m". IndexedSlices: slices of one row are summed first; then m decays in every row, and w
    moves in the named rows only.

    Args:
        learning_rate, alpha, beta: number, scalar array or variable.
        sign_decay_fn: function from the global step to `sign_decay`, such as one of
            `get_linear_decay_fn`; None means 1. It is given the `global_step` of `apply_gradients`
            or `minimize`.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Raises:
        TypeError: a function as `learning_rate`; raised by the update, as in TensorFlow.

    Differs from TensorFlow: slices are served whatever the variable; TensorFlow refuses them for
    resource variables.

    Source: `tf.contrib.opt.AddSignOptimizer`, TensorFlow 1.15 (2019); Bello et al., "Neural
    Optimizer Search with Reinforcement Learning" (2017).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 1.0], name="v")
    >>> opt = gl.contrib.opt.AddSignOptimizer(0.25, beta=0.5)
    >>> for g in ([1.0, 4.0], [1.0, -1.0]):
    ...     opt.apply_gradients([(g, v)])
    >>> v.numpy().tolist()
    [0.0, -1.0]
    """

    def __init__(
        self,
        learning_rate: Rate = 0.1,
        alpha: Rate = 1.0,
        beta: Rate = 0.9,
        sign_decay_fn: SignDecay | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(rules.AddSign(), learning_rate, use_locking, name, alpha=alpha, beta=beta)
        self._sign_decay_fn = sign_decay_fn


def _step_by_power_of_e(
    rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Step every row; for slices TensorFlow takes powers of an e rounded to float32."""
    if w.dtype == np.float64:
        rule = replace(rule, logbase=rule.logbase * math.log(np.float32(math.e)))
    return dense_and_sparse.every_row(rule, w, slots, g, lr)


class PowerSignOptimizer(_SignOptimizer):
    """Multiply the step where gradient and mean gradient agree in sign, else divide it.

        m = m * beta + g * (1 - beta)
        w = w - (lr * base ** (sign_decay * (sign(g) * sign(m)))) * g

    Slot: "m". IndexedSlices: slices of one row are summed first; then m decays in every row, and w
    moves in the named rows only.

    Args:
        learning_rate, beta: number, scalar array or variable.
        base: a number above 0.
        sign_decay_fn: function from the global step to `sign_decay`, such as one of
            `get_cosine_decay_fn`; None means 1. It is given the `global_step` of `apply_gradients`
            or `minimize`.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Raises:
        TypeError: a function as `learning_rate`; raised by the update, as in TensorFlow.

    Differs from TensorFlow: slices are served whatever the variable; TensorFlow refuses them for
    resource variables.

    Source: `tf.contrib.opt.PowerSignOptimizer`, TensorFlow 1.15 (2019); Bello et al., "Neural
    Optimizer Search with Reinforcement Learning" (2017).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 1.0], name="v")
    >>> opt = gl.contrib.opt.PowerSignOptimizer(0.25, base=2.0, beta=0.5)
    >>> for g in ([1.0, 4.0], [1.0, -1.0]):
    ...     opt.apply_gradients([(g, v)])
    >>> v.numpy().tolist()
    [0.0, -0.875]
    """

    _sparse = staticmethod(_step_by_power_of_e)

    def __init__(
        self,
        learning_rate: Rate = 0.1,
        base: float = math.e,
        beta: Rate = 0.9,
        sign_decay_fn: SignDecay | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(
            rules.PowerSign(), learning_rate, use_locking, name, logbase=math.log(base), beta=beta
        )
        self._sign_decay_fn = sign_decay_fn


def get_linear_decay_fn(decay_steps: int) -> SignDecay:
    """Return a function from the global step to a number that falls from 1 to 0 in a line.

        max(0, (decay_steps - min(step, decay_steps)) / decay_steps)

    Args:
        decay_steps: steps until 0.

    The function raises ValueError where the step is None, TypeError where `decay_steps` isn't an
    integer.

    Source: `tensorflow.contrib.opt.python.training.sign_decay`, TensorFlow 1.15 (2019).

    >>> decay = get_linear_decay_fn(4)
    >>> [float(decay(step)) for step in (0, 1, 9)]
    [1.0, 0.75, 0.0]
    """
    return _LinearDecay(decay_steps)


def get_cosine_decay_fn(
    decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None
) -> SignDecay:
    """Return a function from the global step to a cosine between 1 and 0.

        0.5 * (1 + cos(2 * pi * num_periods * min(step, decay_steps) / decay_steps))

    Args:
        decay_steps: steps after which the value stays.
        num_periods: periods of the cosine until then; half a period ends at 0.
        zero_after: periods after which the value is 0.

    The function raises ValueError where the step is None, TypeError where `decay_steps` isn't an
    integer.

    Source: `tensorflow.contrib.opt.python.training.sign_decay`, TensorFlow 1.15 (2019).

    >>> decay = get_cosine_decay_fn(4)
    >>> [round(float(decay(step)), 3) for step in (0, 1, 2, 9)]
    [1.0, 0.854, 0.5, 0.0]
    """
    return _CosineDecay(decay_steps, num_periods, zero_after)


def get_restart_decay_fn(
    decay_steps: int, num_periods: float = 1, zero_after: float | None = None
) -> SignDecay:
    """Return a function from the global step to half a cosine that starts again in every period.

        0.5 * (1 + cos(pi * ((num_periods * min(step, decay_steps)) mod decay_steps) / decay_steps))

    Args:
        decay_steps: steps after which the value stays.
        num_periods: how often it falls from 1 toward 0 until then.
        zero_after: periods after which the value is 0.

    The function raises ValueError where the step is None, TypeError where `decay_steps`, or
    `num_periods` beside `zero_after`, isn't an integer.

    Source: `tensorflow.contrib.opt.python.training.sign_decay`, TensorFlow 1.15 (2019).

    >>> decay = get_restart_decay_fn(4, num_periods=2)
    >>> [round(float(decay(step)), 3) for step in (0, 1, 2, 3)]
    [1.0, 0.5, 1.0, 0.5]
    """
    return _RestartDecay(decay_steps, num_periods, zero_after)


# Classes rather than closures, so that an optimizer with one of them can be pickled.


@dataclass(frozen=True)
class _LinearDecay:
    decay_steps: int

    def __call__(self, global_step: Any) -> Any:
        step, last = _read_step(global_step, self.decay_steps, "linear_decay")
        xp = namespace(step)
        remaining = (last - xp.minimum(step, last)).astype(np.int32)
        return xp.maximum(np.float32(0), remaining.astype(np.float32) / np.float32(last))


@dataclass(frozen=True)
class _CosineDecay:
    decay_steps: int
    num_periods: float
    zero_after: float | None

    def __call__(self, global_step: Any) -> Any:
        step, last = _read_step(global_step, self.decay_steps, "cosine_decay")
        xp = namespace(step)
        share = xp.minimum(step, last).astype(np.float32) / np.float32(last)
        fraction = np.float32(2.0 * self.num_periods) * share
        decayed = _half_cosine(fraction)
        if self.zero_after is None:
            return decayed
        return xp.where(fraction >= np.float32(2 * self.zero_after), np.float32(0), decayed)


@dataclass(frozen=True)
class _RestartDecay:
    decay_steps: int
    num_periods: float
    zero_after: float | None

    def __call__(self, global_step: Any) -> Any:
        step, last = _read_step(global_step, self.decay_steps, "cosine_decay")
        xp = namespace(step)
        periods = np.float32(self.num_periods) * xp.minimum(step, last).astype(np.float32)
        decayed = _half_cosine(xp.mod(periods, np.float32(last)) / np.float32(last))
        if self.zero_after is None:
            return decayed
        _check_integer("num_periods beside zero_after", self.num_periods, step)
        is_over = periods / np.float32(last) >= np.float32(self.zero_after)
        return xp.where(is_over, np.float32(0), decayed)


def _read_step(global_step: Any, decay_steps: Any, decay: str) -> tuple[Any, Any]:
    """Return the step, and `decay_steps` in its dtype, as TensorFlow compares them."""
    if global_step is None:
        raise ValueError(f"global_step is required for {decay}; pass it to apply_gradients")
    step = as_array(global_step, "global_step")
    _check_integer("decay_steps", decay_steps, step)
    return step, step.dtype.type(decay_steps)


def _check_integer(name: str, x: Any, step: Any) -> None:
    if step.dtype.kind in "iu" and not isinstance(x, int | np.integer):
        raise TypeError(f"{name} must be an integer, as the step is {step.dtype}; got {x!r}")


def _half_cosine(fraction: Any) -> Any:
    cosine = namespace(fraction).cos(np.float32(math.pi) * fraction)
    return np.float32(0.5) * (np.float32(1) + cosine)

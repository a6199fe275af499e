"""Learning rates that decay with a step variable: tf.compat.v1.train's functions, around the formulas of gl.schedules.

Each returns a function without arguments, as in eager TensorFlow: it reads the global step when it
is called, and `gl.train`'s optimizers call it at every step. In a `Graph` it's a `gl.Tensor`, as in
TensorFlow, which can be called too.

What all have in common:

- `learning_rate` is a number or a scalar array; its dtype is the rate's, a Python number is
  float32.
- `global_step` is a Variable, or a number, of any numeric dtype.
- `name` is ignored.
- They don't check `decay_steps`, as in TensorFlow: 0 gives NaN, where `gl.schedules` refuses it.

Raises: ValueError, when the rate is read, if `global_step` is None.

Source: `tf.compat.v1.train`, TensorFlow 2.21 (2026), run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array
from .._base.tensors import describe
from ..errors import DTypeError, InvalidArgumentError
from ..schedules import (
    CosineDecay,
    CosineDecayRestarts,
    ExponentialDecay,
    InverseTimeDecay,
    LearningRateSchedule,
    LinearCosineDecay,
    NoisyLinearCosineDecay,
    PiecewiseConstantDecay,
    PolynomialDecay,
)
from .variable import Variable, current_collection

Rate = Callable[[], Array]


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """Multiply the rate by `decay_rate` every `decay_steps`.

        rate = learning_rate * decay_rate ** p,  p = global_step / decay_steps, or its floor with staircase

    Source: `tf.compat.v1.train.exponential_decay`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> step = gl.Variable(4, trainable=False)
    >>> exponential_decay(1.0, step, decay_steps=2, decay_rate=0.5)().item()
    0.25
    """
    return _rate_of(_Exponential(learning_rate, decay_steps, decay_rate, staircase), global_step)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """Multiply the rate by exp(-decay_rate) every `decay_steps`.

        rate = learning_rate * exp(-decay_rate) ** p,  p = global_step / decay_steps, or its floor with staircase

    Source: `tf.compat.v1.train.natural_exp_decay`, TensorFlow 2.21 (2026).

    >>> round(natural_exp_decay(1.0, 4, decay_steps=2, decay_rate=0.5)().item(), 4)
    0.3679
    """
    # TensorFlow takes exp(-decay_rate) in float32, so a period's factor is rounded to it.
    per_period = np.exp(-np.float64(decay_rate)).astype(np.float32)
    return _rate_of(_Exponential(learning_rate, decay_steps, per_period, staircase), global_step)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """Divide the rate by a number that grows with time.

        rate = learning_rate / (1 + decay_rate * p),  p = global_step / decay_steps, or its floor with staircase

    Source: `tf.compat.v1.train.inverse_time_decay`, TensorFlow 2.21 (2026).

    >>> inverse_time_decay(1.0, 2, decay_steps=2, decay_rate=1.0)().item()
    0.5
    """
    return _rate_of(_InverseTime(learning_rate, decay_steps, decay_rate, staircase), global_step)


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Rate:
    """Decay the rate to `end_learning_rate` along a polynomial.

        rate = (learning_rate - end_learning_rate) * (1 - s / decay_steps) ** power + end_learning_rate
        s = min(global_step, decay_steps); with `cycle`, see `gl.schedules.PolynomialDecay`

    Source: `tf.compat.v1.train.polynomial_decay`, TensorFlow 2.21 (2026).

    >>> polynomial_decay(1.0, 2, decay_steps=4, end_learning_rate=0.0, power=2.0)().item()
    0.25
    """
    return _rate_of(
        _Polynomial(learning_rate, decay_steps, end_learning_rate, power, cycle), global_step
    )


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Rate:
    """Decay the rate along half a cosine.

        rate = learning_rate * ((1 - alpha) * (1 + cos(pi * s / decay_steps)) / 2 + alpha)
        s = min(global_step, decay_steps)

    Raises:
        DTypeError: `learning_rate` is an array of another dtype than float32.

    Source: `tf.compat.v1.train.cosine_decay`, TensorFlow 2.21 (2026).

    >>> cosine_decay(1.0, 2, decay_steps=4, alpha=0.5)().item()
    0.75
    """
    _check_float32(learning_rate)
    return _rate_of(_Cosine(learning_rate, decay_steps, alpha), global_step)


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Rate:
    """Decay the rate along half a cosine again and again, each time for `t_mul` times as long.

    The formula is that of `gl.schedules.CosineDecayRestarts`.

    Raises:
        DTypeError: `learning_rate` is an array of another dtype than float32.

    Source: `tf.compat.v1.train.cosine_decay_restarts`, TensorFlow 2.21 (2026).

    >>> cosine_decay_restarts(1.0, 4, first_decay_steps=4, m_mul=0.5)().item()
    0.5
    """
    _check_float32(learning_rate)
    return _rate_of(
        _CosineRestarts(learning_rate, first_decay_steps, t_mul, m_mul, alpha), global_step
    )


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Rate:
    """Decay the rate along a line that a cosine bends, and never to 0.

    The formula is that of `gl.schedules.LinearCosineDecay`.

    Raises:
        DTypeError: `learning_rate` is an array of another dtype than float32.

    Source: `tf.compat.v1.train.linear_cosine_decay`, TensorFlow 2.21 (2026).

    >>> linear_cosine_decay(1.0, 4, decay_steps=4, beta=0.25)().item()
    0.25
    """
    _check_float32(learning_rate)
    return _rate_of(
        _LinearCosine(learning_rate, decay_steps, num_periods, alpha, beta), global_step
    )


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Rate:
    """Decay the rate along a line with noise that a cosine bends.

    The formula is that of `gl.schedules.NoisyLinearCosineDecay`, with seed 0.

    Raises:
        DTypeError: `learning_rate` is an array of another dtype than float32.

    Differs from TensorFlow: the noise of a step is the same at every call.

    Source: `tf.compat.v1.train.noisy_linear_cosine_decay`, TensorFlow 2.21 (2026).

    >>> round(noisy_linear_cosine_decay(1.0, 4, decay_steps=4, initial_variance=0.01)().item(), 3)
    0.001
    """
    _check_float32(learning_rate)
    schedule = _NoisyLinearCosine(
        learning_rate, decay_steps, initial_variance, variance_decay, num_periods, alpha, beta
    )
    return _rate_of(schedule, global_step)


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Callable[[], Array]:
    """A constant up to and including each boundary.

        value = values[k],  k = number of boundaries < x

    Args:
        x: a Variable or a number, mostly the global step.
        boundaries: increasing, of the dtype of `x`; integers go with an `x` of int64, too.
        values: one more than boundaries, all of one dtype.
        name: ignored.

    Raises:
        ValueError: numbers of boundaries and values that don't fit, or dtypes that differ.

    Source: `tf.compat.v1.train.piecewise_constant`, TensorFlow 2.21 (2026).

    >>> piecewise_constant(3, [2, 4], [1.0, 0.5, 0.25])().item()
    0.5
    """
    _check_one_dtype(values)
    schedule = PiecewiseConstantDecay(boundaries, values)

    def value() -> Array:
        read = _read(x)
        for boundary in boundaries:
            kind = as_array(boundary, "a boundary").dtype
            is_wider_integer = read.dtype == np.int64 and kind == np.int32
            if kind != read.dtype and not is_wider_integer:
                raise DTypeError(
                    f"boundaries ({kind}) must have the same dtype as x ({read.dtype})"
                )
        return schedule(read)

    return _describe_in_graph(value)


piecewise_constant_decay = piecewise_constant


class _Unchecked:
    """Leaves out the checks of a schedule.

    Those of Keras 3 refuse decay steps of 0 and less; TensorFlow 1's functions don't look at them.
    """

    def __post_init__(self) -> None: ...


class _Exponential(_Unchecked, ExponentialDecay): ...


class _InverseTime(_Unchecked, InverseTimeDecay): ...


class _Polynomial(_Unchecked, PolynomialDecay): ...


class _Cosine(_Unchecked, CosineDecay): ...


class _CosineRestarts(_Unchecked, CosineDecayRestarts): ...


class _LinearCosine(_Unchecked, LinearCosineDecay): ...


class _NoisyLinearCosine(_Unchecked, NoisyLinearCosineDecay): ...


def _rate_of(schedule: LearningRateSchedule, global_step: Any) -> Rate:
    return _describe_in_graph(lambda: schedule(_read(global_step)))


def _describe_in_graph(rate: Rate) -> Rate:
    if not current_collection().graph:
        return rate
    tensor: Rate = describe(rate)
    return tensor


def _read(step: Any) -> Array:
    """Return the value of a step now."""
    if step is None:
        raise ValueError(
            "global_step is None; give a Variable such as "
            "gl.get_or_create_global_step(), or a number"
        )
    return step.value if isinstance(step, Variable) else as_array(step, "global_step")


def _check_float32(rate: Any) -> None:
    """Refuse arrays of another dtype, which TensorFlow multiplies with float32 and fails."""
    dtype = as_array(rate, "learning_rate").dtype
    if hasattr(rate, "dtype") and dtype != np.float32:
        raise DTypeError(f"learning_rate must be float32 in a cosine decay, got {dtype}")


def _check_one_dtype(values: Sequence[Any]) -> None:
    dtypes = [as_array(x, "a value").dtype for x in values]
    for dtype in dtypes:
        if dtype != dtypes[0]:
            raise InvalidArgumentError(f"values must have one dtype, got {dtypes[0]} and {dtype}")

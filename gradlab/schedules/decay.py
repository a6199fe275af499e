"""Rates that fall exponentially, inversely, along a polynomial or in steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, namespace, quiet
from .._base.types import Namespace, Number
from ._schedule import Decay, FieldSchedule, precise


@dataclass(frozen=True, eq=False)
class _Progress(Decay):
    """A decay that depends on the progress p = step / decay_steps, or its floor with staircase."""

    initial_learning_rate: Number
    decay_steps: Any
    decay_rate: Any
    staircase: bool = False
    name: str | None = None

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        p = step / cast(self.decay_steps)
        if self.staircase:
            p = xp.floor(p)
        return self._decay(rate, p, cast)

    def _decay(self, rate: Array, p: Array, cast: Callable[[Any], Array]) -> Array:
        raise NotImplementedError(f"{type(self).__name__} must define _decay(rate, p, cast)")


@dataclass(frozen=True, eq=False)
class ExponentialDecay(_Progress):
    """Multiply the rate by decay_rate every decay_steps.

        rate = initial_learning_rate * decay_rate ** p
        p = step / decay_steps, or its floor with staircase

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32.
        decay_steps: > 0 (ValueError).
        decay_rate: number.
        staircase: change at multiples of decay_steps only.
        name: kept in the config, nothing else.

    `step`: number or array of any shape, NumPy or JAX; the result has its shape. Bit-equal to
    TensorFlow under NumPy.

    Differs from TensorFlow: an integer initial_learning_rate works, decay_steps <= 0 is refused as
    in Keras 3.

    Source: `tf.keras.optimizers.schedules.ExponentialDecay`, TensorFlow 2.21 (2026).

    >>> schedule = ExponentialDecay(0.5, decay_steps=2, decay_rate=0.25)
    >>> print(*(schedule(step) for step in range(4)))
    0.5 0.25 0.125 0.0625
    """

    def _decay(self, rate: Array, p: Array, cast: Callable[[Any], Array]) -> Array:
        return rate * precise(operator.pow, cast(self.decay_rate), p)


@dataclass(frozen=True, eq=False)
class InverseTimeDecay(_Progress):
    """Divide the rate by a number that grows with time.

        rate = initial_learning_rate / (1 + decay_rate * p)
        p = step / decay_steps, or its floor with staircase

    Arguments, dtypes, shapes, errors and differences as of `ExponentialDecay`.

    Source: `tf.keras.optimizers.schedules.InverseTimeDecay`, TensorFlow 2.21 (2026).

    >>> schedule = InverseTimeDecay(1.0, decay_steps=2, decay_rate=2.0)
    >>> print(schedule(0), schedule(2), schedule(6))
    1.0 0.33333334 0.14285715
    """

    def _decay(self, rate: Array, p: Array, cast: Callable[[Any], Array]) -> Array:
        return rate / (cast(1) + cast(self.decay_rate) * p)


@dataclass(frozen=True, eq=False)
class PolynomialDecay(Decay):
    """Decay the rate to end_learning_rate along a polynomial.

        rate = (initial_learning_rate - end_learning_rate) * f + end_learning_rate
        f = (1 - s / d) ** power
        s = min(step, decay_steps), d = decay_steps
        s = step, d = decay_steps * max(1, ceil(step / decay_steps))      with cycle

    Args:
        initial_learning_rate: number or scalar array; its dtype is the result's, a Python number is
            float32.
        decay_steps: > 0 (ValueError).
        end_learning_rate, power: numbers.
        cycle: fall again in each period of decay_steps, from a lower rate each time: in the k-th
            period f falls from (1 / k) ** power to 0.
        name: kept in the config, nothing else.

    Dtypes, shapes and differences as of `ExponentialDecay`.

    Source: `tf.keras.optimizers.schedules.PolynomialDecay`, TensorFlow 2.21 (2026).

    >>> schedule = PolynomialDecay(1.0, decay_steps=4, end_learning_rate=0.0, power=2.0)
    >>> print(*(schedule(step) for step in (0, 2, 4, 9)))
    1.0 0.25 0.0 0.0
    """

    initial_learning_rate: Number
    decay_steps: Any
    end_learning_rate: Any = 0.0001
    power: Any = 1.0
    cycle: bool = False
    name: str | None = None

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        end = cast(self.end_learning_rate)
        steps = cast(self.decay_steps)
        one = cast(1)
        if self.cycle:
            steps = steps * xp.where(step == 0, one, xp.ceil(step / steps))
        else:
            step = xp.minimum(step, steps)
        return (rate - end) * precise(operator.pow, one - step / steps, cast(self.power)) + end


@dataclass(frozen=True, eq=False)
class PiecewiseConstantDecay(FieldSchedule):
    """A constant rate up to and including each boundary.

        rate = values[k],  k = number of boundaries < step

    Args:
        boundaries: step counts, none below the one before; they take the dtype of the step.
        values: one more than boundaries. Their dtype is the result's; Python floats are float32.
        name: kept in the config, nothing else.

    `step`: number or array of any shape, NumPy or JAX; the result has its shape.

    Raises:
        ValueError: lengths that do not differ by one; boundaries that decrease, where TensorFlow
            raises when the schedule is called between them.

    Source: `tf.keras.optimizers.schedules.PiecewiseConstantDecay`, TensorFlow 2.21 (2026).

    >>> schedule = PiecewiseConstantDecay([2, 4], [1.0, 0.5, 0.25])
    >>> schedule(np.arange(6)).tolist()
    [1.0, 1.0, 1.0, 0.5, 0.5, 0.25]
    """

    boundaries: Sequence[Any]
    values: Sequence[Any]
    name: str | None = None

    def __post_init__(self) -> None:
        if len(self.boundaries) != len(self.values) - 1:
            raise ValueError(
                f"values must be one more than boundaries, got {len(self.values)} values for "
                f"boundaries of length {len(self.boundaries)}: {list(self.values)} and "
                f"{list(self.boundaries)}"
            )
        for a, b in pairwise(self.boundaries):
            if isinstance(b, int | float) and b < a:
                raise ValueError(f"boundaries must increase, got {list(self.boundaries)}")

    @quiet
    def __call__(self, step: Any) -> Array:
        step = as_array(step, "step")
        xp = namespace(step, *self.boundaries, *self.values)
        step = xp.asarray(step)
        values = xp.stack([xp.asarray(v) for v in _to_one_dtype(self.values)])
        num_passed = xp.zeros(step.shape, np.int32)
        for boundary in self.boundaries:
            is_passed = step > xp.asarray(boundary).astype(step.dtype)
            num_passed = num_passed + is_passed.astype(np.int32)
        return values[num_passed]

    def get_config(self) -> dict[str, Any]:
        return {"boundaries": list(self.boundaries), "values": list(self.values), "name": self.name}


def _to_one_dtype(values: Sequence[Any]) -> Sequence[Any] | Array:
    """Return Python numbers as one array, so that 1 beside 0.5 is a float; arrays unchanged."""
    if any(hasattr(v, "dtype") for v in values):
        return values
    return as_array(list(values), "values")

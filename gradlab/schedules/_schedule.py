"""The interface of schedules, and the dtype in which they compute.

A `LearningRateSchedule` is any function of the step with a config. Most of ours are a `Decay`: a
dataclass whose fields are the config and whose `formula` computes in the dtype of the initial rate,
as TensorFlow does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from .._base.arrays import Array, as_array, flush_denormals, is_float, namespace, quiet
from .._base.types import Namespace, Number
from ..errors import InvalidArgumentError


class LearningRateSchedule:
    """A learning rate for every step; subclasses define `__call__(step)` and `get_config()`.

    Raises NotImplementedError where a subclass lacks one of them.

    Source: `tf.keras.optimizers.schedules.LearningRateSchedule`, TensorFlow 2.21 (2026).

    >>> class Halving(LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.5**step
    ...
    ...     def get_config(self):
    ...         return {}
    >>> Halving.from_config({})(3)
    0.125
    """

    def __call__(self, step: Any) -> Array:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(self, step)")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name."""
        raise NotImplementedError(
            f"{type(self).__name__} must define get_config(self), or it cannot be saved"
        )

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Return the schedule with this config; TypeError for a name that isn't an argument."""
        return cls(**config)


class FieldSchedule(LearningRateSchedule):
    """A schedule whose dataclass fields are its config.

    Schedules compare by identity, as in TensorFlow. Otherwise `jit` would reuse the compilation of
    a schedule with a float32 rate of 0.5 for an equal one with a float64 rate of 0.5.
    """

    def get_config(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]


class Decay(FieldSchedule):
    """A schedule that starts at initial_learning_rate and computes in its dtype.

    Subclasses define `formula`.
    """

    initial_learning_rate: Number
    _period: ClassVar[str] = "decay_steps"  # the field that steps are divided by

    def __post_init__(self) -> None:
        check_rate(self.initial_learning_rate)
        check_steps(getattr(self, self._period), self._period)

    @quiet
    def __call__(self, step: Any) -> Array:
        xp = namespace(self.initial_learning_rate, step)
        initial_rate = xp.asarray(read_rate(self.initial_learning_rate))
        dtype = initial_rate.dtype

        def cast(hyperparameter: Any) -> Array:
            # Through float32 for a Python number, even to float64, as everywhere in TensorFlow.
            return xp.asarray(as_array(hyperparameter, "a hyperparameter"), dtype)

        now = xp.asarray(as_array(step, "step")).astype(dtype)
        rate: Array = flush_denormals(self.formula(xp, initial_rate, now, cast))
        return rate[()]

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        """Return the rate at a step.

        Args:
            xp: NumPy or `jax.numpy`.
            rate: initial_learning_rate.
            step: in the dtype of the rate.
            cast: makes a hyperparameter an array of the dtype of the rate.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define formula(xp, rate, step, cast)"
        )


def read_rate(rate: Number) -> Array:
    """Return a rate as an array of float dtype; integers become float32."""
    array = as_array(rate, "initial_learning_rate")
    return array if is_float(array.dtype) else array.astype(np.float32)


def check_rate(rate: Number) -> None:
    """Refuse an initial learning rate that isn't a scalar number."""
    shape = tuple(read_rate(rate).shape)
    if shape != ():
        raise InvalidArgumentError(f"initial_learning_rate must be a scalar, got shape {shape}")


def check_steps(steps: Any, name: str) -> None:
    """Refuse a Python number of steps that isn't positive; arrays, which may be traced, pass."""
    if isinstance(steps, int | float) and not steps > 0:
        raise ValueError(f"{name} must be > 0, got {steps!r}")


def precise(f: Callable[..., Array], *arrays: Array) -> Array:
    """Return `f` of NumPy or JAX arrays, in their dtype.

    NumPy computes in float64 and rounds once, because its float32 functions are some ulp off on
    some processors.
    """
    if namespace(*arrays) is not np:
        return f(*arrays)
    exact = f(*(np.asarray(a, np.float64)[()] for a in arrays))
    return flush_denormals(np.asarray(exact, arrays[0].dtype))

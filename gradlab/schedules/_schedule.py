"""The interface of all schedules, and the dtype in which they compute."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from .._base.arrays import Array, as_array, flush_denormals, is_float, namespace, quiet
from .._base.types import Namespace, Number
from ..errors import InvalidArgumentError


class LearningRateSchedule:
    """A learning rate for every step: subclasses bring `__call__(step)` and `get_config()`.

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
        """The arguments of the constructor by name."""
        raise NotImplementedError(
            f"{type(self).__name__} must define get_config(self), or it cannot be saved"
        )

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The schedule whose `get_config` gave this; TypeError for a name that isn't an argument."""
        return cls(**config)


class FieldSchedule(LearningRateSchedule):
    """A schedule whose dataclass fields are its config.

    Compared by identity, as in TensorFlow: `jit` must not take 0.1 of float32 for 0.1 of float64,
    which are equal.
    """

    def get_config(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]


class Decay(FieldSchedule):
    """A schedule that starts at initial_learning_rate, in whose dtype all is computed; subclasses
    bring `formula`.
    """

    initial_learning_rate: Number
    _period: ClassVar[str] = "decay_steps"  # the field that steps are divided by

    def __post_init__(self) -> None:
        check_rate(self.initial_learning_rate)
        check_steps(getattr(self, self._period), self._period)

    @quiet
    def __call__(self, step: Any) -> Array:
        rate: Array = flush_denormals(self.formula(*settled(self.initial_learning_rate, step)))[()]
        return rate

    def formula(
        self, xp: Namespace, rate: Array, step: Array, cast: Callable[[Any], Array]
    ) -> Array:
        """The rate at a step, from what `settled` gives."""
        raise NotImplementedError(
            f"{type(self).__name__} must define formula(xp, rate, step, cast)"
        )


def settled(rate: Number, step: Any) -> tuple[Any, Array, Array, Callable[[Any], Array]]:
    """(namespace, rate, step, cast): both in the dtype of the rate, and what brings a
    hyperparameter into it.

    A Python float is rounded to float32 on the way, also to float64, as everywhere in TensorFlow.
    """
    xp = namespace(rate, step)
    rate = xp.asarray(floating(rate))
    return (
        xp,
        rate,
        xp.asarray(as_array(step, "step")).astype(rate.dtype),
        lambda x: _cast(xp, x, rate.dtype),
    )


def _cast(xp: Namespace, x: Any, dtype: Any) -> Array:
    return xp.asarray(as_array(x, "a hyperparameter"), dtype)


def floating(rate: Number) -> Array:
    """The array behind a rate; integers become float32."""
    array = as_array(rate, "initial_learning_rate")
    return array if is_float(array.dtype) else array.astype(np.float32)


def check_rate(rate: Number) -> None:
    """Refuse what cannot be an initial learning rate: None, words, vectors."""
    shape = tuple(floating(rate).shape)
    if shape != ():
        raise InvalidArgumentError(f"initial_learning_rate must be a scalar, got shape {shape}")


def check_steps(steps: Any, name: str) -> None:
    """Refuse a number of steps that nothing can be divided by; arrays are believed."""
    if isinstance(steps, int | float) and not steps > 0:
        raise ValueError(f"{name} must be > 0, got {steps!r}")


def precise(f: Callable[..., Array], *arrays: Array) -> Array:
    """`f` of NumPy or JAX arrays, in their dtype.

    Under NumPy computed in float64 and rounded once: NumPy's own float32 functions are some ulp off
    on some processors.
    """
    if namespace(*arrays) is not np:
        return f(*arrays)
    return flush_denormals(
        np.asarray(f(*(np.asarray(a, np.float64)[()] for a in arrays)), arrays[0].dtype)
    )

"""Hyperparameters that may be numbers, variables, schedules or functions, and the learning rate of one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, is_jax
from ..errors import InvalidArgumentError, KerasWarning, warn
from ..schedules import LearningRateSchedule
from ..train.variable import Variable


class Hyperparameter:
    """One hyperparameter, in the form given until it becomes a variable.

    Args:
        name: of the variable that a number becomes.
        value: number, scalar array, variable, schedule, or function without arguments. Anything
            else is accepted here, as in Keras, and refused when it is first used.

    >>> rate = Hyperparameter("learning_rate", 0.1)
    >>> rate.create("")
    >>> rate.value, float(rate.at(0, np.float64))
    (<gradlab.Variable 'learning_rate:0' shape=() dtype=float32>, 0.10000000149011612)
    """

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value: Any = value

    def create(self, prefix: str) -> None:
        """Make a variable of a number; arrays, variables, schedules and functions stay as they are.

        A Python float becomes float32, an int int32 and a np.float64 float64, as in Keras.
        """
        if not (
            callable(self.value)
            or is_jax(self.value)
            or isinstance(self.value, Variable | np.ndarray)
        ):
            self.value = Variable(self.check_value(), trainable=False, name=prefix + self.name)

    def check_value(self) -> Array:
        """Return the value as a scalar array.

        Raises TypeError or ValueError for what cannot become a variable.
        """
        value = self.value
        if isinstance(value, dict):
            raise ValueError(
                f"{self.name} is the config of a schedule, not a schedule: Adagrad.from_config of "
                "this version does not rebuild it. Pass "
                "gl.schedules.deserialize(config['learning_rate'])"
            )
        if isinstance(value, str | bytes):
            raise ValueError(
                f"{self.name} must be a number, a schedule or a function, got {value!r}"
            )
        if value is None:
            raise TypeError(f"{self.name} must be a number, a schedule or a function, got None")
        return self._check_scalar(as_array(value, self.name))

    def _check_scalar(self, array: Array) -> Array:
        if tuple(array.shape) != ():
            raise InvalidArgumentError(
                f"{self.name} must be a scalar, got shape {tuple(array.shape)}"
            )
        return array

    def read(self) -> Any:
        """The variable, the array or the schedule; a function is called."""
        value: Any = self.value
        if isinstance(value, LearningRateSchedule) or not callable(value):
            return value
        return value()

    def write(self, value: Any) -> None:
        """Assign a number to the variable; a schedule takes its place, and what isn't a variable is replaced."""
        if not isinstance(self.value, Variable) or isinstance(value, LearningRateSchedule):
            self.value = value
            return
        self.value.load(value)  # at once, in a Graph too
        if self.value.dtype.kind == "i" and self.value.value != np.asarray(value):
            warn(
                f"{self.name} was given as an integer, so its variable is one: {value} becomes "
                f"{self.value.numpy()}. Give a float at construction",
                KerasWarning,
            )

    def at(self, step: Any, dtype: Any) -> Array:
        """The number for a step, cast to `dtype`.

        Python's numbers are rounded to float32 on the way.
        """
        value = self.read()
        if isinstance(value, LearningRateSchedule):
            value = value(step)
        return self._check_scalar(as_array(value, self.name)).astype(dtype)

    def number(self) -> Any:
        """Return a config's entry: a variable's value as a NumPy scalar, a function's result, or a schedule."""
        value = self.read()
        if isinstance(value, Variable | np.ndarray) or is_jax(value):
            return np.asarray(value)[()]
        return value


def check_number(name: str, value: Any) -> None:
    """Refuse what cannot be compared with a number (TypeError, as in Keras)."""
    try:
        value < 0  # noqa: B015
    except TypeError:
        raise TypeError(f"{name} must be a number, got {value!r}") from None

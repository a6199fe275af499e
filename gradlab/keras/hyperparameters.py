"""Hyperparameters that may be numbers, variables, schedules or functions, and the learning rate of one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array, as_array, is_jax
from ..errors import InvalidArgumentError
from ..schedules import LearningRateSchedule
from ..variable import Variable


class Hyperparameter:
    """One hyperparameter, in the form given until it becomes a variable.

    Args:
        name: of the variable that a number becomes.
        value: number, scalar array, variable, schedule, or function without arguments. Anything else is accepted
            here, as in Keras, and refused when it is first used.

    >>> rate = Hyperparameter("learning_rate", 0.1)
    >>> rate.create("")
    >>> rate.value, float(rate.at(0, np.float64))
    (<gradlab.Variable 'learning_rate:0' shape=() dtype=float32>, 0.10000000149011612)
    """

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def create(self, prefix: str) -> None:
        """Make a float32 variable of a number; arrays, variables, schedules and functions stay as they are."""
        if not (callable(self.value) or is_jax(self.value) or isinstance(self.value, Variable | np.ndarray)):
            self.value = Variable(self._checked(self.value), trainable=False, name=prefix + self.name)

    def _checked(self, value: Any) -> np.float32:
        if isinstance(value, dict):
            raise ValueError(
                f"{self.name} is the config of a schedule, not a schedule: Adagrad.from_config of this version does "
                "not rebuild it. Pass gl.schedules.deserialize(config['learning_rate'])"
            )
        if isinstance(value, str | bytes):
            raise ValueError(f"{self.name} must be a number, a schedule or a function, got {value!r}")
        if not isinstance(value, int | float | np.number):
            raise TypeError(f"{self.name} must be a number, a schedule or a function, got {type(value).__name__}")
        return np.float32(value)

    def read(self) -> Any:
        """The variable, the array or the schedule; a function is called."""
        is_function = callable(self.value) and not isinstance(self.value, LearningRateSchedule)
        return self.value() if is_function else self.value

    def write(self, value: Any) -> None:
        """Assign a number to the variable; a schedule takes its place, and what is no variable is replaced."""
        if isinstance(self.value, Variable) and not isinstance(value, LearningRateSchedule):
            self.value.assign(value)
        else:
            self.value = value

    def at(self, step: Any, dtype: Any) -> Array:
        """The number for a step, cast to `dtype`. Python's numbers are rounded to float32 on the way."""
        value = self.read()
        value = value(step) if isinstance(value, LearningRateSchedule) else value
        array = np.asarray(value, np.float32) if type(value) in (bool, int, float) else as_array(value, self.name)
        if tuple(array.shape) != ():
            raise InvalidArgumentError(f"{self.name} must be a scalar, got shape {tuple(array.shape)}")
        return array.astype(dtype)

    def number(self) -> Any:
        """What a config holds: a variable's value as a NumPy scalar, a function's result, a schedule as it is."""
        value = self.read()
        return np.asarray(value)[()] if isinstance(value, Variable | np.ndarray) or is_jax(value) else value

"""Exponential moving averages of variables, kept beside them."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, is_float, precision
from ..errors import DTypeError, NotAVariableError
from .copies import copy_part, follow, get_copy
from .state_dict import lock_variables
from .variable import Variable, current_collection, trainable_variables


class ExponentialMovingAverage:
    """Averages of variables in which older values count less.

        average = average - (average - variable) * (1 - d)
        d = decay, or min(decay, (1 + num_updates) / (10 + num_updates)) with `num_updates`

    `apply` makes an average of each variable, from its value, and moves it at every call. At the
    end of a training run the averages often do better than the last weights.

    Args:
        decay: a number or a Variable, near 1: 0.999 averages about 1,000 steps.
        num_updates: how often the variables were updated, a number or a Variable; it lowers the
            decay at the start.
        zero_debias: no effect, because the average of a Variable starts at its value.
        name: of the averages: "v/ExponentialMovingAverage".

    The factor 1 - d is computed in float32, whatever the variables are, as in TensorFlow.

    Differs from TensorFlow: averages are of Variables only, as in eager TensorFlow. In a `Graph`,
    `apply` returns an Operation, and the averages are made when it is described.

    Source: `tf.train.ExponentialMovingAverage`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([4.0], name="v")
    >>> ema = ExponentialMovingAverage(decay=0.75)
    >>> ema.apply([v])
    >>> v.assign([8.0]) is v
    True
    >>> ema.apply([v])
    >>> ema.average(v).numpy().tolist(), ema.average_name(v)
    ([5.0], 'v/ExponentialMovingAverage')
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._averages: weakref.WeakKeyDictionary[Variable, Variable] = weakref.WeakKeyDictionary()
        self.name = name

    def __repr__(self) -> str:
        return f"ExponentialMovingAverage({self._decay!r}, num_updates={self._num_updates!r}, name={self.name!r})"

    def apply(self, var_list: Iterable[Variable] | None = None) -> Any:
        """Move the averages of variables; those that have none yet get one, from their value now.

        Args:
            var_list: the variables; all trainable ones of the collection by default.

        Returns:
            None, or in a Graph the Operation that does it.

        Raises:
            NotAVariableError: something else is in the list.
            DTypeError: a variable that isn't of a float dtype.
        """
        variables = trainable_variables() if var_list is None else list(var_list)
        for v in variables:
            if not isinstance(v, Variable):
                raise NotAVariableError(f"var_list must hold Variables, got {v!r}")
            if not is_float(v.dtype):
                raise DTypeError(
                    f"the variables must be half, float, or double: {v.name} is {v.dtype}"
                )
        self.create(variables)
        return current_collection().finish(lambda: self.move(variables), self.name)

    def create(self, variables: Iterable[Variable]) -> None:
        """Make the averages of variables that have none yet, from their values now. Not in TensorFlow."""
        collection = current_collection()
        # In a Graph every Variable is unique.
        unique = str if collection.graph else collection.unique_name
        for v in variables:
            if v not in self._averages:
                name = unique(f"{v.name.removesuffix(':0')}/{self.name}")
                self._averages[v] = Variable(v.numpy(), trainable=False, name=name)

    def averaged(self) -> list[Variable]:
        """Return the variables that have an average. Not in TensorFlow."""
        return list(self._averages)

    def __deepcopy__(self, memo: dict[int, Any]) -> ExponentialMovingAverage:
        """Averages of its own, of the variables copied with it, else of the same."""
        new = memo[id(self)] = copy.copy(self)
        for name in ("_decay", "_num_updates"):
            vars(new)[name] = copy_part(vars(self)[name], memo)
        new._averages = weakref.WeakKeyDictionary(
            {get_copy(v, memo): copy.deepcopy(x, memo) for v, x in self._averages.items()}
        )
        follow(new, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_averages": dict(self._averages)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        averages = weakref.WeakKeyDictionary(state["_averages"])
        vars(self).update(state, _averages=averages)

    def _follow(self, old: Variable, new: Variable) -> None:
        if old in self._averages:
            self._averages[new] = self._averages.pop(old)
        vars(self).update({name: new for name, x in vars(self).items() if x is old})

    def average(self, var: Variable) -> Variable | None:
        """Return the Variable that holds the average of `var`, None if there is none."""
        return self._averages.get(var)

    def average_name(self, var: Variable) -> str:
        """Return the name that the average of `var` has, or would get now."""
        average = self.average(var)
        if average is not None:
            return average.name.removesuffix(":0")
        name = f"{var.name.removesuffix(':0')}/{self.name}"
        return current_collection().next_name(name)

    def variables_to_restore(
        self, moving_avg_variables: Iterable[Variable] | None = None
    ) -> dict[str, Variable]:
        """Return variables by the names under which their values for evaluation are saved.

        A variable with an average is under the name of the average, every other one under its own.

        Args:
            moving_avg_variables: those that are evaluated by their averages; by default all
                trainable ones and those that `apply` was given.
        """
        everything = list(current_collection())
        if moving_avg_variables is None:
            averaged = [v for v in everything if v.trainable or v in self._averages]
        else:
            averaged = list(moving_avg_variables)
        found = {self.average_name(v): v for v in averaged}
        for v in everything:
            name = v.name.removesuffix(":0")
            if v not in averaged and name not in found:
                found[name] = v
        return found

    def move(self, variables: list[Variable]) -> None:
        """Move the averages of variables that have one, at once. Not in TensorFlow."""
        averages = [self._averages[v] for v in variables]
        with lock_variables([*variables, *averages]):
            rate = self._read_rate()
            for v, average in zip(variables, averages, strict=True):
                with precision(v.dtype):
                    average.assign_sub((average.value - v.value) * rate.astype(v.dtype))

    def _read_rate(self) -> Array:
        """Return 1 - decay as TensorFlow has it: in float32."""
        decay = np.float32(as_array(self._decay, "decay"))
        if self._num_updates is not None:
            updates = np.float32(as_array(self._num_updates, "num_updates"))
            decay = min(decay, (np.float32(1) + updates) / (np.float32(10) + updates))
        return np.asarray(np.float32(1) - decay)

"""An optimizer that averages the variables it steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import FailedPreconditionError, InvalidArgumentError
from ..moving_averages import ExponentialMovingAverage
from ..state_dict import (
    Commit,
    Variables,
    VariablesByName,
    combine_commits,
    convert_saved,
    get_part,
    read_array,
    variables_by_name,
)
from ..variable import Variable, current_collection
from .update_wrapper import UpdateWrapper


class MovingAverageOptimizer(UpdateWrapper):
    """Keep an exponential moving average of every variable that the wrapped optimizer steps.

        step of `opt`, then  average = average - (average - w) * (1 - d)
        d = average_decay, or min(average_decay, (1 + num_updates) / (10 + num_updates))

    An average starts at the variable's value before its first step.

    Args:
        opt: the optimizer that computes and updates.
        average_decay: share of the old average in the new one, near 1.
        num_updates: how often the variables were updated, a number or a Variable; it lowers the
            decay at the start.
        sequential_update: if False, the averages move before the step. In TensorFlow they then move
            beside it, and see weights from before or after.

    Differs from TensorFlow: `get_slot_names` and `get_name`, which fail there, are the wrapped
    optimizer's. Source: `tf.contrib.opt.MovingAverageOptimizer`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     v = gl.Variable([4.0], name="weights")
    ...     opt = gl.contrib.opt.MovingAverageOptimizer(gl.train.GradientDescentOptimizer(1.0), 0.5)
    ...     opt.apply_gradients([([2.0], v)])
    ...     saved = opt.swapping_saver()["weights"].numpy()
    >>> v.numpy().tolist(), saved.tolist()
    ([2.0], [3.0])
    """

    def __init__(
        self,
        opt: Any,
        average_decay: Any = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(opt, getattr(opt, "_name", "MovingAverage"))
        self._averages = ExponentialMovingAverage(average_decay, num_updates)
        self._is_sequential = sequential_update

    def swapping_saver(
        self, var_list: Variables = None, name: str = "swapping_saver"
    ) -> dict[str, Variable]:
        """Return variables by name, each averaged one and its average in each other's places.

        So `{name: v.numpy() for name, v in opt.swapping_saver().items()}` is what TensorFlow's Saver
        writes: an evaluation that reads the weights gets the averages.

        Args:
            var_list: variables, or a dictionary of them by name; all of the collection by default.
            name: no effect.

        Raises:
            RuntimeError: nothing was applied yet.
            ValueError: a variable is listed without its average, or the reverse.
        """
        averaged = self._averages.averaged()
        if not averaged:
            raise FailedPreconditionError(
                "call apply_gradients or minimize before swapping_saver: there are no averages yet"
            )
        given = list(current_collection()) if var_list is None else var_list
        named = variables_by_name(given)
        if not isinstance(var_list, Mapping):
            named = {key.removesuffix(":0"): v for key, v in named.items()}
        partners: dict[Variable, Variable] = {}
        for v in averaged:
            average: Any = self._averages.average(v)
            partners[v] = average
            partners[average] = v
        listed = set(named.values())
        for v in listed & set(partners):
            if partners[v] not in listed:
                raise ValueError(f"{v.name} is listed without {partners[v].name}: list both")
        return {key: partners.get(v, v) for key, v in named.items()}

    def variables(self) -> list[Variable]:
        """The wrapped optimizer's variables, and the averages, by name."""
        averages: list[Any] = [self._averages.average(v) for v in self._averages.averaged()]
        return sorted({*super().variables(), *averages}, key=lambda v: v.name)

    def _describe(self, pairs: list[Any], global_step: Variable | None) -> Callable[[], Any]:
        averaged = self._list_variables(pairs)
        update = self._describe_inner(pairs, global_step)
        self._averages.create(averaged)

        def run() -> None:
            if not self._is_sequential:
                self._averages.move(averaged)
            update()
            if self._is_sequential:
                self._averages.move(averaged)

        return run

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        averages: dict[str, Any] = {
            key: self._averages.average(v) for key, v in reversed(list(names.items()))
        }
        kept = {key: read_array(x) for key, x in averages.items() if x is not None}
        return {**super()._to_save(names), "averages": kept}

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        inner = super()._loading(state, names)
        averages = get_part(state, "averages")
        missing = [key for key in averages if key not in names]
        if missing:
            raise InvalidArgumentError(
                f"the state has averages of {', '.join(missing)}, which is not among the variables "
                "given; nothing was loaded"
            )
        values = {
            names[key]: convert_saved(x, names[key]._value, f"the average of {key}", key)
            for key, x in averages.items()
        }

        def commit() -> None:
            self._averages.create(values)
            for v, value in values.items():
                average: Any = self._averages.average(v)
                average.load(value)

        return combine_commits([inner, commit])

"""Adagrad whose slots can be left alone, for the gradients of a regularizer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..adagrad import AdagradOptimizer
from ..hyperparameters import LearningRate
from ..rule_optimizer import RuleChoice
from ..variable import Variable


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad that can step without adding to its accumulator.

        accumulator = accumulator + g * g      as it was inside `avoid_updating_slots()`
        w = w - (g * lr) * (1 / sqrt(accumulator))

    So the gradients of a regularizer don't slow down the steps of the loss. Slot: "accumulator".
    IndexedSlices: slices of one row are summed first; rows not named keep w and accumulator.

    Args:
        learning_rate: number, scalar array or variable, function without arguments, or schedule.
        initial_accumulator_value: above 0 (ValueError).
        use_locking: no effect on values.
        name: not empty (ValueError).

    Source: `tf.contrib.opt.RegAdagradOptimizer`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = gl.contrib.opt.RegAdagradOptimizer(0.5, initial_accumulator_value=12.0)
    >>> opt.apply_gradients([([2.0], v)])
    >>> with opt.avoid_updating_slots():
    ...     opt.apply_gradients([([4.0], v)])
    >>> v.numpy().tolist(), opt.get_slot(v, "accumulator").numpy().tolist()
    ([0.25], [16.0])
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._updates_slots = True

    @contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Context manager: updates described inside leave the accumulator as it is.

        In a `Graph` that holds for every run of the Operation.
        """
        before = self._updates_slots
        self._updates_slots = False
        try:
            yield
        finally:
            self._updates_slots = before

    def _choose_rule(self, global_step: Variable | None) -> RuleChoice:
        updates_slots = self._updates_slots

        def choose(rule: Any, v: Variable) -> Any:
            return replace(rule, update_slots=updates_slots)

        return choose

"""What AGN, elastic averaging and model averaging share: workers' variables, and those at a center.

A getter makes, beside each trainable variable of a worker, a variable at the center, and with some
of them one more of the worker. Several workers have a getter each; those after the first are given
the first one, whose center they share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from ...errors import NoCenterError, NoGetterError
from ..copies import refuse_copies
from ..state_dict import (
    Commit,
    VariablesByName,
    combine_commits,
    get_part,
    prepare_assign,
    read_array,
)
from ..variable import Variable, current_collection, trainable_variables
from .update_wrapper import UpdateWrapper

CENTER = "global_center_variable"


class CenterGetter:
    """Makes the variables of a worker, each with its variable at the center.

    Args:
        worker_device: no effect; TensorFlow puts the worker's variables there.
        center_of: the getter of another worker, whose center variables this one shares. Not in
            TensorFlow, where equal names on one parameter server do it.
    """

    # The first part of the name of the second variable that a worker has, if there is one.
    second: ClassVar[str] = ""

    def __init__(self, worker_device: Any, *, center_of: CenterGetter | None = None) -> None:
        self._worker_device = worker_device
        self._centers_by_name: dict[str, Variable] = (
            {} if center_of is None else center_of._centers_by_name
        )
        self.centers: dict[Variable, Variable] = {}
        self.seconds: dict[Variable, Variable] = {}

    def __call__(
        self,
        getter: Callable[..., Variable],
        name: str,
        trainable: bool = True,
        collections: Any = None,
        **kwargs: Any,
    ) -> Variable:
        """Return a variable, and make those that go with it.

        Args:
            getter: makes a variable, `gl.Variable` for instance.
            name: of the variable.
            trainable: only trainable variables have one at the center.
            collections: no effect.
            kwargs: of `getter`.
        """
        v = getter(name=name, trainable=trainable, **kwargs)
        if not trainable:
            return v
        center = self._centers_by_name.get(name)
        if center is None:
            center = getter(name=f"{CENTER}/{name}", trainable=False, **kwargs)
            self._centers_by_name[name] = center
        self.centers[v] = center
        if self.second:
            self.seconds[v] = getter(name=f"{self.second}/{name}", trainable=False, **kwargs)
        self.join(v)
        return v

    def join(self, v: Variable) -> None:
        """Start a worker's variable, and its second one, from the center."""
        v.load(self.centers[v].value)
        if self.second:
            self.seconds[v].load(self._start_of_second(self.centers[v]))

    def _start_of_second(self, center: Variable) -> Any:
        return center.value


class CenterWrapper(UpdateWrapper):
    """An optimizer of a worker's variables, which go to the center and back every few steps."""

    _getter_class: ClassVar[type[CenterGetter]]

    def __init__(self, opt: Any, getter: Any, period: int, name: str) -> None:
        super().__init__(opt, name)
        if not isinstance(getter, self._getter_class):
            raise NoGetterError(
                f"a {self._getter_class.__name__} is needed, which made the variables; got {getter!r}"
            )
        self._getter = getter
        self._period = period
        self.local_step = Variable(np.int32(0), trainable=False, name="local_step")

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """None, as in TensorFlow: slots are the wrapped optimizer's, ask it."""
        return None

    def get_slot_names(self) -> list[str]:
        """An empty list, as in TensorFlow: slots are the wrapped optimizer's, ask it."""
        return []

    def variables(self) -> list[Variable]:
        """The wrapped optimizer's variables and `local_step`, by name."""
        return sorted({*super().variables(), self.local_step}, key=lambda v: v.name)

    def get_init_op(self, task_index: int = 0) -> Any:
        """Start the worker's variables from the center; in a Graph the Operation that does.

        New variables start there already: this is for a worker that joins a run.
        """
        joining = [v for v in trainable_variables() if v in self._getter.centers]
        if not joining:
            raise ValueError("no trainable variables were made by the custom getter")
        return current_collection().finish(lambda: self._join(joining), f"{self._name}_init")

    def _join(self, variables: Iterable[Variable]) -> None:
        for v in variables:
            self._getter.join(v)

    def _check_centers(self, variables: Iterable[Variable]) -> None:
        for v in variables:
            if v not in self._getter.centers:
                raise NoCenterError(
                    f"{v.name} has no variable at the center: make it by the custom getter"
                )

    def _count_step(self) -> bool:
        """Count a step of the worker, and tell whether it is time to meet the center."""
        self.local_step.assign_add(1)
        return int(self.local_step) % self._period == 0

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        return {
            **super()._to_save(names),
            "variables": {"local_step": read_array(self.local_step)},
        }

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        inner = super()._loading(state, names)
        values = get_part(state, "variables")
        step = prepare_assign(self.local_step, values.get("local_step"), "local_step")
        return combine_commits([inner, step])

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.__reduce_ex__(4)

    __reduce_ex__ = refuse_copies(
        "an optimizer whose variables other workers share at a center",
        "make a new one with a getter of its own, and use gl.save for its state",
    )

"""The common part of optimizers around another optimizer: forwarding."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .optimizer import Optimizer
from .state_dict import Commit, Stateful, VariablesByName, check_class, get_part
from .variable import Collection, Variable, current_collection, enter_collection


class Wrapper(Optimizer):
    """Name, slots and variables of a wrapped optimizer, and the collection that worker threads work in."""

    @property
    def waits(self) -> bool:
        """Tell whether `apply_gradients` waits for other workers."""
        return getattr(self._opt, "waits", False)

    def __init__(self, opt: Any, name: str) -> None:
        super().__init__(name)
        self._opt = opt
        self._collection = current_collection()

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The wrapped optimizer's slot."""
        slot: Variable | None = self._opt.get_slot(var, name)
        return slot

    def get_slot_names(self) -> list[str]:
        """The wrapped optimizer's."""
        names: list[str] = self._opt.get_slot_names()
        return names

    def variables(self) -> list[Variable]:
        """The wrapped optimizer's variables."""
        variables: list[Variable] = self._opt.variables()
        return variables

    def _stepped_variables(self) -> list[Variable]:
        return self._saved_opt()._stepped_variables()

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        return {"optimizer": type(self).__name__, "opt": self._saved_opt()._to_save(names)}

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        check_class(state, self)
        return self._saved_opt()._loading(get_part(state, "opt"), names)

    def _saved_opt(self) -> Stateful:
        """The wrapped optimizer; TypeError for one of your own whose state nobody knows."""
        if not isinstance(self._opt, Stateful):
            raise TypeError(
                f"{self._opt!r} is wrapped, and isn't a "
                "gl.train.Optimizer: its state cannot be saved"
            )
        return self._opt

    def _enter_collection(self) -> AbstractContextManager[Collection]:
        """Threads start without a collection; theirs is the one in which this optimizer was made."""
        return enter_collection(current_collection(self._collection))

    def _worker_argument(self, worker: Any) -> dict[str, Any]:
        """The worker, for a wrapped optimizer that tells workers apart as well."""
        return {"worker": worker} if hasattr(self._opt, "local_step") else {}


def check_optimizer(opt: Any) -> None:
    """TypeError for anything that isn't an optimizer."""
    methods = [getattr(opt, name, None) for name in ("compute_gradients", "apply_gradients")]
    if isinstance(opt, type) or not all(map(callable, methods)):
        raise TypeError(f"opt must be an optimizer such as gl.train.AdamOptimizer(), got {opt!r}")

"""The common part of contrib's optimizers around another optimizer.

A subclass says what an update is: `_describe` checks its arguments, makes the variables that it
needs, and returns the function that does one update. Outside a `Graph` that function runs at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..._base.tensors import take_first
from ..autodiff import GradsAndVars
from ..copies import copy_part, follow
from ..gradient_checks import checked_pairs
from ..hyperparameters import describe
from ..variable import Variable, current_collection
from ..wrapper import Wrapper, check_optimizer


class UpdateWrapper(Wrapper):
    """An optimizer whose update does more than that of the optimizer it wraps."""

    def __init__(self, opt: Any, name: str) -> None:
        check_optimizer(opt)
        super().__init__(opt, name)

    def __repr__(self) -> str:
        return describe(self, self._name, opt=self._opt)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradsAndVars:
        """The wrapped optimizer's."""
        pairs: GradsAndVars = self._opt.compute_gradients(*args, **kwargs)
        return pairs

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None
    ) -> Any:
        """The wrapped optimizer's update, and what comes with it.

        Arguments, results and errors are the wrapped optimizer's.
        """
        collection = current_collection()
        scope = name or self._name
        collection.check_scope(scope)
        return collection.finish(self._describe(list(grads_and_vars), global_step), scope)

    @abstractmethod
    def _describe(self, pairs: list[Any], global_step: Variable | None) -> Callable[[], Any]:
        """Check the arguments of an update, and return the function that does it."""

    def _list_variables(self, pairs: Sequence[Any]) -> list[Variable]:
        """Return the variables that have a gradient, all checked."""
        return [v for _, v in checked_pairs(take_first(pairs))]

    def _describe_inner(
        self, pairs: Sequence[Any], global_step: Variable | None = None
    ) -> Callable[[], Any]:
        """Return the function that does an update of the wrapped optimizer."""
        return describe_update(partial(self._opt.apply_gradients, pairs, global_step))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy of the wrapped optimizer, and of what belongs to this one."""
        new = memo[id(self)] = object.__new__(type(self))
        for name, x in vars(self).items():
            vars(new)[name] = x if name == "_collection" else copy_part(x, memo)
        follow(new, memo)
        return new

    def _follow(self, old: Variable, new: Variable) -> None:
        vars(self).update({name: new for name, x in vars(self).items() if x is old})

    def __getstate__(self) -> dict[str, Any]:
        """Without what belongs to this process."""
        return {name: x for name, x in vars(self).items() if name != "_collection"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _collection=current_collection())


def describe_update(apply: Callable[[], Any]) -> Callable[[], Any]:
    """Return the function that does an update: in a Graph it's described first."""
    if not current_collection().graph:
        return apply
    run: Callable[[], Any] = apply().run
    return run

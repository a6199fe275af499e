"""The common part of contrib's optimizers around another optimizer.

A subclass says what an update is: `_describe` checks its arguments, makes the variables that it
needs, and returns the function that does one update. Outside a `Graph` that function runs at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..autodiff import GradsAndVars, Loss
from ..copies import copy_part, follow
from ..gate import GATE_OP
from ..graph import AtOnce
from ..hyperparameters import describe
from ..optimizer import Optimizer
from ..variable import Variable, current_collection, enter_collection
from ..wrapper import Wrapper, check_optimizer


class MinimizeByApplying(Optimizer):
    """Optimizers whose `minimize` is `compute_gradients`, then `apply_gradients`, at every run."""

    def minimize(
        self,
        loss: Loss,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """`compute_gradients` and `apply_gradients` in one.

        In a Graph an Operation that does both at every run.
        """
        given = (gate_gradients, aggregation_method, colocate_gradients_with_ops)
        collection = current_collection()
        pairs = self.compute_gradients(loss, var_list, *given, grad_loss)
        applied = self.apply_gradients(pairs, global_step, name)
        if not collection.graph:
            return applied
        # In a Graph both only checked the loss and made variables; what runs computes gradients
        # again.
        variables = [v for _, v in pairs]

        def run() -> None:
            with enter_collection(AtOnce(collection)):
                self.minimize(loss, global_step, variables, *given, name, grad_loss)

        return collection.finish(run, name or self._name)


class UpdateWrapper(MinimizeByApplying, Wrapper):
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

    def _describe_inner(
        self, pairs: Sequence[Any], global_step: Variable | None = None
    ) -> Callable[[], Any]:
        """Return the function that does an update of the wrapped optimizer."""
        if current_collection().graph:
            run: Callable[[], Any] = self._opt.apply_gradients(pairs, global_step).run
            return run
        return partial(self._opt.apply_gradients, pairs, global_step)

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

"""What a SyncReplicasOptimizer is given, checked before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._base.errors import NotAGradientError, NotAVariableError
from ..._base.slices import IndexedSlices
from ..._variables.gradient_checks import checked_pairs
from ..._variables.variable import Variable
from .rounds import Pairs


def integer(name: str, x: Any, least: int = 1) -> int:
    """An integer from `least`."""
    if isinstance(x, bool) or not hasattr(x, "__index__"):
        raise TypeError(f"{name} must be an integer, got {x!r}")
    if x < least:
        raise ValueError(f"{name} must be at least {least}, got {x}")
    return int(x)


def check_averages(variable_averages: Any) -> None:
    """TypeError for what cannot apply averages."""
    if variable_averages is not None and not callable(getattr(variable_averages, "apply", None)):
        raise TypeError(f"variable_averages must have a method apply, got {variable_averages!r}")


def read_pairs(grads_and_vars: Any) -> Pairs:
    """The pairs with a gradient; NotAGradientError for what is no array and no IndexedSlices."""
    try:
        return checked_pairs(grads_and_vars)
    except TypeError as error:
        if isinstance(error, ValueError | NotAVariableError):
            raise
        raise NotAGradientError(f"{error}; a gradient is an array, IndexedSlices or None") from None


def kinds(pairs: Pairs) -> dict[Variable, bool]:
    """Variable -> whether its gradient is IndexedSlices."""
    found = {v: isinstance(g, IndexedSlices) for g, v in pairs}
    if len(found) < len(pairs):
        raise ValueError(f"a variable comes twice in {[v.name for _, v in pairs]}; add its gradients")
    return found


def check_same(now: Mapping[Variable, bool], first: Mapping[Variable, bool]) -> None:
    """ValueError for a push of other variables than the first: an update would wait for the missing ones."""
    if now != first:
        raise ValueError(
            f"every push must bring gradients of the same variables: first of {_told(first)}, now of {_told(now)}"
        )


def _told(sparse: Mapping[Variable, bool]) -> str:
    return ", ".join(f"{v.name}{' (IndexedSlices)' * is_sparse}" for v, is_sparse in sparse.items()) or "none"

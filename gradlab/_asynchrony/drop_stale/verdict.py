"""Is a gradient fresh: the steps that are compared, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._base.arrays import as_array, is_jax
from ..._base.errors import DTypeError, InvalidArgumentError, MissingStepError, StalenessWarning, warn
from ..._variables.gradient_checks import check_step
from ..._variables.variable import Collection, Variable
from ..staleness import is_fresh

Noted = tuple[int, Variable]  # a step and the variable it was read from


@dataclass(frozen=True)
class Verdict:
    """What the check found for one gradient: `kept` or dropped, and the steps it compared. Not in TensorFlow.

    >>> verdict = Verdict(kept=False, local_step=3, step=5, limit=1)
    >>> verdict.staleness, verdict.comparison
    (2, '2 > 1')
    """

    kept: bool
    local_step: int
    step: int
    limit: int

    @property
    def staleness(self) -> int:
        return self.step - self.local_step

    @property
    def comparison(self) -> str:
        """What decided, "0 <= 1" or "2 > 1"."""
        return f"{self.staleness} {'<=' if self.kept else '>'} {self.limit}"


def compared(noted: Noted, global_step: Variable, staleness: Any) -> Verdict:
    """The verdict on a gradient whose step was noted, at the value that `global_step` has now."""
    (local_step, read), step = noted, int(global_step)
    if read.dtype != global_step.dtype:
        raise DTypeError(
            f"the gradient's step, {read.name}, is {read.dtype}, but {global_step.name} is {global_step.dtype}"
        )
    if read is not global_step:
        warn(
            f"the gradient's step was read from {read.name}, the step now from {global_step.name}: their difference "
            "is no staleness. Give apply_gradients the global step of the collection",
            StalenessWarning,
        )
    limit = limit_of(staleness, global_step.dtype)
    return Verdict(is_fresh(step - local_step, limit), local_step, step, limit)


def limit_of(staleness: Any, dtype: Any = None) -> int:
    """The largest staleness that is kept. A JAX array or a Variable must be of `dtype`, where that is known.

    >>> import numpy as np
    >>> limit_of(True), limit_of(np.int32(-2), np.int64)
    (1, -2)
    """
    if staleness is None:
        raise ValueError("staleness is None; give an integer: with 0 a gradient that one update overtook is dropped")
    if isinstance(staleness, int):
        return int(staleness)
    limit = as_array(staleness, "staleness")
    converted = not is_jax(limit) and not isinstance(staleness, Variable)
    if limit.dtype.kind not in "iub" or not (converted or dtype in (None, limit.dtype)):
        raise DTypeError(f"staleness must be an integer, or {dtype or 'int64'} as the global step, got {limit.dtype}")
    if limit.shape != ():
        raise InvalidArgumentError(f"staleness must be a scalar, got shape {tuple(limit.shape)}")
    return int(limit)


def step_of(collection: Collection) -> Noted:
    """The global step of a collection: its value now, and the variable."""
    step = collection.global_step
    if step is None:
        raise MissingStepError("there is no global step to note: call gl.get_or_create_global_step() first")
    return int(step), step


def no_step_noted(worker: Any) -> MissingStepError:
    who = "this thread" if worker is None else f"worker {worker!r}"
    return MissingStepError(f"no step was noted for {who}: call compute_gradients with the same worker first")


def needed(global_step: Variable | None) -> Variable:
    """The variable that `apply_gradients` was given, checked; None is a ValueError."""
    if global_step is None:
        raise ValueError("global_step is needed: the staleness is its value now less its value when computing")
    check_step(global_step)
    return global_step

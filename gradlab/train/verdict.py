"""May a gradient be used: how many updates came in between, and how many may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._base.arrays import as_array, is_jax
from ..errors import DTypeError, InvalidArgumentError, StalenessWarning, warn
from .noted import Noted
from .staleness import is_accepted
from .variable import Variable


@dataclass(frozen=True)
class Verdict:
    """The result of the check of one gradient: accepted or dropped, and the steps it compared. Not in TensorFlow.

    >>> verdict = Verdict(accepted=False, local_step=3, step=5, limit=1)
    >>> verdict.staleness, verdict.comparison
    (2, '2 > 1')
    """

    accepted: bool
    local_step: int
    step: int
    limit: int

    @property
    def staleness(self) -> int:
        return self.step - self.local_step

    @property
    def comparison(self) -> str:
        """The comparison that decided, "0 <= 1" or "2 > 1"."""
        return f"{self.staleness} {'<=' if self.accepted else '>'} {self.limit}"


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
    return Verdict(is_accepted(step - local_step, limit), local_step, step, limit)


def limit_of(staleness: Any, dtype: Any = None) -> int:
    """The largest staleness that is accepted. A JAX array or a Variable must be of `dtype`, where that is known.

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

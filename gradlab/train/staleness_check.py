"""The check of one gradient: its staleness, compared with the largest that is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .._base.arrays import as_array, is_jax
from ..errors import DTypeError, InvalidArgumentError, StalenessWarning, warn
from .staleness import is_accepted
from .variable import Variable


class LocalStep(NamedTuple):
    """The value that a global step had, and the variable that it was read from."""

    value: int
    variable: Variable


@dataclass(frozen=True)
class Verdict:
    """The result of the check of one gradient: accepted or dropped, and the steps it compared.

    Not in TensorFlow.

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
        """The comparison that decided, of the staleness with its limit: "0 <= 1" or "2 > 1"."""
        sign = "<=" if self.accepted else ">"
        return f"{self.staleness} {sign} {self.limit}"


def check_staleness(local_step: LocalStep, global_step: Variable, staleness: Any) -> Verdict:
    """Return the verdict on a gradient, at the present value of `global_step`.

    Raises:
        DTypeError: the local step was read from a variable of another dtype.
    """
    step = int(global_step)
    read = local_step.variable
    if read.dtype != global_step.dtype:
        raise DTypeError(
            f"the gradient's step, {read.name}, is {read.dtype}, but {global_step.name} is "
            f"{global_step.dtype}"
        )
    if read is not global_step:
        warn(
            f"the gradient's step was read from {read.name}, the step now from "
            f"{global_step.name}: their difference isn't a staleness. Give apply_gradients the "
            "global step of the collection",
            StalenessWarning,
        )
    limit = read_staleness_limit(staleness, global_step.dtype)
    return Verdict(is_accepted(step - local_step.value, limit), local_step.value, step, limit)


def read_staleness_limit(staleness: Any, dtype: Any = None) -> int:
    """Return the largest staleness that is accepted, as an int.

    Args:
        staleness: an integer, a bool, or a scalar integer array or Variable.
        dtype: the dtype that a JAX array or a Variable must have, because TensorFlow converts
            neither; None if it isn't known yet.

    Raises:
        ValueError: None, or not a scalar.
        DTypeError: not an integer, or of another dtype.

    >>> import numpy as np
    >>> read_staleness_limit(True), read_staleness_limit(np.int32(-2), np.int64)
    (1, -2)
    """
    if staleness is None:
        raise ValueError(
            "staleness is None; give an integer: with 0 a gradient that "
            "one update overtook is dropped"
        )
    if isinstance(staleness, int):
        return int(staleness)
    limit = as_array(staleness, "staleness")
    keeps_dtype = is_jax(limit) or isinstance(staleness, Variable)
    is_other_dtype = keeps_dtype and dtype not in (None, limit.dtype)
    if limit.dtype.kind not in "iub" or is_other_dtype:
        raise DTypeError(
            f"staleness must be an integer, or {dtype or 'int64'} as the global step, got "
            f"{limit.dtype}"
        )
    if limit.shape != ():
        raise InvalidArgumentError(f"staleness must be a scalar, got shape {tuple(limit.shape)}")
    return int(limit)

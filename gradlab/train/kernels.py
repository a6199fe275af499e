"""Slices in rules, for which TensorFlow's kernels round in a different order; and checks of the constructors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.slices import IndexedSlices
from ..rules import apply
from ..rules.pure import Sparse
from ..rules.rule import Slots


def rounded_as(order: str, one_each: str | None = None) -> Sparse:
    """`apply.sparse` with the rule's `order`; `one_each` is the order where rows have one element."""
    return _RoundedAs(order, one_each)


@dataclass(frozen=True)
class _RoundedAs:
    order: str
    one_each: str | None

    def __call__(self, rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
        return apply.sparse(self.rule_for(rule, g), w, slots, g, lr)

    def rule_for(self, rule: Any, g: IndexedSlices) -> Any:
        """The rule whose `apply.sparse` this is."""
        alone = self.one_each is not None and g.one_each
        return replace(rule, order=self.one_each if alone else self.order)


def check_above_zero(name: str, x: Any) -> None:
    """Refuse what is not a number above 0."""
    if not _number(name, x) > 0:
        raise ValueError(f"{name} must be above 0, got {x}; a value near 0, such as 1e-10, is allowed")


def check_not_below_zero(name: str, x: Any) -> None:
    """Refuse what is not a number of 0 or more."""
    if not _number(name, x) >= 0:
        raise ValueError(f"{name} must be 0 or more, got {x}")


def _number(name: str, x: Any) -> Any:
    if x is None or isinstance(x, str | bytes) or callable(x) or np.shape(x) != ():
        raise TypeError(f"{name} must be a number, got {x!r}")
    return x

"""How slices meet a rule: TensorFlow has kernels of their own for them, which round in another order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .._base.arrays import Array
from .._base.slices import IndexedSlices
from .._steps import apply
from .._steps.pure import Sparse
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

"""Sparse updates in the order of operations that TensorFlow's sparse kernels have, which round differently."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .._base.arrays import Array
from .._base.slices import IndexedSlices
from ..rules import dense_and_sparse
from ..rules.pure import Sparse
from ..rules.rule import Slots


def with_order(order: str, one_each: str | None = None) -> Sparse:
    """Return `dense_and_sparse.sparse` for rules with another `order`.

    `one_each` is the order where a row has one element.
    """
    return _WithOrder(order, one_each)


@dataclass(frozen=True)
class _WithOrder:
    order: str
    one_each: str | None

    def __call__(
        self, rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any
    ) -> tuple[Array, Slots]:
        return dense_and_sparse.sparse(self.rule_for(rule, g), w, slots, g, lr)

    def rule_for(self, rule: Any, g: IndexedSlices) -> Any:
        """Return the rule with the order that TensorFlow's kernel has for this gradient."""
        alone = self.one_each is not None and g.one_each
        return replace(rule, order=self.one_each if alone else self.order)

"""Sparse updates in the order of operations of TensorFlow's sparse kernels.

These round differently than the dense ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .._base.arrays import Array
from .._base.slices import IndexedSlices
from ..rules import dense_and_sparse
from ..rules.pure import Sparse
from ..rules.rule import Slots


def with_order(order: str, scalar_row_order: str | None = None) -> Sparse:
    """Return `dense_and_sparse.sparse` for rules with another `order`.

    `scalar_row_order` is the order where a row has one element, if it differs.
    """
    return _WithOrder(order, scalar_row_order)


@dataclass(frozen=True)
class _WithOrder:
    order: str
    scalar_row_order: str | None

    def __call__(
        self, rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any
    ) -> tuple[Array, Slots]:
        return dense_and_sparse.sparse(self.rule_for(rule, g), w, slots, g, lr)

    def rule_for(self, rule: Any, g: IndexedSlices) -> Any:
        """Return the rule with the order that TensorFlow's kernel has for this gradient."""
        order = self.order
        if self.scalar_row_order is not None and g.one_each:
            order = self.scalar_row_order
        return replace(rule, order=order)

"""How slices meet a rule: TensorFlow has kernels of their own for them, which round in another order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import apply
from .._arrays import Array
from ..pure import Sparse
from ..rules._rule import Slots
from ..slices import IndexedSlices


def rounded_as(order: str, one_each: str | None = None) -> Sparse:
    """`apply.sparse` with the rule's `order`; `one_each` is the order where rows have one element."""

    def update(rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
        alone = one_each is not None and g.one_each
        return apply.sparse(replace(rule, order=one_each if alone else order), w, slots, g, lr)

    return update

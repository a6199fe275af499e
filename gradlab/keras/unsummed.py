"""Slices of one row in Keras 3: gradients are summed, and so are their sizes, each taken alone."""

from __future__ import annotations

from typing import Any

from .._base.arrays import Array, namespace
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from ..errors import KerasWarning, warn
from ..rules import dense_and_sparse, pure
from ..rules.rule import Rule, SizedRule, Slots
from ..train.variable import Variable
from .clips import has_duplicates
from .versions import Version


def every_row_unsummed(
    rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Move every row, by the sum of its slices and the sum of their sizes, if the rule has sizes.

    >>> import numpy as np
    >>> from gradlab.rules import Adam
    >>> g = IndexedSlices(np.ones((2, 1)), np.array([0, 0]), (1, 1))
    >>> w = np.zeros((1, 1))
    >>> _, (m, v) = every_row_unsummed(Adam(0.0, 0.0), w, (w, w), g, 1.0)
    >>> m.tolist(), v.tolist()
    ([[2.0]], [[2.0]])
    """
    if not isinstance(rule, SizedRule):
        return dense_and_sparse.every_row(rule, w, slots, g, lr)
    rule = rule._in(w.dtype)
    lr = namespace(w, lr).asarray(lr, w.dtype)
    sizes = g.with_values(rule.size(g.values))
    return rule.step_sized(
        w, slots, dense_and_sparse.whole(w, g), dense_and_sparse.whole(w, sizes), lr
    )


def choose_every_row(version: Version, rule: type[Rule]) -> pure.Sparse:
    """Return how slices move every row in this version."""
    return dense_and_sparse.every_row if version.sums_duplicates else every_row_unsummed


def warn_of_unsummed(engine: Any, rule: Rule, v: Variable, g: Gradient) -> None:
    """Warn where the size of a sum isn't what the original takes."""
    if not engine.version.sums_duplicates and has_duplicates(g):
        warn(
            "Keras 3 does not sum slices of one row before it takes their size: the slots of "
            f"{v.name} get the sum of the sizes",
            KerasWarning,
        )

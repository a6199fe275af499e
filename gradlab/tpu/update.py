"""One update of a table: duplicates are summed, the sum is clipped, the rule runs once, the new weights are clipped."""

from __future__ import annotations

from typing import Any

from .. import apply
from .._arrays import Array, set_rows, sum_duplicates, take_rows
from ..autodiff import Gradient
from ..clip import clip_by_value
from ..pairs import check_shape
from ..rules import Rule
from ..rules._rule import Slots
from ..slices import IndexedSlices

Limits = tuple[float | None, float | None]  # (lower, upper); None leaves that side open


def update(
    rule: Rule,
    w: Array,
    slots: Slots,
    g: Gradient,
    lr: Any,
    gradient_limits: Limits = (None, None),
    weight_limits: Limits = (None, None),
) -> tuple[Array, Slots]:
    """New weights and slots of a table after one step.

        G = clip(sum of the gradients of a row),  w, slots = rule(w, slots, G, lr),  w = clip(w)

    Args:
        g: IndexedSlices, by which only the rows named move, each once; or an array as large as w.
        gradient_limits, weight_limits: (lower, upper), None for no limit on that side. Weights of rows that do not
            move are not clipped either.

    Raises:
        ValueError: a lower limit above its upper one. InvalidArgumentError: rows or an index that do not fit w.

    That the sum is clipped, and not each gradient, follows from TensorFlow's refusal to clip without accumulation; it
    has not been seen on hardware. Source: `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab.rules import StochasticGradientDescent
    >>> g = IndexedSlices(np.array([[3.0], [2.0]]), np.array([1, 1]), (2, 1))
    >>> update(StochasticGradientDescent(), np.zeros((2, 1)), (), g, 0.5, (-1.0, 1.0))[0].ravel().tolist()
    [0.0, -0.5]
    """
    check_limits("gradient_limits", gradient_limits)
    check_limits("weight_limits", weight_limits)
    check_shape(g, tuple(w.shape), "the table")
    if not isinstance(g, IndexedSlices):
        w, slots = apply.dense(rule, w, slots, _clipped(g, gradient_limits), lr)
        return _clipped(w, weight_limits), slots
    w, slots, g = apply.of_one_library(w, slots, g, lr)
    indices, sums = sum_duplicates(g.indices, g.values)
    w, slots = apply.rows(rule, w, slots, IndexedSlices(_clipped(sums, gradient_limits), indices, g.dense_shape), lr)
    return set_rows(w, indices, _clipped(take_rows(w, indices), weight_limits)), slots


def check_limits(name: str, limits: Limits) -> None:
    """Refuse limits that leave nothing between them."""
    lower, upper = limits
    if lower is not None and upper is not None and lower > upper:
        raise ValueError(f"{name} must be (lower, upper), got {lower} above {upper}")


def _clipped(x: Array, limits: Limits) -> Array:
    lower, upper = (
        e if given is None else given for given, e in zip(limits, (-float("inf"), float("inf")), strict=True)
    )
    return x if limits == (None, None) else clip_by_value(x, lower, upper)

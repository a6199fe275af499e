"""One update of a table: gradients are summed and clipped, weights decay, the rule runs, weights are clipped."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

from .._base.arrays import Array, is_jax, namespace, set_rows, sum_duplicates, take_rows
from .._base.gradient_types import Gradient, check_shape
from .._base.library import jax, tree_map
from .._base.slices import IndexedSlices
from ..clip import clip_by_value
from ..rules import Rule, apply
from ..rules.rule import Slots
from .plan import Limits, Table
from .policy import Policy

PART = 1024  # rows that stay in a processor's cache between being read and being written


def update_table(
    table: Table,
    w: Array,
    slots: Slots,
    g: Gradient,
    lr: Any,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    rule: Rule | None = None,
) -> tuple[Array, Slots]:
    """New weights and slots of a table after one step.

        G = clip(sum of the gradients of a row);  w = w - decay * w;  w, slots = rule(w, slots, G, lr);  w = clip(w)

    Without `table.accumulate` all this happens for each slice in turn. Only rows that are named move, by a sum of 0
    too, unless the rule is not lazy. NumPy or JAX; jit-able.

    Args:
        g: IndexedSlices, by which only the rows named move; or an array as large as w, by which every row does.
        lr: the rate of this step.
        rule: instead of `table.rule`, where fields of it change from step to step.

    Raises:
        InvalidArgumentError: rows or an index that do not fit w.

    The order of the parts is an analogy, not seen on hardware: see `Policy`. Source: `optimization_parameters.proto`,
    TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab.tpu import Table
    >>> g = IndexedSlices(np.array([[3.0], [2.0]]), np.array([1, 1]), (2, 1))
    >>> table = Table("t", 2, 1, gradient_limits=(-1.0, 1.0))
    >>> update_table(table, np.zeros((2, 1)), (), g, 0.5)[0].ravel().tolist()
    [0.0, -0.5]
    """
    check_shape(g, tuple(w.shape), f"table {table.name!r}")
    whole = Around(table, rule or table.rule, policy)
    if not isinstance(g, IndexedSlices):
        return whole(w, slots, g, lr)
    w, slots, g = apply.of_one_library(w, slots, g, lr)
    if not whole.clips_gradient:
        g = IndexedSlices(clipped(g.values, table.gradient_limits), g.indices, g.dense_shape)
    if not table.accumulate:
        return apply.each(whole, w, slots, g, lr)
    return move_rows(whole, w, slots, *sum_duplicates(g.indices, g.values), lr)


def move_rows(rule: Around, w: Array, slots: Slots, ids: Array, sums: Array, lr: Any) -> tuple[Array, Slots]:
    """The rows `ids`, none of which comes twice, moved by `sums`; in JAX an id past the end isn't a row.

    On a processor part by part: all rows at once would be read, moved and written in three passes through memory.
    """
    if not rule.rule.lazy:
        return rule(w, slots, set_rows(namespace(w).zeros(w.shape, sums.dtype), ids, sums), spread(lr, w))
    move, tables = partial(_move, rule, lr), (w, *slots)
    if is_jax(sums) and ids.shape[0] > PART and ids.shape[0] % PART == 0:
        tables = jax.lax.platform_dependent(tables, (ids, sums), cpu=partial(_in_parts, move), default=move)
    else:
        tables = move(tables, (ids, sums))
    return tables[0], tables[1:]


def spread(lr: Any, like: Array) -> Array:
    """A rate for each entry: with these XLA simplifies divisions alike in a program for one device and for many."""
    xp = namespace(like)
    return xp.broadcast_to(xp.asarray(lr, like.dtype), like.shape)


def _move(rule: Around, lr: Any, tables: tuple[Array, ...], rows: tuple[Array, Array]) -> tuple[Array, ...]:
    ids, sums = rows
    w, *slots = (take_rows(x, ids) for x in tables)
    new_w, new_slots = rule(w, tuple(slots), sums, spread(lr, w))
    return tuple(set_rows(x, ids, new) for x, new in zip(tables, (new_w, *new_slots), strict=True))


def _in_parts(move: Any, tables: tuple[Array, ...], rows: tuple[Array, Array]) -> tuple[Array, ...]:
    parts = tree_map(lambda x: x.reshape(-1, PART, *x.shape[1:]), rows)
    return jax.lax.scan(lambda t, part: (move(t, part), None), tables, parts)[0]


@dataclasses.dataclass(frozen=True)
class Around(Rule):
    """A rule with what a table does around it: limits of the gradient, decay, limits of the weight."""

    table: Table
    rule: Rule
    policy: Policy

    @property
    def slots(self) -> Any:  # type: ignore[override]
        return self.rule.slots

    @property
    def row_slots(self) -> Any:  # type: ignore[override]
        return self.rule.row_slots

    @property
    def clips_gradient(self) -> bool:
        """Tell whether the sum is still to be clipped; otherwise each contribution was clipped before the sum."""
        return self.policy.gradient_clip_place == "sum" or not self.table.accumulate

    def __call__(self, w: Array, slots: Slots, g: Array, lr: Any) -> tuple[Array, Slots]:
        last = self.stages(w, slots, g, lr)
        return last.weights, last.slots

    def stages(self, w: Array, slots: Slots, g: Array, lr: Any) -> Stages:
        """The update with what it passes through on its way."""
        g = clipped(g, self.table.gradient_limits) if self.clips_gradient else g
        if self.policy.weight_decay_place == "before":
            whole, left = w, self._decayed(w, lr)
            free, slots = self.rule(left, slots, g, lr)
        else:
            whole, slots = self.rule(w, slots, g, lr)
            free = left = self._decayed(whole, lr)
        return Stages(g, whole, left, free, clipped(free, self.table.weight_limits), slots)

    def _decayed(self, w: Array, lr: Any) -> Array:
        t = self.table
        if not t.weight_decay:
            return w
        factor = namespace(w).asarray(t.weight_decay, w.dtype)
        factor = factor * namespace(w).asarray(lr, w.dtype) if t.weight_decay_times_rate else factor
        return w * factor if self.policy.weight_decay_kind == "multiply" else w - factor * w


class Stages(NamedTuple):
    """The stages of an update: the limited gradient; weights before decay and after; before limits and after."""

    gradient: Array
    whole: Array
    left: Array
    free: Array
    weights: Array
    slots: Slots


def clipped(x: Array, limits: Limits) -> Array:
    """x between the limits that there are."""
    lower, upper = (
        e if given is None else given for given, e in zip(limits, (-float("inf"), float("inf")), strict=True)
    )
    return x if limits == (None, None) else clip_by_value(x, lower, upper)

"""One update of an embedding table.

    G      = clip(sum of the gradients of a row)
    w      = w - decay * w
    w, s   = rule(w, s, G, lr)
    w      = clip(w)

`TableUpdate` is these four lines for one table and one policy. It is itself a `Rule` with the slots
of the inner rule, so that what runs a rule on arrays (on a dense array, on some rows, on each
occurrence of a row) also runs the update. `update_table` is the public door; `update_rows` is the
fast path for rows that are known to be distinct.

The order of the four lines isn't known from hardware. `Policy` has a field for each choice, and a
source.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from .._base.arrays import Array, is_jax, namespace, set_rows, sum_duplicates, take_rows
from .._base.gradient_types import Gradient, check_shape
from .._base.jax_or_numpy import jax, tree_map
from .._base.slices import IndexedSlices
from ..clip import clip_by_value
from ..rules import Rule, dense_and_sparse
from ..rules.rule import Slots
from .plan import NO_LIMITS, Limits, Policy, Table

Arrays: TypeAlias = tuple[Array, ...]  # the weights of a table, then its slots
Rows: TypeAlias = tuple[Array, Array]  # ids (n,) and sums (n, width)

CACHED_ROWS = 1024  # rows that stay in a processor's cache between being read and being written


def update_table(
    table: Table,
    w: Array,
    slots: Slots,
    g: Gradient,
    lr: Any,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    rule: Rule | None = None,
) -> tuple[Array, Slots]:
    """Return the weights and slots of a table after one step.

        G = clip(sum of the gradients of a row)
        w = w - decay * w
        w, slots = rule(w, slots, G, lr)
        w = clip(w)

    Without `table.accumulate` all of this happens for each slice in turn. Only rows that `g` names
    are updated, by a sum of 0 too, unless the rule isn't lazy. NumPy or JAX; jit-able.

    Args:
        g: IndexedSlices, which update only the rows they name, or an array of the shape of w, which
            updates every row.
        lr: the learning rate of this step.
        rule: used instead of `table.rule`, where its fields change from step to step.

    Raises:
        InvalidArgumentError: rows or an index that do not fit w.

    The order of the parts is an analogy, not seen on hardware: see `Policy`.

    Source: `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab.tpu import Table
    >>> g = IndexedSlices(np.array([[3.0], [2.0]]), np.array([1, 1]), (2, 1))
    >>> table = Table("t", 2, 1, gradient_limits=(-1.0, 1.0))
    >>> update_table(table, np.zeros((2, 1)), (), g, 0.5)[0].ravel().tolist()
    [0.0, -0.5]
    """
    check_shape(g, tuple(w.shape), f"table {table.name!r}")
    update = TableUpdate(table, rule or table.rule, policy)
    if not isinstance(g, IndexedSlices):
        return update(w, slots, g, broadcast_rate(lr, w))

    w, slots, g = dense_and_sparse.of_one_library(w, slots, g, lr)
    values = g.values
    if not update.clips_inside_update:
        values = clip_to_limits(values, table.gradient_limits)
    if not table.accumulate:
        slices = IndexedSlices(values, g.indices, g.dense_shape)
        return dense_and_sparse.each(update, w, slots, slices, broadcast_rate(lr, w, values.shape))
    ids, sums = sum_duplicates(g.indices, values)
    return update_rows(update, w, slots, ids, sums, lr)


def update_rows(
    update: TableUpdate, w: Array, slots: Slots, ids: Array, sums: Array, lr: Any
) -> tuple[Array, Slots]:
    """Update the rows `ids` by their gradients `sums`.

    Args:
        ids: (n,) distinct rows. In JAX an id past the end isn't a row.
        sums: (n, width).
    """
    if not update.rule.lazy:
        dense = set_rows(namespace(w).zeros(w.shape, sums.dtype), ids, sums)
        return update(w, slots, dense, broadcast_rate(lr, w))

    def update_these(arrays: Arrays, rows: Rows) -> Arrays:
        ids, sums = rows
        w, *slots = (take_rows(x, ids) for x in arrays)
        new_w, new_slots = update(w, tuple(slots), sums, broadcast_rate(lr, w))
        new_rows = (new_w, *new_slots)
        return tuple(set_rows(x, ids, new) for x, new in zip(arrays, new_rows, strict=True))

    arrays: Arrays = (w, *slots)
    if is_jax(sums) and ids.shape[0] > CACHED_ROWS and ids.shape[0] % CACHED_ROWS == 0:
        # On a CPU all rows at once are read, updated and written in three passes through memory; in
        # parts, in one.
        in_parts = partial(_run_in_parts, update_these)
        arrays = jax.lax.platform_dependent(arrays, (ids, sums), cpu=in_parts, default=update_these)
    else:
        arrays = update_these(arrays, (ids, sums))
    return arrays[0], arrays[1:]


def _run_in_parts(
    update_these: Callable[[Arrays, Rows], Arrays], arrays: Arrays, rows: Rows
) -> Arrays:
    parts = tree_map(lambda x: x.reshape(-1, CACHED_ROWS, *x.shape[1:]), rows)
    arrays, _ = jax.lax.scan(lambda arrays, part: (update_these(arrays, part), None), arrays, parts)
    return arrays


def broadcast_rate(lr: Any, w: Array, shape: Sequence[int] | None = None) -> Array:
    """Return the learning rate in the dtype of w, once for each entry of w or of `shape`.

    XLA simplifies a division by a scalar differently in a program for one device and in one for
    many. With a rate for each entry both give the same bits.
    """
    xp = namespace(w)
    return xp.broadcast_to(xp.asarray(lr, w.dtype), w.shape if shape is None else shape)


class UpdateStages(NamedTuple):
    """What an update passes through."""

    gradient: Array  # after its limits
    before_decay: Array
    after_decay: Array
    before_clip: Array
    weights: Array  # the result
    slots: Slots  # the result


@dataclasses.dataclass(frozen=True)
class TableUpdate(Rule):
    """A rule and what a table does around it: gradient limits, weight decay, weight limits.

    `rule` is the rule at this step: fields that change from step to step are in place. So `start`,
    `advance` and `at` are called on the table's rule, not on this one.
    """

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
    def lazy(self) -> bool:  # type: ignore[override]
        return self.rule.lazy

    def init(self, w: Array) -> Slots:
        return self.rule.init(w)

    @property
    def clips_inside_update(self) -> bool:
        """Whether the update clips the gradient that it gets. Otherwise each part of it was clipped."""
        return self.policy.gradient_clip_place == "sum" or not self.table.accumulate

    def __call__(self, w: Array, slots: Slots, g: Array, lr: Any) -> tuple[Array, Slots]:
        stages = self.stages(w, slots, g, lr)
        return stages.weights, stages.slots

    def stages(self, w: Array, slots: Slots, g: Array, lr: Any) -> UpdateStages:
        """Return the update and what it passes through."""
        if self.clips_inside_update:
            g = clip_to_limits(g, self.table.gradient_limits)

        if self.policy.weight_decay_place == "before":
            before_decay = w
            after_decay = self._decay(w, lr)
            before_clip, slots = self.rule(after_decay, slots, g, lr)
        else:
            before_decay, slots = self.rule(w, slots, g, lr)
            after_decay = self._decay(before_decay, lr)
            before_clip = after_decay

        weights = clip_to_limits(before_clip, self.table.weight_limits)
        return UpdateStages(g, before_decay, after_decay, before_clip, weights, slots)

    def _decay(self, w: Array, lr: Any) -> Array:
        table = self.table
        if not table.weight_decay:
            return w
        xp = namespace(w)
        factor = xp.asarray(table.weight_decay, w.dtype)
        if table.weight_decay_times_rate:
            factor = factor * xp.asarray(lr, w.dtype)
        if self.policy.weight_decay_kind == "multiply":
            return w * factor
        return w - factor * w


def clip_to_limits(x: Array, limits: Limits) -> Array:
    """Return x between a lower and an upper limit. A limit of None isn't there."""
    if limits == NO_LIMITS:
        return x
    lower, upper = limits
    if lower is None:
        lower = -float("inf")
    if upper is None:
        upper = float("inf")
    return clip_by_value(x, lower, upper)

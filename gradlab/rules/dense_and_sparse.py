"""The ways to use a rule on arrays: `dense` for an array, three for IndexedSlices.

| way         | a row named twice       | rows not named          | used by                                           |
|-------------|-------------------------|-------------------------|---------------------------------------------------|
| `rows`      | moves once, by the sum  | keep weights and slots  | lazy rules: most of `gl.train`, `gl.tpu`          |
| `each`      | moves twice, in order   | keep weights and slots  | gradient descent; TPU tables that sum no slices   |
| `every_row` | moves once, by the sum  | move by a gradient of 0 | rules with `lazy=False`: `AdamOptimizer`          |

`sparse` is `rows` for a lazy rule and `every_row` for one that is not.

Indices name rows from 0 on. A slice past the end, as those that pad a batch, is dropped; a negative
index is refused in NumPy, and must not be given in JAX.

These are pure functions, which copy a table to change its rows. To step a table in place,
`in_place.py` (arrays, with `out=` or `donate=`) and `train/update.py` (Variables) compute only the
new rows, and write those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.arrays import (
    Array,
    add_rows,
    count_earlier,
    is_jax,
    is_traced,
    namespace,
    repeat_body,
    set_rows,
    sum_duplicates,
    take_rows,
)
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from .rule import Rule, Slots, check_row_local


def dense(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any) -> tuple[Array, Slots]:
    """Return the new weights and slots of a step by an array: every weight moves.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import StochasticGradientDescent
    >>> dense(StochasticGradientDescent(), np.ones(2), (), np.array([1.0, 2.0]), 0.5)[0].tolist()
    [0.5, 0.0]
    """
    return rule(w, slots, g, lr)


def rows(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
    """Return the new weights and slots of a step by slices: the rows named move, each once.

    A row moves by the sum of its slices; other rows keep weights and slots.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import StochasticGradientDescent
    >>> g = IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (3, 1))
    >>> rows(StochasticGradientDescent(), np.zeros((3, 1)), (), g, 1.0)[0].ravel().tolist()
    [0.0, -2.0, 0.0]
    """
    check_row_local(rule, "a step of single rows")
    w, slots, g = of_one_library(w, slots, g, lr)
    indices, values = sum_duplicates(g.indices, g.values)
    return _update(rule, w, slots, indices, indices, values, lr)


def each(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
    """Return the new weights and slots of a step by slices: the rows named move, once a slice.

    Slices of one row follow one another in the order given. All first occurrences are applied
    together, then all second ones, because rows don't depend on one another.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import Momentum
    >>> g = IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (2, 1))
    >>> rule, w = Momentum(0.5), np.zeros((2, 1))
    >>> each(rule, w, rule.init(w), g, 1.0)[0].ravel().tolist()
    [0.0, -2.5]
    """
    check_row_local(rule, "a step of single rows")
    w, slots, g = of_one_library(w, slots, g, lr)
    if g.indices.shape[0] == 0:
        return w, slots
    xp = namespace(w)
    if rule.adds and is_jax(w):
        # Turns would read all slices once for every occurrence of the most frequent row.
        moves, _ = rule(xp.zeros(g.values.shape, w.dtype), (), g.values, lr)
        return add_rows(w, g.indices, moves), slots
    turn_of_slice = count_earlier(g.indices)
    if xp is np:
        order = np.argsort(turn_of_slice, kind="stable")
        turns = np.split(order, np.bincount(turn_of_slice).cumsum()[:-1])
        return _apply_turns(rule, w, slots, g, lr, turns)
    outside = w.shape[0]

    def apply_turn(k: Any, state: tuple[Array, Slots]) -> tuple[Array, Slots]:
        target = xp.where(turn_of_slice == k, g.indices, outside)
        return _update(rule, *state, g.indices, target, g.values, lr)

    stepped: tuple[Array, Slots] = repeat_body(turn_of_slice.max() + 1, apply_turn, (w, slots))
    return stepped


def _apply_turns(
    rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any, turns: Sequence[Array]
) -> tuple[Array, Slots]:
    """Update once for each set of slices, none of which names a row twice.

    All sets together cost what the slices cost.
    """
    tables = [np.array(x) for x in (w, *slots)]
    for turn in turns:
        slices = turn[g.indices[turn] < w.shape[0]]  # past the end there is no row
        rows = g.indices[slices]
        # One rate for each entry, or one for all.
        rate = lr[slices] if np.shape(lr) == g.values.shape else lr
        old_w, *old_slots = (table[rows] for table in tables)
        new_w, new_slots = rule(old_w, tuple(old_slots), g.values[slices], rate)
        for table, new in zip(tables, (new_w, *new_slots), strict=True):
            table[rows] = new
    return tables[0], tuple(tables[1:])


def every_row(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
    """Return the new weights and slots of a step by slices: every row moves.

    A row named moves by the sum of its slices, all others by a gradient of 0.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import Momentum
    >>> g = IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (2, 1))
    >>> every_row(Momentum(0.5), np.zeros((2, 1)), (np.ones((2, 1)),), g, 1.0)[0].ravel().tolist()
    [-0.5, -2.5]
    """
    return rule(w, slots, whole(w, g), lr)


def sparse(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
    """Step by slices as `rows` does, or as `every_row` where the rule isn't lazy.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import Lion
    >>> g = IndexedSlices(np.ones((1, 1)), np.array([1]), (2, 1))
    >>> for lazy in (True, False):
    ...     sparse(Lion(lazy=lazy), np.zeros((2, 1)), (np.ones((2, 1)),), g, 1.0)[0].ravel().tolist()
    [0.0, -1.0]
    [-1.0, -1.0]
    """
    return (rows if rule.lazy else every_row)(rule, w, slots, g, lr)


def whole(w: Array, g: IndexedSlices) -> Array:
    """Return the slices as a gradient of every row of w: sums in the rows named, 0 in others."""
    w, _, g = of_one_library(w, (), g)
    indices, values = sum_duplicates(g.indices, g.values)
    return set_rows(namespace(w).zeros(w.shape, values.dtype), indices, values)


def of_one_library(
    w: Array, slots: Slots, g: IndexedSlices, lr: Any = None
) -> tuple[Array, Slots, IndexedSlices]:
    """Return all of them in the library of w, or in JAX's where something else is traced.

    Raises:
        InvalidArgumentError: NumPy indices of which one is negative. They would name a row that
            n - 1 may name as well, and one of its gradients would be lost. JAX's aren't read.

    >>> import jax.numpy as jnp
    >>> type(of_one_library(np.ones((2, 1)), (), IndexedSlices(jnp.ones((1, 1)), jnp.array([1])))[2].values).__name__
    'ndarray'
    """
    xp = namespace(w, *(x for x in (*slots, g.values, g.indices, lr) if is_traced(x)))
    slices = IndexedSlices(xp.asarray(g.values), xp.asarray(g.indices), g.dense_shape)
    if xp is np and slices.indices.size and slices.indices.min() < 0:
        raise InvalidArgumentError(
            f"indices must not be negative, got {slices.indices.min()}; add the number of rows"
        )
    return xp.asarray(w), tuple(xp.asarray(s) for s in slots), slices


def _update(
    rule: Rule, w: Array, slots: Slots, source: Array, target: Array, g: Array, lr: Any
) -> tuple[Array, Slots]:
    """Step rows `source` of w and slots, and write the results to rows `target`."""
    old_slots = tuple(take_rows(s, source) for s in slots)
    new_w, new_slots = rule(take_rows(w, source), old_slots, g, lr)
    pairs = zip(slots, new_slots, strict=True)
    return set_rows(w, target, new_w), tuple(set_rows(s, target, new) for s, new in pairs)

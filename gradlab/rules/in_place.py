"""The ways of `gl.rules` on buffers that may be used up."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array, is_jax, is_traced
from .._base.gradients import check_shape
from .._base.slices import IndexedSlices
from . import apply, blocks, donated
from .pure import Sparse
from .rule import Rule, Slots

_allowed = True


def allow(for_variables: bool) -> bool:
    """Say whether optimizers may use up the buffers of large Variables and slots; return what was said before.

    For the whole process, and True at first. False costs a copy of each table at every step, and keeps every alias of a
    value alive. Not in TensorFlow.

    >>> allow(False), allow(True)
    (True, False)
    """
    global _allowed
    if not isinstance(for_variables, bool):
        raise TypeError(f"for_variables must be True or False, got {for_variables!r}")
    before, _allowed = _allowed, for_variables
    return before


def is_allowed() -> bool:
    """The setting made by `allow`."""
    return _allowed


def dense(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any) -> tuple[Array, Slots]:
    """Every weight moves: `apply.dense` that uses up `w` and `slots`. NumPy arrays are stepped in blocks of the cache.

    Raises: TypeError for values inside `jit`, ValueError for a gradient of another shape, a read-only array, arrays
    that overlap, or a learning rate that isn't a scalar; nothing has changed then. If the rule itself raises, NumPy
    arrays are half stepped. Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import StochasticGradientDescent
    >>> w = np.ones(2)
    >>> dense(StochasticGradientDescent(), w, (), np.array([1.0, 2.0]), 0.5)[0] is w, w.tolist()
    (True, [0.5, 0.0])
    """
    _check(rule, w, slots, g, lr)
    if is_jax(w):
        return donated.dense(rule, w, slots, g, lr, donate=True)
    blocks.step(rule, w, slots, np.asarray(g), lr, (w, slots))
    return w, slots


def rows(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
    """The rows named move, each once, by the sum of its slices: `apply.rows` that uses up `w` and `slots`.

    Raises: as `dense`, and ValueError for an index outside the table; nothing has changed then, whatever raises.
    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import StochasticGradientDescent
    >>> w, g = np.zeros((3, 1)), IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (3, 1))
    >>> rows(StochasticGradientDescent(), w, (), g, 1.0)[0] is w, w.ravel().tolist()
    (True, [0.0, -2.0, 0.0])
    """
    return _rows(rule, w, slots, g, lr, apply.rows)


def each(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
    """The rows named move once for every slice, in the order given: `apply.each` that uses up `w` and `slots`.

    Raises: as `rows`. Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import Momentum
    >>> g, w = IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (2, 1)), np.zeros((2, 1))
    >>> each(Momentum(0.5), w, (np.zeros((2, 1)),), g, 1.0)[0].ravel().tolist()
    [0.0, -2.5]
    """
    return _rows(rule, w, slots, g, lr, apply.each)


def _rows(rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any, way: Sparse) -> tuple[Array, Slots]:
    _check(rule, w, slots, g, lr)
    if is_jax(w):
        return donated.scattered(donated.new_rows(rule, w, slots, g, lr, way), w, slots, donate=True)
    named, new = blocks.new_rows(rule, w, slots, g, lr, way)
    for table, x in zip((w, *slots), new, strict=True):
        np.asarray(table)[named] = x
    return w, slots


def _check(rule: Rule, w: Array, slots: Slots, g: Any, lr: Any) -> None:
    sparse = isinstance(g, IndexedSlices)
    if any(is_traced(x) for x in (w, *slots, *((g.values, g.indices) if sparse else (g,)))):
        raise TypeError("gradlab.rules.in_place is for concrete arrays; inside jit use gl.rules")
    check_shape(g, tuple(w.shape), "w")
    if np.shape(lr) != ():
        raise ValueError(f"lr must be a scalar, got shape {np.shape(lr)}")
    shape, shapes = tuple(w.shape), dict(enumerate(rule.slot_shape(name, w.shape) for name in rule.slots))
    for name, x, wanted in (("w", w, shape), *((f"slot {k}", s, shapes.get(k, shape)) for k, s in enumerate(slots))):
        if is_jax(x) != is_jax(w):
            raise ValueError(f"{name} must come from the library of w: all NumPy or all JAX")
        if tuple(x.shape) != wanted:
            row = "" if wanted == shape else f", which takes {wanted}"
            raise ValueError(f"{name} has shape {tuple(x.shape)}, but w has {shape}{row}")
        if not is_jax(x) and not x.flags.writeable:
            raise ValueError(f"{name} is read-only: give a copy, or use gl.rules")
    if not is_jax(w):
        _check_apart([w, *slots], [g.values] if sparse else [g])


def _check_apart(written: list[Any], read: list[Any]) -> None:
    others = [np.asarray(x) for x in read]
    for k, x in enumerate(written):
        if any(np.may_share_memory(x, y) for y in [*written[k + 1 :], *others]):
            raise ValueError("w, slots and gradient must not overlap: give copies")

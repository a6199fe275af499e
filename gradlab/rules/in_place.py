"""`gl.rules.dense`, `rows` and `each`: a rule on arrays, in place where the caller asks for it.

Without `out=` and `donate=` they are the pure functions of `dense_and_sparse.py`. With `out=` NumPy
arrays are written into (`blocks.py`), with `donate=True` JAX arrays are used up (`donated.py`).
Both are for concrete arrays, and all that may be wrong with them is checked before anything is
written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array, is_jax, is_traced
from .._base.gradient_types import check_shape
from .._base.slices import IndexedSlices
from . import blocks, dense_and_sparse, donated
from .pure import Sparse
from .rule import Rule, Slots, check_row_local

Out = tuple[Array, Slots]  # like w and slots


def dense(
    rule: Rule,
    w: Array,
    slots: Slots,
    g: Array,
    lr: Any,
    *,
    out: Out | None = None,
    donate: bool = False,
) -> tuple[Array, Slots]:
    """Return the new weights and slots of a step by an array: every weight moves.

    Args:
        out: NumPy arrays for the new w and slots, such as w and slots themselves. Large ones are
            written block by block in the cache, by all cores.
        donate: JAX arrays w and slots are used up: their memory holds the new ones, and they can't
            be read again.

    Raises: with `out` or `donate`, TypeError inside `jit`, and ValueError for a read-only or
    overlapping array, another shape, or a learning rate that isn't a scalar; nothing has changed
    then. If the rule raises, `out` is half written.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import StochasticGradientDescent
    >>> w, g = np.ones(2), np.array([1.0, 2.0])
    >>> dense(StochasticGradientDescent(), w, (), g, 0.5)[0].tolist(), w.tolist()
    ([0.5, 0.0], [1.0, 1.0])
    >>> dense(StochasticGradientDescent(), w, (), g, 0.5, out=(w, ()))[0] is w, w.tolist()
    (True, [0.5, 0.0])
    """
    if out is None and not donate:
        return dense_and_sparse.dense(rule, w, slots, g, lr)
    _check(rule, w, slots, g, lr, out, donate)
    if out is None:
        return donated.dense(rule, w, slots, g, lr, donate_w=True, donate_slots=True)
    blocks.step(rule, w, slots, np.asarray(g), lr, out)
    return out


def rows(
    rule: Rule,
    w: Array,
    slots: Slots,
    g: IndexedSlices,
    lr: Any,
    *,
    out: Out | None = None,
    donate: bool = False,
) -> tuple[Array, Slots]:
    """Return the new weights and slots of a step by slices: the rows named move, each once.

    A row moves by the sum of its slices; other rows keep weights and slots.

    With `out=(w, slots)` or `donate=True`, as for `dense`, a step costs what the rows named cost,
    and an index outside the table is a ValueError. Nothing has changed then, whatever raises.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import StochasticGradientDescent
    >>> w, g = np.zeros((3, 1)), IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (3, 1))
    >>> rows(StochasticGradientDescent(), w, (), g, 1.0, out=(w, ()))[0].ravel().tolist()
    [0.0, -2.0, 0.0]
    """
    if out is None and not donate:
        return dense_and_sparse.rows(rule, w, slots, g, lr)
    return _step_rows(rule, w, slots, g, lr, dense_and_sparse.rows, out, donate)


def each(
    rule: Rule,
    w: Array,
    slots: Slots,
    g: IndexedSlices,
    lr: Any,
    *,
    out: Out | None = None,
    donate: bool = False,
) -> tuple[Array, Slots]:
    """Return the new weights and slots of a step by slices: the rows named move, once a slice.

    Slices of one row follow one another in the order given. `out` and `donate` are as for `rows`.

    Not in TensorFlow.

    >>> import numpy as np
    >>> from gradlab.rules import Momentum
    >>> g = IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (2, 1))
    >>> rule, w = Momentum(0.5), np.zeros((2, 1))
    >>> each(rule, w, rule.init(w), g, 1.0)[0].ravel().tolist()
    [0.0, -2.5]
    """
    if out is None and not donate:
        return dense_and_sparse.each(rule, w, slots, g, lr)
    return _step_rows(rule, w, slots, g, lr, dense_and_sparse.each, out, donate)


def _step_rows(
    rule: Rule,
    w: Array,
    slots: Slots,
    g: IndexedSlices,
    lr: Any,
    sparse: Sparse,
    out: Out | None,
    donate: bool,
) -> Out:
    _check(rule, w, slots, g, lr, out, donate)
    if out is None:
        new_rows = donated.new_rows(rule, w, slots, g, lr, sparse)
        return donated.scatter_all(new_rows, w, slots, donate=True)
    changed, values = blocks.new_rows(rule, w, slots, g, lr, sparse)
    targets: list[Any] = [out[0], *out[1]]
    for table, target, new in zip((w, *slots), targets, values, strict=True):
        if target is not table:
            target[...] = table
        target[changed] = new
    return out


def _check(
    rule: Rule, w: Array, slots: Slots, g: Any, lr: Any, out: Out | None, donate: bool
) -> None:
    read = [g.values, g.indices] if isinstance(g, IndexedSlices) else [g]
    if any(is_traced(x) for x in (w, *slots, *read)):
        raise TypeError(
            "out and donate are for concrete arrays; inside jit leave "
            "them out, and donate to the jit"
        )
    if out is not None or isinstance(g, IndexedSlices):
        check_row_local(rule, "a step in blocks (out=) or of single rows")
    if is_jax(w) and out is not None:
        raise ValueError("out is for NumPy arrays, got a JAX array w; use donate=True")
    if donate and not is_jax(w):
        raise ValueError("donate is for JAX arrays, got a NumPy array w; use out=(w, slots)")
    check_shape(g, tuple(w.shape), "w")
    if np.shape(lr) != ():
        raise ValueError(f"lr must be a scalar, got shape {np.shape(lr)}")
    _check_alike(rule, w, slots, w, ("w", "slot"))
    if out is not None:
        _check_alike(rule, out[0], out[1], w, ("out[0]", "out[1], slot"))
        _check_targets([w, *slots], [out[0], *out[1]], read[:1])


def _check_alike(rule: Rule, w: Array, slots: Slots, like: Array, names: tuple[str, str]) -> None:
    """Refuse weights and slots of another library than `like`, or of shapes that don't fit it."""
    shape = tuple(like.shape)
    expected = [shape, *(tuple(rule.slot_shape(name, like.shape)) for name in rule.slots)]
    if len(slots) != len(rule.slots):
        raise ValueError(f"{type(rule).__name__} has {len(rule.slots)} slots, got {len(slots)}")
    labels = [names[0], *(f"{names[1]} {k}" for k in range(len(slots)))]
    for label, x, wanted in zip(labels, (w, *slots), expected, strict=True):
        if is_jax(x) != is_jax(like):
            raise ValueError(f"{label} must come from the library of w: all NumPy or all JAX")
        if tuple(x.shape) != wanted:
            message = f"{label} has shape {tuple(x.shape)}, but w has {shape}"
            if wanted != shape:
                message += f", for which {label} must have {wanted}"
            raise ValueError(message)


def _check_targets(inputs: list[Any], targets: list[Any], gradients: list[Any]) -> None:
    """Refuse read-only targets, and those that overlap with something else that is read.

    A target may be the input that it replaces: a block is read before it is written.
    """
    for k, target in enumerate(targets):
        if not target.flags.writeable:
            raise ValueError("an array of out is read-only: give a copy, or leave out")
        others = [*targets[:k], *gradients]
        others += [x for j, x in enumerate(inputs) if j != k or x is not target]
        if any(np.may_share_memory(target, np.asarray(x)) for x in others):
            raise ValueError(
                "w, slots, gradient and out must not overlap, but for out=(w, slots): give copies"
            )

"""Gradients of all replicas as one."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._base.arrays import namespace
from .._base.slices import Gradient, IndexedSlices
from .._variables.gradient_checks import checked_gradient
from .._variables.variable import Variable
from .weights import is_trainable

if TYPE_CHECKING:
    from .steps import Pairs


def summed(lists: Sequence[Pairs]) -> Pairs:
    """The sums of the gradients of one variable; slices are joined, to be summed where rows meet.

    Raises ValueError where replicas give other variables, or gradients of another kind; as `checked_gradient`.

    >>> import numpy as np
    >>> v = Variable([0.0])
    >>> [g.tolist() for g, _ in summed([[(np.float32([1.0]), v)], [(np.float32([2.0]), v)]])]
    [[3.0]]
    """
    if any([v for _, v in pairs] != [v for _, v in lists[0]] for pairs in lists):
        raise ValueError("all replicas must give gradients for the same variables in the same order")
    return [(_sum([pairs[k][0] for pairs in lists], v), v) for k, (_, v) in enumerate(lists[0])]


def _sum(grads: Sequence[Gradient], v: Variable) -> Gradient:
    missing = [g is None for g in grads]
    sparse = [isinstance(g, IndexedSlices) for g in grads]
    if all(missing):
        return None
    if any(missing) or len(set(sparse)) > 1:
        raise ValueError(f"{v.name}: either all replicas give a dense gradient, or all slices, or all None")
    if sparse[0]:
        values, indices = ([getattr(g, name) for g in grads] for name in ("values", "indices"))
        xp = namespace(*values)
        return IndexedSlices(xp.concatenate(values), xp.concatenate(indices), grads[0].dense_shape)
    return functools.reduce(operator.add, (checked_gradient(g, v, is_trainable) for g in grads))


def divided(g: Gradient, n: int) -> Gradient:
    """A sum over n replicas as their mean.

    >>> import numpy as np
    >>> divided(np.float32([4.0]), 2).tolist()
    [2.0]
    """
    if isinstance(g, IndexedSlices):
        return g.with_values(divided(g.values, n))
    return None if g is None else g / g.dtype.type(n)

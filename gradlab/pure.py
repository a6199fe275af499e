"""A rule on a whole tree of weights as pure functions, for `jit`, `scan`, `vmap` and shards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import apply, rules
from ._arrays import Array, as_array, namespace
from .autodiff import Gradient
from .pairs import check_shape
from .rules._rule import Slots
from .slices import IndexedSlices

Sparse = Callable[..., tuple[Array, Slots]]  # how IndexedSlices meet the rule: `apply.rows`, `apply.each`


def init(rule: rules.Rule, values: Any) -> dict[str, Any]:
    """The state for a tree of weights: a step count, what all weights share, and the slots of every leaf.

    >>> import jax.numpy as jnp
    >>> init(rules.Momentum(0.9), {"a": jnp.ones(2)})["slots"][0][0].shape
    (2,)
    """
    import jax

    leaves = [as_array(w) for w in jax.tree.leaves(values)]
    shared = {name: namespace(*leaves).asarray(x) for name, x in rule.start().items()}  # NumPy's bits with NumPy's
    return {"step": jax.numpy.zeros((), np.int32), "shared": shared, "slots": [rule.init(w) for w in leaves]}


def update(
    rule: rules.Rule, rate: Array, state: Any, values: Any, grads: Any, sparse: Sparse = apply.rows
) -> tuple[Any, Any]:
    """(new values, new state). `grads` is a tree like `values` of arrays, IndexedSlices or None, which moves nothing.

    >>> import jax.numpy as jnp
    >>> rule, w = rules.Momentum(0.9), {"a": jnp.ones(2), "b": jnp.ones(2)}
    >>> w, state = update(rule, 0.5, init(rule, w), w, {"a": jnp.ones(2), "b": None})
    >>> w["a"].tolist(), w["b"].tolist(), int(state["step"])
    ([0.5, 0.5], [1.0, 1.0], 1)
    """
    import jax

    tree: Any
    leaves, tree = jax.tree.flatten(values)
    now, new, slots = rule.at(state["shared"]), [], []
    for w, s, g in zip(leaves, state["slots"], tree.flatten_up_to(grads), strict=True):
        if g is not None:
            w, g = as_array(w), g if isinstance(g, IndexedSlices) else as_array(g, "a gradient")
            check_shape(g, tuple(w.shape), "a weight")
            w, s = stepped(now, w, s, g, rate, sparse)
        new.append(w)
        slots.append(s)
    state = {"step": state["step"] + 1, "shared": rule.advance(state["shared"]), "slots": slots}
    return jax.tree.unflatten(tree, new), state


def stepped(rule: rules.Rule, w: Array, slots: Slots, g: Gradient, rate: Any, sparse: Sparse) -> tuple[Array, Slots]:
    """One variable's update, dense or sparse by the kind of its gradient."""
    return (sparse if isinstance(g, IndexedSlices) else apply.dense)(rule, w, slots, g, rate)

"""A rule on a whole tree of weights as pure functions, for `jit`, `scan`, `vmap` and shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from .. import rules
from .._base.arrays import Array, as_array, namespace, precision
from .._base.gradient_types import Gradient, check_shape
from .._base.slices import IndexedSlices
from . import dense_and_sparse
from .rule import Slots

Pair = tuple[Gradient, Any]  # gradient, weights
# How IndexedSlices meet the rule: `dense_and_sparse.rows`, `dense_and_sparse.each`.
Sparse = Callable[..., tuple[Array, Slots]]


def init(rule: rules.Rule, values: Any) -> dict[str, Any]:
    """The state for a tree of weights: a step count, what all weights share, and the slots of every leaf.

    >>> import jax.numpy as jnp
    >>> init(rules.Momentum(0.9), {"a": jnp.ones(2)})["slots"][0][0].shape
    (2,)
    """
    from .._base.jax import jax

    leaves = [as_array(w) for w in jax.tree.leaves(values)]
    pairs = zip(leaf_names(values), leaves, strict=True)
    # NumPy's bits with NumPy's.
    shared = {name: namespace(*leaves).asarray(x) for name, x in rule.start().items()}
    return {
        "step": jax.numpy.zeros((), np.int32),
        "shared": shared,
        "slots": [_slots(rule.for_weights(name, w.shape), w) for name, w in pairs],
    }


def _slots(rule: rules.Rule, w: Array) -> Slots:
    with precision(w.dtype):
        return rule.init(w)


def update(
    rule: rules.Rule,
    rate: Any,
    state: Any,
    values: Any,
    grads: Any,
    sparse: Sparse = dense_and_sparse.rows,
    process: Callable[[list[Pair]], list[Pair]] = list,
    names: Sequence[str] | None = None,
) -> tuple[Any, Any]:
    """(new values, new state).

    `grads` is a tree like `values` of arrays, IndexedSlices or None, which moves nothing.

    `rate` is a number, or a function from a dtype to the number for weights of it. `process` is
    given the gradients there are, each with its weights, and returns what takes their place.
    `names` are of the leaves, their paths in the tree by default.

    Raises TypeError if not given a state, ValueError for trees and shapes that differ; the weight
    is named by its path.

    >>> import jax.numpy as jnp
    >>> rule, w = rules.Momentum(0.9), {"a": jnp.ones(2), "b": jnp.ones(2)}
    >>> w, state = update(rule, 0.5, init(rule, w), w, {"a": jnp.ones(2), "b": None})
    >>> w["a"].tolist(), w["b"].tolist(), int(state["step"])
    ([0.5, 0.5], [1.0, 1.0], 1)
    """
    tree, (weights, given) = matched(state, values, grads)
    moving = [k for k, g in enumerate(given) if g is not None]
    pairs = process([(g, w) for g, w in zip(given, weights, strict=True) if g is not None])
    now, new, slots = rule.at(state["shared"]), list(weights), list(state["slots"])
    rates = cache(rate) if callable(rate) else lambda _: rate
    if names is None and now.depends_on_weights:
        names = leaf_names(values)
    for k, (g, _) in zip(moving, pairs, strict=True):
        w = weights[k]
        with precision(w.dtype):
            own = now if names is None else now.for_weights(names[k], w.shape)
            new[k], slots[k] = stepped(own, w, slots[k], g, rates(w.dtype), sparse)
    state = {
        **state,
        "step": state["step"] + 1,
        "shared": rule.advance(state["shared"]),
        "slots": slots,
    }
    return tree.unflatten(new), state


def matched(
    state: Any, values: Any, grads: Any
) -> tuple[Any, tuple[list[Array], list[Gradient | None]]]:
    """The tree of the values, and its leaves with their gradients as arrays; TypeError or ValueError if they differ."""
    from .._base.jax import jax

    if not isinstance(state, Mapping) or not {"step", "shared", "slots"} <= state.keys():
        raise TypeError(
            f"the state must come from init(values), got {type(state).__name__}; the order is "
            "update(state, values, gradients), not optax's"
        )
    tree: Any
    found, tree = jax.tree_util.tree_flatten_with_path(values)
    if len(found) != len(state["slots"]):
        raise ValueError(
            f"the state is that of {len(state['slots'])} weights, the values are {len(found)}; "
            "call init(values)"
        )
    try:
        given = tree.flatten_up_to(grads)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{_difference(values, grads)}: {error}") from error
    pairs = [_fitting(w, g, _name(path)) for (path, w), g in zip(found, given, strict=True)]
    return tree, ([w for w, _ in pairs], [g for _, g in pairs])


def leaf_names(values: Any) -> list[str]:
    """Return the names of the weights of a tree: the way to each, "layer/w".

    >>> leaf_names({"layer": {"b": 1.0, "w": 2.0}})
    ['layer/b', 'layer/w']
    """
    from .._base.jax import jax

    paths = jax.tree_util.tree_flatten_with_path(values)[0]
    return [_name(path) for path, _ in paths]


def _fitting(w: Any, g: Any, name: str) -> tuple[Array, Gradient | None]:
    if g is None:
        return w, None
    w, g = (
        as_array(w, name),
        g if isinstance(g, IndexedSlices) else as_array(g, f"the gradient of {name}"),
    )
    check_shape(g, tuple(w.shape), name)
    return w, g


def _name(path: Any) -> str:
    """The way to a leaf of a tree, "layer/w"."""
    from .._base.jax import jax

    return jax.tree_util.keystr(path, simple=True, separator="/") or "the weight"


def _difference(values: Any, grads: Any) -> str:
    """Describe how two trees differ in structure."""
    from .._base.jax import jax

    def names(tree: Any) -> set[str]:
        ends = lambda x: x is None or isinstance(x, IndexedSlices)  # noqa: E731
        return {
            _name(path) for path, _ in jax.tree_util.tree_flatten_with_path(tree, is_leaf=ends)[0]
        }

    missing, extra = sorted(names(values) - names(grads)), sorted(names(grads) - names(values))
    said = "the gradients must be a tree like the values, with None where there is none"
    said += f"; there is nothing for {', '.join(missing)}" if missing else ""
    return said + (f"; there is no weight {', '.join(extra)}" if extra else "")


def stepped(
    rule: rules.Rule, w: Array, slots: Slots, g: Gradient, rate: Any, sparse: Sparse
) -> tuple[Array, Slots]:
    """One variable's update, dense or sparse by the kind of its gradient."""
    return (
        sparse(rule, w, slots, g, rate)
        if isinstance(g, IndexedSlices)
        else dense_and_sparse.dense(rule, w, slots, g, rate)
    )

"""A rule on a tree of weights as pure functions, for `jit`, `scan`, `vmap` and shards.

`init` makes the state, `update` steps on: the pure form of every optimizer. `stepped` is the step
of one weight, which the shells use too where they can't step in place.
"""

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
from .rule import Slots, check_whole

Pair = tuple[Gradient, Any]  # gradient, weights
# How a rule is run on IndexedSlices: `dense_and_sparse.rows`, `dense_and_sparse.each`, ...
Sparse = Callable[..., tuple[Array, Slots]]


def init(rule: rules.Rule, values: Any) -> dict[str, Any]:
    """Return the state for a tree of weights: a step count, what all weights share, and the slots of every leaf.

    >>> import jax.numpy as jnp
    >>> init(rules.Momentum(0.9), {"a": jnp.ones(2)})["slots"][0][0].shape
    (2,)
    """
    from .._base.jax import jax

    leaves = [as_array(w) for w in jax.tree.leaves(values)]
    pairs = zip(leaf_names(values), leaves, strict=True)
    # In the library of the weights, so that a step of NumPy's weights has NumPy's bits.
    shared = {name: namespace(*leaves).asarray(x) for name, x in rule.start().items()}
    return {
        "step": jax.numpy.zeros((), np.int32),
        "shared": shared,
        "slots": [_slots(rule.for_weights(name, w.shape), w) for name, w in pairs],
    }


def _slots(rule: rules.Rule, w: Array) -> Slots:
    check_whole(rule, w)
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
    """Return the new values and the new state.

    Args:
        rate: a number, or a function from a dtype to the number for weights of it.
        grads: a tree like `values` of arrays, IndexedSlices or None, which moves nothing.
        sparse: how the rule is run on IndexedSlices.
        process: gets the gradients that aren't None, each with its weights, and returns those to
            apply.
        names: of the leaves; their paths in the tree by default.

    Raises:
        TypeError: `state` isn't a state.
        ValueError: trees or shapes differ; the weight is named by its path.

    >>> import jax.numpy as jnp
    >>> rule, w = rules.Momentum(0.9), {"a": jnp.ones(2), "b": jnp.ones(2)}
    >>> w, state = update(rule, 0.5, init(rule, w), w, {"a": jnp.ones(2), "b": None})
    >>> w["a"].tolist(), w["b"].tolist(), int(state["step"])
    ([0.5, 0.5], [1.0, 1.0], 1)
    """
    tree, (weights, leaf_grads) = matched(state, values, grads)
    with_gradient = [k for k, g in enumerate(leaf_grads) if g is not None]
    pairs = process([(g, w) for g, w in zip(leaf_grads, weights, strict=True) if g is not None])
    rule_now = rule.at(state["shared"])
    rate_for = cache(rate) if callable(rate) else lambda _: rate
    if names is None and rule_now.depends_on_weights:
        names = leaf_names(values)
    new = list(weights)
    slots = list(state["slots"])
    for k, (g, _) in zip(with_gradient, pairs, strict=True):
        w = weights[k]
        with precision(w.dtype):
            rule_of_w = rule_now if names is None else rule_now.for_weights(names[k], w.shape)
            new[k], slots[k] = stepped(rule_of_w, w, slots[k], g, rate_for(w.dtype), sparse)
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
    """Return the tree of the values, its leaves as arrays, and their gradients.

    Raises TypeError or ValueError as `update` does.
    """
    from .._base.jax import jax

    if not isinstance(state, Mapping) or not {"step", "shared", "slots"} <= state.keys():
        raise TypeError(
            f"the state must come from init(values), got {type(state).__name__}; the order is "
            "update(state, values, gradients), not optax's"
        )
    tree: Any
    leaves, tree = jax.tree_util.tree_flatten_with_path(values)
    if len(leaves) != len(state["slots"]):
        raise ValueError(
            f"the state is that of {len(state['slots'])} weights, the values are {len(leaves)}; "
            "call init(values)"
        )
    try:
        leaf_grads = tree.flatten_up_to(grads)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{_difference(values, grads)}: {error}") from error
    pairs = [_as_arrays(w, g, _name(path)) for (path, w), g in zip(leaves, leaf_grads, strict=True)]
    return tree, ([w for w, _ in pairs], [g for _, g in pairs])


def leaf_names(values: Any) -> list[str]:
    """Return the names of the weights of a tree: the way to each, "layer/w".

    >>> leaf_names({"layer": {"b": 1.0, "w": 2.0}})
    ['layer/b', 'layer/w']
    """
    from .._base.jax import jax

    paths = jax.tree_util.tree_flatten_with_path(values)[0]
    return [_name(path) for path, _ in paths]


def _as_arrays(w: Any, g: Any, name: str) -> tuple[Array, Gradient | None]:
    """Return a weight and its gradient as arrays of fitting shapes."""
    if g is None:
        return w, None
    w = as_array(w, name)
    if not isinstance(g, IndexedSlices):
        g = as_array(g, f"the gradient of {name}")
    check_shape(g, tuple(w.shape), name)
    return w, g


def _name(path: Any) -> str:
    """Return the path to a leaf of a tree, "layer/w"."""
    from .._base.jax import jax

    return jax.tree_util.keystr(path, simple=True, separator="/") or "the weight"


def _difference(values: Any, grads: Any) -> str:
    """Describe how two trees differ in structure."""
    from .._base.jax import jax

    def names(tree: Any) -> set[str]:
        leaves, _ = jax.tree_util.tree_flatten_with_path(
            tree, is_leaf=lambda x: x is None or isinstance(x, IndexedSlices)
        )
        return {_name(path) for path, _ in leaves}

    missing = sorted(names(values) - names(grads))
    extra = sorted(names(grads) - names(values))
    message = "the gradients must be a tree like the values, with None where there is none"
    if missing:
        message += f"; there is nothing for {', '.join(missing)}"
    if extra:
        message += f"; there is no weight {', '.join(extra)}"
    return message


def stepped(
    rule: rules.Rule, w: Array, slots: Slots, g: Gradient, rate: Any, sparse: Sparse
) -> tuple[Array, Slots]:
    """Return new weights and slots of one weight, stepped by an array or by slices."""
    if isinstance(g, IndexedSlices):
        return sparse(rule, w, slots, g, rate)
    return dense_and_sparse.dense(rule, w, slots, g, rate)

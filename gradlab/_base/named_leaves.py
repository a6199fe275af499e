"""The gradients of a training loop by name, from any container that a loop keeps them in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .arrays import Array, real_array
from .slices import IndexedSlices


def named_leaves(grads: Any, what: str = "gradient") -> list[tuple[str, Array]]:
    """Return (name, values) of every gradient; None is left out.

    Args:
        grads: an array, IndexedSlices, a (gradient, variable) pair, or nested lists, dicts or JAX
            trees of these. A name is that of the variable, else the path to the leaf: "layer/w",
            "0". Names that repeat get a number.
        what: what leaves are, for errors.

    Raises TypeError or ValueError for a leaf that isn't an array of real numbers.

    >>> import numpy as np
    >>> [name for name, _ in named_leaves({"b": np.ones(1), "a": {"w": np.ones(2), "v": None}})]
    ['a/w', 'b']
    """
    leaves: dict[str, Array] = {}
    for name, values in _walk(grads, "", what):
        unique = name
        n = 0
        while unique in leaves:
            n += 1
            unique = f"{name}_{n}"
        leaves[unique] = values
    return list(leaves.items())


def _walk(x: Any, name: str, what: str) -> Iterator[tuple[str, Array]]:
    if x is None:
        return
    if isinstance(x, IndexedSlices):
        yield name or "0", real_array(x.values, f"the {what} of {name or 0}")
    elif isinstance(x, tuple) and len(x) == 2 and hasattr(x[1], "name"):
        yield from _walk(x[0], x[1].name, what)
    elif isinstance(x, dict):
        for key in sorted(x, key=str):
            yield from _walk(x[key], _join(name, key), what)
    elif isinstance(x, list | tuple):
        for k, item in enumerate(x):
            yield from _walk(item, _join(name, k), what)
    else:
        children = _jax_children(x)
        if children is None:
            yield name or "0", real_array(x, f"the {what} of {name or 0}")
            return
        for key, item in children:
            yield from _walk(item, _join(name, key), what)


def _join(name: str, key: Any) -> str:
    return f"{name}/{key}" if name else str(key)


def _jax_children(x: Any) -> list[tuple[str, Any]] | None:
    """Return the children of another JAX tree, such as a flax module; None for a leaf."""
    jax = sys.modules.get("jax")
    if jax is None or hasattr(x, "shape") or jax.tree_util.all_leaves([x]):
        return None
    parts = jax.tree_util.tree_flatten_with_path(x, is_leaf=lambda y: y is not x)[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), item) for path, item in parts]

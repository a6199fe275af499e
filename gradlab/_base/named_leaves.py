"""The gradients in whatever a training loop holds them in, by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .arrays import Array, real_array
from .slices import IndexedSlices


def named_leaves(grads: Any, what: str = "gradient") -> list[tuple[str, Array]]:
    """(name, values) of every gradient; None is left out, and a name that comes twice gets a
    number.

    Raises TypeError or ValueError for a leaf that isn't an array of real numbers; `what` says what
    leaves are.

    Takes an array, IndexedSlices, a (gradient, variable) pair, and lists, dicts or any JAX tree of
    these, nested. Names come from variables, else from the way to the leaf: "layer/w", "0".

    >>> import numpy as np
    >>> [name for name, _ in named_leaves({"b": np.ones(1), "a": {"w": np.ones(2), "v": None}})]
    ['a/w', 'b']
    """
    found: dict[str, Array] = {}
    for name, values in _walk(grads, "", what):
        unique, n = name, 0
        while unique in found:
            n += 1
            unique = f"{name}_{n}"
        found[unique] = values
    return list(found.items())


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
    elif (children := _jax_children(x)) is not None:
        for key, item in children:
            yield from _walk(item, _join(name, key), what)
    else:
        yield name or "0", real_array(x, f"the {what} of {name or 0}")


def _join(name: str, key: Any) -> str:
    return f"{name}/{key}" if name else str(key)


def _jax_children(x: Any) -> list[tuple[str, Any]] | None:
    """The parts of a JAX tree that is not Python's own, a flax or equinox module, say; None for a
    leaf.
    """
    jax = sys.modules.get("jax")
    if jax is None or hasattr(x, "shape") or jax.tree_util.all_leaves([x]):
        return None
    parts = jax.tree_util.tree_flatten_with_path(x, is_leaf=lambda y: y is not x)[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), item) for path, item in parts]

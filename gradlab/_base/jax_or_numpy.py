"""The library for computations whose caller passes no arrays: JAX if it is installed, else NumPy.

Code written with these names, with `namespace` and with the functions of `arrays.py` runs on both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from .arrays import Array
from .extras import is_there
from .types import Namespace

F = TypeVar("F", bound=Callable[..., Any])

HAS_JAX = is_there("jax")
if TYPE_CHECKING or HAS_JAX:
    import jax
    from jax import numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
else:
    jax = None
    jnp = np  # for functions that both have
    Mesh = NamedSharding = PartitionSpec = None  # for annotations alone
_jnp: Any = jnp
xp: Namespace = _jnp

__all__ = [
    "HAS_JAX",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "compile_with_jax",
    "frozen_copy",
    "jax",
    "jnp",
    "map_over_cores",
    "on_device",
    "on_host",
    "process_index",
    "register_tree",
    "repeat_step",
    "scan",
    "tree_map",
    "xp",
]  # fmt: skip


def compile_with_jax(donate: Sequence[int] = (), static: Sequence[str] = ()) -> Callable[[F], F]:
    """Return a decorator that compiles a function for each shape of its arguments, if JAX is there.

    Args:
        donate: positions of arguments whose memory is reused for results.
        static: names of arguments that are compiled in.
    """

    def compile(function: F) -> F:
        if not HAS_JAX:
            return function
        compiled = jax.jit(function, donate_argnums=tuple(donate), static_argnames=tuple(static))
        return cast(F, compiled)

    return compile


def repeat_step(count: int, body: Callable[[Any], Any], carry: Any, unroll: int = 1) -> Any:
    """Run `carry = body(carry)` `count` times and return the last carry."""
    if HAS_JAX:
        return jax.lax.fori_loop(0, count, lambda _, x: body(x), carry, unroll=unroll)
    for _ in range(count):
        carry = body(carry)
    return carry


def register_tree(cls: type, data: Sequence[str], meta: Sequence[str]) -> None:
    """Make a dataclass a tree whose children are its fields `data`; those of `meta` are static."""
    if HAS_JAX:
        jax.tree_util.register_dataclass(cls, data_fields=list(data), meta_fields=list(meta))
    _data_fields[cls] = tuple(data)


_data_fields: dict[type, tuple[str, ...]] = {}


def tree_map(function: Callable[..., Any], *trees: Any) -> Any:
    """Return `function` of the leaves of trees of one structure, in a tree like them."""
    return jax.tree.map(function, *trees) if HAS_JAX else _map_tree(function, *trees)


def _map_tree(function: Callable[..., Any], *trees: Any) -> Any:
    tree = trees[0]
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {name: _map_tree(function, *(t[name] for t in trees)) for name in tree}
    if isinstance(tree, tuple | list):
        parts = [_map_tree(function, *each) for each in zip(*trees, strict=True)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    names = _data_fields.get(type(tree))
    if names:
        fields = {}
        for name in names:
            fields[name] = _map_tree(function, *(getattr(t, name) for t in trees))
        return dataclasses.replace(tree, **fields)
    return function(*trees)


def scan(
    step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any, count: int
) -> tuple[Any, Any]:
    """Run `carry, y = step(carry, x)` for each x along the first axes of the tree `xs`.

    Returns:
        (the last carry, the stacked y).
    """
    if HAS_JAX:
        return jax.lax.scan(step, carry, xs)
    ys = []
    for k in range(count):
        carry, y = step(carry, tree_map(itemgetter(k), xs))
        ys.append(y)
    return carry, tree_map(lambda *y: np.stack(y), *ys)


def frozen_copy(x: Any, dtype: Any) -> Array:
    """Return `x` in a dtype, as an array that the caller cannot change through `x`."""
    if HAS_JAX:
        frozen: Array = jax.numpy.asarray(x, dtype)  # a copy of anything that can be written to
        return frozen
    return np.array(x, dtype)


def process_index() -> int:
    """Return the number of this process among the processes of a distributed JAX run, or 0."""
    return int(jax.process_index()) if HAS_JAX else 0


def on_device(tree: Any) -> Any:
    """Return the tree with its arrays on JAX's default device."""
    return jax.device_put(tree) if HAS_JAX else tree


def on_host(tree: Any) -> Any:
    """Return the tree with its arrays as NumPy's."""
    return jax.device_get(tree) if HAS_JAX else tree


def map_over_cores(function: Callable[[Any], Array], shares: Any, cores: int) -> Array:
    """Return `function` of each core's share of a tree, along its first axes, stacked."""
    if HAS_JAX and cores > 1:
        stacked: Array = jax.vmap(function)(shares)
        return stacked
    return xp.stack([function(tree_map(itemgetter(k), shares)) for k in range(cores)])

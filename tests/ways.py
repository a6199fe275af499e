"""The ways to run one pure function: read-only NumPy, JAX eager and jitted, vmap over rows, shards
on eight devices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from gradlab import IndexedSlices
from gradlab._base.arrays import is_float

Way = Callable[..., Any]  # (f, *trees of NumPy arrays) -> tree of NumPy arrays
SHARDS = 8


def read_only(tree: Any) -> Any:
    """The same NumPy arrays, copied, where writing raises; slices too."""

    def freeze(x: Any) -> Any:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(freeze(x.values), freeze(x.indices), x.dense_shape)
        x = np.array(x)
        x.flags.writeable = False
        return x

    return jax.tree.map(freeze, tree, is_leaf=lambda x: isinstance(x, IndexedSlices))


def numpy(f: Callable[..., Any], *args: Any) -> Any:
    return f(*read_only(args))


def _on_jax(transform: Callable[..., Any], f: Callable[..., Any], *args: Any) -> Any:
    """On CPU devices, with 64 bits kept and nothing widened or broadcast by accident."""
    with ExitStack() as stack:
        stack.enter_context(jax.enable_x64(True))
        stack.enter_context(jax.numpy_dtype_promotion("strict"))
        stack.enter_context(jax.default_device(jax.devices("cpu")[0]))
        result = transform(f)(*jax.tree.map(jax.numpy.asarray, args))
        assert all(isinstance(x, jax.Array) for x in jax.tree.leaves(result)), (
            "JAX in must give JAX out"
        )
        return jax.tree.map(np.asarray, result)


def _mesh() -> jax.sharding.Mesh:
    return jax.make_mesh(
        (SHARDS,), ("rows",), axis_types=(AxisType.Auto,), devices=jax.devices("cpu")[:SHARDS]
    )


def _spec(x: Any) -> PartitionSpec:
    return PartitionSpec("rows") if np.ndim(x) else PartitionSpec()


def _vmapped(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: jax.vmap(
        f, in_axes=jax.tree.map(lambda x: 0 if np.ndim(x) else None, args)
    )(*args)


def _shard_mapped(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        inside = jax.tree.map(_spec, args)
        outside = jax.tree.map(_spec, jax.eval_shape(f, *args))
        return jax.jit(jax.shard_map(f, mesh=_mesh(), in_specs=inside, out_specs=outside))(*args)

    return run


def _sharded(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        mesh = _mesh()
        return jax.jit(f)(
            *jax.tree.map(lambda x: jax.device_put(x, NamedSharding(mesh, _spec(x))), args)
        )

    return run


eager: Way = partial(_on_jax, lambda f: f)
jit: Way = partial(_on_jax, jax.jit)
vmap: Way = partial(_on_jax, _vmapped)  # over the first axis of everything that has one
# 8 rows or a multiple of it; each device sees its rows only.
shard_map: Way = partial(_on_jax, _shard_mapped)
sharded: Way = partial(_on_jax, _sharded)  # the same, but the compiler splits

ALL: dict[str, Way] = {"numpy": numpy, "eager": eager, "jit": jit, "sharded": sharded}
ROW_LOCAL: dict[str, Way] = {**ALL, "vmap": vmap, "shard_map": shard_map}


def together(
    way: Way, functions: Mapping[str, Callable[..., Any]], args: Mapping[str, Any]
) -> dict[str, Any]:
    """Run each function on its own arguments in this way, all in one program, which compiles three
    times as fast.
    """
    return way(lambda args: {name: f(*args[name]) for name, f in functions.items()}, dict(args))


def ulps(a: Any, b: Any) -> float:
    """The largest distance of two trees in units in the last place; NaN equals NaN, denormals count
    as 0.
    """
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return max((_ulps(np.asarray(x), np.asarray(y)) for x, y in pairs), default=0.0)


def _ulps(a: np.ndarray, b: np.ndarray) -> float:
    assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{a.dtype}{a.shape} is not {b.dtype}{b.shape}"
    if not is_float(a.dtype):
        return 0.0 if np.array_equal(a, b) else np.inf
    info = jax.numpy.finfo(a.dtype)
    x, y = a.astype(np.float64), b.astype(np.float64)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(
            np.exp2(np.floor(np.log2(np.maximum(np.abs(x), float(info.tiny))))), float(info.tiny)
        )
        far = np.abs(x - y) / (scale * float(info.eps))
    return float(np.where(same, 0.0, np.where(np.isnan(far), np.inf, far)).max(initial=0.0))

"""A traced run on several devices: each keeps the same state, of gradients that are the same on all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.numbers import listed
from ..errors import InvalidArgumentError

if TYPE_CHECKING:
    from jax import Array

_SAME = 1e-5  # norms of one gradient differ by less where devices add its entries in another order
_LOCAL = (
    "Average them before the update, jax.lax.pmean(grads, axis); where they are parts of one gradient, call the update "
    "outside of shard_map"
)


def on_any_mesh(step: Callable[..., Any], gradients: Sequence[Array]) -> Callable[..., Any]:
    """The step itself, or for gradients whose types say how they are sharded one that leaves it to the compiler.

    Its result is the same on all devices.
    """
    from .._base.jax import jax

    everywhere: Any = jax.sharding.PartitionSpec
    explicit = jax.sharding.AxisType.Explicit
    for g in gradients:
        if explicit in (mesh := jax.typeof(g).sharding.mesh).axis_types:
            out = jax.sharding.NamedSharding(mesh, everywhere())
            found: Callable[..., Any] = jax.sharding.auto_axes(step, out_sharding=out)
            return found
    return step


def check_same(state: Mapping[str, Array], given: Mapping[str, Any]) -> None:
    """Refuse what differs between devices of `shard_map` while the state does not; ValueError."""
    kept = frozenset.intersection(*map(_varying, state.values()))
    differing = {name: axes for name, x in given.items() if (axes := _varying(x) - kept)}
    if differing:
        along = sorted(frozenset.union(*differing.values()))
        raise InvalidArgumentError(
            f"{listed(tuple(differing))} differ between the devices along {listed(along)}; the recorder keeps one "
            f"state for all of them. {_LOCAL}"
        )


def _varying(x: Any) -> frozenset[str]:
    """Axes of `shard_map` along which a value may differ; none outside of it, or where JAX was told not to check."""
    from .._base.jax import jax

    type_: Any = jax.typeof(x)
    older: frozenset[str] = getattr(type_, "vma", frozenset())  # its name in earlier JAX
    return frozenset(getattr(getattr(type_, "manual_axis_type", None), "varying", older))


def one_of(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The state on the host; of one that `pmap` has replicated the first replica. ValueError where they differ."""
    copies = [np.array(copy) for copy in _copies(state["each"])]
    extra = copies[0].ndim - 2
    replicas = [x for copy in copies for x in copy.reshape(-1, *copy.shape[extra:])]
    if not all(np.allclose(x, replicas[0], rtol=_SAME, atol=0, equal_nan=True) for x in replicas[1:]):
        raise InvalidArgumentError(
            f"the state holds {len(replicas)} recordings that differ: each device of pmap or shard_map recorded its "
            f"own gradients. {_LOCAL}. To read one of them, or of the runs of a vmap, the k-th: "
            "jax.tree.map(lambda x: x[k], state)"
        )
    return {name: np.array(x)[(0,) * extra] for name, x in state.items()}


def _copies(x: Any) -> list[Any]:
    """Return what each device that is here holds of an array that is said to be the same on all, else the array."""
    shards = getattr(x, "addressable_shards", ())
    return [shard.data for shard in shards] if len(shards) > 1 and x.is_fully_replicated else [x]

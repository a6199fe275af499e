"""`TrainState`: tables, a dense tower and its optimizer as one JAX tree; and the devices on which its leaves are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..._base.arrays import Array, is_jax, is_traced
from ..._base.jax import jax, jnp
from ...errors import InvalidArgumentError
from ..row_owners import OnMesh, Placement
from ..state import State

# These have no types.
_spec: Any = PartitionSpec
_path: Any = jax.tree_util.keystr
_join_processes: Any = jax.make_array_from_process_local_data


@dataclass(frozen=True)
class TrainState:
    """The values that a step of `Training` changes: a JAX tree; plan and placement of the tables are static.

    `tables` is the state of the tables, `params` the tower, `optimizer` what its transformation
    carries, and `step` counts the steps made (int32). Not in TensorFlow.

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Plan, Table, create
    >>> tables = create(Plan((Table("t", 2, 3),), ()), [jnp.zeros((2, 3))])
    >>> len(jax.tree.leaves(TrainState(tables, {"w": jnp.ones(3)}, (), jnp.int32(0))))
    3
    """

    tables: State
    params: Any
    optimizer: Any
    step: Array


jax.tree_util.register_dataclass(
    TrainState, data_fields=["tables", "params", "optimizer", "step"], meta_fields=[]
)


def place_tower(placement: Placement, like: Any, tree: Any, what: str) -> Any:
    """Return a copy of a tree of arrays where the tables are: on their device, or on every device of their mesh.

    A leaf that is sharded over the same devices keeps its sharding. Nothing is shared with what was
    given, since steps donate what they get.

    Args:
        like: an array of the tables, whose device counts where there is one only.

    Raises:
        InvalidArgumentError: a leaf on other devices than the tables.
        TypeError: a leaf that isn't an array.
    """

    def put(path: Any, x: Any) -> Any:
        name = f"{what}{_path(path)}"
        if not is_jax(x) and not isinstance(x, np.ndarray | np.generic | int | float):
            raise TypeError(
                f"{name} must be an array, got {type(x).__name__}; keep what is no array in the "
                "loss, as eqx.partition(model, eqx.is_array) and "
                "nnx.split(model, nnx.Param, ...) do"
            )
        if not isinstance(placement, OnMesh):
            return _copy_to_device(next(iter(like.devices())), x, name)
        if not _is_spread(x) and placement.mesh.is_multi_process:
            return placement.copied(np.array(x))
        spec = _spec_on_mesh(placement.mesh, x, name) if _is_spread(x) else _spec()
        return jax.device_put(jnp.array(x, copy=True), placement.laid_out(spec, np.ndim(x)))

    return jax.tree_util.tree_map_with_path(put, tree)


def _copy_to_device(device: Any, x: Any, name: str) -> Any:
    if _is_spread(x):
        raise InvalidArgumentError(
            f"{name} is on {len(x.sharding.device_set)} devices, the tables are on one; "
            "place(tables, mesh) spreads them"
        )
    copy = jnp.array(x, copy=True)
    return copy if copy.devices() == {device} else jax.device_put(copy, device)


def _is_spread(x: Any) -> TypeGuard[jax.Array]:
    return is_jax(x) and not is_traced(x) and len(x.sharding.device_set) > 1


def _spec_on_mesh(mesh: Mesh, x: jax.Array, name: str) -> PartitionSpec:
    """Return the axes of this mesh by which a leaf is sharded."""
    sharding = x.sharding
    if not isinstance(sharding, NamedSharding) or _layout(sharding.mesh) != _layout(mesh):
        raise InvalidArgumentError(
            f"{name} is on {sharding}, the tables are on {mesh}; give arrays of one device, or "
            "shard them over the mesh of the tables"
        )
    return sharding.spec


def _layout(mesh: Any) -> Any:
    return dict(mesh.shape), list(mesh.devices.flat)


def place_data(placement: Placement, data: Any) -> Any:
    """Return a tree of arrays of samples, first axes split over the devices of the tables; scalars are on all.

    Where several processes run, each gives the samples of its own cores.

    Raises:
        InvalidArgumentError: a first axis that the devices of this process cannot share; it names
            the leaf.
    """
    if not isinstance(placement, OnMesh):
        return data
    here = len(placement.here)

    def put(path: Any, x: Any) -> Any:
        if is_traced(x):
            return x
        shape = np.shape(x)
        if shape and shape[0] % here and not _is_spread(x):
            raise InvalidArgumentError(
                f"data{_path(path)} has shape {shape}, and {here} devices cannot share its "
                f"{shape[0]} samples; give a multiple. What isn't of samples belongs into params, "
                "or into the loss"
            )
        sharding = placement.sharding if shape else placement.everywhere
        if placement.mesh.is_multi_process and not _is_spread(x):
            return _join_processes(sharding, np.asarray(x))
        return jax.device_put(x, sharding)

    return jax.tree_util.tree_map_with_path(put, data)

"""Placement of rows: on one device, or sharded over a mesh; and the transfers of requests and results.

Both kinds of placement answer the same questions, so that lookup and update are written once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from .._base.arrays import Array, namespace
from .._base.errors import InvalidArgumentError
from .._base.extras import need
from .._base.options import check_choice
from .._steps.library import Mesh, NamedSharding, PartitionSpec, jax, tree_map
from .lookups import OUTSIDE

_spec: Any = PartitionSpec  # has no types
Strategy = Literal["div", "mod"]


@dataclass(frozen=True)
class Shards:
    """The sharding of a table's rows over `count` shards.

        div: neighbors stay together;   mod: row r goes to shard r % count

    Either way the first `rows % count` shards hold one row more than the others; each has room for `size` rows.

    Raises:
        ValueError: no rows, no shards, or an unknown strategy.

    Source: `TPUEmbeddingConfiguration.ShardingStrategy`, TensorFlow 2.21 (2026).

    >>> [Shards(13, 5).held(k).tolist() for k in (0, 4)], Shards(13, 5, "mod").held(0).tolist()
    ([[0, 1, 2], [11, 12]], [0, 5, 10])
    """

    rows: int
    count: int
    strategy: Strategy = "div"

    def __post_init__(self) -> None:
        check_choice("strategy", self.strategy, ("div", "mod"))
        if self.rows < 1 or self.count < 1:
            raise ValueError(f"shards need rows and a count of at least 1, got {self.rows} and {self.count}")

    @property
    def size(self) -> int:
        """The rows that each shard has room for."""
        return -(-self.rows // self.count)

    def owner(self, ids: Array) -> Array:
        """The shard that holds each row."""
        if self.strategy == "mod":
            return ids % self.count
        least, longer = divmod(self.rows, self.count)
        end = longer * self.size  # of the shards with one row more
        return namespace(ids).where(ids < end, ids // self.size, longer + (ids - end) // max(least, 1))

    def place(self, ids: Array) -> Array:
        """The position of each row in its shard."""
        if self.strategy == "mod":
            return ids // self.count
        least, longer = divmod(self.rows, self.count)
        owner = self.owner(ids)
        return ids - (owner * least + namespace(ids).minimum(owner, longer))

    def held(self, shard: int) -> np.ndarray:
        """The rows of a shard in their order."""
        if self.strategy == "mod":
            return np.arange(shard, self.rows, self.count)
        least, longer = divmod(self.rows, self.count)
        start = shard * least + min(shard, longer)
        return np.arange(start, start + least + (shard < longer))


@dataclass(frozen=True)
class OneDevice:
    """All rows on one device: nothing is sent, every id is a place.

    Not in TensorFlow.

    >>> OneDevice().places(np.array([3, 1]), 10).tolist()
    [3, 1]
    """

    devices: ClassVar[int] = 1
    strategy: ClassVar[Strategy] = "div"

    def shards(self, rows: int) -> Shards:
        """The only shard of a table."""
        return Shards(rows, 1)

    def check(self, batch: Any) -> None:
        """Any batch will do."""

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """`function` of the arguments."""
        return function(*arguments)

    def to_owners(self, x: Array, cores: int) -> Array:
        """The cores' sums, sent to the owners of the rows."""
        return x

    def to_cores(self, x: Array, cores: int) -> Array:
        """The answer, on its way back."""
        return x

    def places(self, ids: Array, rows: int) -> Array:
        """The positions of a table's rows in the array that holds them."""
        return ids


@dataclass(frozen=True)
class OnMesh:
    """Rows dealt out over all devices of a mesh, whatever its axes; each device runs as many cores as any other.

    What a core sends is arranged by receiver, in parts of equal length; what an owner gets is in the order of cores, so
    that it adds in the order in which one device would.

    Raises:
        ValueError: an unknown strategy.

    Source: `TPUEmbeddingConfiguration.ShardingStrategy`, TensorFlow 2.21 (2026).

    >>> OnMesh(Mesh(jax.devices()[:1], "x"), "mod").shards(13).size
    13
    """

    mesh: Mesh
    strategy: Strategy = "div"

    def __post_init__(self) -> None:
        check_choice("strategy", self.strategy, ("div", "mod"))
        need("jax", "a table on several devices")
        if not isinstance(self.mesh, Mesh):
            raise TypeError(f"mesh must be a jax.sharding.Mesh, got {type(self.mesh).__name__}")

    @property
    def devices(self) -> int:
        """The number of devices, each with a shard of every table."""
        return self.mesh.size

    @property
    def sharding(self) -> NamedSharding:
        """First axes split over all devices."""
        return NamedSharding(self.mesh, self._split)

    @property
    def everywhere(self) -> NamedSharding:
        """Sharding with a copy on every device."""
        return NamedSharding(self.mesh, _spec())

    def copied(self, tree: Any) -> Any:
        """A tree of numbers, the same in all processes, on every device: as they are after a step."""
        return tree_map(
            lambda x: jax.make_array_from_callback(np.shape(x), self.everywhere, lambda i: np.asarray(x)[i]), tree
        )

    def laid_out(self, spec: PartitionSpec, axes: int) -> NamedSharding:
        """The sharding of an array with so many axes, written as JAX writes that of a result."""
        return NamedSharding(self.mesh, _spec(*spec, *[None] * (axes - len(spec))) if self._is_explicit else spec)

    def pinned(self, tree: Any, shardings: Any) -> Any:
        """The arrays of a tree in traced code, made to lie so."""
        put: Any = jax.sharding.reshard if self._is_explicit else jax.lax.with_sharding_constraint
        return put(tree, shardings)

    @property
    def _is_explicit(self) -> bool:
        """Tell whether axes show in the types of arrays, as those of `jax.make_mesh` do."""
        return any(kind == jax.sharding.AxisType.Explicit for kind in self.mesh.axis_types)

    @property
    def here(self) -> list[int]:
        """The numbers of the devices that belong to this process."""
        own = self.sharding.addressable_devices
        return [k for k, device in enumerate(self.mesh.devices.flat) if device in own]

    def shards(self, rows: int) -> Shards:
        """The shards of a table."""
        return Shards(rows, self.devices, self.strategy)

    def check(self, batch: Any) -> None:
        """Refuse a batch that was not arranged for these devices."""
        if (other := getattr(batch, "placement", None)) != self:
            raise InvalidArgumentError(
                f"the rows are dealt out over {self.devices} devices by {self.strategy!r}, the batch is arranged for "
                f"{'one device' if other is None else f'{other.devices} by {other.strategy!r}'}; "
                "place_batch(plan, state.placement, batch) arranges it"
            )

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """`function` on every device with its share of each array; scalars are the same for all."""
        specs = tree_map(lambda x: self._split if np.ndim(x) else _spec(), arguments)
        moved = tree_map(lambda x, spec: jax.device_put(x, NamedSharding(self.mesh, spec)), arguments, specs)
        shared = jax.shard_map(function, mesh=self.mesh, in_specs=specs, out_specs=self._split, check_vma=False)
        return shared(*moved)

    def to_owners(self, x: Array, cores: int) -> Array:
        """(core, owner, place) of the cores of this device -> (core, place) of all cores, for this owner."""
        parts = x.reshape(cores, self.devices, -1, *x.shape[1:])
        return self._exchange(parts.swapaxes(0, 1)).reshape(-1, *x.shape[1:])

    def to_cores(self, x: Array, cores: int) -> Array:
        """The inverse of `to_owners`."""
        parts = self._exchange(x.reshape(self.devices, cores, -1, *x.shape[1:]))
        return parts.swapaxes(0, 1).reshape(-1, *x.shape[1:])

    def places(self, ids: Array, rows: int) -> Array:
        """The positions of the rows in their owners' shards."""
        return namespace(ids).where(ids < rows, self.shards(rows).place(ids), OUTSIDE)

    @property
    def _split(self) -> PartitionSpec:
        split: PartitionSpec = _spec(self.mesh.axis_names)
        return split

    def _exchange(self, x: Array) -> Array:
        """Part k of the first axis goes to device k."""
        all_to_all: Any = jax.lax.all_to_all  # which has no types
        got: Array = all_to_all(x, self.mesh.axis_names, 0, 0)
        return got


Placement = OneDevice | OnMesh
ONE_DEVICE = OneDevice()

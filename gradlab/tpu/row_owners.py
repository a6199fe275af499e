"""Where rows lie: on one device, or sharded over a mesh; and the transfers of requests and results.

Which layout suits a table is chosen in `sharding/plan_placement.py`.

`OneDevice` and `OnMesh` are placements of a whole state. `of(table)` is the placement of one table;
on a mesh that is `OnMesh` itself (by rows), `Columns` or `Copies`. All answer the same questions,
so that lookup and update are written once:

    to_owners   ids, or sums of gradients, from the cores to the devices that hold the rows
    places      where a row stands in the array of its device
    to_cores    rows, from the devices that hold them to the cores that asked
    together    a context in which the mean over a row is that of the whole row
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from .._base.arrays import Array, namespace
from .._base.extras import need
from .._base.jax_or_numpy import Mesh, NamedSharding, PartitionSpec, jax, tree_map
from .._base.options import check_choice
from ..errors import InvalidArgumentError
from ..rules.rule import columns_elsewhere
from .plan import PADDING_ID

_spec: Any = PartitionSpec  # has no types

Strategy = Literal["div", "mod"]
Layout = Literal["rows", "columns", "copies", "whole"]


@dataclass(frozen=True)
class Shards:
    """The sharding of a table's rows over `count` shards.

        div: neighbors stay together;   mod: row r goes to shard r % count

    Either way the first `rows % count` shards hold one row more than the others; each has room for
    `size` rows.

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
            raise ValueError(
                f"shards need rows and a count of at least 1, got {self.rows} and {self.count}"
            )

    @property
    def size(self) -> int:
        """The rows that each shard has room for."""
        return -(-self.rows // self.count)

    def owner(self, ids: Array) -> Array:
        """Return the shard that holds each row."""
        if self.strategy == "mod":
            return ids % self.count
        least, longer = divmod(self.rows, self.count)
        end = longer * self.size  # of the shards with one row more
        return namespace(ids).where(
            ids < end, ids // self.size, longer + (ids - end) // max(least, 1)
        )

    def place(self, ids: Array) -> Array:
        """Return the position of each row in its shard."""
        if self.strategy == "mod":
            return ids // self.count
        least, longer = divmod(self.rows, self.count)
        owner = self.owner(ids)
        return ids - (owner * least + namespace(ids).minimum(owner, longer))

    def held(self, shard: int) -> np.ndarray:
        """Return the rows of a shard in their order."""
        rows = self.range_of(shard)
        return np.arange(rows.start, rows.stop, rows.step)

    def range_of(self, shard: int) -> range:
        """Return the rows of a shard as a range."""
        if self.strategy == "mod":
            return range(shard, self.rows, self.count)
        least, longer = divmod(self.rows, self.count)
        start = shard * least + min(shard, longer)
        return range(start, start + least + (shard < longer))


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
        """Return the only shard of a table."""
        return Shards(rows, 1)

    def check(self, batch: Any) -> None:
        """Accept any batch."""

    def of(self, table: int) -> OneDevice:
        """Return the placement of a table."""
        return self

    def run(
        self, function: Callable[..., Any], *arguments: Any, specs: Any = None, out: Any = None
    ) -> Any:
        """Return `function` of the arguments."""
        return function(*arguments)

    def together(self) -> AbstractContextManager[None]:
        """Return a context without effect, since rows are whole here."""
        return nullcontext()

    def to_owners(self, x: Array, cores: int) -> Array:
        """Return what cores send to the owners of rows: here as it is."""
        return x

    def to_cores(self, x: Array, cores: int) -> Array:
        """Return what owners of rows send to cores: here as it is."""
        return x

    def places(self, ids: Array, rows: int) -> Array:
        """Return the positions of a table's rows in the array that holds them."""
        return ids


@dataclass(frozen=True)
class OnMesh:
    """Tables on all devices of a mesh, whatever its axes; each device runs as many cores as any other.

    `layouts` has a word for each table; without any, all are by rows:

    - rows: dealt out over the devices by the strategy;
    - columns: every device has some columns of all rows, and moves them. A slot kept by row has a
      copy on each: the mean over a row is that of all its columns, summed across devices, so that
      the numbers are those of one device (TorchRec's shards have an accumulator each instead);
    - copies: every device has the whole table, looks up without asking, and makes everybody's
      update;
    - whole: one device has the table. Tables of one width, rule and limits stand in one array, a
      stack, after the others in `State.tables`; all devices have as much room for it as the fullest
      needs.

    What a core sends is arranged by receiver, in parts of equal length; what an owner gets is in
    the order of cores, so that it adds in the order in which one device would.

    Raises:
        ValueError: an unknown strategy or layout.

    Source: `TPUEmbeddingConfiguration.ShardingStrategy`, TensorFlow 2.21 (2026); layouts are not in
    TensorFlow.

    >>> OnMesh(Mesh(jax.devices()[:1], "x"), "mod").shards(13).size
    13
    """

    mesh: Mesh
    strategy: Strategy = "div"
    layouts: tuple[Layout, ...] = ()

    def __post_init__(self) -> None:
        check_choice("strategy", self.strategy, ("div", "mod"))
        for layout in self.layouts:
            check_choice("layout", layout, get_args(Layout))
        need("jax", "a table on several devices")
        if not isinstance(self.mesh, Mesh):
            raise TypeError(f"mesh must be a jax.sharding.Mesh, got {type(self.mesh).__name__}")

    @property
    def devices(self) -> int:
        """The number of devices."""
        return self.mesh.size

    def of(self, table: int) -> OnMesh | Columns | Copies:
        """Return the placement of a table."""
        layout = self.layouts[table] if self.layouts else "rows"
        if layout == "whole":
            # A stack: the rows of each device are neighbors.
            return OnMesh(self.mesh)
        if layout == "columns":
            return Columns(self.mesh)
        if layout == "copies":
            return Copies(self.mesh)
        return self

    @property
    def spec(self) -> PartitionSpec:
        """The axes of a table dealt out by rows."""
        return self._split

    row_spec = spec  # of a slot kept by row

    def together(self) -> AbstractContextManager[None]:
        """Return a context without effect, since rows are whole on their device."""
        return nullcontext()

    @property
    def sharding(self) -> NamedSharding:
        """First axes split over all devices."""
        return NamedSharding(self.mesh, self._split)

    @property
    def everywhere(self) -> NamedSharding:
        """Sharding with a copy on every device."""
        return NamedSharding(self.mesh, _spec())

    def copied(self, tree: Any) -> Any:
        """Return a tree of numbers, the same in all processes, on every device: as they are after a step."""

        def copy(x: Any) -> Any:
            return jax.make_array_from_callback(
                np.shape(x), self.everywhere, lambda index: np.asarray(x)[index]
            )

        return tree_map(copy, tree)

    def laid_out(self, spec: PartitionSpec, axes: int) -> NamedSharding:
        """Return the sharding of an array with this number of axes, written as JAX writes that of a result."""
        if self._is_explicit:
            spec = _spec(*spec, *[None] * (axes - len(spec)))
        return NamedSharding(self.mesh, spec)

    def pinned(self, tree: Any, shardings: Any) -> Any:
        """Return the arrays of a tree, in traced code, with these shardings."""
        put: Any = jax.sharding.reshard if self._is_explicit else jax.lax.with_sharding_constraint
        return put(tree, shardings)

    @property
    def _is_explicit(self) -> bool:
        """Tell whether axes show in the types of arrays, as those of `jax.make_mesh` do."""
        return any(kind == jax.sharding.AxisType.Explicit for kind in self.mesh.axis_types)

    @property
    def here(self) -> list[int]:
        """The numbers of the devices that belong to this process."""
        of_process = self.sharding.addressable_devices
        return [k for k, device in enumerate(self.mesh.devices.flat) if device in of_process]

    def shards(self, rows: int) -> Shards:
        """Return the shards of a table."""
        return Shards(rows, self.devices, self.strategy)

    def check(self, batch: Any) -> None:
        """Refuse a batch that was not arranged for these devices."""
        other = getattr(batch, "placement", None)
        if other != self:
            arranged_for = other._describe() if isinstance(other, OnMesh) else "one device"
            raise InvalidArgumentError(
                f"the tables are on {self._describe()}, the batch is arranged for {arranged_for}; "
                "place_batch(plan, state.placement, batch) arranges it"
            )

    def _describe(self) -> str:
        layouts = f" in the layouts {', '.join(self.layouts)}" if self.layouts else ""
        return f"{self.devices} devices by {self.strategy!r}{layouts}"

    def run(
        self, function: Callable[..., Any], *arguments: Any, specs: Any = (), out: Any = None
    ) -> Any:
        """Run `function` on every device with its share of each array; scalars are the same for all.

        Args:
            specs: partition specs of the first arguments, a tree for each; the others are split
                along their first axes.
            out: partition specs of the results; split by default.
        """
        rest = tree_map(lambda x: self._split if np.ndim(x) else _spec(), arguments[len(specs) :])
        specs = (*specs, *rest)
        placed = tree_map(
            lambda x, spec: jax.device_put(x, NamedSharding(self.mesh, spec)), arguments, specs
        )
        out = self._split if out is None else out
        on_every_device = jax.shard_map(
            function, mesh=self.mesh, in_specs=specs, out_specs=out, check_vma=False
        )
        return on_every_device(*placed)

    def to_owners(self, x: Array, cores: int) -> Array:
        """Send (core, owner, place) of the cores of this device; return (core, place) of all cores, for this owner."""
        parts = x.reshape(cores, self.devices, -1, *x.shape[1:])
        return self._exchange(parts.swapaxes(0, 1)).reshape(-1, *x.shape[1:])

    def to_cores(self, x: Array, cores: int) -> Array:
        """Do the inverse of `to_owners`."""
        parts = self._exchange(x.reshape(self.devices, cores, -1, *x.shape[1:]))
        return parts.swapaxes(0, 1).reshape(-1, *x.shape[1:])

    def places(self, ids: Array, rows: int) -> Array:
        """Return the positions of the rows in their owners' shards."""
        return namespace(ids).where(ids < rows, self.shards(rows).place(ids), PADDING_ID)

    @property
    def _split(self) -> PartitionSpec:
        split: PartitionSpec = _spec(self.mesh.axis_names)
        return split

    def _exchange(self, x: Array) -> Array:
        """Send part k of the first axis to device k."""
        all_to_all: Any = jax.lax.all_to_all  # has no types
        received: Array = all_to_all(x, self.mesh.axis_names, 0, 0)
        return received


@dataclass(frozen=True)
class Columns:
    """A table of which every device of a mesh has some columns of all rows.

    Ids go to everybody; columns come back, and sums go the same way. The answers are those that
    `OnMesh` gives of a table by rows.
    """

    mesh: Mesh

    @property
    def devices(self) -> int:
        """The number of devices, each with a share of the columns."""
        return self.mesh.size

    @property
    def spec(self) -> PartitionSpec:
        """The axes of the table."""
        spec: PartitionSpec = _spec(None, self.mesh.axis_names)
        return spec

    @property
    def row_spec(self) -> PartitionSpec:
        """The axes of a slot kept by row: a copy on every device."""
        spec: PartitionSpec = _spec()
        return spec

    def shards(self, rows: int) -> Shards:
        """Return one shard, since all rows are in one place."""
        return Shards(rows, 1)

    def together(self) -> AbstractContextManager[None]:
        """Return a context in which the mean over a row is that of all its columns."""
        return columns_elsewhere(partial(jax.lax.pmean, axis_name=self.mesh.axis_names))

    def to_owners(self, x: Array, cores: int) -> Array:
        """Send ids or sums of the cores here; return the ids of all cores, or the columns here of their sums."""
        if x.ndim == 1:
            return _gather_from_all(x, self.mesh)
        parts = x.reshape(x.shape[0], self.devices, -1).swapaxes(0, 1)
        return self._exchange(parts).reshape(-1, parts.shape[-1])

    def _exchange(self, parts: Array) -> Array:
        """Send part k to device k."""
        all_to_all: Any = jax.lax.all_to_all  # has no types
        received: Array = all_to_all(parts, self.mesh.axis_names, 0, 0)
        return received

    def to_cores(self, x: Array, cores: int) -> Array:
        """Send the columns here of what all cores asked for; return all columns of what the cores here asked for."""
        parts = self._exchange(x.reshape(self.devices, -1, x.shape[-1]))
        joined: Array = parts.swapaxes(0, 1).reshape(parts.shape[1], -1)
        return joined

    def places(self, ids: Array, rows: int) -> Array:
        """Return the ids, since every id is a place."""
        return ids


@dataclass(frozen=True)
class Copies:
    """A table that every device of a mesh has as a whole: lookups ask nobody, updates are everybody's."""

    mesh: Mesh
    devices: ClassVar[int] = 1  # that share the rows

    @property
    def spec(self) -> PartitionSpec:
        """The axes of the table, and of all its slots."""
        spec: PartitionSpec = _spec()
        return spec

    row_spec = spec

    def shards(self, rows: int) -> Shards:
        """Return one shard, since all rows are in one place."""
        return Shards(rows, 1)

    def together(self) -> AbstractContextManager[None]:
        """Return a context without effect, since rows are whole here."""
        return nullcontext()

    def to_owners(self, x: Array, cores: int) -> Array:
        """Send the arrays of the cores here; return those of all cores, in their order."""
        return _gather_from_all(x, self.mesh)

    def places(self, ids: Array, rows: int) -> Array:
        """Return the ids, since every id is a place."""
        return ids


def _gather_from_all(x: Array, mesh: Mesh) -> Array:
    gathered: Array = jax.lax.all_gather(x, mesh.axis_names, tiled=True)
    return gathered


Placement = OneDevice | OnMesh
TablePlacement = OneDevice | OnMesh | Columns | Copies
ONE_DEVICE = OneDevice()

"""States on a mesh: `place` puts one there, `create_placed` makes one there, `gather` brings one back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..._base.arrays import Array
from ..._base.jax_or_numpy import Mesh, jax, tree_map
from ..plan import Plan, Table
from ..row_owners import ONE_DEVICE, Layout, OnMesh, Strategy
from ..state import State
from .layouts import check_layouts, lay_out
from .pending import place_pending
from .sharded_arrays import make_array, on_device, row_reader, rows_at_once

Initializer = Callable[[np.ndarray], Any]  # the rows with these ids


def place(
    state: State, mesh: Mesh, strategy: Strategy = "div", layouts: Sequence[Layout] = ()
) -> State:
    """Return the state with the rows of tables and slots dealt out over the devices of a mesh.

    `lookup` and `update` then run on the mesh: ids go to the devices that hold the rows, rows
    come back, sums of gradients go the same way. On the same batches the numbers are those of
    one device: bit for bit on CPU, but for the last bit where XLA fuses a multiplication and an
    addition by the shapes of shards.

    Args:
        state: on one device or on another mesh; a pipelined update that is pending is kept.
        mesh: any axes; all its devices share the rows, and as many cores of the plan each.
        strategy: "div" keeps neighbors together, "mod" puts row r on device r modulo their number.
        layouts: "rows", "columns" or "copies" for each table: see `OnMesh`; rows by default.

    Returns:
        A State whose arrays have a shard of equal size on each device, so a few rows at the end of
        shards stand empty. `gather` gives the tables in their own order and shape.

    Raises:
        ValueError: cores or columns that the devices cannot share, an unknown strategy or layout.

    Source: `TPUEmbeddingConfiguration.ShardingStrategy`, TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Plan, Table, create, gather, place
    >>> plan = Plan((Table("t", 3, 1),), (Feature("f", 0, (1,)),))
    >>> placed = place(create(plan, [jnp.arange(3.0)[:, None]]), Mesh(jax.devices()[:1], "x"), "mod")
    >>> gather(placed).tables[0].ravel().tolist()
    [0.0, 1.0, 2.0]
    """
    check_layouts(state.plan, OnMesh(mesh, strategy, tuple(layouts)))
    state = lay_out(state)
    new = OnMesh(mesh, strategy)

    def move(table: Table, x: Array) -> Array:
        return make_array(new, table.rows, row_reader(state.placement, table.rows, x))

    pending = place_pending(new, state.plan, _to_host(state.pending))
    placed = _map_arrays(
        state, move, placement=new, pending=pending, shared=new.copied(state.shared)
    )
    return lay_out(placed, layouts)


def gather(state: State) -> State:
    """Return the state as NumPy arrays in the plan's order and shape, brought to the host shard by shard.

    `jax.device_put` of it is a state on one device.

    Raises:
        ValueError: some rows are on devices of another process; `save` them there and `restore`
            them where they are wanted.

    Source: `RetrieveAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Plan, Table, create, gather
    >>> type(gather(create(Plan((Table("t", 3, 1),), (Feature("f", 0, (1,)),)), [jnp.ones((3, 1))])).tables[0])
    <class 'numpy.ndarray'>
    """
    state = lay_out(state)

    def read_all(table: Table, x: Array) -> np.ndarray:
        return row_reader(state.placement, table.rows, x)(np.arange(table.rows))

    return _map_arrays(
        state,
        read_all,
        placement=ONE_DEVICE,
        pending=_to_host(state.pending),
        shared=_to_host(state.shared),
    )


def create_placed(
    plan: Plan,
    mesh: Mesh,
    initializers: Sequence[Initializer],
    strategy: Strategy = "div",
    layouts: Sequence[Layout] = (),
) -> State:
    """Return the state before the first step, every shard made on its own device.

    Nothing larger than a shard exists anywhere, so tables may be larger than the memory of a
    device.

    Args:
        initializers: one for each table; called with the ids of the rows wanted, 32 MiB of them at
            most, it gives those rows, (ids, width). What depends on nothing but the id is the same
            on any mesh. Slots start as their rule says.
        layouts: as for `place`; tables are made by rows first.

    Raises:
        ValueError: another number of initializers than tables, rows of another shape (it names the
            table), cores that the devices cannot share.

    Source: `TPUEmbedding.build`, TensorFlow 2.21 (2026), whose initializers see the shape of a
    shard instead.

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Plan, Table, create_placed, gather
    >>> plan = Plan((Table("t", 3, 2),), (Feature("f", 0, (1,)),))
    >>> state = create_placed(plan, Mesh(jax.devices()[:1], "x"), [lambda ids: jnp.ones((1, 2)) * ids[:, None]])
    >>> gather(state).tables[0].tolist()
    [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    """
    if len(initializers) != len(plan.tables):
        raise ValueError(
            f"the plan has {len(plan.tables)} tables, got {len(initializers)} initializers"
        )
    check_layouts(plan, OnMesh(mesh, strategy, tuple(layouts)))
    new = OnMesh(mesh, strategy)
    tables = [
        make_array(new, t.rows, check_shape(t, init), rows_at_once(t.width))
        for t, init in zip(plan.tables, initializers, strict=True)
    ]
    slots = [_make_slots(new, t, w) for t, w in zip(plan.tables, tables, strict=True)]
    shared = new.copied(tuple(t.rule.start() for t in plan.tables))
    return lay_out(State(plan, tuple(tables), tuple(slots), shared, placement=new), layouts)


def check_shape(table: Table, read: Initializer) -> Initializer:
    """Return the same function, refusing rows of another shape."""

    def read_checked(ids: np.ndarray) -> Any:
        rows = read(ids)
        if np.shape(rows) != (ids.size, table.width):
            raise ValueError(
                f"the rows of table {table.name!r} must have shape {(ids.size, table.width)}, got "
                f"{np.shape(rows)}"
            )
        return rows

    return read_checked


def _make_slots(placement: OnMesh, table: Table, w: Array) -> tuple[Array, ...]:
    """Return the initial slots of the rule, made on the device of each shard of w."""
    weights = cast(jax.Array, w)
    by_shard = []
    for shard in weights.addressable_shards:
        with on_device(shard.device):
            by_shard.append(table.rule.init(shard.data))
    return tuple(
        jax.make_array_from_single_device_arrays(
            table.rule.slot_shape(name, w.shape), weights.sharding, list(blocks)
        )
        for name, blocks in zip(table.rule.slots, zip(*by_shard, strict=True), strict=True)
    )


def _map_arrays(state: State, function: Callable[[Table, Array], Any], **changes: Any) -> State:
    """Return the state with `function` of every table and slot, and other changes."""
    tables = []
    slots = []
    for table, w, table_slots in zip(state.plan.tables, state.tables, state.slots, strict=True):
        tables.append(function(table, w))
        slots.append(tuple(function(table, s) for s in table_slots))
    return dataclasses.replace(state, tables=tuple(tables), slots=tuple(slots), **changes)


def _to_host(tree: Any) -> Any:
    return tree_map(np.asarray, tree)

"""States whose rows are dealt out over a mesh: put there, made there, and brought back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..._base.arrays import Array
from ..._base.library import Mesh, jax, tree_map
from ..placement import ONE_DEVICE, Layout, OnMesh, Strategy
from ..plan import Plan, Table
from ..state import State
from .layouts import check_layouts, lay_out
from .pending import pending_on
from .rows import made_of, on, reader, rows_at_once

Initializer = Callable[[np.ndarray], Any]  # the rows with these ids


def place(state: State, mesh: Mesh, strategy: Strategy = "div", layouts: Sequence[Layout] = ()) -> State:
    """The state with the rows of tables and slots dealt out over the devices of a mesh.

    `lookup` and `update` then run on the mesh: ids go to the devices that hold the rows, rows come back, sums of
    gradients go the same way. On the same batches the numbers are those of one device: bit for bit on CPU, but for the
    last bit where XLA fuses a multiplication and an addition by the shapes of shards.

    Args:
        state: on one device or on another mesh; a pipelined update that is pending is kept.
        mesh: any axes; all its devices share the rows, and as many cores of the plan each.
        strategy: "div" keeps neighbors together, "mod" puts row r on device r modulo their number.
        layouts: "rows", "columns" or "copies" for each table: see `OnMesh`; rows by default.

    Returns:
        A State whose arrays have a shard of equal size on each device, so a few rows at the end of shards stand empty.
        `gather` gives the tables in their own order and shape.

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
    state, new = lay_out(state), OnMesh(mesh, strategy)

    def moved(table: Table, x: Array) -> Array:
        return made_of(new, table.rows, reader(state.placement, table.rows, x))

    pending = pending_on(new, state.plan, _host(state.pending))
    placed = _each_array(state, moved, placement=new, pending=pending, shared=new.copied(state.shared))
    return lay_out(placed, layouts)


def gather(state: State) -> State:
    """The state as NumPy arrays in the plan's order and shape, brought to the host shard by shard.

    `jax.device_put` of it is a state on one device.

    Raises:
        ValueError: some rows are on devices of another process; `save` them there and `restore` them where they are
            wanted.

    Source: `RetrieveAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Plan, Table, create, gather
    >>> type(gather(create(Plan((Table("t", 3, 1),), (Feature("f", 0, (1,)),)), [jnp.ones((3, 1))])).tables[0])
    <class 'numpy.ndarray'>
    """

    state = lay_out(state)

    def whole(table: Table, x: Array) -> np.ndarray:
        return reader(state.placement, table.rows, x)(np.arange(table.rows))

    return _each_array(state, whole, placement=ONE_DEVICE, pending=_host(state.pending), shared=_host(state.shared))


def create_placed(
    plan: Plan,
    mesh: Mesh,
    initializers: Sequence[Initializer],
    strategy: Strategy = "div",
    layouts: Sequence[Layout] = (),
) -> State:
    """The state before the first step, every shard made on its own device.

    Nothing larger than a shard exists anywhere, so tables may be larger than the memory of a device.

    Args:
        initializers: one for each table; called with the ids of the rows wanted, 32 MiB of them at most, it gives those
            rows, (ids, width). What depends on nothing but the id is the same on any mesh. Slots start as their rule
            says.
        layouts: as for `place`; tables are made by rows first.

    Raises:
        ValueError: another number of initializers than tables, rows of another shape (it names the table), cores that
            the devices cannot share.

    Source: `TPUEmbedding.build`, TensorFlow 2.21 (2026), whose initializers see the shape of a shard instead.

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Plan, Table, create_placed, gather
    >>> plan = Plan((Table("t", 3, 2),), (Feature("f", 0, (1,)),))
    >>> state = create_placed(plan, Mesh(jax.devices()[:1], "x"), [lambda ids: jnp.ones((1, 2)) * ids[:, None]])
    >>> gather(state).tables[0].tolist()
    [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    """
    if len(initializers) != len(plan.tables):
        raise ValueError(f"the plan has {len(plan.tables)} tables, got {len(initializers)} initializers")
    check_layouts(plan, OnMesh(mesh, strategy, tuple(layouts)))
    new = OnMesh(mesh, strategy)
    tables = [
        made_of(new, t.rows, checked(t, init), rows_at_once(t.width))
        for t, init in zip(plan.tables, initializers, strict=True)
    ]
    slots = [_slots(new, t, w) for t, w in zip(plan.tables, tables, strict=True)]
    shared = new.copied(tuple(t.rule.start() for t in plan.tables))
    return lay_out(State(plan, tuple(tables), tuple(slots), shared, placement=new), layouts)


def checked(table: Table, read: Initializer) -> Initializer:
    """Return the same, refusing rows of another shape."""

    def rows(ids: np.ndarray) -> Any:
        found = read(ids)
        if np.shape(found) != (ids.size, table.width):
            raise ValueError(
                f"the rows of table {table.name!r} must have shape {(ids.size, table.width)}, got {np.shape(found)}"
            )
        return found

    return rows


def _slots(placement: OnMesh, table: Table, w: Array) -> tuple[Array, ...]:
    """The initial slots of the rule, made on the device of each shard of w."""
    made, own = [], cast(jax.Array, w)
    for shard in own.addressable_shards:
        with on(shard.device):
            made.append(table.rule.init(shard.data))
    return tuple(
        jax.make_array_from_single_device_arrays(table.rule.slot_shape(name, w.shape), own.sharding, list(blocks))
        for name, blocks in zip(table.rule.slots, zip(*made, strict=True), strict=True)
    )


def _each_array(state: State, function: Callable[[Table, Array], Any], **changes: Any) -> State:
    tables = zip(state.plan.tables, state.tables, state.slots, strict=True)
    made = [(function(t, w), tuple(function(t, s) for s in slots)) for t, w, slots in tables]
    return dataclasses.replace(state, tables=tuple(w for w, _ in made), slots=tuple(s for _, s in made), **changes)


def _host(tree: Any) -> Any:
    return tree_map(np.asarray, tree)

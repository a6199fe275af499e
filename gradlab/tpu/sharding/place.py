"""States whose rows are dealt out over a mesh: put there, made there, and brought back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..._base.arrays import Array
from ..._base.indices import roomy
from ..._steps.library import Mesh, jax, tree_map
from ..placement import ONE_DEVICE, OnMesh, Strategy
from ..plan import Plan, Table
from ..state import State
from ..update import RowSums, Step
from .batch import cores_here
from .rows import arranged, longest, made_of, of_each_core, on, put, reader

Initializer = Callable[[np.ndarray], Any]  # the rows with these ids


def place(state: State, mesh: Mesh, strategy: Strategy = "div") -> State:
    """The state with the rows of tables and slots dealt out over the devices of a mesh.

    `lookup` and `update` then run on the mesh: ids go to the devices that hold the rows, rows come back, sums of
    gradients go the same way. On the same batches the numbers are those of one device: bit for bit on CPU, but for the
    last bit where XLA fuses a multiplication and an addition by the shapes of shards.

    Args:
        state: on one device or on another mesh; a pipelined update that is pending is kept.
        mesh: any axes; all its devices share the rows, and as many cores of the plan each.
        strategy: "div" keeps neighbors together, "mod" puts row r on device r modulo their number.

    Returns:
        A State whose arrays have a shard of equal size on each device, so a few rows at the end of shards stand empty.
        `gather` gives the tables in their own order and shape.

    Raises:
        ValueError: cores that the devices cannot share, an unknown strategy.

    Source: `TPUEmbeddingConfiguration.ShardingStrategy`, TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Plan, Table, create, gather, place
    >>> plan = Plan((Table("t", 3, 1),), (Feature("f", 0, (1,)),))
    >>> placed = place(create(plan, [jnp.arange(3.0)[:, None]]), Mesh(jax.devices()[:1], "x"), "mod")
    >>> gather(placed).tables[0].ravel().tolist()
    [0.0, 1.0, 2.0]
    """
    new = OnMesh(mesh, strategy)
    cores_here(state.plan, new)

    def moved(table: Table, x: Array) -> Array:
        return made_of(new, table.rows, reader(state.placement, table.rows, x))

    pending = pending_on(new, state.plan, _host(state.pending))
    return _each_array(state, moved, placement=new, pending=pending, shared=new.copied(state.shared))


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

    def whole(table: Table, x: Array) -> np.ndarray:
        return reader(state.placement, table.rows, x)(np.arange(table.rows))

    return _each_array(state, whole, placement=ONE_DEVICE, pending=_host(state.pending), shared=_host(state.shared))


def create_placed(plan: Plan, mesh: Mesh, initializers: Sequence[Initializer], strategy: Strategy = "div") -> State:
    """The state before the first step, every shard made on its own device.

    Nothing larger than a shard exists anywhere, so tables may be larger than the memory of a device.

    Args:
        initializers: one for each table; called with the ids of the rows wanted, it gives those rows, (ids, width).
            What depends on nothing but the id is the same on any mesh. Slots start as their rule says.

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
    new = OnMesh(mesh, strategy)
    cores_here(plan, new)
    tables = [made_of(new, t.rows, checked(t, init)) for t, init in zip(plan.tables, initializers, strict=True)]
    slots = [_slots(new, t, w) for t, w in zip(plan.tables, tables, strict=True)]
    shared = new.copied(tuple(t.rule.start() for t in plan.tables))
    return State(plan, tuple(tables), tuple(slots), shared, placement=new)


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
    made = []
    for shard in cast(jax.Array, w).addressable_shards:
        with on(shard.device):
            made.append(table.rule.init(shard.data))
    return tuple(
        jax.make_array_from_single_device_arrays(w.shape, placement.sharding, list(blocks))
        for blocks in zip(*made, strict=True)
    )


def pending_on(placement: OnMesh, plan: Plan, pending: Step | None) -> Step | None:
    """A pending update on the host, arranged by who holds its rows."""
    if pending is None:
        return None
    own, rows = cores_here(plan, placement), []
    each = len(own) // len(placement.here)
    for table, sums in zip(plan.tables, pending.rows, strict=True):
        shards, cores = placement.shards(table.rows), of_each_core(sums, plan.cores)
        owners = [np.asarray(shards.owner(ids)) for ids, _ in cores]
        room = roomy(max(longest(ids, to) for (ids, _), to in zip(cores, owners, strict=True)))
        parts = [_arranged_sums(*cores[k], owners[k], shards.count, room) for k in own]
        joined = [[np.concatenate(x[k : k + each]) for k in range(0, len(own), each)] for x in zip(*parts, strict=True)]
        rows.append(RowSums(*(put(placement, x) for x in joined)))
    return Step(tuple(rows), pending.learning_rates)


def _arranged_sums(ids: np.ndarray, sums: np.ndarray, owners: np.ndarray, parts: int, room: int) -> Any:
    arranged_ids, went = arranged(ids, owners, parts, room)
    out = np.zeros((parts * room + 1, sums.shape[1]), np.float32)  # the last takes what belongs to nobody
    out[went] = sums
    return arranged_ids, out[:-1]


def _each_array(state: State, function: Callable[[Table, Array], Any], **changes: Any) -> State:
    tables = zip(state.plan.tables, state.tables, state.slots, strict=True)
    made = [(function(t, w), tuple(function(t, s) for s in slots)) for t, w, slots in tables]
    return dataclasses.replace(state, tables=tuple(w for w, _ in made), slots=tuple(s for _, s in made), **changes)


def _host(tree: Any) -> Any:
    return tree_map(np.asarray, tree)

"""Tables by rows, by columns, or copied, on one mesh: states put from one layout into another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._base.arrays import Array
from ..._base.errors import InvalidArgumentError
from ..._steps.library import PartitionSpec, jax, jnp, tree_map
from ..lookup import specs_of
from ..placement import Layout, OnMesh, Shards
from ..plan import Plan
from ..plan_placement import no_columns
from ..state import State
from .batch import cores_here
from .pending import pending_on


def lay_out(state: State, layouts: Sequence[Layout] = ()) -> State:
    """The state with its tables in other layouts on the mesh where it is; none are rows for all.

    A table moves on its own, so that besides the state there is room needed for one table and its slots in both
    layouts. What steps compute is the same in every layout, but for last bits of a slot kept by row.

    Args:
        layouts: "rows", "columns" or "copies" for each table of the plan, see `OnMesh`; `plan_placement` chooses them.

    Raises:
        InvalidArgumentError: a state on one device; another number of layouts than tables; columns that the devices
            cannot share, or of a rule of your own with slots kept by row; it names the table.

    Not in TensorFlow.

    >>> from jax.sharding import Mesh
    >>> from gradlab.tpu import Feature, Plan, Table, create, gather, lay_out, place
    >>> plan = Plan((Table("t", 3, 2),), (Feature("f", 0, (1,)),))
    >>> placed = place(create(plan, [jnp.arange(6.0).reshape(3, 2)]), Mesh(jax.devices()[:1], "x"))
    >>> laid = lay_out(placed, ["columns"])
    >>> laid.placement.layouts, gather(laid).tables[0].tolist()
    (('columns',), [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    """
    old = state.placement
    if not isinstance(old, OnMesh):
        if not layouts:
            return state
        raise InvalidArgumentError("layouts are for a state on a mesh; place(state, mesh) puts it there")
    wanted = () if all(layout == "rows" for layout in layouts) else tuple(layouts)
    new = dataclasses.replace(old, layouts=wanted)
    if new == old:
        return state
    check_layouts(state.plan, new)
    after = dataclasses.replace(state, placement=new)
    specs = zip(*specs_of(state), *specs_of(after), strict=True)
    tables, slots = [], []
    for table, w, own, (w_from, own_from, w_to, own_to) in zip(
        state.plan.tables, state.tables, state.slots, specs, strict=True
    ):
        shards = new.shards(table.rows)
        tables.append(_moved(new, shards, w, w_from, w_to))
        ways = zip(own, own_from, own_to, strict=True)
        by_rows = new.spec
        slots.append(
            tuple(_moved(new, shards, s, _told(a, w_from, by_rows), _told(b, w_to, by_rows)) for s, a, b in ways)
        )
    pending = state.pending
    if pending is not None:
        pending = pending_on(new, state.plan, tree_map(np.asarray, pending))
    return dataclasses.replace(after, tables=tuple(tables), slots=tuple(slots), pending=pending)


def check_layouts(plan: Plan, placement: OnMesh) -> None:
    """Refuse layouts that the tables of a plan cannot have."""
    cores_here(plan, placement)
    given = placement.layouts
    if given and len(given) != len(plan.tables):
        raise InvalidArgumentError(f"the plan has {len(plan.tables)} tables, got {len(given)} layouts")
    for table, layout in zip(plan.tables, given, strict=False):
        if layout == "columns" and (why := no_columns(table, placement.devices)):
            raise InvalidArgumentError(why)


def _told(spec: PartitionSpec, of_table: PartitionSpec, by_rows: PartitionSpec) -> PartitionSpec:
    """The spec of a slot; that of a table by rows is known by its table."""
    return by_rows if of_table == by_rows else spec


def _moved(placement: OnMesh, shards: Shards, x: Array, before: PartitionSpec, after: PartitionSpec) -> Array:
    """One array in another layout: rows take their places while all of them are on each device."""
    by_rows = placement.spec
    if before == after:
        return x
    if before == by_rows:
        return _taken(placement, _put(placement, x, after), after, lambda: _places(shards))
    if after == by_rows:
        return _put(placement, _taken(placement, x, before, lambda: _rows(shards)), after)
    return _put(placement, x, after)


def _put(placement: OnMesh, x: Array, spec: PartitionSpec) -> Array:
    put: Array = jax.device_put(x, placement.laid_out(spec, x.ndim))
    return put


def _taken(placement: OnMesh, x: Array, spec: PartitionSpec, ids: Callable[[], Array]) -> Array:
    """Some rows in an order, 0 where there are none, on every device of what it has."""

    def take(own: Array) -> Array:
        taken: Array = jnp.take(own, ids(), axis=0, mode="fill", fill_value=0)
        return taken

    shared: Any = jax.shard_map(take, mesh=placement.mesh, in_specs=spec, out_specs=spec, check_vma=False)
    found: Array = jax.jit(shared)(x)
    return found


def _places(shards: Shards) -> Array:
    """The place of each row among all shards, one after another."""
    ids = jnp.arange(shards.rows, dtype=jnp.uint32)
    places: Array = jnp.asarray(shards.owner(ids) * shards.size + shards.place(ids), jnp.uint32)
    return places


def _rows(shards: Shards) -> Array:
    """The row in each place of all shards, one after another; a number past the last row where there is none."""
    places = jnp.arange(shards.size * shards.count, dtype=jnp.uint32)
    shard, place = places // shards.size, places % shards.size
    least, longer = divmod(shards.rows, shards.count)
    first = shard if shards.strategy == "mod" else shard * least + jnp.minimum(shard, longer)
    step = shards.count if shards.strategy == "mod" else 1
    is_held = place < least + (shard < longer)
    rows: Array = jnp.where(is_held, first + place * step, jnp.uint32(shards.rows))
    return rows

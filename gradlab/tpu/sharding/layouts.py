"""Tables by rows, by columns, copied, or whole on a device, on one mesh: states put from one layout into another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..._base.arrays import Array
from ..._base.library import PartitionSpec, jax, jnp, tree_map
from ...errors import InvalidArgumentError
from ..lookup import specs_of
from ..placement import Copies, Layout, OnMesh, Shards
from ..plan import Plan
from ..stacks import StackedPlan, merge_shared, stack_tables
from ..state import State
from .batch import cores_here
from .pending import of_tables, pending_on
from .plan_placement import why_no_columns


def lay_out(state: State, layouts: Sequence[Layout] = ()) -> State:
    """The state with its tables in other layouts on the mesh where it is; none are rows for all.

    A table moves on its own, so that besides the state there is room needed for one table and its slots in both
    layouts. What steps compute is the same in every layout, but for last bits of a slot kept by row.

    Args:
        layouts: "rows", "columns", "copies" or "whole" for each table of the plan, see `OnMesh`; `plan_placement`
            chooses them.

    Raises:
        InvalidArgumentError: a state on one device; another number of layouts than tables; columns that the devices
            cannot share, or of a rule of your own with slots kept by row; tables of one stack whose rules have
            different values in common; it names the table. ValueError: a stack of 2**31 rows or more.

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
    before, after, found = (
        stack_tables(state.plan, old),
        stack_tables(state.plan, new),
        dataclasses.replace(state, placement=new),
    )
    held = [(w, *own) for w, own in zip(state.tables, state.slots, strict=True)]
    made = _made(state.plan, new, before, after, held, (_specs(state), _specs(found)))
    pending = state.pending
    if pending is not None:
        pending = pending_on(new, state.plan, of_tables(state.plan, before, tree_map(np.asarray, pending)))
    shared = merge_shared(state.plan, after, [state.shared[before.locate(k)[0]] for k in range(len(state.plan.tables))])
    tables, slots = tuple(own[0] for own in made), tuple(tuple(own[1:]) for own in made)
    return dataclasses.replace(found, tables=tables, slots=slots, shared=shared, pending=pending)


Specs = Sequence[Sequence[PartitionSpec]]  # of the weights of each array, and of its slots


def _specs(state: State) -> Specs:
    return [(w, *own) for w, own in zip(*specs_of(state), strict=True)]


def _made(
    plan: Plan, placement: OnMesh, before: StackedPlan, after: StackedPlan, held: Any, specs: tuple[Specs, Specs]
) -> list[list[Array]]:
    """The arrays of the new layouts: weights and slots of one table after another take their places."""
    by_rows, copied, by_div = placement.spec, Copies(placement.mesh).spec, OnMesh(placement.mesh)
    made: list[list[Array]] = [[] for _ in after.plan.tables]
    for k, table in enumerate(plan.tables):
        (n, begin), (m, end), shards = before.locate(k), after.locate(k), placement.shards(table.rows)
        own, lie, shall = list(held[n]), specs[0][n], specs[1][m]
        if k not in before.unstacked:
            own, lie = [_out_of_stack(by_div, x, begin, table.rows) for x in own], [copied] * len(own)
        if k not in after.unstacked:
            shall = [copied] * len(own)
        ways = zip(
            own, (_told(x, lie[0], by_rows) for x in lie), (_told(x, shall[0], by_rows) for x in shall), strict=True
        )
        moved = [_moved(placement, shards, x, a, b) for x, a, b in ways]
        if k not in after.unstacked:
            stacks = made[m] or [_empty(placement, after.plan.tables[m].rows, x.shape[1]) for x in moved]
            moved = [_into_stack(by_div, stack, x, end) for stack, x in zip(stacks, moved, strict=True)]
        made[m] = moved
    return made


def check_layouts(plan: Plan, placement: OnMesh) -> None:
    """Refuse layouts that the tables of a plan cannot have."""
    cores_here(plan, placement)
    given = placement.layouts
    if given and len(given) != len(plan.tables):
        raise InvalidArgumentError(f"the plan has {len(plan.tables)} tables, got {len(given)} layouts")
    for table, layout in zip(plan.tables, given, strict=False):
        if layout == "columns" and (why := why_no_columns(table, placement.devices)):
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


def _empty(placement: OnMesh, rows: int, width: int) -> Array:
    made: Any = jax.jit(partial(jnp.zeros, (rows, width)), out_shardings=placement.laid_out(placement.spec, 2))
    found: Array = made()
    return found


def _into_stack(placement: OnMesh, stack: Array, x: Array, first: int) -> Array:
    """The stack with the rows of a table, which every device has, in the part of one."""
    found: Array = _putting(placement)(stack, x, _place(placement, stack, first))
    return found


def _out_of_stack(placement: OnMesh, stack: Array, first: int, rows: int) -> Array:
    """The rows of a table, which one device has, on every device."""
    found: Array = _taking(placement, rows)(stack, _place(placement, stack, first))
    return found


def _place(placement: OnMesh, stack: Array, first: int) -> np.ndarray:
    """The device of a row of a stack, and its place there."""
    return np.array(divmod(first, stack.shape[0] // placement.devices), np.int32)


@lru_cache(maxsize=8)
def _putting(placement: OnMesh) -> Any:
    split, copied, names = placement.spec, Copies(placement.mesh).spec, placement.mesh.axis_names

    def put(own: Array, x: Array, place: Array) -> Array:
        is_here = jax.lax.axis_index(names) == place[0]
        there: Array = jax.lax.cond(is_here, lambda: jax.lax.dynamic_update_slice(own, x, (place[1], 0)), lambda: own)
        return there

    shared: Any = jax.shard_map(
        put, mesh=placement.mesh, in_specs=(split, copied, copied), out_specs=split, check_vma=False
    )
    return jax.jit(shared, donate_argnums=0)


@lru_cache(maxsize=64)
def _taking(placement: OnMesh, rows: int) -> Any:
    split, copied, names = placement.spec, Copies(placement.mesh).spec, placement.mesh.axis_names
    psum: Any = jax.lax.psum  # has no types

    def take(own: Array, place: Array) -> Array:
        bits = jax.lax.bitcast_convert_type(jax.lax.dynamic_slice_in_dim(own, place[1], rows), jnp.uint32)
        summed = psum(jnp.where(jax.lax.axis_index(names) == place[0], bits, 0), names)  # -0.0 + 0.0 would be 0.0
        taken: Array = jax.lax.bitcast_convert_type(summed, jnp.float32)
        return taken

    shared: Any = jax.shard_map(take, mesh=placement.mesh, in_specs=(split, copied), out_specs=copied, check_vma=False)
    return jax.jit(shared)


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

"""`lay_out`: tables on one mesh from one layout into another (by rows, by columns, copied, whole on a device)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..._base.arrays import Array
from ..._base.jax_or_numpy import PartitionSpec, jax, jnp, tree_map
from ...errors import InvalidArgumentError
from ..lookup import specs_of
from ..plan import Plan
from ..row_owners import Copies, Layout, OnMesh, Shards
from ..stacks import StackedPlan, merge_shared, stack_tables
from ..state import State
from .pending import gather_pending, place_pending
from .place_batch import cores_here
from .plan_placement import why_no_columns


def lay_out(state: State, layouts: Sequence[Layout] = ()) -> State:
    """Return the state with its tables in other layouts on the mesh where it is; none are rows for all.

    One table moves after another, so besides the state, one table and its slots need room in both
    layouts. What steps compute is the same in every layout, but for last bits of a slot kept by
    row.

    Args:
        layouts: "rows", "columns", "copies" or "whole" for each table of the plan, see `OnMesh`;
            `plan_placement` chooses them.

    Raises:
        InvalidArgumentError: a state on one device; another number of layouts than tables; columns
            that the devices cannot share, or of a rule of your own with slots kept by row; tables
            of one stack whose rules have different values in common; it names the table.
        ValueError: a stack of 2**31 rows or more.

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
        raise InvalidArgumentError(
            "layouts are for a state on a mesh; place(state, mesh) puts it there"
        )
    by_rows = all(layout == "rows" for layout in layouts)
    new = dataclasses.replace(old, layouts=() if by_rows else tuple(layouts))
    if new == old:
        return state
    plan = state.plan
    check_layouts(plan, new)
    before = stack_tables(plan, old)
    after = stack_tables(plan, new)
    result = dataclasses.replace(state, placement=new)
    arrays = [(w, *slots) for w, slots in zip(state.tables, state.slots, strict=True)]
    moved = _move_tables(
        plan, new, before, after, arrays, (_array_specs(state), _array_specs(result))
    )
    pending = state.pending
    if pending is not None:
        pending = gather_pending(plan, before, tree_map(np.asarray, pending))
        pending = place_pending(new, plan, pending)
    shared = [state.shared[before.locate(k)[0]] for k in range(len(plan.tables))]
    return dataclasses.replace(
        result,
        tables=tuple(array[0] for array in moved),
        slots=tuple(tuple(array[1:]) for array in moved),
        shared=merge_shared(plan, after, shared),
        pending=pending,
    )


Specs = Sequence[Sequence[PartitionSpec]]  # of the weights of each array, and of its slots


def _array_specs(state: State) -> Specs:
    tables, slots = specs_of(state)
    return [(w, *own) for w, own in zip(tables, slots, strict=True)]


def _move_tables(
    plan: Plan,
    placement: OnMesh,
    before: StackedPlan,
    after: StackedPlan,
    arrays: Sequence[Sequence[Array]],
    specs: tuple[Specs, Specs],
) -> list[list[Array]]:
    """Return weights and slots of each array in the new layouts. One table moves after another."""
    by_rows = placement.spec
    copied = Copies(placement.mesh).spec
    by_div = OnMesh(placement.mesh)  # stacks are dealt out by "div", whatever the strategy
    moved: list[list[Array]] = [[] for _ in after.plan.tables]
    for k, table in enumerate(plan.tables):
        old_array, old_first = before.locate(k)
        new_array, new_first = after.locate(k)
        shards = placement.shards(table.rows)
        parts = list(arrays[old_array])
        old_specs = list(specs[0][old_array])
        new_specs = list(specs[1][new_array])
        if k not in before.unstacked:
            parts = [_take_from_stack(by_div, x, old_first, table.rows) for x in parts]
            old_specs = [copied] * len(parts)
        if k not in after.unstacked:
            new_specs = [copied] * len(parts)
        # A slot of a table by rows is by rows, too; its own spec doesn't say so.
        if old_specs[0] == by_rows:
            old_specs = [by_rows] * len(parts)
        if new_specs[0] == by_rows:
            new_specs = [by_rows] * len(parts)
        parts = [
            _move_array(placement, shards, x, old, new)
            for x, old, new in zip(parts, old_specs, new_specs, strict=True)
        ]
        if k not in after.unstacked:
            stacks = moved[new_array]
            if not stacks:
                rows = after.plan.tables[new_array].rows
                stacks = [_make_empty(placement, rows, x.shape[1]) for x in parts]
            parts = [
                _put_into_stack(by_div, stack, x, new_first)
                for stack, x in zip(stacks, parts, strict=True)
            ]
        moved[new_array] = parts
    return moved


def check_layouts(plan: Plan, placement: OnMesh) -> None:
    """Refuse layouts that the tables of a plan cannot have."""
    cores_here(plan, placement)
    layouts = placement.layouts
    if layouts and len(layouts) != len(plan.tables):
        raise InvalidArgumentError(
            f"the plan has {len(plan.tables)} tables, got {len(layouts)} layouts"
        )
    for table, layout in zip(plan.tables, layouts, strict=False):
        if layout == "columns" and (why := why_no_columns(table, placement.devices)):
            raise InvalidArgumentError(why)


def _move_array(
    placement: OnMesh, shards: Shards, x: Array, before: PartitionSpec, after: PartitionSpec
) -> Array:
    """Return one array in another layout: rows are reordered while each device has all of them."""
    by_rows = placement.spec
    if before == after:
        return x
    if before == by_rows:
        return _take_rows(
            placement, _put(placement, x, after), after, lambda: _places_of_rows(shards)
        )
    if after == by_rows:
        return _put(
            placement, _take_rows(placement, x, before, lambda: _rows_of_places(shards)), after
        )
    return _put(placement, x, after)


def _make_empty(placement: OnMesh, rows: int, width: int) -> Array:
    make: Any = jax.jit(
        partial(jnp.zeros, (rows, width)), out_shardings=placement.laid_out(placement.spec, 2)
    )
    stack: Array = make()
    return stack


def _put_into_stack(placement: OnMesh, stack: Array, x: Array, first: int) -> Array:
    """Return the stack with the rows of a table, which every device has, in the part of one device."""
    updated: Array = _compile_put(placement)(stack, x, _place_in_stack(placement, stack, first))
    return updated


def _take_from_stack(placement: OnMesh, stack: Array, first: int, rows: int) -> Array:
    """Return the rows of a table, which one device has, on every device."""
    taken: Array = _compile_take(placement, rows)(stack, _place_in_stack(placement, stack, first))
    return taken


def _place_in_stack(placement: OnMesh, stack: Array, first: int) -> np.ndarray:
    """Return the device of a row of a stack, and its place there."""
    return np.array(divmod(first, stack.shape[0] // placement.devices), np.int32)


@lru_cache(maxsize=8)
def _compile_put(placement: OnMesh) -> Any:
    split = placement.spec
    copied = Copies(placement.mesh).spec
    names = placement.mesh.axis_names

    def put(own: Array, x: Array, place: Array) -> Array:
        is_here = jax.lax.axis_index(names) == place[0]
        start = (place[1], 0)
        updated: Array = jax.lax.cond(
            is_here, lambda: jax.lax.dynamic_update_slice(own, x, start), lambda: own
        )
        return updated

    shared: Any = jax.shard_map(
        put, mesh=placement.mesh, in_specs=(split, copied, copied), out_specs=split, check_vma=False
    )
    return jax.jit(shared, donate_argnums=0)


@lru_cache(maxsize=64)
def _compile_take(placement: OnMesh, rows: int) -> Any:
    split = placement.spec
    copied = Copies(placement.mesh).spec
    names = placement.mesh.axis_names
    psum: Any = jax.lax.psum  # has no types

    def take(own: Array, place: Array) -> Array:
        bits = jax.lax.bitcast_convert_type(
            jax.lax.dynamic_slice_in_dim(own, place[1], rows), jnp.uint32
        )
        # Bits are summed, not numbers, because -0.0 + 0.0 would be 0.0.
        summed = psum(jnp.where(jax.lax.axis_index(names) == place[0], bits, 0), names)
        taken: Array = jax.lax.bitcast_convert_type(summed, jnp.float32)
        return taken

    shared: Any = jax.shard_map(
        take, mesh=placement.mesh, in_specs=(split, copied), out_specs=copied, check_vma=False
    )
    return jax.jit(shared)


def _put(placement: OnMesh, x: Array, spec: PartitionSpec) -> Array:
    put: Array = jax.device_put(x, placement.laid_out(spec, x.ndim))
    return put


def _take_rows(placement: OnMesh, x: Array, spec: PartitionSpec, ids: Callable[[], Array]) -> Array:
    """Return the rows `ids()` of what each device has, 0 where there is none."""

    def take(own: Array) -> Array:
        taken: Array = jnp.take(own, ids(), axis=0, mode="fill", fill_value=0)
        return taken

    shared: Any = jax.shard_map(
        take, mesh=placement.mesh, in_specs=spec, out_specs=spec, check_vma=False
    )
    rows: Array = jax.jit(shared)(x)
    return rows


def _places_of_rows(shards: Shards) -> Array:
    """Return the place of each row among all shards, one after another."""
    ids = jnp.arange(shards.rows, dtype=jnp.uint32)
    places: Array = jnp.asarray(shards.owner(ids) * shards.size + shards.place(ids), jnp.uint32)
    return places


def _rows_of_places(shards: Shards) -> Array:
    """Return the row in each place of all shards, one after another; past the last row where there
    is none.
    """
    places = jnp.arange(shards.size * shards.count, dtype=jnp.uint32)
    shard = places // shards.size
    place = places % shards.size
    least, longer = divmod(shards.rows, shards.count)
    first = shard if shards.strategy == "mod" else shard * least + jnp.minimum(shard, longer)
    step = shards.count if shards.strategy == "mod" else 1
    is_held = place < least + (shard < longer)
    rows: Array = jnp.where(is_held, first + place * step, jnp.uint32(shards.rows))
    return rows

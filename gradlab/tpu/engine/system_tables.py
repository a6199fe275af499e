"""The tables of a system: looked up and updated in place by compiled functions, loaded and read by shards of hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._base.arrays import Array, as_real_numbers, set_rows
from ..._base.jax_or_numpy import Mesh, compile_with_jax, jnp, on_device, tree_map
from ...errors import InvalidArgumentError
from ..batch import Batch
from ..lookup import Dedup, lookup
from ..plan import Plan
from ..row_owners import OnMesh, Shards, Strategy
from ..sharding import create_placed, place_batch
from ..sharding.sharded_arrays import make_array, row_reader
from ..state import State, create
from ..step_record import Sent, StepRecord
from ..update import flush_pending, update
from .shapes import shard_rows

EMPTY = np.uint32(1).view(np.float32)  # what the hidden sum of gradients holds between steps


def read_rows(state: State, table: int, shards: Shards, shard: int) -> list[np.ndarray]:
    """Return copies of the rows of a shard: parameters, then slots."""
    ids = shards.held(shard)
    return [row_reader(state.placement, shards.rows, x)(ids) for x in _arrays(state, table)]


def write_rows(
    state: State, table: int, shards: Shards, shard: int, arrays: Sequence[Any]
) -> State:
    """Return the state with new rows of a shard: parameters, then slots, each (rows of the shard, width).

    Raises:
        InvalidArgumentError: another shape, or something that is not numbers; it names the table.
    """
    t = state.plan.tables[table]
    ids = shards.held(shard)
    names = ("parameters", *t.rule.slots)
    new_rows = [
        _check_array(t.name, name, x, (ids.size, t.width))
        for name, x in zip(names, arrays, strict=True)
    ]
    w, *slots = (
        _write_array(state, old, shards, ids, new)
        for old, new in zip(_arrays(state, table), new_rows, strict=True)
    )
    return dataclasses.replace(
        state,
        tables=_replace_at(state.tables, table, w),
        slots=_replace_at(state.slots, table, tuple(slots)),
    )


def empty_accumulator(shape: tuple[int, ...]) -> np.ndarray:
    """Return the hidden sum of gradients between steps: the float32 whose bits are 1, which adds nothing but is not 0.

    >>> empty_accumulator((1, 1)).view(np.uint32).tolist()
    [[1]]
    """
    return np.full(shape, EMPTY, np.float32)


def check_empty_accumulator(table: str, x: Any) -> None:
    """Refuse a hidden sum of gradients that is not empty: a step that is half done cannot be loaded.

    Raises:
        InvalidArgumentError: entries that would count in the next step; it names the table.
    """
    if (np.abs(np.asarray(x)) >= np.finfo(np.float32).tiny).any():
        raise InvalidArgumentError(
            f"the hidden accumulator of table {table!r} holds gradients; give it zeros"
        )


def _arrays(state: State, table: int) -> list[Array]:
    return [state.tables[table], *state.slots[table]]


def _check_array(table: str, name: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(as_real_numbers(x, f"{name} of table {table!r}"))
    if array.shape != shape:
        raise InvalidArgumentError(
            f"{name} of table {table!r} must have shape {shape} here, got {array.shape}"
        )
    return array.astype(np.float32)


def _write_array(
    state: State, old: Array, shards: Shards, ids: np.ndarray, new: np.ndarray
) -> Array:
    if not isinstance(state.placement, OnMesh):
        return jnp.array(new) if shards.count == 1 else set_rows(jnp.asarray(old), ids, new)
    position = np.full(shards.rows, -1)  # of each row of the table among the new ones
    position[ids] = np.arange(ids.size)
    read_old = row_reader(state.placement, shards.rows, old)

    def read_new(ids: np.ndarray) -> np.ndarray:
        rows = np.array(read_old(ids))
        positions = position[ids]
        is_new = positions >= 0
        rows[is_new] = new[positions[is_new]]
        return rows

    return make_array(state.placement, shards.rows, read_new)


def _replace_at(items: tuple[Any, ...], k: int, new: Any) -> tuple[Any, ...]:
    return (*items[:k], new, *items[k + 1 :])


_lookup = compile_with_jax()(lookup)


def _update_arrays(
    arrays: Any, rest: State, gradients: Any, learning_rates: Any, dedup: Dedup
) -> State:
    """Return the state after one step of tables and slots."""
    return update(
        dataclasses.replace(rest, tables=arrays[0], slots=arrays[1]),
        gradients,
        learning_rates,
        dedup,
    )


_update = compile_with_jax(donate=(0,))(_update_arrays)  # tables and slots are written in place
_update_copy = compile_with_jax()(_update_arrays)  # those before the step stay as they are


@compile_with_jax(donate=(0,))
def _flush(arrays: Any, rest: State) -> State:
    """Make the pending update of a pipelined plan, in place."""
    return flush_pending(dataclasses.replace(rest, tables=arrays[0], slots=arrays[1]))


class SystemTables:
    """A state that changes: zeros and the slots that the rules start with, on one device or on a mesh.

    Raises:
        ValueError: cores that the devices of the mesh cannot share, or devices of other processes.
    """

    def __init__(self, plan: Plan, mesh: Mesh | None, strategy: Strategy) -> None:
        self.plan = plan
        self.strategy: Strategy = strategy
        if mesh is None:
            self._state = create(
                plan, [jnp.zeros((t.rows, t.width), jnp.float32) for t in plan.tables]
            )
        elif len(OnMesh(mesh, strategy).here) < mesh.size:
            raise ValueError(
                "a system has the devices of one process; several run "
                "gl.tpu.lookup and update themselves"
            )
        else:
            # Axes in the types of arrays, as `jax.make_mesh` has them, do not go with the shares
            # that replicas get.
            mesh = Mesh(mesh.devices, mesh.axis_names)
            self._state = create_placed(
                plan, mesh, [partial(_zeros, t.width) for t in plan.tables], strategy
            )

    def place_batch(self, batch: Batch) -> Any:
        """Return a batch on the devices of the tables."""
        return on_device(place_batch(self.plan, self._state.placement, batch))

    def lookup(self, batch: Any, up_to_date: bool = False) -> tuple[Array, ...]:
        """Return the activations of all cores; `up_to_date` makes the pending update of a pipelined plan first."""
        if up_to_date:
            self._flush_pending()
        activations: tuple[Array, ...] = _lookup(self._state, batch)[0]
        return activations

    def update(
        self, gradients: Sequence[Array], learning_rates: Sequence[Array], dedup: Dedup
    ) -> None:
        """Make the update of one step of all cores, in place."""
        self._state = _update(*self._split_state(), gradients, learning_rates, dedup)

    def update_and_record(
        self, sent: Sent, plan: Plan, dedup: Dedup, last: StepRecord | None
    ) -> StepRecord:
        """Make the update in new arrays, and return a record of it.

        It costs a second copy of tables and slots.
        """
        before = self._state
        self._state = _update_copy(*self._split_state(), sent.gradients, sent.learning_rates, dedup)
        late = last.sent if last and before.pending is not None else None
        return StepRecord(dataclasses.replace(before, plan=plan), sent, self._state, late)

    def load(self, arrays: Mapping[int, Sequence[Any]], num_shards: int, shard_id: int) -> None:
        """Load rows of a shard of tables and slots, all or none; a hidden sum of gradients may follow them."""
        state = flush_pending(self._state)
        for k, parts in arrays.items():
            shards = self._shards(k, num_shards, shard_id)
            t = self.plan.tables[k]
            count = 1 + len(t.rule.slots)
            if len(parts) not in (count, count + t.accumulate):
                raise InvalidArgumentError(
                    f"table {t.name!r} has parameters and {count - 1} "
                    f"slots, got {len(parts)} arrays"
                )
            if len(parts) > count:
                check_empty_accumulator(t.name, parts[-1])
            state = write_rows(state, k, shards, shard_id, parts[:count])
        self._state = state

    def read(self, table: int, num_shards: int, shard_id: int) -> list[np.ndarray]:
        """Return copies of the rows of a shard, after the pending update of a pipelined plan."""
        shards = self._shards(table, num_shards, shard_id)
        self._flush_pending()
        return read_rows(self._state, table, shards, shard_id)

    def copy(self) -> State:
        """Return the state as it is, in new arrays."""
        state: State = tree_map(jnp.copy, self._state)
        return state

    def _flush_pending(self) -> None:
        if self._state.pending is not None:
            self._state = _flush(*self._split_state())

    def _split_state(self) -> tuple[Any, State]:
        """Return the arrays that are written in place, and the state without them."""
        state = self._state
        return (state.tables, state.slots), dataclasses.replace(state, tables=(), slots=())

    def _shards(self, table: int, num_shards: int, shard_id: int) -> Shards:
        if not 0 <= table < len(self.plan.tables):
            raise InvalidArgumentError(f"tables are 0 to {len(self.plan.tables) - 1}, got {table}")
        rows = self.plan.tables[table].rows
        shard_rows(rows, num_shards, shard_id)
        return Shards(rows, num_shards, self.strategy)


def _zeros(width: int, ids: np.ndarray) -> Array:
    return jnp.zeros((ids.size, width), jnp.float32)

"""Tables that are kept from step to step: loaded and read, looked up, and updated in place by compiled functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._base.arrays import Array, reals, set_rows
from ..._base.library import Mesh, compiled, jnp, on_device, tree_map
from ...errors import InvalidArgumentError
from ..batch import Batch
from ..lookup import Dedup, lookup
from ..placement import OnMesh, Shards, Strategy
from ..plan import Plan
from ..sharding import create_placed, place_batch
from ..sharding.rows import made_of, reader
from ..state import State, create
from ..step_record import Sent, StepRecord
from ..update import flush_pending, update
from .shapes import shard_rows

UNTOUCHED = np.uint32(1).view(np.float32)  # what the hidden sum of gradients holds between steps


def read_rows(state: State, table: int, held: Shards, shard: int) -> list[np.ndarray]:
    """Copies of the rows of a shard: parameters, then slots."""
    rows = held.held(shard)
    return [reader(state.placement, held.rows, x)(rows) for x in _arrays(state, table)]


def write_rows(state: State, table: int, held: Shards, shard: int, arrays: Sequence[Any]) -> State:
    """The state with the rows of a shard in place: parameters, then slots, each (rows of the shard, width).

    Raises:
        InvalidArgumentError: another shape, or something that is not numbers; it names the table.
    """
    t, rows = state.plan.tables[table], held.held(shard)
    values = [_checked(t.name, name, x, (rows.size, t.width)) for name, x in zip(_names(t.rule), arrays, strict=True)]
    w, *slots = (_written(state, old, held, rows, new) for old, new in zip(_arrays(state, table), values, strict=True))
    return dataclasses.replace(
        state,
        tables=_with(state.tables, table, w),
        slots=_with(state.slots, table, tuple(slots)),
    )


def untouched(shape: tuple[int, ...]) -> np.ndarray:
    """The hidden sum of gradients between steps: the float32 whose bits are 1, which adds nothing but is not 0.

    >>> untouched((1, 1)).view(np.uint32).tolist()
    [[1]]
    """
    return np.full(shape, UNTOUCHED, np.float32)


def check_untouched(table: str, x: Any) -> None:
    """Refuse a hidden sum of gradients that is not empty: a step that is half done cannot be loaded.

    Raises:
        InvalidArgumentError: entries that would count in the next step; it names the table.
    """
    if (np.abs(np.asarray(x)) >= np.finfo(np.float32).tiny).any():
        raise InvalidArgumentError(f"the hidden accumulator of table {table!r} holds gradients; give it zeros")


def _arrays(state: State, table: int) -> list[Array]:
    return [state.tables[table], *state.slots[table]]


def _names(rule: Any) -> tuple[str, ...]:
    return ("parameters", *rule.slots)


def _checked(table: str, name: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(reals(x, f"{name} of table {table!r}"))
    if array.shape != shape:
        raise InvalidArgumentError(f"{name} of table {table!r} must have shape {shape} here, got {array.shape}")
    return array.astype(np.float32)


def _written(state: State, old: Array, held: Shards, rows: np.ndarray, new: np.ndarray) -> Array:
    if held.count == 1 and not isinstance(state.placement, OnMesh):
        return jnp.array(new)
    if not isinstance(state.placement, OnMesh):
        return set_rows(jnp.asarray(old), rows, new)
    place = np.full(held.rows, -1)
    place[rows] = np.arange(rows.size)
    before = reader(state.placement, held.rows, old)

    def after(ids: np.ndarray) -> np.ndarray:
        out = np.array(before(ids))
        at = place[ids]
        out[at >= 0] = new[at[at >= 0]]
        return out

    return made_of(state.placement, held.rows, after)


def _with(items: tuple[Any, ...], k: int, new: Any) -> tuple[Any, ...]:
    return (*items[:k], new, *items[k + 1 :])


_lookup = compiled()(lookup)


def _updated(arrays: Any, rest: State, gradients: Any, learning_rates: Any, dedup: Dedup) -> State:
    """One step of tables and slots."""
    return update(dataclasses.replace(rest, tables=arrays[0], slots=arrays[1]), gradients, learning_rates, dedup)


_update = compiled(donate=(0,))(_updated)  # tables and slots are written in place
_update_beside = compiled()(_updated)  # those before the step stay as they are


@compiled(donate=(0,))
def _flush(arrays: Any, rest: State) -> State:
    """The update that is held back, in place."""
    return flush_pending(dataclasses.replace(rest, tables=arrays[0], slots=arrays[1]))


class KeptTables:
    """A state that changes: zeros and the slots that the rules start with, on one device or on a mesh.

    Raises:
        ValueError: cores that the devices of the mesh cannot share, or devices of other processes.
    """

    def __init__(self, plan: Plan, mesh: Mesh | None, strategy: Strategy) -> None:
        self.plan = plan
        self.strategy: Strategy = strategy
        if mesh is None:
            self._state = create(plan, [jnp.zeros((t.rows, t.width), jnp.float32) for t in plan.tables])
        elif len(OnMesh(mesh, strategy).here) < mesh.size:
            raise ValueError("a system has the devices of one process; several run gl.tpu.lookup and update themselves")
        else:
            # Axes in the types of arrays, as `jax.make_mesh` has them, do not go with the shares that replicas get.
            mesh = Mesh(mesh.devices, mesh.axis_names)
            self._state = create_placed(plan, mesh, [partial(_zeros, t.width) for t in plan.tables], strategy)

    def placed(self, batch: Batch) -> Any:
        """A batch where the tables are."""
        return on_device(place_batch(self.plan, self._state.placement, batch))

    def lookup(self, batch: Any, up_to_date: bool = False) -> tuple[Array, ...]:
        """Activations of all cores; `up_to_date` makes a pipelined update first that is still held back."""
        if up_to_date:
            self._catch_up()
        activations: tuple[Array, ...] = _lookup(self._state, batch)[0]
        return activations

    def update(self, gradients: Sequence[Array], learning_rates: Sequence[Array], dedup: Dedup) -> None:
        """One step of all cores."""
        self._step(_update, gradients, learning_rates, dedup)

    def update_kept(self, sent: Sent, plan: Plan, dedup: Dedup, last: StepRecord | None) -> StepRecord:
        """Return the same, in new arrays, with a record of it; it costs a second copy of tables and slots."""
        before = self._state
        self._step(_update_beside, sent.gradients, sent.learning_rates, dedup)
        late = last.sent if last and before.pending is not None else None
        return StepRecord(dataclasses.replace(before, plan=plan), sent, self._state, late)

    def _step(self, step: Any, *sent: Any) -> None:
        self._state = step(*self._parts(), *sent)

    def load(self, arrays: Mapping[int, Sequence[Any]], num_shards: int, shard_id: int) -> None:
        """Rows of a shard of tables and slots, all or none; a hidden sum of gradients may follow them."""
        state = flush_pending(self._state)
        for k, given in arrays.items():
            held, t = self._held(k, num_shards, shard_id), self.plan.tables[k]
            wanted = 1 + len(t.rule.slots)
            if len(given) not in (wanted, wanted + t.accumulate):
                raise InvalidArgumentError(
                    f"table {t.name!r} has parameters and {wanted - 1} slots, got {len(given)} arrays"
                )
            if len(given) > wanted:
                check_untouched(t.name, given[-1])
            state = write_rows(state, k, held, shard_id, given[:wanted])
        self._state = state

    def read(self, table: int, num_shards: int, shard_id: int) -> list[np.ndarray]:
        """Copies of the rows of a shard, when every update has been made."""
        held = self._held(table, num_shards, shard_id)
        self._catch_up()
        return read_rows(self._state, table, held, shard_id)

    def copy(self) -> State:
        """The state as it is, in arrays of its own."""
        copied: State = tree_map(jnp.copy, self._state)
        return copied

    def _catch_up(self) -> None:
        if self._state.pending is not None:
            self._state = _flush(*self._parts())

    def _parts(self) -> tuple[Any, State]:
        """The tables that are written in place, and the others."""
        s = self._state
        return (s.tables, s.slots), dataclasses.replace(s, tables=(), slots=())

    def _held(self, table: int, num_shards: int, shard_id: int) -> Shards:
        if not 0 <= table < len(self.plan.tables):
            raise InvalidArgumentError(f"tables are 0 to {len(self.plan.tables) - 1}, got {table}")
        rows = self.plan.tables[table].rows
        shard_rows(rows, num_shards, shard_id)
        return Shards(rows, num_shards, self.strategy)


def _zeros(width: int, ids: np.ndarray) -> Array:
    return jnp.zeros((ids.size, width), jnp.float32)

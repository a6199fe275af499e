"""Tables that are kept from step to step: looked up and updated by compiled functions, the latter in place."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jax.sharding import Mesh

from ..._base.arrays import Array
from ..._base.errors import InvalidArgumentError
from ..._steps.jax import jax, jnp
from ..batch import Batch
from ..config.shapes import shard_rows
from ..explanations.step_record import Sent, StepRecord
from ..lookup import Dedup, lookup
from ..placement import OnMesh, Shards, Strategy
from ..plan import Plan
from ..sharding import create_placed, place_batch
from ..state import State, create
from ..update import flush_pending, update
from .parameters import check_untouched, read_rows, write_rows

_lookup = jax.jit(lookup)


def _updated(arrays: Any, rest: State, gradients: Any, learning_rates: Any, dedup: Dedup) -> State:
    """One step of tables and slots."""
    return update(dataclasses.replace(rest, tables=arrays[0], slots=arrays[1]), gradients, learning_rates, dedup)


_update = jax.jit(_updated, donate_argnums=0)  # tables and slots are written in place
_update_beside = jax.jit(_updated)  # those before the step stay as they are


@partial(jax.jit, donate_argnums=0)
def _flush(arrays: Any, rest: State) -> State:
    """The update that is held back, in place."""
    return flush_pending(dataclasses.replace(rest, tables=arrays[0], slots=arrays[1]))


class KeptTables:
    """A state that changes: zeros and the slots that the rules start with, on one device or on a mesh.

    Raises:
        ValueError: cores that the devices of the mesh cannot share, or devices of other processes.
    """

    def __init__(self, plan: Plan, mesh: Mesh | None, strategy: Strategy) -> None:
        self.plan, self.strategy = plan, strategy
        if mesh is None:
            self._state = create(plan, [jnp.zeros((t.rows, t.width), jnp.float32) for t in plan.tables])
        elif len(OnMesh(mesh, strategy).here) < mesh.size:
            raise ValueError("a system has the devices of one process; several run gl.tpu.lookup and update themselves")
        else:
            self._state = create_placed(plan, mesh, [partial(_zeros, t.width) for t in plan.tables], strategy)

    def placed(self, batch: Batch) -> Any:
        """A batch where the tables are."""
        return jax.device_put(place_batch(self.plan, self._state.placement, batch))

    def lookup(self, batch: Any, up_to_date: bool = False) -> tuple[Array, ...]:
        """Activations of all cores; `up_to_date` makes a pipelined update first that is still held back."""
        if up_to_date:
            self._catch_up()
        return _lookup(self._state, batch)[0]

    def update(self, gradients: Sequence[Array], learning_rates: Sequence[Array], dedup: Dedup) -> None:
        """One step of all cores."""
        self._step(_update, gradients, learning_rates, dedup)

    def update_kept(self, sent: Sent, plan: Plan, dedup: Dedup, last: StepRecord | None) -> StepRecord:
        """The same, in new arrays, with a record of it; it costs a second copy of tables and slots."""
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
        return jax.tree.map(jnp.copy, self._state)

    def _catch_up(self) -> None:
        if self._state.pending is not None:
            self._state = _flush(*self._parts())

    def _parts(self) -> tuple[Any, State]:
        """What is written in place, and the rest."""
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

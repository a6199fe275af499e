"""States saved shard by shard, and restored onto any number of devices."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._base.arrays import Array
from ..._base.jax_or_numpy import Mesh, compile_with_jax, jnp, process_index, tree_map
from ...rules.rule import Shared
from ..plan import Plan, Table
from ..row_owners import ONE_DEVICE, Layout, OnMesh, Placement, Shards, Strategy
from ..state import State
from ..update import RowSums, Step, flush_pending
from .layouts import check_layouts, lay_out
from .pending import place_pending
from .place_batch import cores_here
from .shard_files import (
    MANIFEST,
    ShardReader,
    ShardWriter,
    read_manifest,
    shard_names,
    write_manifest,
)
from .sharded_arrays import make_array, reader_by_owner, rows_at_once


def save(state: State, folder: str | Path) -> None:
    """Write a state: one .npz for each shard and a manifest, which comes last, so that it is there whole or not at all.

    What a pipelined plan still holds back is saved as it is. An older state in the folder is
    replaced, and stays until the new one is complete. Where several processes run, all of them call
    this with a folder that all can see; each writes the shards of its own devices, by rows,
    whatever the layouts of tables. For weights and optimizers of a whole run there is `gl.save`.

    Raises:
        DataLossError: the folder holds a damaged manifest; also a ValueError.
        OSError: it cannot be written; the older state stays.

    Source: `RetrieveAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026), and the checkpoint that
    follows it.

    >>> import tempfile
    >>> from gradlab.tpu import Feature, Plan, Table, create, restore, save
    >>> plan = Plan((Table("t", 3, 1),), (Feature("f", 0, (1,)),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(create(plan, [jnp.ones((3, 1))]), folder)
    ...     restore(plan, folder).tables[0].ravel().tolist()
    [1.0, 1.0, 1.0]
    """
    state, path = lay_out(state), Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    number = read_manifest(path)["number"] + 1 if (path / MANIFEST).exists() else 1
    mark = mark_of(state.placement)
    files = shard_names(number, mark, state.placement.devices)
    for k, arrays in _shards(state).items():
        with ShardWriter(path / files[k], number, mark, k) as file:
            _write(file, state.plan, k, arrays, state.placement)
    wait_for_all(state.placement, f"shards of {number}")
    if process_index() == 0:
        write_manifest(path, {"number": number, "mark": mark, "files": files} | content_of(state))
    wait_for_all(state.placement, f"manifest of {number}")


def restore(
    plan: Plan,
    folder: str | Path,
    mesh: Mesh | None = None,
    strategy: Strategy = "div",
    layouts: Sequence[Layout] = (),
) -> State:
    """Return the state that was saved, on another mesh if need be, or on one device (mesh None).

    Each shard reads the blocks of the files that hold its rows, 32 MiB at a time. A pending update
    is restored, too; a plan that is not pipelined makes it at once.

    Args:
        plan: its tables must have the names, sizes and slots of those saved; rates, limits and
            features may differ.
        layouts: as for `place`; only on a mesh.

    Raises:
        FileNotFoundError: no state is saved there.
        DataLossError: a file is missing, damaged, or of another save (it names the file); also a
            ValueError.
        ValueError: the tables of the plan are others; cores that the devices cannot share, or
            another number of cores while an update is pending.

    Source: `LoadAllTPUEmbeddingParameters`, TensorFlow 2.21 (2026).

    >>> import tempfile, jax
    >>> from gradlab.tpu import Feature, Plan, Table, create, gather, restore, save
    >>> plan = Plan((Table("t", 3, 1),), (Feature("f", 0, (1,)),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(create(plan, [jnp.arange(3.0)[:, None]]), folder)
    ...     state = restore(plan, folder, Mesh(jax.devices()[:1], "x"), "mod")
    >>> gather(state).tables[0].ravel().tolist()
    [0.0, 1.0, 2.0]
    """
    path = Path(folder)
    content = read_manifest(path)
    check_tables(plan, content, path)
    number = content["number"]
    mark = content["mark"]
    shards = [ShardReader(path / name, number, mark, k) for k, name in enumerate(content["files"])]

    def whole(name: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        return np.concatenate([s.whole(name, dtype, shape) for s in shards])

    saved = Saved(
        content, len(shards), lambda shard, name, *places: shards[shard].rows(name, *places), whole
    )
    return state_from(
        plan, saved, ONE_DEVICE if mesh is None else OnMesh(mesh, strategy, tuple(layouts))
    )


class Saved(NamedTuple):
    """A state in files: its manifest, the number of its shards, and what reads them.

    `rows(shard, name, places, width)` gives rows of an array by their places in a shard,
    `whole(name, dtype, shape)` an array of all shards one after another; arrays are named "number
    of the table/name".
    """

    content: dict[str, Any]
    shards: int
    rows: Callable[[int, str, np.ndarray, int], np.ndarray]
    whole: Callable[[str, str, tuple[int, ...]], np.ndarray]


def state_from(plan: Plan, saved: Saved, placement: Placement) -> State:
    """Return the state that was saved, on these devices; `check_tables` has been asked."""
    cores_here(plan, placement)
    layouts: tuple[Layout, ...] = ()
    if isinstance(placement, OnMesh):
        check_layouts(plan, placement)
        placement, layouts = OnMesh(placement.mesh, placement.strategy), placement.layouts

    def array(k: int, table: Table, name: str) -> Array:
        old = Shards(table.rows, saved.shards, saved.content["strategy"])
        width = table.rule.slot_shape(name, (table.rows, table.width))[1]
        read = reader_by_owner(
            old, width, lambda s, places: saved.rows(s, f"{k}/{name}", places, width)
        )
        # Each read opens the file.
        return make_array(placement, table.rows, read, rows_at_once(width))

    tables = tuple(array(k, t, "parameters") for k, t in enumerate(plan.tables))
    slots = tuple(
        tuple(array(k, t, name) for name in t.rule.slots) for k, t in enumerate(plan.tables)
    )
    shared: tuple[Shared, ...] = tuple(
        {name: np.float32(x) for name, x in own.items()} for own in saved.content["shared"]
    )
    pending = _pending(plan, saved)
    if isinstance(placement, OnMesh):
        pending, shared = place_pending(placement, plan, pending), placement.copied(shared)
    else:
        pending = tree_map(jnp.asarray, pending)
    state = lay_out(State(plan, tables, slots, shared, pending, placement), layouts)
    return state if plan.pipelined or pending is None else compile_with_jax()(flush_pending)(state)


def _shards(state: State) -> dict[int, Any]:
    """Return the shards that this process holds: (tables, slots, pending rows) of each."""
    arrays = (state.tables, state.slots, state.pending.rows if state.pending else ())
    if not isinstance(state.placement, OnMesh):
        return {0: arrays} if process_index() == 0 else {}
    flat = list(state.placement.mesh.devices.flat)

    def of(k: int) -> Any:
        return tree_map(
            lambda x: next(s.data for s in x.addressable_shards if s.device == flat[k]), arrays
        )

    return {k: of(k) for k in state.placement.here}


def _write(file: ShardWriter, plan: Plan, shard: int, arrays: Any, placement: Placement) -> None:
    tables, slots, pending = arrays
    for k, (table, w, own) in enumerate(zip(plan.tables, tables, slots, strict=True)):
        count = placement.shards(table.rows).held(shard).size
        for name, x in zip(("parameters", *table.rule.slots), (w, *own), strict=True):
            file.rows(f"{k}/{name}", x, count)
    for k, sums in enumerate(pending):
        for name, x in sums._asdict().items():
            file.array(f"{k}/pending/{name}", np.asarray(x))


def content_of(state: State) -> dict[str, Any]:
    """Return the manifest of a state, but for its files."""
    mesh = state.placement.mesh.shape if isinstance(state.placement, OnMesh) else {}
    return {
        "strategy": state.placement.strategy,
        "mesh": dict(mesh),
        "cores": state.plan.cores,
        "tables": _tables(state.plan),
        "shared": [{name: float(x) for name, x in own.items()} for own in state.shared],
        "pending": None
        if state.pending is None
        else [float(x) for x in state.pending.learning_rates],
    }


def _tables(plan: Plan) -> list[dict[str, Any]]:
    return [
        _table(t) | ({"row_slots": list(t.rule.row_slots)} if t.rule.row_slots else {})
        for t in plan.tables
    ]


def _table(t: Table) -> dict[str, Any]:
    return {"name": t.name, "rows": t.rows, "width": t.width, "slots": list(t.rule.slots)}


def check_tables(plan: Plan, content: dict[str, Any], path: Path) -> None:
    """Refuse a manifest of other tables than those of a plan, or of an update of other cores."""
    saved, wanted = content["tables"], _tables(plan)
    if saved != wanted:
        pairs = [(a, b) for a, b in zip(saved, wanted, strict=False) if a != b]
        there, here = pairs[0] if pairs else (f"{len(saved)} tables", f"{len(wanted)}")
        raise ValueError(
            f"{path} holds other tables than those of the plan: {there} "
            f"are saved, the plan has {here}"
        )
    if content["pending"] is not None and content["cores"] != plan.cores:
        raise ValueError(
            f"{path} holds a pending update of {content['cores']} cores, the plan has "
            f"{plan.cores}; flush_pending(state) before it is saved makes it independent of cores"
        )


def _pending(plan: Plan, saved: Saved) -> Step | None:
    if saved.content["pending"] is None:
        return None
    rows = []
    for k, table in enumerate(plan.tables):
        ids = saved.whole(f"{k}/pending/ids", "u4", ())
        sums = saved.whole(f"{k}/pending/sums", "f4", (table.width,))
        rows.append(RowSums(ids, sums))
    return Step(tuple(rows), tuple(np.asarray(x, np.float32) for x in saved.content["pending"]))


def mark_of(placement: Placement) -> str:
    """Return a value that distinguishes this save from others of its number; the same in all processes."""
    drawn: Any = np.uint32(secrets.randbits(32))
    if isinstance(placement, OnMesh) and placement.mesh.is_multi_process:
        from jax.experimental.multihost_utils import broadcast_one_to_all

        drawn = broadcast_one_to_all(drawn)
    return f"{int(drawn):08x}"


def wait_for_all(placement: Placement, name: str) -> None:
    """Wait until every process of a mesh is here."""
    if isinstance(placement, OnMesh) and placement.mesh.is_multi_process:
        from jax.experimental.multihost_utils import sync_global_devices

        sync_global_devices(name)

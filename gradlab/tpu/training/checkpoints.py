"""`Checkpoints` of a training, written by orbax in the background.

A save is a folder of orbax (an array each of tables, slots, tower and optimizer, in zarr) and a
manifest beside it with the checksum of every file. The manifest is written last, so a folder
without one isn't a checkpoint.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import shutil
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from jax.sharding import Mesh

from ..._base.arrays import Array
from ..._base.atomic_files import FORGOTTEN, sync_folder
from ..._base.checked_files import field, integer_field, read_json, report_damage, write_json
from ..._base.extras import need
from ..._base.jax import jax, jnp
from ..._base.options import check_count
from ...errors import DataLossError
from ..plan import Plan
from ..row_owners import ONE_DEVICE, Layout, OnMesh, Strategy
from ..sharding import lay_out
from ..sharding.checkpoint import Saved, check_tables, content_of, mark_of, state_from, wait_for_all
from .train_state import TrainState, place_tower
from .training import Training

VERSION = 1
_KIND = "checkpoint of a training"
_PIECE = 1 << 24  # bytes read at once for a checksum
_THREADS = 4  # that read files for their checksums

# What orbax warns of at every save that isn't in that format.
_SUPERFLUOUS = "Skipping merge of OCDBT checkpoints"

_copy_into: Any = jax.jit(
    lambda old, new: jax.tree.map(jnp.copy, new), donate_argnums=0, keep_unused=True
)
_copy: Any = jax.jit(lambda new: jax.tree.map(jnp.copy, new))


class Checkpoints:
    """The checkpoints of a training in a folder: tables, slots, tower, optimizer and step, all of one instant.

    `save` copies the state into memory that is kept from save to save, as many bytes as the state
    has on each device (`nbytes` says how many), so that the next step may change the state; files
    are written in the background, each process its own shards. A kill at any instant leaves the
    last checkpoint that was complete. Needs orbax.

    Args:
        folder: it is made if it isn't there. Where several processes run, all of them see it.
        keep: how many checkpoints stay; older ones go when a new one is complete.

    Raises:
        InvalidArgumentError: keep below 1.
        ModuleNotFoundError: orbax is missing.

    Not in TensorFlow.

    >>> Checkpoints("checkpoints", keep=0)
    Traceback (most recent call last):
      ...
    gradlab.errors.InvalidArgumentError: keep must be an integer of at least 1, got 0
    """

    def __init__(self, folder: str | Path, keep: int = 2) -> None:
        check_count("keep", keep)
        orbax = need("orbax.checkpoint", "Checkpoints", "orbax")
        logging.getLogger("absl").addFilter(_is_relevant)
        self._folder = Path(folder).resolve()
        self._keep = keep
        self._folder.mkdir(parents=True, exist_ok=True)
        self._writer = orbax.AsyncCheckpointer(orbax.PyTreeCheckpointHandler(use_ocdbt=False))
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._finishing: Future[None] | None = None
        self._kept: TrainState | None = None

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    @property
    def nbytes(self) -> int:
        """The bytes of the copy that is kept, on the devices of this process; 0 before the first save."""
        arrays: list[Any] = jax.tree.leaves(self._kept)
        return sum(shard.data.nbytes for x in arrays for shard in x.addressable_shards)

    def save(self, state: TrainState) -> None:
        """Begin to save a state, and return when a copy of it is there; a save that is being written is awaited first.

        Raises:
            OSError: the save before could not be written; the checkpoints before that one stay.
        """
        self.wait()
        step = int(state.step)
        state = dataclasses.replace(state, tables=lay_out(state.tables))
        is_alike = _describe_leaves(self._kept) == _describe_leaves(state)
        old = self._kept
        self._kept = None  # `_copy_into` uses up the old copy, so it must not stay if that fails
        kept = _copy_into(old, state) if is_alike else _copy(state)
        self._kept = kept
        name = f"step-{step}-{mark_of(state.tables.placement)}"
        self._writer.save(self._folder / name, _arrays_by_file(kept))
        self._finishing = self._pool.submit(self._finish, kept, step, name)

    def wait(self) -> None:
        """Wait until the last save is on the disk.

        Raises:
            OSError: it could not be written; those before it stay.
        """
        finishing = self._finishing
        self._finishing = None
        if finishing is not None and self._kept is not None:
            finishing.result()
            wait_for_all(self._kept.tables.placement, "checkpoint")

    def close(self) -> None:
        """Wait for the last save, and give its memory back."""
        try:
            self.wait()
        finally:
            self._writer.close()
            self._pool.shutdown()
            self._kept = None

    def steps(self) -> list[int]:
        """Return the steps of the checkpoints that were written completely."""
        matches = [
            re.fullmatch(r"step-(\d+)\.json", path.name)
            for path in self._folder.glob("step-*.json")
        ]
        return sorted(int(match[1]) for match in matches if match)

    def restore(
        self,
        training: Training,
        plan: Plan,
        params: Any,
        mesh: Mesh | None = None,
        strategy: Strategy = "div",
        step: int | None = None,
        layouts: Sequence[Layout] = (),
    ) -> TrainState:
        """Return the state of a checkpoint, on any mesh or number of processes, or on one device (mesh None).

        Every file is held against its checksum before anything is taken.

        Args:
            training: whose optimizer the tower has.
            plan: its tables must have the names, sizes and slots of those saved; rates, limits and
                features may differ.
            params: a tower shaped as that saved; its sharding, if it is on the mesh, is that of the
                result.
            step: which checkpoint; None is the last.
            layouts: "rows", "columns" or "copies" for each table on the mesh; rows by default,
                however they were saved.

        Raises:
            FileNotFoundError: there is none.
            DataLossError: a file is missing or damaged (it is named); also a ValueError.
            ValueError: other tables, towers or optimizers; cores that the devices cannot share.
        """
        content = self._content(step)
        check_tables(plan, content, self._folder)
        like = jax.eval_shape(lambda: (params, training.optimizer.init(params)))
        _check_tower(content["tower"], _describe_tower(like), self._folder)
        folder = self._folder / content["folder"]
        _check_files(folder, content["files"])
        placement = ONE_DEVICE if mesh is None else OnMesh(mesh, strategy, tuple(layouts))
        start = training.init(state_from(plan, _table_reader(folder, content), placement), params)
        leaves, tree = jax.tree.flatten((start.params, start.optimizer))
        arrays = [_read_array(folder, f"tower-{k}") for k in range(len(leaves))]
        put = [jax.device_put(x, leaf.sharding) for x, leaf in zip(arrays, leaves, strict=True)]
        tower, carried = jax.tree.unflatten(tree, put)
        first = next(iter(start.tables.tables), start.step)
        count = place_tower(placement, first, jnp.int32(content["step"]), "step")
        return TrainState(start.tables, tower, carried, count)

    def _content(self, step: int | None) -> dict[str, Any]:
        steps = self.steps()
        if step is None and not steps:
            raise FileNotFoundError(f"no checkpoint is in {self._folder}")
        path = self._folder / f"step-{steps[-1] if step is None else step}.json"
        try:
            content = read_json(path, _KIND, (VERSION,))
        except FileNotFoundError:
            raise FileNotFoundError(
                f"no checkpoint of step {step} is in {self._folder}; there are {steps}"
            ) from None
        with report_damage(path, _KIND):
            for name, least in (("step", 0), ("cores", 1), ("devices", 1)):
                integer_field(content, name, least)
            for name in ("tables", "shared", "tower"):
                field(content, name, list)
            if not re.fullmatch(r"step-\d+-[0-9a-f]{8}", field(content, "folder", str)):
                raise ValueError(f"its folder is {content['folder']!r}")
            field(content, "files", dict), field(content, "pending", list, type(None))
        return content

    def _finish(self, kept: TrainState, step: int, name: str) -> None:
        """Wait for the files, then write the manifest."""
        self._writer.wait_until_finished()
        if jax.process_index():
            return
        folder = self._folder / name
        files = {
            str(p.relative_to(folder)): _checksum(p)
            for p in sorted(folder.rglob("*"))
            if p.is_file()
        }
        sync_folder(self._folder)
        content = content_of(kept.tables) | {
            "step": step,
            "folder": name,
            "devices": kept.tables.placement.devices,
            "tower": _describe_tower((kept.params, kept.optimizer)),
            "files": files,
        }
        write_json(self._folder / f"step-{step}.json", _KIND, VERSION, content)
        self._delete_old()

    def _delete_old(self) -> None:
        """Delete older checkpoints, and what killed saves left a day ago."""
        for step in self.steps()[: -self._keep]:
            (self._folder / f"step-{step}.json").unlink(missing_ok=True)
        named = set()
        for path in self._folder.glob("step-*.json"):
            with suppress(DataLossError, FileNotFoundError):
                named.add(read_json(path, _KIND, (VERSION,))["folder"])
        last = max(named, key=lambda name: int(name.split("-")[1]), default="")
        for path in self._folder.glob("step-*-*"):
            is_old = time.time() - path.stat().st_mtime > FORGOTTEN
            is_complete = re.fullmatch(r"step-\d+-[0-9a-f]{8}", path.name) and path.name != last
            if path.is_dir() and path.name not in named and (is_old or is_complete):
                shutil.rmtree(path, ignore_errors=True)


def _is_relevant(record: logging.LogRecord) -> bool:
    return _SUPERFLUOUS not in str(record.msg)


def _describe_leaves(state: TrainState | None) -> Any:
    leaves, tree = jax.tree.flatten(state)
    return tree, [(x.shape, x.dtype, x.sharding) for x in leaves]


def _arrays_by_file(state: TrainState) -> dict[str, Array]:
    """Return the arrays of a state by the names of their files."""
    tables = state.tables
    arrays = {}
    for k, (table, w, slots) in enumerate(
        zip(tables.plan.tables, tables.tables, tables.slots, strict=True)
    ):
        for name, x in zip(("parameters", *table.rule.slots), (w, *slots), strict=True):
            arrays[f"{k}-{name}"] = x
    for k, sums in enumerate(tables.pending.rows if tables.pending else ()):
        arrays |= {f"{k}-pending-{name}": x for name, x in sums._asdict().items()}
    tower = jax.tree.leaves((state.params, state.optimizer))
    return arrays | {f"tower-{k}": x for k, x in enumerate(tower)}


def _describe_tower(tower: Any) -> list[list[Any]]:
    """Return name, shape and dtype of each leaf of a tower and its optimizer."""
    parts = zip(("params", "optimizer"), tower, strict=True)
    return [
        [f"{what}{jax.tree_util.keystr(path)}", list(x.shape), np.dtype(x.dtype).name]
        for what, tree in parts
        for path, x in jax.tree_util.tree_leaves_with_path(tree)
    ]


def _check_tower(saved: list[Any], wanted: list[Any], path: Path) -> None:
    if saved == wanted:
        return
    pairs = [(a, b) for a, b in zip(saved, wanted, strict=False) if a != b]
    there, here = pairs[0] if pairs else (f"{len(saved)} arrays", f"{len(wanted)} arrays")
    raise ValueError(f"{path} holds another tower or optimizer: {there} is saved, {here} is wanted")


def _check_files(folder: Path, files: dict[str, Any]) -> None:
    """Refuse a checkpoint one of whose files isn't as it was written."""

    def check(item: tuple[str, Any]) -> None:
        name, expected = item
        with report_damage(folder / name, "file of a checkpoint"):
            actual = _checksum(folder / name)
            if actual != expected:
                raise ValueError(f"it has (bytes, checksum) {actual}, {expected} were written")

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(check, files.items()))


def _checksum(path: Path) -> list[int]:
    """Return the bytes and the CRC-32 of a file."""
    size = 0
    total = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            size += len(piece)
            total = zlib.crc32(piece, total)
    return [size, total]


def _table_reader(folder: Path, content: dict[str, Any]) -> Saved:
    """Return a reader of the tables of a checkpoint, range by range."""
    devices = content["devices"]
    opened: dict[str, Any] = {}

    def file(name: str) -> Any:
        name = name.replace("/", "-")
        if name not in opened:
            opened[name] = _open_array(folder, name)
        return opened[name]

    def rows(shard: int, name: str, places: np.ndarray, width: int) -> np.ndarray:
        array = file(name)
        start = shard * (array.shape[0] // devices)
        low = int(places.min())
        high = int(places.max()) + 1
        block: np.ndarray = array[start + low : start + high].read().result()
        is_range = places.size == high - low and bool((places[1:] > places[:-1]).all())
        return block if is_range else block[places - low]

    return Saved(
        content, devices, rows, lambda name, *_: _read_array(folder, name.replace("/", "-"))
    )


def _open_array(folder: Path, name: str) -> Any:
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(folder / name)}}
    with report_damage(folder / name, "array of a checkpoint"):
        return need("tensorstore", "Checkpoints", "orbax").open(spec, read=True, open=True).result()


def _read_array(folder: Path, name: str) -> np.ndarray:
    array: np.ndarray = _open_array(folder, name).read().result()
    return array

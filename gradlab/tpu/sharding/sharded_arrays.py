"""Arrays whose rows are dealt out over devices: made shard by shard, and read row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import numpy as np

from ..._base.arrays import Array
from ..._base.indices import rank_in_groups
from ..._base.jax_or_numpy import Mesh, jax, jnp
from ..plan import PADDING_ID
from ..row_owners import OnMesh, Placement, Shards
from ..update import RowSums

Reader = Callable[[np.ndarray], np.ndarray]  # the rows with these ids, in their order
AT_ONCE = 1 << 25  # bytes of rows that are read at a time


def make_array(placement: Placement, rows: int, read: Reader, at_once: int | None = None) -> Array:
    """Return the array whose shards hold the rows that `read` returns, each made on its own device; padding is 0.

    No device, nor the host, ever sees more than one shard at once for each of its devices.

    Args:
        at_once: the number of rows to read at a time, so that the host never has a whole shard;
            None: all of a shard.
    """
    shards = placement.shards(rows)
    if not isinstance(placement, OnMesh):
        return _make_shard(read, shards.range_of(0), rows, at_once)
    blocks = []
    for k in placement.here:
        device = placement.mesh.devices.flat[k]
        with on_device(device):
            block = _make_shard(read, shards.range_of(k), shards.size, at_once)
            blocks.append(jax.device_put(block, device))
    shape = (shards.size * shards.count, *blocks[0].shape[1:])
    return jax.make_array_from_single_device_arrays(
        shape, placement.laid_out(placement.spec, len(shape)), blocks
    )


def rows_at_once(width: int) -> int:
    """Return the number of rows in 32 MiB, which are read at a time where a shard may be large."""
    return max(1, AT_ONCE // (4 * width))


def _make_shard(read: Reader, rows: range, size: int, at_once: int | None) -> Array:
    """Return (size, width): the rows of a shard and padding, read at once or part by part."""
    if at_once is None or len(rows) <= at_once:
        # A shard without rows reads one, which says how wide it is.
        block = jnp.asarray(read(_ids(rows or range(1))), jnp.float32)[: len(rows)]
        padded: Array = jnp.pad(block, ((0, size - len(rows)), (0, 0)))
        return padded
    put = jax.jit(
        lambda full, part, start: jax.lax.dynamic_update_slice(full, part, (start, 0)),
        donate_argnums=0,
    )
    full: Any = None
    for start in range(0, len(rows), at_once):
        part = jnp.asarray(read(_ids(rows[start : start + at_once])), jnp.float32)
        if full is None:
            full = jnp.zeros((size, part.shape[1]))
        full = put(full, part, np.int32(start))
    shard: Array = full
    return shard


def _ids(rows: range) -> np.ndarray:
    return np.arange(rows.start, rows.stop, rows.step)


@contextmanager
def on_device(device: Any) -> Iterator[None]:
    """Make arrays on one device, even where a mesh is the context."""
    with jax.default_device(device), ExitStack() as stack:
        if not jax.sharding.get_abstract_mesh().empty:
            stack.enter_context(jax.set_mesh(Mesh(np.array([device]), ("only",))))
        yield


def row_reader(placement: Placement, rows: int, x: Array) -> Reader:
    """Return a function that reads rows of an array on the host, of one shard at a time.

    Raises:
        ValueError: a row is asked for that a device of another process holds.
    """
    if not isinstance(placement, OnMesh):
        whole = np.asarray(x)
        return lambda ids: whole[ids]
    shards = placement.shards(rows)
    data = {
        (s.index[0].start or 0) // shards.size: s.data
        for s in cast(jax.Array, x).addressable_shards
    }

    def read_shard(k: int, places: np.ndarray) -> np.ndarray:
        if k not in data:
            raise ValueError(
                f"shard {k} is on a device of another process; `save` and `restore` bring it here"
            )
        rows: np.ndarray = np.asarray(data[k])[places]
        return rows

    return reader_by_owner(shards, x.shape[1], read_shard)


def reader_by_owner(
    shards: Shards, width: int, read_shard: Callable[[int, np.ndarray], np.ndarray]
) -> Reader:
    """Return a function that reads rows by `read_shard(k, places)`, which reads those of one shard."""

    def read(ids: np.ndarray) -> np.ndarray:
        owners = np.asarray(shards.owner(ids))
        places = np.asarray(shards.place(ids))
        if ids.size and (owners == owners[0]).all():
            return read_shard(int(owners[0]), places)
        rows = np.empty((ids.size, width), np.float32)
        for k in np.unique(owners).tolist():
            rows[owners == k] = read_shard(k, places[owners == k])
        return rows

    return read


def arrange_by_owner(
    ids: np.ndarray, owners: np.ndarray, parts: int, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return ids in one part of equal length for each owner, and the new place of each id; PADDING_ID has none.

    >>> [x.tolist() for x in arrange_by_owner(np.uint32([5, 2, 7]), np.array([1, 0, 1]), 2, 2)]
    [[2, 2147483647, 5, 7], [2, 0, 3]]
    """
    order = np.argsort(np.where(ids == PADDING_ID, parts, owners).astype(np.uint16), kind="stable")
    order = order[: np.count_nonzero(ids != PADDING_ID)]
    sorted_owners = owners[order].astype(np.int64)
    new_places = np.full(ids.size, parts * length, np.uint32)
    new_places[order] = sorted_owners * length + rank_in_groups(sorted_owners)
    arranged = np.full(parts * length, PADDING_ID, np.uint32)
    arranged[new_places[order]] = ids[order]
    return arranged, new_places


def max_per_owner(ids: np.ndarray, owners: np.ndarray) -> int:
    """Return the number of ids of the busiest owner."""
    return int(np.bincount(owners[ids != PADDING_ID], minlength=1).max())


def split_by_core(sums: RowSums, cores: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the ids and sums of each core, on the host."""
    ids = np.asarray(sums.ids)
    values = np.asarray(sums.sums)
    return list(
        zip(ids.reshape(cores, -1), values.reshape(cores, -1, values.shape[1]), strict=True)
    )


def put_parts(placement: OnMesh, parts: list[Any]) -> Array:
    """Return the array of which each device of this process has one of these equal parts."""
    flat = placement.mesh.devices.flat
    blocks = [
        jax.device_put(np.asarray(x), flat[k]) for k, x in zip(placement.here, parts, strict=True)
    ]
    shape = (blocks[0].shape[0] * placement.devices, *blocks[0].shape[1:])
    return jax.make_array_from_single_device_arrays(
        shape, placement.laid_out(placement.spec, len(shape)), blocks
    )

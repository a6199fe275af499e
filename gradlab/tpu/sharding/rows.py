"""Arrays made of rows that are dealt out: made shard by shard, and read row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import numpy as np

from ..._base.arrays import Array
from ..._base.indices import ranks
from ..._base.library import Mesh, jax, jnp
from ..placement import OnMesh, Placement, Shards
from ..plan import PADDING_ID
from ..update import RowSums

Reader = Callable[[np.ndarray], np.ndarray]  # the rows with these ids, in their order
AT_ONCE = 1 << 25  # bytes of rows that are read at a time


def made_of(placement: Placement, rows: int, read: Reader, at_once: int | None = None) -> Array:
    """The array whose shards hold what `read` gives of their rows, each made on its own device; 0 where room is left.

    No device, nor the host, ever sees more than one shard at once for each of its devices.

    Args:
        at_once: the rows that are read at a time, so that the host never has a whole shard; None: all of a shard.
    """
    shards = placement.shards(rows)
    if not isinstance(placement, OnMesh):
        return _made(read, shards.range_of(0), rows, at_once)
    flat, blocks = placement.mesh.devices.flat, []
    for k in placement.here:
        with on(flat[k]):
            blocks.append(jax.device_put(_made(read, shards.range_of(k), shards.size, at_once), flat[k]))
    shape = (shards.size * shards.count, *blocks[0].shape[1:])
    return jax.make_array_from_single_device_arrays(shape, placement.laid_out(placement.spec, len(shape)), blocks)


def rows_at_once(width: int) -> int:
    """The number of rows of 32 MiB, read at a time where a shard may be large."""
    return max(1, AT_ONCE // (4 * width))


def _made(read: Reader, held: range, size: int, at_once: int | None) -> Array:
    """(size, width): the rows of a shard, at once or part by part, put where the array is."""
    if at_once is None or len(held) <= at_once:
        block = jnp.asarray(read(_ids(held or range(1))), jnp.float32)[: len(held)]
        padded: Array = jnp.pad(block, ((0, size - len(held)), (0, 0)))
        return padded
    put = jax.jit(lambda full, part, start: jax.lax.dynamic_update_slice(full, part, (start, 0)), donate_argnums=0)
    full: Any = None
    for start in range(0, len(held), at_once):
        part = jnp.asarray(read(_ids(held[start : start + at_once])), jnp.float32)
        full = jnp.zeros((size, part.shape[1])) if full is None else full
        full = put(full, part, np.int32(start))
    found: Array = full
    return found


def _ids(held: range) -> np.ndarray:
    return np.arange(held.start, held.stop, held.step)


@contextmanager
def on(device: Any) -> Iterator[None]:
    """Arrays are made on one device, even where a mesh is the context."""
    with jax.default_device(device), ExitStack() as stack:
        if not jax.sharding.get_abstract_mesh().empty:
            stack.enter_context(jax.set_mesh(Mesh(np.array([device]), ("only",))))
        yield


def reader(placement: Placement, rows: int, x: Array) -> Reader:
    """Reads rows of an array on the host, of one shard at a time.

    Raises:
        ValueError: a row is asked for that a device of another process holds.
    """
    if not isinstance(placement, OnMesh):
        whole = np.asarray(x)
        return lambda ids: whole[ids]
    shards = placement.shards(rows)
    held = {(s.index[0].start or 0) // shards.size: s.data for s in cast(jax.Array, x).addressable_shards}

    def of_shard(k: int, places: np.ndarray) -> np.ndarray:
        if k not in held:
            raise ValueError(f"shard {k} is on a device of another process; `save` and `restore` bring it here")
        rows: np.ndarray = np.asarray(held[k])[places]
        return rows

    return by_owner(shards, x.shape[1], of_shard)


def by_owner(shards: Shards, width: int, of_shard: Callable[[int, np.ndarray], np.ndarray]) -> Reader:
    """Reads rows by what gives those of one shard at some places."""

    def read(ids: np.ndarray) -> np.ndarray:
        owners, places = np.asarray(shards.owner(ids)), np.asarray(shards.place(ids))
        if ids.size and (owners == owners[0]).all():
            return of_shard(int(owners[0]), places)
        out = np.empty((ids.size, width), np.float32)
        for k in np.unique(owners).tolist():
            out[owners == k] = of_shard(k, places[owners == k])
        return out

    return read


def arranged(ids: np.ndarray, owners: np.ndarray, parts: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids in one part of equal length for each owner, and where each of the ids went; PADDING_ID is left out.

    >>> [x.tolist() for x in arranged(np.uint32([5, 2, 7]), np.array([1, 0, 1]), 2, 2)]
    [[2, 2147483647, 5, 7], [2, 0, 3]]
    """
    order = np.argsort(np.where(ids == PADDING_ID, parts, owners).astype(np.uint16), kind="stable")
    order = order[: np.count_nonzero(ids != PADDING_ID)]
    ordered = owners[order].astype(np.int64)
    went = np.full(ids.size, parts * length, np.uint32)
    went[order] = ordered * length + ranks(ordered)
    out = np.full(parts * length, PADDING_ID, np.uint32)
    out[went[order]] = ids[order]
    return out, went


def longest(ids: np.ndarray, owners: np.ndarray) -> int:
    """The number of ids of the busiest owner."""
    return int(np.bincount(owners[ids != PADDING_ID], minlength=1).max())


def of_each_core(sums: RowSums, cores: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Ids and sums of each core, on the host."""
    ids, values = np.asarray(sums.ids), np.asarray(sums.sums)
    return list(zip(ids.reshape(cores, -1), values.reshape(cores, -1, values.shape[1]), strict=True))


def put(placement: OnMesh, parts: list[Any]) -> Array:
    """Equal parts, one for each device of this process, as the array that they are the parts of."""
    flat = placement.mesh.devices.flat
    blocks = [jax.device_put(np.asarray(x), flat[k]) for k, x in zip(placement.here, parts, strict=True)]
    shape = (blocks[0].shape[0] * placement.devices, *blocks[0].shape[1:])
    return jax.make_array_from_single_device_arrays(shape, placement.laid_out(placement.spec, len(shape)), blocks)

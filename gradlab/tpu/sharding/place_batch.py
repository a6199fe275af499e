"""Batches on a mesh: the ids that each core asks for, arranged by the devices that hold the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._base.indices import pad_to, padded_size
from ...errors import InvalidArgumentError
from ..batch import Batch, Lookups, PlacedBatch
from ..plan import PADDING_ID, Plan
from ..row_owners import OnMesh, Placement, Shards, Strategy
from ..stacks import StackedPlan, stack_lookups, stack_tables
from .sharded_arrays import arrange_by_owner, max_per_owner, put_parts

# For each table: ids that a core may ask of one owner, lookups of a core.
Sizes = Sequence[tuple[int, int]]


def place_batch(
    plan: Plan, placement: Placement, batch: Batch, sizes: Sizes | None = None
) -> Batch | PlacedBatch:
    """Return the batch arranged for the devices that hold the rows, and put on them.

    Every core asks each device for as many ids, so that they can be exchanged in one all-to-all;
    parts are filled up with an id that isn't a row. Where several processes run, each brings the
    cores of its own devices, and all agree on the lengths by a small all-gather.

    Args:
        batch: what `make_batch` gives for the cores of this process: all of them where there is
            one.
        sizes: for each table how many ids a core may ask of one device and how many lookups it
            makes, so that no process needs to ask the others; the least that do are
            `sizes_of(plan, placement, batch)`. Those of stacks come after those of tables that are
            not whole on a device.

    Raises:
        InvalidArgumentError: a batch of another number of cores, or sizes that are too small; it
            names the table.

    Not in TensorFlow, whose engine does this by itself.

    >>> import jax
    >>> from jax.sharding import Mesh
    >>> from gradlab.tpu import Feature, Ids, OnMesh, Plan, Table, make_batch, place_batch
    >>> plan = Plan((Table("t", 9, 1),), (Feature("f", 0, (2,)),))
    >>> batch = make_batch(plan, {"f": Ids([0, 0, 1], [7, 3, 7])})
    >>> place_batch(plan, OnMesh(Mesh(jax.devices()[:1], "x")), batch).tables[0].unique.tolist()
    [3, 7]
    """
    if not isinstance(placement, OnMesh):
        return batch
    cores = len(cores_here(plan, placement))
    arrays = stack_tables(plan, placement)
    lookups = _lookups_by_array(plan, arrays, batch, cores)
    needed = _needed_sizes(arrays, lookups, cores)
    chosen = _agree_on_sizes(placement, needed) if sizes is None else list(sizes)
    for table, least, size in zip(arrays.plan.tables, needed, chosen, strict=True):
        if least[0] > size[0] or least[1] > size[1]:
            raise InvalidArgumentError(
                f"table {table.name!r} needs sizes of at least {least}, got {tuple(size)}"
            )
    placed = []
    for k, table in enumerate(arrays.plan.tables):
        shards = arrays.placement.of(k).shards(table.rows)
        samples = arrays.plan.samples_of(k)
        placed.append(_place_lookups(placement, shards, lookups[k], cores, samples, *chosen[k]))
    return PlacedBatch(tuple(placed), placement)


def cores_here(plan: Plan, placement: Placement) -> list[int]:
    """Return the numbers of the cores whose devices belong to this process.

    Raises:
        ValueError: the devices cannot share the cores of the plan equally.

    Not in TensorFlow, where each host enqueues for the cores it is wired to.

    >>> from gradlab.tpu import Feature, OneDevice, Plan, Table, cores_here
    >>> cores_here(Plan((Table("t", 4, 1),), (Feature("f", 0, (3,)),), cores=2), OneDevice())
    [0, 1]
    """
    if not isinstance(placement, OnMesh):
        return list(range(plan.cores))
    per_device, left = divmod(plan.cores, placement.devices)
    if left or not per_device:
        raise ValueError(
            f"{placement.devices} devices cannot share {plan.cores} cores; give the plan as many "
            "cores as the mesh has devices, or a multiple"
        )
    return [k * per_device + n for k in placement.here for n in range(per_device)]


def sizes_of(plan: Plan, placement: OnMesh, batch: Batch) -> list[tuple[int, int]]:
    """Return for each table how many ids one core asks of one device at most, and how many lookups it makes.

    Raises:
        InvalidArgumentError: a batch of another number of cores than this process has.

    Not in TensorFlow.

    >>> import jax
    >>> from jax.sharding import Mesh
    >>> from gradlab.tpu import Feature, Ids, OnMesh, Plan, Table, make_batch, sizes_of
    >>> plan = Plan((Table("t", 9, 1),), (Feature("f", 0, (2,)),))
    >>> sizes_of(plan, OnMesh(Mesh(jax.devices()[:1], "x")), make_batch(plan, {"f": Ids([0, 0, 1], [7, 3, 7])}))
    [(2, 3)]
    """
    cores = len(cores_here(plan, placement))
    arrays = stack_tables(plan, placement)
    return _needed_sizes(arrays, _lookups_by_array(plan, arrays, batch, cores), cores)


def _lookups_by_array(
    plan: Plan, arrays: StackedPlan, batch: Batch, cores: int
) -> tuple[Lookups, ...]:
    """Return the lookups of each array that is on the mesh."""
    for lookups in batch.tables:
        if len(lookups.unique) % cores or len(lookups.inverse) % cores:
            raise InvalidArgumentError(
                f"the batch must have the ids of {cores} cores, those of this process"
            )
    return stack_lookups(plan, arrays, batch.tables, cores)


def _needed_sizes(
    arrays: StackedPlan, tables: Sequence[Lookups], cores: int
) -> list[tuple[int, int]]:
    sizes = []
    for k, (table, lookups) in enumerate(zip(arrays.plan.tables, tables, strict=True)):
        shards = arrays.placement.of(k).shards(table.rows)
        ids_by_core = np.asarray(lookups.unique).reshape(cores, -1)
        ids_of_one = max(max_per_owner(ids, np.asarray(shards.owner(ids))) for ids in ids_by_core)
        sizes.append((padded_size(ids_of_one), len(lookups.inverse) // cores))
    return sizes


def _agree_on_sizes(placement: OnMesh, sizes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the largest sizes that any process needs."""
    if not placement.mesh.is_multi_process:
        return sizes
    from jax.experimental.multihost_utils import process_allgather

    return [tuple(x) for x in process_allgather(np.array(sizes)).max(0).tolist()]


def _place_lookups(
    placement: OnMesh,
    shards: Shards,
    lookups: Lookups,
    cores: int,
    samples: int,
    ids_of_one: int,
    count: int,
) -> Lookups:
    """Return the lookups of one array with the ids of each core arranged by owner, on the devices.

    Args:
        ids_of_one: the length of the part of each owner.
        count: the lookups of each core. Both are padded.
    """
    by_core = []
    for core in zip(*(np.asarray(x).reshape(cores, -1) for x in lookups), strict=True):
        own = Lookups(*core)
        owners = np.asarray(shards.owner(own.unique))
        unique, new_places = arrange_by_owner(own.unique, owners, shards.count, ids_of_one)
        # An inverse past the end is padding, and stays past the end.
        inverse = np.append(new_places, unique.size)[
            np.minimum(own.inverse, new_places.size)
        ].astype(np.uint32)
        by_core.append(
            (
                unique,
                pad_to(inverse, count, unique.size),
                pad_to(own.samples, count, samples),
                pad_to(own.weights, count, 0),
            )
        )
    cores_per_device = cores // len(placement.here)
    placed = []
    for vectors in zip(*by_core, strict=True):
        parts = [
            np.concatenate(vectors[k : k + cores_per_device])
            for k in range(0, cores, cores_per_device)
        ]
        placed.append(put_parts(placement, parts))
    return Lookups(*placed)


def traffic(
    plan: Plan, batch: Batch, devices: int | None = None, strategy: Strategy = "div"
) -> np.ndarray:
    """Return the number of distinct ids that each device requests from each other for a batch; it needs no mesh.

    As many rows come back for the activations, and as many sums go the same way with the gradients.

    Args:
        devices: how many share the cores and the rows; None for one a core.

    Returns:
        int64 of shape (tables, devices, devices): `[k, a, b]` ids of table k go from device a to
        device b.

    Not in TensorFlow.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, make_batch, traffic
    >>> plan = Plan((Table("t", 4, 1),), (Feature("f", 0, (3,)),), cores=2)
    >>> batch = make_batch(plan, [{"f": Ids([0, 1, 2], [0, 1, 3])}, {"f": Ids([0, 1], [2, 2])}])
    >>> traffic(plan, batch)[0].tolist()
    [[2, 1], [0, 1]]
    """
    count = plan.cores if devices is None else devices
    counts = np.zeros((len(plan.tables), count, count), np.int64)
    for k, (table, lookups) in enumerate(zip(plan.tables, batch.tables, strict=True)):
        shards = Shards(table.rows, count, strategy)
        ids = np.asarray(lookups.unique)
        senders = np.repeat(np.arange(count), ids.size // count)
        is_real = ids != PADDING_ID
        np.add.at(counts[k], (senders[is_real], shards.owner(ids[is_real])), 1)
    return counts

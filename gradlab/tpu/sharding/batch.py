"""The batch of a mesh: what each core wants, arranged by who holds it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._base.indices import filled, roomy
from ...errors import InvalidArgumentError
from ..batch import Batch, Lookups, PlacedBatch
from ..placement import OnMesh, Placement, Shards, Strategy
from ..plan import PADDING_ID, Plan
from ..stacks import StackedPlan, stack_lookups, stack_tables
from .rows import arranged, longest, put

Sizes = Sequence[tuple[int, int]]  # for each table: ids that a core may ask of one owner, lookups of a core


def place_batch(plan: Plan, placement: Placement, batch: Batch, sizes: Sizes | None = None) -> Batch | PlacedBatch:
    """The batch arranged for the devices that hold the rows, and put on them.

    Every core asks each device for as many ids, so that they can be exchanged in one all-to-all; parts are filled up
    with an id that isn't a row. Where several processes run, each brings the cores of its own devices, and all agree on
    the lengths by a small all-gather.

    Args:
        batch: what `make_batch` gives for the cores of this process: all of them where there is one.
        sizes: for each table how many ids a core may ask of one device and how many lookups it makes, so that no
            process needs to ask the others; the least that do are `sizes_of(plan, placement, batch)`. Those of stacks
            come after those of tables that are not whole on a device.

    Raises:
        InvalidArgumentError: a batch of another number of cores, or sizes that are too small; it names the table.

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
    cores = cores_here(plan, placement)
    inner, place, *_ = within = stack_tables(plan, placement)
    own = _of_arrays(plan, within, batch, len(cores))
    need = _sizes(within, own, len(cores))
    given = _agreed(placement, need) if sizes is None else list(sizes)
    for table, least, room in zip(inner.tables, need, given, strict=True):
        if least[0] > room[0] or least[1] > room[1]:
            raise InvalidArgumentError(f"table {table.name!r} needs sizes of at least {least}, got {tuple(room)}")
    return PlacedBatch(
        tuple(
            _placed(placement, place.of(k).shards(table.rows), t, len(cores), inner.samples_of(k), *given[k])
            for k, (table, t) in enumerate(zip(inner.tables, own, strict=True))
        ),
        placement,
    )


def cores_here(plan: Plan, placement: Placement) -> list[int]:
    """The numbers of the cores whose devices belong to this process.

    Raises:
        ValueError: the devices cannot share the cores of the plan equally.

    Not in TensorFlow, where each host enqueues for the cores it is wired to.

    >>> from gradlab.tpu import Feature, OneDevice, Plan, Table, cores_here
    >>> cores_here(Plan((Table("t", 4, 1),), (Feature("f", 0, (3,)),), cores=2), OneDevice())
    [0, 1]
    """
    if not isinstance(placement, OnMesh):
        return list(range(plan.cores))
    each, left = divmod(plan.cores, placement.devices)
    if left or not each:
        raise ValueError(
            f"{placement.devices} devices cannot share {plan.cores} cores; give the plan as many cores as the mesh has "
            "devices, or a multiple"
        )
    return [k * each + n for k in placement.here for n in range(each)]


def sizes_of(plan: Plan, placement: OnMesh, batch: Batch) -> list[tuple[int, int]]:
    """For each table how many ids one core asks of one device at most, and how many lookups it makes.

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
    count = len(cores_here(plan, placement))
    within = stack_tables(plan, placement)
    return _sizes(within, _of_arrays(plan, within, batch, count), count)


def _of_arrays(plan: Plan, within: StackedPlan, batch: Batch, count: int) -> tuple[Lookups, ...]:
    """The lookups of each array that is on the mesh."""
    for t in batch.tables:
        if len(t.unique) % count or len(t.inverse) % count:
            raise InvalidArgumentError(f"the batch must have the ids of {count} cores, those of this process")
    return stack_lookups(plan, within, batch.tables, count)


def _sizes(within: StackedPlan, tables: Sequence[Lookups], count: int) -> list[tuple[int, int]]:
    found = []
    for k, (table, t) in enumerate(zip(within.plan.tables, tables, strict=True)):
        shards = within.placement.of(k).shards(table.rows)
        parts = np.asarray(t.unique).reshape(count, -1)
        found.append(
            (roomy(max(longest(ids, np.asarray(shards.owner(ids))) for ids in parts)), len(t.inverse) // count)
        )
    return found


def _agreed(placement: OnMesh, sizes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The largest that any process needs."""
    if not placement.mesh.is_multi_process:
        return sizes
    from jax.experimental.multihost_utils import process_allgather

    return [tuple(x) for x in process_allgather(np.array(sizes)).max(0).tolist()]


def _placed(placement: OnMesh, shards: Shards, t: Lookups, cores: int, samples: int, room: int, most: int) -> Lookups:
    parts = []
    for core in zip(*(np.asarray(x).reshape(cores, -1) for x in t), strict=True):
        one = Lookups(*core)
        unique, went = arranged(one.unique, np.asarray(shards.owner(one.unique)), shards.count, room)
        inverse = np.append(went, unique.size)[np.minimum(one.inverse, went.size)].astype(np.uint32)
        filling = ((inverse, unique.size), (one.samples, samples), (one.weights, 0))
        parts.append((unique, *(filled(x, most, value) for x, value in filling)))
    each = cores // len(placement.here)
    return Lookups(
        *(
            put(placement, [np.concatenate(x[k : k + each]) for k in range(0, cores, each)])
            for x in zip(*parts, strict=True)
        )
    )


def traffic(plan: Plan, batch: Batch, devices: int | None = None, strategy: Strategy = "div") -> np.ndarray:
    """The number of distinct ids that each device requests from each other for a batch; it needs no mesh.

    As many rows come back for the activations, and as many sums go the same way with the gradients.

    Args:
        devices: how many share the cores and the rows; None for one a core.

    Returns:
        int64 of shape (tables, devices, devices): `[k, a, b]` ids of table k go from device a to device b.

    Not in TensorFlow.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, make_batch, traffic
    >>> plan = Plan((Table("t", 4, 1),), (Feature("f", 0, (3,)),), cores=2)
    >>> batch = make_batch(plan, [{"f": Ids([0, 1, 2], [0, 1, 3])}, {"f": Ids([0, 1], [2, 2])}])
    >>> traffic(plan, batch)[0].tolist()
    [[2, 1], [0, 1]]
    """
    count = plan.cores if devices is None else devices
    counts = np.zeros((len(plan.tables), count, count), np.int64)
    for k, (table, t) in enumerate(zip(plan.tables, batch.tables, strict=True)):
        shards = Shards(table.rows, count, strategy)
        ids = np.asarray(t.unique)
        senders = np.repeat(np.arange(count), ids.size // count)
        real = ids != PADDING_ID
        np.add.at(counts[k], (senders[real], shards.owner(ids[real])), 1)
    return counts

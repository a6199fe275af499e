"""Batches arranged by owner: what is in them, what is refused, and who asks whom."""

from typing import Any

import jax
import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import (
    Feature,
    Ids,
    OneDevice,
    OnMesh,
    Plan,
    Shards,
    Table,
    cores_here,
    create,
    lookup,
    make_batch,
    place,
    place_batch,
    sizes_of,
    traffic,
)
from gradlab.tpu.plan import PADDING_ID
from tests.tpu.sharding.plans import ids_of_cores, mesh, start, two_tables

PLAN = Plan((Table("t", 10, 1, combiner="sum"),), (Feature("f", 0, (2,)),), cores=2)
IDS = [{"f": Ids([0, 0, 1], [9, 1, 9])}, {"f": Ids([1, 1], [4, 3])}]


@pytest.mark.exhaustive
@pytest.mark.parametrize("strategy", ["div", "mod"])
def test_each_part_holds_the_ids_of_one_owner(strategy: Any) -> None:
    plan, placement = two_tables(8), OnMesh(mesh(4), strategy)
    batch = make_batch(plan, ids_of_cores(plan, 1))
    for table, plain, t in zip(
        plan.tables, batch.tables, place_batch(plan, placement, batch).tables, strict=True
    ):
        shards = Shards(table.rows, 4, strategy)
        parts = np.asarray(t.unique).reshape(8, 4, -1)
        for core, ids in enumerate(plain.unique.reshape(8, -1)):
            assert sorted(parts[core][parts[core] != PADDING_ID]) == sorted(ids[ids != PADDING_ID])
            for owner in range(4):
                held = parts[core, owner]
                assert set(shards.owner(held[held != PADDING_ID]).tolist()) <= {owner}


def test_one_device_reads_it_like_any_other() -> None:
    plan = two_tables(8)
    state, batch = start(plan), make_batch(plan, ids_of_cores(plan, 1))
    placed = jax.tree.map(np.asarray, place_batch(plan, OnMesh(mesh(4), "mod"), batch))
    looked_up = jax.jit(lambda state, batch: lookup(state, batch)[0])
    for x, y in zip(looked_up(state, batch), looked_up(state, placed), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


def test_on_one_device_a_batch_stays_as_it_is() -> None:
    batch = make_batch(PLAN, IDS)
    assert place_batch(PLAN, OneDevice(), batch) is batch
    assert cores_here(PLAN, OneDevice()) == [0, 1]


def test_sizes_are_the_largest_that_a_core_needs() -> None:
    batch = make_batch(PLAN, IDS)
    assert sizes_of(PLAN, OnMesh(mesh(2)), batch) == [(2, 3)]
    placed = place_batch(PLAN, OnMesh(mesh(2)), batch, [(4, 6)])
    assert [x.shape for x in placed.tables[0]] == [(16,), (12,), (12,), (12,)]
    with pytest.raises(
        InvalidArgumentError, match=r"table 't' needs sizes of at least \(2, 3\), got \(1, 3\)"
    ):
        place_batch(PLAN, OnMesh(mesh(2)), batch, [(1, 3)])


def test_a_batch_of_other_cores_is_refused() -> None:
    batch = make_batch(Plan(PLAN.tables, PLAN.features), IDS[0])
    with pytest.raises(InvalidArgumentError, match="must have the ids of 2 cores"):
        place_batch(PLAN, OnMesh(mesh(2)), batch)
    with pytest.raises(ValueError, match="4 devices cannot share 2 cores"):
        cores_here(PLAN, OnMesh(mesh(4)))


def test_a_batch_arranged_for_others_is_refused() -> None:
    state = place(create(PLAN, [np.ones((10, 1))]), mesh(2))
    batch = make_batch(PLAN, IDS)
    with pytest.raises(
        InvalidArgumentError,
        match=r"on 2 devices by 'div', the batch is arranged for one device; p",
    ):
        lookup(state, batch)
    with pytest.raises(InvalidArgumentError, match="the batch is arranged for 2 devices by 'mod'"):
        lookup(state, place_batch(PLAN, OnMesh(mesh(2), "mod"), batch))


def test_traffic_counts_distinct_ids_of_each_pair() -> None:
    batch = make_batch(PLAN, IDS)
    assert traffic(PLAN, batch).tolist() == [[[1, 1], [2, 0]]]
    assert traffic(PLAN, batch, strategy="mod").tolist() == [[[0, 2], [1, 1]]]
    assert traffic(PLAN, batch, devices=1).tolist() == [[[4]]]

"""Ids by owner in parts of equal length, and rows read from wherever they are."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

from gradlab.tpu import OneDevice, OnMesh, Shards
from gradlab.tpu.plan import PADDING_ID
from gradlab.tpu.sharding.sharded_arrays import (
    arrange_by_owner,
    make_array,
    max_per_owner,
    reader_by_owner,
    row_reader,
)


@pytest.mark.exhaustive
def test_ids_stay_in_order_within_their_part() -> None:
    ids = np.uint32([9, 4, PADDING_ID, 0, 5, 9])
    owners = Shards(10, 2).owner(ids)
    assert max_per_owner(ids, owners) == 3
    parts, went = arrange_by_owner(ids, owners, 2, 4)
    assert parts.tolist() == [4, 0, PADDING_ID, PADDING_ID, 9, 5, 9, PADDING_ID]
    assert went.tolist() == [4, 0, 8, 1, 5, 6]
    assert parts[went[went < 8]].tolist() == ids[ids != PADDING_ID].tolist()


def test_nothing_to_arrange() -> None:
    parts, went = arrange_by_owner(np.zeros(0, np.uint32), np.zeros(0, np.uint32), 3, 1)
    assert parts.tolist() == [PADDING_ID] * 3
    assert went.size == 0


def test_rows_are_asked_of_the_shards_that_hold_them() -> None:
    asked = []

    def of_shard(k: int, places: np.ndarray) -> np.ndarray:
        asked.append((k, places.tolist()))
        return np.full((places.size, 2), k, np.float32)

    rows = reader_by_owner(Shards(5, 2, "mod"), 2, of_shard)(np.array([4, 1, 2]))
    assert asked == [(0, [2, 1]), (1, [0])]
    assert rows[:, 0].tolist() == [0, 1, 0]


def test_on_one_device_they_are_just_rows() -> None:
    x = np.arange(6.0).reshape(3, 2)
    assert row_reader(OneDevice(), 3, x)(np.array([2, 0])).tolist() == x[[2, 0]].tolist()


def test_rows_that_are_read_in_parts_are_the_same() -> None:
    asked, placement = list[int](), OnMesh(Mesh(np.array(jax.devices()[:1]), ("x",)))

    def read(ids: np.ndarray) -> np.ndarray:
        asked.append(ids.size)
        return np.stack([ids, ids * 2], 1).astype(np.float32)

    whole, parts = (make_array(placement, 11, read, at_once) for at_once in (None, 4))
    assert asked == [11, 4, 4, 3]
    np.testing.assert_array_equal(whole, parts, strict=True)
    np.testing.assert_array_equal(np.asarray(parts)[:11, 1], np.arange(11) * 2)

"""A shard as a state machine: it moves the rows that are named, and what it refuses changes
nothing.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.workers import CHECK, READ, RECORD, UPDATE, Bowl, Experiment
from gradlab.workers.table_shard import TableShard
from tests.workers.embedding import experiment

READS, PUSH = (READ, RECORD), (CHECK, UPDATE)


def wanted(*ids: int) -> dict[str, np.ndarray]:
    return {"users": np.array(ids, np.int32), "items": np.array([0], np.int32)}


def pushed(rows: dict[str, int], *ids: int) -> dict[str, gl.IndexedSlices]:
    """A gradient of ones for these users, and of no item."""
    found = {"users": np.array(ids, np.int32), "items": np.zeros(0, np.int32)}
    return {
        k: gl.IndexedSlices(np.ones((len(x), 3), np.float32), x, (rows[k], 3))
        for k, x in found.items()
    }


ROWS = {"users": 3, "items": 5}  # of shard 1 of 2, of 7 and 11


def test_only_rows_that_are_named_move_where_they_are() -> None:
    shard = TableShard(experiment("apply"), 1, 2)
    before, table = shard.weights["users"].copy(), shard.weights["users"]
    shard.handle(READ, 0, 0, wanted(0, 2))
    shard.push(0, pushed(ROWS, 0))
    changed = (shard.weights["users"] != before).any(axis=1)
    assert changed.tolist() == [True, False, False]
    assert np.shares_memory(table, shard.weights["users"])  # a table of any size is not copied
    # What was read stays as it was.
    np.testing.assert_array_equal(shard.held(0)["users"], before[[0, 2]])
    with pytest.raises(ValueError, match="read-only"):
        shard.weights["users"][0] = 0


def test_a_stale_row_update_is_dropped_and_moves_nothing() -> None:
    shard = TableShard(experiment("drop", staleness=0), 1, 2)
    for worker in (0, 1):
        for move in READS:
            shard.handle(move, worker, 0, wanted(0))
    assert shard.push(0, pushed(ROWS, 0))
    after = shard.fingerprint()
    assert not shard.push(1, pushed(ROWS, 0))
    assert shard.fingerprint() == after and shard.ledger.dropped == 1


def test_an_accumulator_of_rows_takes_the_mean_over_those_who_have_a_row() -> None:
    shard = TableShard(experiment("backup", workers=2), 1, 2)
    one = TableShard(experiment("apply"), 1, 2)
    for each, workers in ((shard, (0, 1)), (one, (0,))):
        for worker in workers:
            for move in READS:
                each.handle(move, worker, 0, wanted(0))
    assert shard.push(0, pushed(ROWS, 0, 1)) and shard.step == 0
    assert shard.push(1, pushed(ROWS, 1, 2)) and shard.step == 1
    one.push(0, pushed(ROWS, 0, 1, 2))
    np.testing.assert_array_equal(shard.weights["users"], one.weights["users"])


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (wanted(3), "this shard has 3 rows of users, asked for 3 to 3"),
        (wanted(-1), "this shard has 3 rows of users, asked for -1 to -1"),
        (
            {"users": np.array([0])},
            r"a read names rows of \['items', 'users'\], this one of \['users'\]",
        ),
        (None, r"this one of \[\]"),
    ],
)
def test_a_read_of_rows_that_are_not_there_changes_nothing(given: Any, complaint: str) -> None:
    shard = TableShard(experiment("drop"), 1, 2)
    with pytest.raises(gl.errors.InvalidArgumentError, match=complaint):
        shard.handle(READ, 0, 0, given)
    assert shard.ledger.read_at == [-1, -1, -1]


def test_weights_to_start_from_are_dealt_out_as_well() -> None:
    e = experiment("drop")
    weights = {name: w + 1 for name, w in e.start().items()}
    shard = TableShard(e.with_(weights=weights), 1, 2)
    assert all((shard.weights[name] == w[1::2]).all() for name, w in weights.items())


def test_only_tables_have_shards() -> None:
    with pytest.raises(
        gl.errors.InvalidArgumentError, match="only tables have shards: the problem must have a"
    ):
        TableShard(Experiment(Bowl()), 0, 2)

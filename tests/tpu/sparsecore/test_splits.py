"""Batches split into minibatches: every lookup is in one, and none is above the limits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu.sparsecore import Limits
from gradlab.tpu.sparsecore.coo import Coo
from gradlab.tpu.sparsecore.csr import bucket_splits
from gradlab.tpu.sparsecore.splits import split_batch


def draw(seed: int, cores: int, partitions: int, vocab: int) -> tuple[Coo, int]:
    rng = np.random.default_rng(seed)
    samples = 8 * cores
    rows = np.sort(rng.integers(0, samples, 300)).astype(np.int32)
    cols = rng.integers(0, vocab, 300).astype(np.int32)
    return Coo(rows, cols, rng.normal(size=300).astype(np.float32)), samples


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("cores", "partitions"), [(1, 1), (2, 4), (3, 6)])
def test_minibatches_are_within_limits(seed: int, cores: int, partitions: int) -> None:
    coo, samples = draw(seed, cores, partitions, vocab=200)
    most = int(np.random.default_rng(seed).integers(12, 60))
    limits = Limits(most, most // 2)

    found = split_batch(coo, samples, cores, partitions, 200, limits, "t")

    boundaries = [0, *bucket_splits(found.splits), 64]
    ends = found.id_counts[1:].reshape(cores * partitions, 64)
    begins = found.id_counts[:-1].reshape(cores * partitions, 64)
    for partition in range(cores * partitions):
        for first, last in pairwise(boundaries):
            own = found.coo.col_ids[begins[partition, first] : ends[partition, last - 1]]
            assert own.size <= limits.max_ids
            assert np.unique(own).size <= limits.max_unique_ids


@pytest.mark.parametrize("seed", range(4))
def test_every_lookup_is_there_once(seed: int) -> None:
    coo, samples = draw(seed, 2, 4, vocab=100)

    found = split_batch(coo, samples, 2, 4, 100, Limits(1000, 1000), "t")

    part = np.repeat(np.arange(2 * 4 * 64), np.diff(found.id_counts))
    core, rest = np.divmod(part, 4 * 64)
    partition, bucket = np.divmod(rest, 64)
    rows = found.coo.row_ids + core * (samples // 2)
    cols = found.coo.col_ids * 4 + partition
    assert (bucket == np.minimum(cols // 2, 63)).all()
    expected: dict[tuple[int, int], float] = {}
    for row, col, gain in zip(*(x.tolist() for x in coo), strict=True):
        expected[row, col] = expected.get((row, col), 0) + gain
    merged = dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), found.coo.gains, strict=True))
    assert merged == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert found.splits == 0
    assert found.seen.max_ids == np.diff(found.id_counts[::64]).max()


def test_halves_are_joined_again_as_far_as_they_fit() -> None:
    # 3, 0, 1, 3 lookups in the quarters: halves have 3 and 4, so 4 are split once in the middle.
    cols = np.int32([0, 1, 2, 32, 48, 49, 50])
    coo = Coo(np.zeros(7, np.int32), cols, np.ones(7, np.float32))

    splits = split_batch(coo, 1, 1, 1, 64, Limits(4, 4), "t").splits

    assert bucket_splits(splits) == [32]


def test_different_rows_have_a_limit_too() -> None:
    coo = Coo(np.zeros(4, np.int32), np.int32([0, 1, 40, 41]), np.ones(4, np.float32))

    assert bucket_splits(split_batch(coo, 1, 1, 1, 64, Limits(9, 3), "t").splits) == [32]


def test_what_another_partition_halved_is_joined_as_halves() -> None:
    # Partition 0 is halved before buckets 32 and 48. Partition 1 alone would be halved before 32,
    # and can have bucket 32 with those before it.
    of_partition = ([32, 33, 34, 48, 49, 50], [0, 1, 2, 32, 48, 49])
    cols = np.int32([2 * bucket + p for p in range(2) for bucket in of_partition[p]])
    coo = Coo(np.zeros(12, np.int32), cols, np.ones(12, np.float32))

    splits = split_batch(coo, 1, 1, 2, 128, Limits(4, 4), "t").splits

    assert bucket_splits(splits) == [48]


def test_each_sparse_core_counts_its_own_rows() -> None:
    coo = Coo(np.int32([0, 1, 1]), np.int32([3, 3, 5]), np.ones(3, np.float32))

    assert split_batch(coo, 2, 2, 1, 64, Limits(4, 4), "t").seen == Limits(2, 2)


def test_ids_outside_the_table_are_in_the_last_bucket() -> None:
    coo = Coo(np.zeros(2, np.int32), np.int32([5, 1000]), np.ones(2, np.float32))

    found = split_batch(coo, 1, 1, 1, 64, Limits(4, 4), "t")

    assert np.diff(found.id_counts).nonzero()[0].tolist() == [5, 63]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limits": Limits(1, 8)}, "too many ids for replica 1 on sparse core 0"),
        ({"coo": Coo(np.int32([1, 0]), np.int32([3, 3]), np.float32([1, 1]))}, "sorted"),
        ({"coo": Coo(np.int32([0, 2]), np.int32([3, 3]), np.float32([1, 1]))}, "row_ids must be"),
        ({"coo": Coo(np.int32([0, 1]), np.int32([3, -1]), np.float32([1, 1]))}, "col_ids must be"),
        ({"num_sc_per_chip": 4}, "is not divisible"),
    ],
)
def test_what_cannot_be_split_is_refused(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        "coo": Coo(np.int32([0, 1]), np.int32([3, 3]), np.float32([1, 1])),
        "sample_count": 2,
        "num_sc_per_chip": 1,
        "partitions": 2,
        "table_vocab_size": 64,
        "limits": Limits(8, 8),
        "table_name": "t",
    }
    with pytest.raises(InvalidArgumentError, match=words):
        split_batch(**{**arguments, **changes})


def test_no_lookups_are_a_batch() -> None:
    empty = Coo(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))

    found = split_batch(empty, 4, 2, 4, 64, Limits(1, 1), "t")

    assert found.seen == Limits(0, 0)
    assert found.id_counts.tolist() == [0] * (2 * 4 * 64 + 1)

"""A batch split by its limits, and written minibatch by minibatch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import InvalidArgumentError
from gradlab.raw_ops.sparsecore_minibatches import MinibatchSplits
from tests.differences import differs

COMMON = {
    "sample_count": 8,
    "num_replica": 2,
    "table_vocab_size": 100,
    "feature_width": 8,
    "num_sc_per_chip": 2,
    "table_name": "a stack",
}


@pytest.fixture(autouse=True)
def limits() -> Iterator[None]:
    tpu.sparsecore.set_limits("a stack", tpu.sparsecore.Limits(12, 12))
    yield
    tpu.sparsecore.set_limits("a stack", None)


def split(seed: int) -> MinibatchSplits:
    rng = np.random.default_rng(seed)
    return raw_ops.GetMinibatchSplitsWithPhysicalReplica(
        program_key=[b"program"],
        row_ids=np.sort(rng.integers(0, 8, 120)),
        col_ids=rng.integers(0, 100, 120),
        gains=np.ones(120),
        mini_batch_splits="",
        **COMMON,
    )


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_to_write_buffers_are_one(seed: int) -> None:
    batch = split(seed)
    assert batch.splits > 0

    at_once = raw_ops.GetMinibatchesInCsrWithPhysicalReplica(
        program_key=[b"program"],
        row_ids=batch.sorted_row_ids,
        col_ids=batch.sorted_col_ids,
        gains=batch.sorted_gains,
        splits=[batch.splits],
        id_counts=batch.id_counts,
        max_minibatches_per_sc=16,
        max_ids_per_chip_per_sample=80,
        mini_batch_in_csr="",
        **COMMON,
    )

    middle = int(batch.id_counts[4 * 64])
    halves = [slice(0, middle), slice(middle, None)]
    by_core = raw_ops.ConvertToSparseCoreCsrWrappedCooTensor(
        sorted_row_ids_list=[batch.sorted_row_ids[half] for half in halves],
        sorted_col_ids_list=[batch.sorted_col_ids[half] for half in halves],
        sorted_gains_list=[batch.sorted_gains[half] for half in halves],
        id_counts_list=[batch.id_counts[: 4 * 64 + 1], batch.id_counts[4 * 64 :] - middle],
        splits=[batch.splits],
        sample_count_per_sc=4,
        num_replica=2,
        max_minibatches_per_sc=16,
        max_ids_per_chip_per_sample=80,
        table_vocab_size=100,
        feature_width=8,
        table_name="a stack",
        allow_id_dropping=False,
    )
    for a, b in zip(at_once, by_core, strict=True):
        assert np.array_equal(a, b)
    assert at_once.num_minibatches_per_physical_sparse_core > 1


def test_lookups_that_buffers_do_not_hold_are_refused() -> None:
    batch = split(0)

    with pytest.raises(InvalidArgumentError, match="not going to fit all ids"):
        raw_ops.GetMinibatchesInCsrWithPhysicalReplica(
            program_key=[b"program"],
            row_ids=batch.sorted_row_ids,
            col_ids=batch.sorted_col_ids,
            gains=batch.sorted_gains,
            splits=[batch.splits],
            id_counts=batch.id_counts,
            max_minibatches_per_sc=16,
            max_ids_per_chip_per_sample=8,
            mini_batch_in_csr="",
            **COMMON,
        )


@differs(
    "`StoreMinibatchStatisticsInFdo` and the limits of `GetMinibatch...`",
    tensorflow="the compiler of TPU programs keeps statistics and adapts limits to them",
    gradlab="statistics are kept; limits are those of `gl.tpu.sparsecore.set_limits`",
)
def test_statistics_are_stored() -> None:
    batch = split(0)
    common = {k: v for k, v in COMMON.items() if k != "table_vocab_size"}

    raw_ops.StoreMinibatchStatisticsInFdo(
        program_key=[b"test_statistics"],
        max_ids=batch.max_ids,
        max_uniques=batch.max_uniques,
        mini_batch_splits="",
        **common,
    )

    found = tpu.sparsecore.statistics_of("test_statistics", "a stack")
    assert found == (batch.max_ids, batch.max_uniques)

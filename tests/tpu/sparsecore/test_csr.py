"""Buffers of a chip, and numbers whose bits are boundaries between buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu.sparsecore.coo import Coo
from gradlab.tpu.sparsecore.csr import (
    binary_splits,
    bucket_splits,
    counts_of_cores,
    join_splits,
    write_csr,
)


def lookups(count: int) -> Coo:
    return Coo(
        np.arange(count, dtype=np.int32),
        np.arange(count, dtype=np.int32),
        np.ones(count, np.float32),
    )


@pytest.mark.parametrize("seed", range(5))
def test_boundaries_and_numbers_are_inverse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    buckets = sorted(rng.choice(np.arange(1, 64), rng.integers(0, 30), replace=False).tolist())

    assert bucket_splits(binary_splits(buckets)) == buckets


def test_every_boundary_has_a_bit_of_its_own() -> None:
    assert sorted(binary_splits([k]) for k in range(1, 64)) == [1 << k for k in range(63)]
    assert join_splits([1, 5]) == 5


def test_what_buffers_do_not_hold_is_left_out() -> None:
    counts = np.int32([0, 7, 12])

    csr = write_csr([(lookups(12), counts)], 0, 2, 1, 8, allow_id_dropping=True)

    assert csr.row_pointers[:2].tolist() == [7, 8]
    assert csr.sorted_token_ids[:7].tolist() == list(range(7))
    assert int(csr.ids_unpadded_size) == 8


CORE = (lookups(12), np.int32([0, 7, 12]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "The remaining id count is 5"),
        ({"max_ids_per_chip": 20}, "not divisible by the xla_pad_size 8"),
        ({"splits": 1, "max_ids_per_chip": 64}, "The number of minibatches per sparse core is 2"),
        ({"cores": [(lookups(12), np.int32([0, 7]))]}, "either 3 elements when .* 129 elements"),
        ({"cores": [(lookups(5), np.int32([0, 7, 12]))]}, "element of id counts 12"),
        ({"cores": [(lookups(12), np.int32([0, 7, 5]))]}, "must not decrease"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        "cores": [CORE],
        "splits": 0,
        "partitions": 2,
        "max_minibatches_per_sc": 1,
        "max_ids_per_chip": 8,
        "allow_id_dropping": False,
    }
    with pytest.raises(InvalidArgumentError, match=words):
        write_csr(**{**arguments, **changes})


def test_counts_of_another_length_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="id_counts must have 257 elements, got 3"):
        counts_of_cores(np.int32([0, 7, 12]), 2, 2)

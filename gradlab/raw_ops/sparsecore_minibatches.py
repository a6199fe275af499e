"""Ops of SparseCores that split a batch into minibatches, by the limits of its stack.

TensorFlow has their kernels only in programs for TPUs, and asks its compiler for the limits. Here
they are those of `gl.tpu.sparsecore.set_limits`, 256 lookups and 256 rows where it was not called.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import sparsecore_shapes as shapes
from .tpu_op import Tensor, op, tpu_module
from .tpu_shapes import text


class MinibatchSplits(NamedTuple):
    """Sorted lookups of a chip, boundaries of minibatches, and what was counted."""

    sorted_row_ids: np.ndarray
    sorted_col_ids: np.ndarray
    sorted_gains: np.ndarray
    splits: np.int64
    id_counts: np.ndarray
    max_ids: np.int32
    max_uniques: np.int32


@op(shapes.minibatch_splits)
def GetMinibatchSplitsWithPhysicalReplica(
    *,
    program_key: Tensor,
    row_ids: Tensor,
    col_ids: Tensor,
    gains: Tensor,
    sample_count: int,
    num_replica: int,
    table_vocab_size: int,
    feature_width: int,
    num_sc_per_chip: int,
    table_name: str | bytes,
    mini_batch_splits: str | bytes,
    name: str | None = None,
) -> MinibatchSplits:
    """Return the lookups of a chip by SparseCore, partition and bucket, and how to split them.

    A minibatch is a range of the 64 buckets of ids, in which no partition has more lookups or
    different rows than the limits of the stack.

    Args:
        program_key: not read.
        row_ids, col_ids, gains: the lookups, as `ConvertToCooTensor` gives them, in the order of
            samples.
        sample_count: the samples of the chip, which its SparseCores share.
        num_replica: chips.
        table_vocab_size: the rows of the table, which the buckets share.
        feature_width: not read.
        num_sc_per_chip: the SparseCores of the chip.
        table_name: the stack, whose limits are `gl.tpu.sparsecore.limits_of(table_name)`.
        mini_batch_splits: not read.

    Returns:
        The sorted lookups, merged, with rows of their partition as ids; `splits`, whose bits are
        boundaries between buckets; `id_counts`, where the buckets end, after a 0; and the most
        lookups and different rows of any partition.

    Raises:
        InvalidArgumentError: a bucket above the limits, samples out of order or range, ids below 0
            (TensorFlow checks the last two in debug builds at most), or samples that the
            SparseCores can't share evenly.

    Source: `tf.raw_ops.GetMinibatchSplitsWithPhysicalReplica`, TensorFlow 2.21 (2026), read.

    >>> from gradlab import tpu
    >>> tpu.sparsecore.set_limits("t", tpu.sparsecore.Limits(2, 2))
    >>> found = GetMinibatchSplitsWithPhysicalReplica(
    ...     program_key=[""], row_ids=[0, 0, 0], col_ids=[0, 40, 63], gains=[1.0, 1.0, 1.0],
    ...     sample_count=1, num_replica=1, table_vocab_size=64, feature_width=8, num_sc_per_chip=1,
    ...     table_name="t", mini_batch_splits="",
    ... )
    >>> int(found.splits), int(found.max_ids)
    (1, 3)
    >>> tpu.sparsecore.set_limits("t", None)
    """
    shapes.check_at_least_one(
        sample_count=sample_count,
        num_replica=num_replica,
        table_vocab_size=table_vocab_size,
        feature_width=feature_width,
        num_sc_per_chip=num_sc_per_chip,
    )
    stack = text(table_name)
    found = tpu_module("sparsecore.splits").split_batch(
        tpu_module("sparsecore.coo").read_coo(row_ids, col_ids, gains),
        sample_count,
        num_sc_per_chip,
        num_replica * num_sc_per_chip,
        table_vocab_size,
        tpu_module("sparsecore.feedback").limits_of(stack),
        stack,
    )
    return MinibatchSplits(
        found.coo.row_ids,
        found.coo.col_ids,
        found.coo.gains,
        np.int64(found.splits),
        found.id_counts,
        np.int32(found.seen.max_ids),
        np.int32(found.seen.max_unique_ids),
    )


class MinibatchesInCsr(NamedTuple):
    """The buffers of a chip, and how much of them is written; TensorFlow leaves the rest."""

    row_pointers: np.ndarray
    sorted_sample_ids: np.ndarray
    sorted_token_ids: np.ndarray
    sorted_gains: np.ndarray
    row_pointers_unpadded_size: np.int32
    ids_unpadded_size: np.int32
    num_minibatches_per_physical_sparse_core: np.int32


@op(shapes.minibatches_in_csr)
def GetMinibatchesInCsrWithPhysicalReplica(
    *,
    program_key: Tensor,
    row_ids: Tensor,
    col_ids: Tensor,
    gains: Tensor,
    splits: Tensor,
    id_counts: Tensor,
    sample_count: int,
    num_replica: int,
    max_minibatches_per_sc: int,
    max_ids_per_chip_per_sample: int,
    table_vocab_size: int,
    feature_width: int,
    num_sc_per_chip: int,
    table_name: str | bytes,
    mini_batch_in_csr: str | bytes,
    name: str | None = None,
) -> MinibatchesInCsr:
    """Return the lookups of a chip in buffers, minibatch by minibatch.

    The layout is that of `ConvertToSparseCoreCsrWrappedCooTensor`.

    Args:
        program_key: not read.
        row_ids, col_ids, gains, id_counts: what `GetMinibatchSplitsWithPhysicalReplica` gives.
        splits: int64, the boundaries that each chip needs; all chips split at all of them.
        sample_count: the samples of the chip.
        num_replica: chips.
        max_minibatches_per_sc: the most minibatches that `row_pointers` have room for.
        max_ids_per_chip_per_sample: times `sample_count` the size of the buffers, a multiple of 8.
        table_vocab_size, feature_width: not read.
        num_sc_per_chip: the SparseCores of the chip.
        table_name: of the stack; not read.
        mini_batch_in_csr: not read.

    Raises:
        InvalidArgumentError: lookups that the buffers don't hold, more minibatches than there may
            be, another size, or counts that don't fit the lookups.

    Source: `tf.raw_ops.GetMinibatchesInCsrWithPhysicalReplica`, TensorFlow 2.21 (2026), read.

    >>> import numpy as np
    >>> csr = GetMinibatchesInCsrWithPhysicalReplica(
    ...     program_key=[""], row_ids=[0, 0, 0], col_ids=[0, 40, 63], gains=[1.0, 1.0, 1.0],
    ...     splits=[1], id_counts=np.searchsorted([0, 40, 63], np.arange(65)), sample_count=1,
    ...     num_replica=1, max_minibatches_per_sc=2, max_ids_per_chip_per_sample=16,
    ...     table_vocab_size=64, feature_width=8, num_sc_per_chip=1, table_name="t",
    ...     mini_batch_in_csr="",
    ... )
    >>> csr.row_pointers[[0, 8]].tolist(), int(csr.num_minibatches_per_physical_sparse_core)
    ([1, 10], 2)
    """
    shapes.check_at_least_one(
        sample_count=sample_count,
        num_replica=num_replica,
        max_minibatches_per_sc=max_minibatches_per_sc,
        max_ids_per_chip_per_sample=max_ids_per_chip_per_sample,
        table_vocab_size=table_vocab_size,
        feature_width=feature_width,
        num_sc_per_chip=num_sc_per_chip,
    )
    coo = tpu_module("sparsecore.coo")
    csr = tpu_module("sparsecore.csr")
    coo.check_shared_evenly(sample_count, num_sc_per_chip)
    partitions = num_replica * num_sc_per_chip
    lookups = coo.read_coo(row_ids, col_ids, gains)
    counts = csr.counts_of_cores(
        np.asarray(id_counts, np.int32).ravel(), num_sc_per_chip, partitions
    )
    buffers = csr.write_csr(
        [(lookups, own) for own in counts],
        splits,
        partitions,
        max_minibatches_per_sc,
        max_ids_per_chip_per_sample * sample_count,
        allow_id_dropping=False,
    )
    return MinibatchesInCsr(*buffers)


@op(shapes.fixed())
def StoreMinibatchStatisticsInFdo(
    *,
    program_key: Tensor,
    max_ids: Tensor,
    max_uniques: Tensor,
    sample_count: int,
    num_replica: int,
    feature_width: int,
    num_sc_per_chip: int,
    table_name: str | bytes,
    mini_batch_splits: str | bytes,
    name: str | None = None,
) -> None:
    """Keep the most lookups, and different rows, that a batch asked of a partition.

    `gl.tpu.sparsecore.statistics_of(program_key, table_name)` returns the most of all batches. The
    compiler of TensorFlow, whose feedback this is, adapts the limits to it; here they stay.

    Args:
        program_key: a vector with the key of the program.
        max_ids, max_uniques: as `GetMinibatchSplitsWithPhysicalReplica` gives them.
        sample_count, num_sc_per_chip: the samples of the chip, and the SparseCores that share them.
        num_replica, feature_width: not read.
        table_name: the stack.
        mini_batch_splits: not read.

    Raises:
        InvalidArgumentError: the SparseCores can't share the samples evenly.

    Source: `tf.raw_ops.StoreMinibatchStatisticsInFdo`, TensorFlow 2.21 (2026), read.

    >>> from gradlab import tpu
    >>> StoreMinibatchStatisticsInFdo(
    ...     program_key=["p"], max_ids=3, max_uniques=2, sample_count=4, num_replica=1,
    ...     feature_width=8, num_sc_per_chip=2, table_name="t", mini_batch_splits="",
    ... )
    >>> tpu.sparsecore.statistics_of("p", "t")
    Limits(max_ids=3, max_unique_ids=2)
    """
    shapes.check_at_least_one(
        sample_count=sample_count,
        num_replica=num_replica,
        feature_width=feature_width,
        num_sc_per_chip=num_sc_per_chip,
    )
    tpu_module("sparsecore.coo").check_shared_evenly(sample_count, num_sc_per_chip)
    key: Any = np.asarray(program_key, object).ravel()[0]
    seen = tpu_module("sparsecore.partitions").Limits(int(max_ids), int(max_uniques))
    tpu_module("sparsecore.feedback").store_statistics(text(key), text(table_name), seen)

"""Ops that turn the ids of a batch into the buffers of SparseCores, step by step.

For each feature `ConvertToListOfSparseCoreCooTensors`, for the features of a stack on each
SparseCore `SortListOfSparseCoreCooTensors`, for the SparseCores of a chip
`ConvertToSparseCoreCsrWrappedCooTensor`. The operations of `sparsecore_matmul.py` read the buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import FailedPreconditionError, InvalidArgumentError
from . import sparsecore_shapes as shapes
from .tpu_op import Tensor, Tensors, op, tpu_module
from .tpu_shapes import text


class CooTensor(NamedTuple):
    """Lookups: int32 samples and ids, float32 gains."""

    row_ids: np.ndarray
    col_ids: np.ndarray
    gains: np.ndarray


@op(shapes.fixed((None,), (None,), (None,)))
def ConvertToCooTensor(
    *,
    indices_or_row_splits: Tensor,
    values: Tensor,
    weights: Tensor,
    sample_count: int,
    combiner: str | bytes,
    name: str | None = None,
) -> CooTensor:
    """Return the lookups of a feature as vectors of samples, ids and gains.

    Gains are weights divided by what the combiner divides by, so that lookups can be summed; they
    are 0 where that is 0. Neighbors of one sample and id are one lookup with the sum of their
    gains.

    Args:
        indices_or_row_splits: int32, for a sparse tensor the indices, (ids, 2), in the order of
            samples; for a ragged one the row splits, (sample_count + 1,); for a dense one, whose
            ids are their own samples, (0,).
        values: int32, (ids,).
        weights: float32, (ids,), or a scalar for all.
        sample_count: the number of samples.
        combiner: "sum", "mean" or "sqrtn".

    Raises:
        InvalidArgumentError: arrays that don't fit each other, samples out of order or range, row
            splits that don't cover the values (TensorFlow doesn't check these and reads past their
            end), or an unknown combiner.

    Source: `tf.raw_ops.ConvertToCooTensor`, TensorFlow 2.20 (2025) for TPUs, run.

    >>> coo = ConvertToCooTensor(
    ...     indices_or_row_splits=[0, 3, 4], values=[7, 7, 3, 5], weights=1.0, sample_count=2,
    ...     combiner="mean",
    ... )
    >>> coo.row_ids.tolist(), coo.col_ids.tolist()
    ([0, 0, 1], [7, 3, 5])
    >>> coo.gains.round(3).tolist()
    [0.6669999957084656, 0.3330000042915344, 1.0]
    """
    shapes.check_at_least_one(sample_count=sample_count)
    make_coo = tpu_module("sparsecore.coo").make_coo
    coo = make_coo(indices_or_row_splits, values, weights, sample_count, text(combiner))
    return CooTensor(*coo)


class CooTensors(NamedTuple):
    """The lookups of each SparseCore of a chip."""

    row_ids_list: list[np.ndarray]
    col_ids_list: list[np.ndarray]
    gains_list: list[np.ndarray]


@op(shapes.list_of_coo)
def ConvertToListOfSparseCoreCooTensors(
    *,
    indices_or_row_splits: Tensor,
    values: Tensor,
    weights: Tensor,
    sample_count: int,
    num_sc_per_chip: int,
    row_offset: int,
    col_offset: int,
    col_shift: int,
    num_sc_shards: int,
    stacked_table_sample_count: int,
    combiner: str | bytes,
    name: str | None = None,
) -> CooTensors:
    """Return the lookups of a feature for each SparseCore, with samples and ids of its stack.

        row = sample mod s + row_offset / n + core * stacked_table_sample_count / n
        col = (id + col_shift) mod num_sc_shards + (id - id mod num_sc_shards) + col_offset

    where n is `num_sc_per_chip`, s is sample_count / n, and core = sample div s makes the lookup.

    Args:
        indices_or_row_splits, values, weights, sample_count, combiner: as in `ConvertToCooTensor`.
        num_sc_per_chip: the SparseCores of the chip.
        row_offset: the samples of the chip that features before this one have in the stack.
        col_offset: the first id of the table in the stack.
        col_shift: how far the table is rotated over the SparseCores.
        num_sc_shards: the SparseCores of all chips, a power of two.
        stacked_table_sample_count: the samples of the chip in the whole stack.

    Raises:
        InvalidArgumentError: what `ConvertToCooTensor` raises, `num_sc_shards` that isn't a power
            of two, or samples that the SparseCores can't share evenly (TensorFlow doesn't check
            that).

    Source: `tf.raw_ops.ConvertToListOfSparseCoreCooTensors`, TensorFlow 2.20 (2025) for TPUs, run.

    >>> coo = ConvertToListOfSparseCoreCooTensors(
    ...     indices_or_row_splits=[], values=[5, 6], weights=1.0, sample_count=2, num_sc_per_chip=2,
    ...     row_offset=0, col_offset=16, col_shift=1, num_sc_shards=2, stacked_table_sample_count=2,
    ...     combiner="sum",
    ... )
    >>> [x.tolist() for x in coo.row_ids_list], [x.tolist() for x in coo.col_ids_list]
    ([[0], [1]], [[20], [23]])
    """
    shapes.check_at_least_one(
        sample_count=sample_count,
        num_sc_per_chip=num_sc_per_chip,
        num_sc_shards=num_sc_shards,
        stacked_table_sample_count=stacked_table_sample_count,
    )
    shapes.check_not_negative(row_offset=row_offset, col_offset=col_offset, col_shift=col_shift)
    coo = tpu_module("sparsecore.coo")
    lookups = coo.make_coo(indices_or_row_splits, values, weights, sample_count, text(combiner))
    by_core = coo.split_coo(
        lookups,
        sample_count,
        num_sc_per_chip,
        row_offset,
        col_offset,
        col_shift,
        num_sc_shards,
        stacked_table_sample_count,
    )
    rows, cols, gains = zip(*by_core, strict=True)
    return CooTensors(list(rows), list(cols), list(gains))


class SortedCooTensor(NamedTuple):
    """The lookups of a SparseCore by partition, and where the partitions end, after a 0."""

    sorted_row_ids: np.ndarray
    sorted_col_ids: np.ndarray
    sorted_gains: np.ndarray
    id_counts: np.ndarray


@op(shapes.sort_list)
def SortListOfSparseCoreCooTensors(
    *,
    row_ids_list: Tensors,
    col_ids_list: Tensors,
    gains_list: Tensors,
    sample_count_list: Sequence[int],
    col_offset_list: Sequence[int],
    num_replica: int,
    table_vocab_size: int,
    feature_width: int,
    num_sc_per_chip: int,
    max_ids_per_sparse_core: int,
    max_unique_ids_per_sparse_core: int,
    table_name: str | bytes,
    name: str | None = None,
) -> SortedCooTensor:
    """Return the lookups that a SparseCore makes from a stack, by the SparseCore that has the row.

    Lookups of one row in one sample are merged if they are of one table. Ids become rows of the
    partition, samples those of the SparseCore.

    Args:
        row_ids_list, col_ids_list, gains_list: the lookups of each feature, as
            `ConvertToListOfSparseCoreCooTensors` gives them.
        sample_count_list: the samples of the SparseCore, for each feature.
        col_offset_list: where the table of each feature begins in the stack.
        num_replica: chips; times `num_sc_per_chip` a power of two.
        table_vocab_size, feature_width: not read.
        max_ids_per_sparse_core: the most lookups of a partition.
        max_unique_ids_per_sparse_core: the most different rows of a partition.
        table_name: of the stack, for errors.

    Raises:
        InvalidArgumentError: more lookups or rows than a limit; lists that don't fit each other.
        FailedPreconditionError: the number of SparseCores isn't a power of two.

    Source: `tf.raw_ops.SortListOfSparseCoreCooTensors`, TensorFlow 2.20 (2025) for TPUs, run.

    >>> found = SortListOfSparseCoreCooTensors(
    ...     row_ids_list=[[0, 0, 1]], col_ids_list=[[3, 2, 3]], gains_list=[[1.0, 2.0, 4.0]],
    ...     sample_count_list=[2], col_offset_list=[0], num_replica=1, table_vocab_size=8,
    ...     feature_width=8, num_sc_per_chip=2, max_ids_per_sparse_core=2,
    ...     max_unique_ids_per_sparse_core=2, table_name="t",
    ... )
    >>> found.sorted_row_ids.tolist(), found.sorted_col_ids.tolist(), found.id_counts.tolist()
    ([0, 0, 1], [1, 1, 1], [0, 1, 3])
    """
    shapes.check_at_least_one(
        num_replica=num_replica,
        table_vocab_size=table_vocab_size,
        feature_width=feature_width,
        num_sc_per_chip=num_sc_per_chip,
        max_ids_per_sparse_core=max_ids_per_sparse_core,
        max_unique_ids_per_sparse_core=max_unique_ids_per_sparse_core,
    )
    found = _sort(
        row_ids_list,
        col_ids_list,
        gains_list,
        sample_count_list,
        col_offset_list,
        num_replica * num_sc_per_chip,
    )
    stack = text(table_name)
    for core, (ids, unique_ids) in enumerate(
        zip(found.most_ids, found.most_unique_ids, strict=True)
    ):
        if ids > max_ids_per_sparse_core:
            raise InvalidArgumentError(
                f"Sparse core {core} gets {ids} ids while the max ids per sparse core is set to be "
                f"{max_ids_per_sparse_core} for table {stack}"
            )
        if unique_ids > max_unique_ids_per_sparse_core:
            raise InvalidArgumentError(
                f"Sparse core {core} gets {unique_ids} unique ids while the max unique ids per "
                f"sparse core is set to be {max_unique_ids_per_sparse_core} for table {stack}"
            )
    coo = found.coo
    return SortedCooTensor(coo.row_ids, coo.col_ids, coo.gains, found.id_counts)


class SparseCoreStats(NamedTuple):
    """The most lookups, and different rows, of any partition: int32 scalars."""

    max_ids_per_sparse_core: np.int32
    max_unique_ids_per_sparse_core: np.int32


@op(shapes.fixed(shapes.SCALAR, shapes.SCALAR))
def GetStatsFromListOfSparseCoreCooTensors(
    *,
    row_ids_list: Tensors,
    col_ids_list: Tensors,
    gains_list: Tensors,
    sample_count_list: Sequence[int],
    col_offset_list: Sequence[int],
    num_replica: int,
    table_vocab_size: int,
    feature_width: int,
    num_sc_per_chip: int,
    table_name: str | bytes,
    name: str | None = None,
) -> SparseCoreStats:
    """Return the limits that `SortListOfSparseCoreCooTensors` needs for these lookups.

    Args: as there.

    Raises:
        InvalidArgumentError: lists that don't fit each other.
        FailedPreconditionError: the number of SparseCores isn't a power of two.

    Source: `tf.raw_ops.GetStatsFromListOfSparseCoreCooTensors`, TensorFlow 2.20 (2025) for TPUs,
    run.

    >>> found = GetStatsFromListOfSparseCoreCooTensors(
    ...     row_ids_list=[[0, 0, 1]], col_ids_list=[[3, 2, 3]], gains_list=[[1.0, 2.0, 4.0]],
    ...     sample_count_list=[2], col_offset_list=[0], num_replica=1, table_vocab_size=8,
    ...     feature_width=8, num_sc_per_chip=2, table_name="t",
    ... )
    >>> int(found.max_ids_per_sparse_core), int(found.max_unique_ids_per_sparse_core)
    (2, 1)
    """
    shapes.check_at_least_one(
        num_replica=num_replica,
        table_vocab_size=table_vocab_size,
        feature_width=feature_width,
        num_sc_per_chip=num_sc_per_chip,
    )
    found = _sort(
        row_ids_list,
        col_ids_list,
        gains_list,
        sample_count_list,
        col_offset_list,
        num_replica * num_sc_per_chip,
    )
    return SparseCoreStats(np.int32(found.most_ids.max()), np.int32(found.most_unique_ids.max()))


class CsrWrappedCooTensor(NamedTuple):
    """The buffers of a chip, and how much of them is written; TensorFlow leaves the rest."""

    row_pointers: np.ndarray
    sorted_sample_ids: np.ndarray
    sorted_token_ids: np.ndarray
    sorted_gains: np.ndarray
    row_pointers_unpadded_size: np.int32
    ids_unpadded_size: np.int32
    num_minibatches_per_sc: np.int32


@op(shapes.csr_of_cores)
def ConvertToSparseCoreCsrWrappedCooTensor(
    *,
    sorted_row_ids_list: Tensors,
    sorted_col_ids_list: Tensors,
    sorted_gains_list: Tensors,
    id_counts_list: Tensors,
    splits: Tensor,
    sample_count_per_sc: int,
    num_replica: int,
    max_minibatches_per_sc: int,
    max_ids_per_chip_per_sample: int,
    table_vocab_size: int,
    feature_width: int,
    table_name: str | bytes,
    allow_id_dropping: bool,
    name: str | None = None,
) -> CsrWrappedCooTensor:
    """Return the lookups of a chip in buffers, with a pointer to the end of each partition.

    The buffers have one SparseCore after another, minibatch by minibatch, partition by partition.
    A partition begins at a multiple of 8; places in between hold 2**31 - 1, gains too.

    Args:
        sorted_row_ids_list, sorted_col_ids_list, sorted_gains_list, id_counts_list: for each
            SparseCore of the chip what `SortListOfSparseCoreCooTensors` gives, or counts of 64
            buckets for each partition where a batch is split into minibatches.
        splits: int64, the boundaries of minibatches as `GetMinibatchSplitsWithPhysicalReplica`
            gives them, of all chips; 0 for one minibatch.
        sample_count_per_sc, max_ids_per_chip_per_sample: these two times the SparseCores of the
            chip are the size of the buffers, a multiple of 8.
        num_replica: chips.
        max_minibatches_per_sc: the most minibatches that `row_pointers` have room for.
        table_vocab_size, feature_width: not read.
        table_name: of the stack; not read.
        allow_id_dropping: leave out lookups that the buffers don't hold.

    Raises:
        InvalidArgumentError: lookups that the buffers don't hold, more minibatches than there may
            be (TensorFlow doesn't check that), another size, or lists that don't fit each other.

    Source: `tf.raw_ops.ConvertToSparseCoreCsrWrappedCooTensor`, TensorFlow 2.20 (2025) for TPUs,
    run.

    >>> csr = ConvertToSparseCoreCsrWrappedCooTensor(
    ...     sorted_row_ids_list=[[0, 0, 1]], sorted_col_ids_list=[[1, 1, 1]],
    ...     sorted_gains_list=[[2.0, 1.0, 4.0]], id_counts_list=[[0, 1, 3]], splits=0,
    ...     sample_count_per_sc=2, num_replica=2, max_minibatches_per_sc=1,
    ...     max_ids_per_chip_per_sample=8, table_vocab_size=8, feature_width=8, table_name="t",
    ...     allow_id_dropping=False,
    ... )
    >>> csr.row_pointers.tolist(), int(csr.ids_unpadded_size)
    ([1, 10, 16, 16, 16, 16, 16, 16], 16)
    >>> csr.sorted_gains[[0, 8, 9]].tolist()
    [2.0, 1.0, 4.0]
    """
    shapes.check_at_least_one(
        sample_count_per_sc=sample_count_per_sc,
        num_replica=num_replica,
        max_minibatches_per_sc=max_minibatches_per_sc,
        max_ids_per_chip_per_sample=max_ids_per_chip_per_sample,
        table_vocab_size=table_vocab_size,
        feature_width=feature_width,
    )
    num_sc_per_chip = shapes.count_of(
        sorted_row_ids_list=sorted_row_ids_list,
        sorted_col_ids_list=sorted_col_ids_list,
        sorted_gains_list=sorted_gains_list,
        id_counts_list=id_counts_list,
    )
    read_coo = tpu_module("sparsecore.coo").read_coo
    cores = []
    for rows, cols, gains, counts in zip(
        sorted_row_ids_list, sorted_col_ids_list, sorted_gains_list, id_counts_list, strict=True
    ):
        cores.append((read_coo(rows, cols, gains), np.asarray(counts, np.int32).ravel()))
    csr = tpu_module("sparsecore.csr").write_csr(
        cores,
        splits,
        num_replica * num_sc_per_chip,
        max_minibatches_per_sc,
        max_ids_per_chip_per_sample * sample_count_per_sc * num_sc_per_chip,
        allow_id_dropping,
    )
    return CsrWrappedCooTensor(*csr)


def _sort(
    row_ids_list: Tensors,
    col_ids_list: Tensors,
    gains_list: Tensors,
    sample_count_list: Sequence[int],
    col_offset_list: Sequence[int],
    partitions: int,
) -> Any:
    """Return the lookups of a SparseCore by partition, and what each partition has."""
    shapes.count_of(row_ids_list=row_ids_list, col_ids_list=col_ids_list, gains_list=gains_list)
    shapes.check_feature_lists(len(row_ids_list), sample_count_list, col_offset_list)
    coo = tpu_module("sparsecore.coo")
    if not coo.is_power_of_two(partitions):
        raise FailedPreconditionError("Expected num_physical_replica to be a power of two")
    features = [
        coo.read_coo(*vectors)
        for vectors in zip(row_ids_list, col_ids_list, gains_list, strict=True)
    ]
    return coo.sort_coo(features, col_offset_list, sum(sample_count_list), partitions)

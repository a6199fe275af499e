"""Lookups as vectors of samples, ids and gains: made of a feature, merged, sorted by partition.

Each function is one step of what `preprocess` does for a plan at once, on the arrays that
TensorFlow's operations take. A SparseCore of a chip has a vector each of samples (`row_ids`), ids
(`col_ids`) and gains; partition p of the vectors is what it asks of SparseCore p of all chips, the
ids that leave the remainder p. `csr.py` writes partitions into buffers.

Integers are int32 and gains float32, and sums are taken in the order of the vectors, so that every
bit is TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._base.indices import mark_changes, sort_with_order
from ...errors import InvalidArgumentError

COMBINERS = ("sum", "mean", "sqrtn")


class Coo(NamedTuple):
    """Lookups: int32 samples and ids, float32 gains, vectors of one length."""

    row_ids: np.ndarray
    col_ids: np.ndarray
    gains: np.ndarray


class Sorted(NamedTuple):
    """The lookups of one SparseCore, sorted by partition and merged.

    `coo` has rows of their partition as ids. `id_counts` are where the partitions end, after a 0.
    `most_ids` and `most_unique_ids` say how many lookups, and how many different rows, each
    partition has.
    """

    coo: Coo
    id_counts: np.ndarray
    most_ids: np.ndarray
    most_unique_ids: np.ndarray


def make_coo(
    indices_or_row_splits: Any, values: Any, weights: Any, sample_count: int, combiner: str
) -> Coo:
    """Return the lookups of a feature, gains computed, neighbors of one sample and id merged.

    Args:
        indices_or_row_splits: (ids, 2) indices of a sparse tensor, in order; (sample_count + 1,)
            splits of a ragged one; or (0,) where each id is its own sample.
        values: (ids,).
        weights: (ids,), or a scalar for all.

    Raises:
        InvalidArgumentError: arrays that don't fit each other, or an unknown combiner.

    >>> make_coo([0, 3, 4], [7, 7, 3, 5], 1.0, 2, "mean").gains.tolist()
    [0.6666666865348816, 0.3333333432674408, 1.0]
    """
    check_combiner(combiner)
    where = np.asarray(indices_or_row_splits, np.int32)
    ids = np.asarray(values, np.int32)
    gains = np.asarray(weights, np.float32)
    _check_inputs(where, ids, gains, sample_count)
    samples = _samples(where, ids.size, sample_count)
    gains = np.broadcast_to(gains, ids.shape)

    starts = mark_changes(samples) | mark_changes(ids)
    coo = merge_runs(Coo(samples, ids, gains), starts)
    if combiner == "sum":
        return coo
    scale = _scale(samples, gains, sample_count, combiner)
    return coo._replace(gains=coo.gains * scale[coo.row_ids])


def split_coo(
    coo: Coo,
    sample_count: int,
    num_sc_per_chip: int,
    row_offset: int,
    col_offset: int,
    col_shift: int,
    num_sc_shards: int,
    stacked_table_sample_count: int,
) -> list[Coo]:
    """Return the lookups of each SparseCore of a chip, samples and ids as they are in the stack.

        row = sample mod s + row_offset / n + core * stacked_table_sample_count / n
        col = (id + col_shift) mod num_sc_shards + (id - id mod num_sc_shards) + col_offset

    where n is `num_sc_per_chip`, s is sample_count / n, and core = sample div s makes the lookup.

    Args:
        row_offset: samples of the chip that other features of the stack have before this one.
        col_offset, col_shift: the place of the table in the stack, and how far it is rotated.
        num_sc_shards: SparseCores of all chips.

    Raises:
        InvalidArgumentError: the SparseCores can't share the samples evenly, or their number isn't
            a power of two.

    >>> coo = Coo(np.int32([0, 1]), np.int32([5, 6]), np.float32([1.0, 1.0]))
    >>> split_coo(coo, 2, 2, 0, 16, 1, 2, 2)[1].col_ids.tolist()
    [23]
    """
    if not is_power_of_two(num_sc_shards):
        raise InvalidArgumentError(f"num_sc_shards {num_sc_shards} is not a power of two.")
    check_shared_evenly(sample_count, num_sc_per_chip)
    own = sample_count // num_sc_per_chip
    stacked = stacked_table_sample_count // num_sc_per_chip
    low_bits = np.int32(num_sc_shards - 1)
    cols = (coo.col_ids + np.int32(col_shift)) & low_bits
    cols = cols + (coo.col_ids & ~low_bits) + np.int32(col_offset)
    cores, samples = np.divmod(coo.row_ids, np.int32(own))
    rows = samples + np.int32(row_offset // num_sc_per_chip) + cores * np.int32(stacked)
    ends = np.searchsorted(cores, np.arange(num_sc_per_chip), "right")
    starts = [0, *ends[:-1]]
    return [
        Coo(rows[start:end], cols[start:end], coo.gains[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]


def sort_coo(
    features: Sequence[Coo], col_offsets: Sequence[int], samples: int, partitions: int
) -> Sorted:
    """Return the lookups of all features of a stack on one SparseCore, by partition, merged.

    Lookups of one row in one sample are merged where they stand side by side in the order of rows:
    those of one feature, and of features of one table.

    Args:
        features: the lookups of each feature.
        col_offsets: where the table of each feature begins; tables are sorted by it.
        samples: those of the SparseCore in the stack.
        partitions: SparseCores of all chips, a power of two.

    Raises:
        InvalidArgumentError: vectors of several lengths.

    >>> coo = Coo(np.int32([0, 0, 1]), np.int32([3, 2, 3]), np.float32([1.0, 2.0, 4.0]))
    >>> found = sort_coo([coo], [0], 2, 2)
    >>> found.coo.row_ids.tolist(), found.coo.col_ids.tolist(), found.id_counts.tolist()
    ([0, 0, 1], [1, 1, 1], [0, 1, 3])
    """
    low_bits = np.int32(partitions - 1)
    tables = []
    is_new_row = []
    for offset in sorted(set(col_offsets)):
        own = [coo for coo, k in zip(features, col_offsets, strict=True) if k == offset]
        table = Coo(*(np.concatenate(vectors) for vectors in zip(*own, strict=True)))
        table = _merge_by_row(table)
        new_row = mark_changes(table.col_ids)
        if new_row.size and table.col_ids[0] == -1:
            # TensorFlow compares the first id with -1, so a table with no other id has no row.
            new_row[0] = False
        tables.append(table)
        is_new_row.append(new_row)
    coo = Coo(*(np.concatenate(vectors) for vectors in zip(*tables, strict=True)))
    partition = coo.col_ids & low_bits
    ids = np.bincount(partition, minlength=partitions)
    unique_ids = np.bincount(partition, np.concatenate(is_new_row), partitions).astype(np.int64)
    order = np.argsort(partition, kind="stable")
    bits = np.int32(partitions.bit_length() - 1)
    coo = Coo(
        np.fmod(coo.row_ids[order], np.int32(samples)),
        coo.col_ids[order] >> bits,
        coo.gains[order],
    )
    return Sorted(coo, np.cumsum([0, *ids], dtype=np.int32), ids, unique_ids)


def merge_runs(coo: Coo, starts: np.ndarray) -> Coo:
    """Return the first lookup of each run, with the gains of the run added to its own in order."""
    if starts.all():
        return coo._replace(gains=coo.gains.copy())
    gains = coo.gains[starts]
    run = np.cumsum(starts) - 1
    np.add.at(gains, run[~starts], coo.gains[~starts])
    return Coo(coo.row_ids[starts], coo.col_ids[starts], gains)


def read_coo(row_ids: Any, col_ids: Any, gains: Any) -> Coo:
    """Return vectors of one length in the dtypes of lookups.

    Raises:
        InvalidArgumentError: vectors of several lengths.
    """
    coo = Coo(
        np.asarray(row_ids, np.int32).ravel(),
        np.asarray(col_ids, np.int32).ravel(),
        np.asarray(gains, np.float32).ravel(),
    )
    for name, vector in (("Row ids", coo.row_ids), ("Gains", coo.gains)):
        if vector.size != coo.col_ids.size:
            raise InvalidArgumentError(
                f"{name} and col ids should have same elements. But got {vector.size} elements "
                f"for {name.lower()} and {coo.col_ids.size} elements for col ids."
            )
    return coo


def check_combiner(combiner: str) -> None:
    """Refuse anything but "sum", "mean" and "sqrtn"."""
    if combiner not in COMBINERS:
        raise InvalidArgumentError(
            'Invalid combiner: only "sum", "mean", and "sqrtn" are supported.'
        )


def check_shared_evenly(sample_count: int, num_sc_per_chip: int) -> None:
    """Refuse samples that the SparseCores of a chip can't share evenly."""
    if sample_count % num_sc_per_chip:
        raise InvalidArgumentError(
            f"sample_count {sample_count} is not divisible by the number of sparsecores per chip "
            f"{num_sc_per_chip}"
        )


def is_power_of_two(number: int) -> bool:
    """Tell whether a number is a power of two."""
    return number > 0 and not number & (number - 1)


def _check_inputs(where: np.ndarray, ids: np.ndarray, gains: np.ndarray, samples: int) -> None:
    """Refuse arrays of other shapes than TensorFlow's operations take, with its words."""
    if ids.ndim != 1:
        raise InvalidArgumentError(
            f"Values input should have dimension 1. But got dimension {ids.ndim}."
        )
    if gains.ndim > 1:
        raise InvalidArgumentError(
            f"Weights input should have dimension 0 or 1. But got dimension {gains.ndim}."
        )
    if gains.ndim == 1 and gains.size != ids.size:
        raise InvalidArgumentError(
            f"Values and weights should have same elements. But got {ids.size} elements for "
            f"values and {gains.size} elements for weights."
        )
    if where.shape == (0,):
        if ids.size not in (0, samples):
            raise InvalidArgumentError(
                "Dense tensor input should have values elements number the same as the sample "
                f"count. But got {ids.size} elements for values and sample count as {samples}."
            )
    elif where.ndim == 1:
        if where.size != samples + 1:
            raise InvalidArgumentError(
                "Ragged tensor input should have row_splits elements number the same as the "
                f"sample count + 1. But got {where.size} elements for row_splits and sample "
                f"count as {samples}."
            )
    elif where.ndim != 2:
        raise InvalidArgumentError(
            f"Invalid indices_or_row_splits input, Got dimension of {where.ndim} and size of "
            f"{where.size}."
        )


def _samples(where: np.ndarray, ids: int, samples: int) -> np.ndarray:
    """Return the sample of each id."""
    if where.size == 0:
        return np.arange(ids, dtype=np.int32)
    if where.ndim == 1:
        if where[0] != 0 or where[-1] != ids or (np.diff(where) < 0).any():
            # TensorFlow reads past the end of such splits.
            raise InvalidArgumentError(
                f"row splits must go from 0 to {ids} without decreasing, got {where.tolist()}"
            )
        return np.repeat(np.arange(samples, dtype=np.int32), np.diff(where))
    if where.shape[1] != 2:
        raise InvalidArgumentError(
            "Invalid indices_or_row_splits input, indices of SparseTensor must have 2 columns, "
            f"got {where.shape[1]}"
        )
    if where.shape[0] != ids:
        raise InvalidArgumentError(f"there are {ids} values, and {where.shape[0]} indices")
    rows = where[:, 0]
    if (np.diff(rows, prepend=0) < 0).any():
        raise InvalidArgumentError(
            "Invalid indices_or_row_splits input, indices of SparseTensor need to be sorted in "
            "ascending order."
        )
    if rows[-1] >= samples:
        raise InvalidArgumentError(
            "Invalid indices_or_row_splits input, indices of SparseTensor contained a row_id "
            f"{rows[-1]} that was >= the sample count ({samples})."
        )
    return rows


def _scale(samples: np.ndarray, gains: np.ndarray, count: int, combiner: str) -> np.ndarray:
    """Return what the gains of each sample are multiplied by: 0 where their sum is 0."""
    total = np.zeros(count, np.float32)
    if combiner == "mean":
        np.add.at(total, samples, gains)
    else:
        np.add.at(total, samples, gains * gains)
        total = np.sqrt(total)
    scale = np.zeros_like(total)
    np.divide(np.float32(1), total, out=scale, where=total != 0)
    return scale


def _merge_by_row(coo: Coo) -> Coo:
    """Return lookups sorted by id, those below 0 last; neighbors of one sample and id merged."""
    order, _ = sort_with_order(coo.col_ids.view(np.uint32))
    coo = Coo(*(vector[order] for vector in coo))
    return merge_runs(coo, mark_changes(coo.row_ids) | mark_changes(coo.col_ids))

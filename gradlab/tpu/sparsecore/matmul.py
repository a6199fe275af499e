"""What one device does with its buffers: sum rows into activations, and gradients into rows.

A table has the rows of its SparseCores one after another, as `to_stacks` puts them: row r of the
stack is row r div n of SparseCore r mod n. The device is alone, so that its n SparseCores have all
rows; several devices are `gl.tpu.lookup` and `gl.tpu.update` on what `preprocess` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._base.slices import IndexedSlices
from ...errors import DTypeError, InvalidArgumentError
from ...rules import Rule
from ..plan import Table
from ..storage import quantize
from ..table_update import update_table
from .buffers import ALIGNMENT, Buffers, Read, read
from .coo import Coo
from .partitions import Limits
from .stacking import Layout, padded

Arrays = tuple[np.ndarray, ...]


class Lookups(NamedTuple):
    """The lookups of a device: the sample, the row of the table, and the gain of each.

    `places` are where they stand in the buffers.
    """

    samples: np.ndarray
    rows: np.ndarray
    gains: np.ndarray
    places: np.ndarray


def read_lookups(
    buffers: Sequence[Any],
    minibatches: int,
    cores: int,
    samples: int,
    table_rows: int,
    limits: Limits | None = None,
) -> Lookups:
    """Return the lookups that stand in the buffers of a device, found by the pointers.

    Args:
        buffers: row pointers, samples, rows of partitions, and gains, as `write_csr` gives them.
        minibatches: of each SparseCore.
        cores: the SparseCores of the device, which have all partitions.
        samples: of the device.
        table_rows: rows of the table, which the SparseCores share.
        limits: the most lookups, and different rows, of a partition in a minibatch.

    Raises:
        InvalidArgumentError: arrays that don't fit each other, lookups outside the samples or the
            table, or more than the limits.
    """
    pointers, sample_ids, token_ids, gains = _read_buffers(buffers)
    _check_shares(minibatches, cores, samples, table_rows)
    stride = padded(cores, ALIGNMENT)
    used = cores * minibatches * stride
    if pointers.size < used:
        raise InvalidArgumentError(
            f"row_pointers must have {used} entries for {minibatches} minibatches of {cores} "
            f"SparseCores, got {pointers.size}"
        )
    pointers = pointers[:used].reshape(cores * minibatches, stride)
    _check_pointers(pointers, cores, gains.size)

    # Read with their places as samples, so that every vector can be read by the places found.
    places = np.arange(gains.size, dtype=np.int32)
    by_chip = Buffers(
        pointers[None], token_ids[None], places[None], gains[None], np.ones((1, gains.size), bool)
    )
    found = read(by_chip, Layout(1, cores, ()), minibatches, shared=True)
    if limits is not None:
        _check_limits(found, cores, minibatches, limits)
    own_samples = samples // cores
    own_rows = table_rows // cores
    sample_ids = sample_ids[found.samples]
    _check_inside("sorted_sample_ids", sample_ids, own_samples)
    _check_inside("sorted_token_ids", found.positions, own_rows)
    return Lookups(
        found.sparse_cores * own_samples + sample_ids,
        found.partitions * own_rows + found.positions,
        found.gains,
        found.samples,
    )


def sort_lookups(
    coo: Coo, cores: int, samples: int, table_rows: int, limits: Limits
) -> tuple[Lookups, np.ndarray]:
    """Return lookups sorted by partition, row and sample, and where the partitions end.

    Raises:
        InvalidArgumentError: rows that the SparseCores can't share evenly, lookups outside the
            samples or the table, or more than the limits.
    """
    _check_shares(1, cores, cores, table_rows)
    _check_inside("row_ids", coo.row_ids, samples)
    _check_inside("col_ids", coo.col_ids, table_rows)
    row, partition = np.divmod(coo.col_ids, cores)
    order = np.lexsort((coo.row_ids, row, partition))
    partition = partition[order]
    row = row[order]
    _check_counts(partition, row, cores, limits)
    lookups = Lookups(
        coo.row_ids[order], partition * (table_rows // cores) + row, coo.gains[order], order
    )
    ends = np.cumsum(np.bincount(partition, minlength=cores), dtype=np.int32)
    return lookups, ends


def sum_rows(
    lookups: Lookups, table: np.ndarray, samples: int, levels: tuple[float, float, int] | None
) -> np.ndarray:
    """Return the activations of a device: for each sample the sum of its rows times their gains.

    Args:
        levels: lower, upper and number of those to which rows are rounded first, or None.
    """
    rows = table[lookups.rows]
    if levels is not None:
        rows = np.asarray(quantize(rows, *levels))
    activations = np.zeros((samples, table.shape[1]), np.float32)
    np.add.at(activations, lookups.samples, lookups.gains[:, None] * rows)
    return activations


def update_looked_up_rows(
    rule: Rule,
    arrays: Arrays,
    lookups: Lookups,
    gradients: np.ndarray,
    learning_rate: Any,
    weight_limits: tuple[float, float],
) -> Arrays:
    """Return a table and its slots after a step of the rows that were looked up.

        G[row] = sum of gain * gradient[sample] over the lookups of a row
        w, slots = rule(w, slots, G, rate);    w = clip(w)

    Args:
        arrays: the table, then its slots; they stay as they are.
        gradients: of the activations, one for each lookup.
    """
    values = lookups.gains[:, None] * gradients
    slices = IndexedSlices(values, lookups.rows, arrays[0].shape)
    return update_slices(rule, arrays, slices, learning_rate, weight_limits)


def update_slices(
    rule: Rule,
    arrays: Arrays,
    slices: IndexedSlices,
    learning_rate: Any,
    weight_limits: tuple[float, float] = (-np.inf, np.inf),
) -> Arrays:
    """Return a table and its slots after a step of the rows of some slices."""
    lower, upper = weight_limits
    if lower > upper:
        raise InvalidArgumentError(
            "clip_weight_min must be smaller or equal to clip_weight_max but got clip_weight_min "
            f"as {lower} and clip_weight_max as {upper}."
        )
    limits = (
        None if lower == -np.inf else lower,
        None if upper == np.inf else upper,
    )
    w, *slots = arrays
    rows, width = w.shape
    table = Table("the table", rows, width, rule, weight_limits=limits)
    new_w, new_slots = update_table(table, w, tuple(slots), slices, learning_rate)
    return (np.asarray(new_w), *(np.asarray(slot) for slot in new_slots))


def read_tables(**tables: Any) -> Arrays:
    """Return tables as float32 matrices of one shape.

    Raises:
        DTypeError: another dtype than float32 or Python's numbers.
        InvalidArgumentError: other shapes.
    """
    arrays = []
    for name, given in tables.items():
        if getattr(given, "dtype", np.dtype("float32")) not in (np.float32, np.float64):
            raise DTypeError(f"{name} must be float32, got {given.dtype}")
        arrays.append(np.asarray(given, np.float32))
    shape = arrays[0].shape
    for name, array in zip(tables, arrays, strict=True):
        if array.ndim != 2 or array.shape != shape:
            raise InvalidArgumentError(
                f"tables must be matrices of one shape, got {name} of shape {array.shape}"
            )
    return tuple(arrays)


def _read_buffers(buffers: Sequence[Any]) -> list[np.ndarray]:
    """Return the four vectors of buffers, of which three have one length."""
    *integers, gains = buffers
    arrays = [*(np.asarray(x, np.int32) for x in integers), np.asarray(gains, np.float32)]
    shapes = [x.shape for x in arrays]
    if any(len(shape) != 1 for shape in shapes) or len(set(shapes[1:])) > 1:
        raise InvalidArgumentError(
            f"buffers must be vectors, all but row_pointers of one length; got shapes {shapes}"
        )
    return arrays


def _check_shares(minibatches: int, cores: int, samples: int, table_rows: int) -> None:
    if minibatches < 1:
        raise InvalidArgumentError(
            f"num_minibatches_per_physical_sparse_core must be at least 1, got {minibatches}"
        )
    for what, number in (("num_samples_per_chip", samples), ("the rows of a table", table_rows)):
        if number % cores:
            raise InvalidArgumentError(
                f"{what} {number} not divisible by the number of sparsecores per chip {cores}"
            )


def _check_pointers(pointers: np.ndarray, cores: int, size: int) -> None:
    """Refuse pointers that decrease or leave the buffers, and partitions that the device hasn't."""
    ends = pointers[:, :cores].ravel()
    if ends.size and ((np.diff(ends) < 0).any() or ends[0] < 0 or ends[-1] > size):
        raise InvalidArgumentError(
            f"row_pointers must go from 0 to {size} without decreasing, got {ends.tolist()}"
        )
    last = padded(pointers[:, cores - 1], ALIGNMENT)
    if (pointers[:, cores:] > last[:, None]).any():
        raise InvalidArgumentError(
            f"row_pointers have lookups of more than {cores} partitions, which the device's "
            f"{cores} SparseCores don't have"
        )


def _check_limits(found: Read, cores: int, minibatches: int, limits: Limits) -> None:
    """Refuse more lookups or rows than the limits in any partition of any minibatch."""
    segment = (found.sparse_cores * minibatches + found.minibatches) * cores + found.partitions
    _check_counts(segment, found.positions, cores * cores * minibatches, limits)


def _check_counts(segments: np.ndarray, rows: np.ndarray, number: int, limits: Limits) -> None:
    ids = np.bincount(segments, minlength=number)
    segment_of_row, _ = np.unique(np.stack([segments, rows]), axis=1)
    unique_ids = np.bincount(segment_of_row, minlength=number)
    for what, most, limit in (
        ("ids", ids.max(), limits.max_ids),
        ("unique ids", unique_ids.max(), limits.max_unique_ids),
    ):
        if most > limit:
            raise InvalidArgumentError(f"a partition has {most} {what}, and the limit is {limit}")


def _check_inside(name: str, ids: np.ndarray, size: int) -> None:
    if ids.size and not 0 <= ids.min() <= ids.max() < size:
        raise InvalidArgumentError(
            f"{name} must be 0 to {size - 1}, got {ids.min()} to {ids.max()}"
        )

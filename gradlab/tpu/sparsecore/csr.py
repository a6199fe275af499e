"""Partitions of lookups written into buffers, minibatch by minibatch, as TensorFlow's ops do it.

`buffers.py` writes the same layout for a plan, with what jax-tpu-embedding puts in places that hold
no lookup. A split of a batch into minibatches is a number whose bits are the boundaries between 64
buckets of ids: bit 0 is that in the middle, bits 1 and 2 those in the middle of the halves, and so
on down to single buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidArgumentError
from .buffers import ALIGNMENT, PADDING
from .coo import Coo
from .partitions import BUCKETS
from .stacking import padded

LEVELS = BUCKETS.bit_length() - 1


class Csr(NamedTuple):
    """The buffers of a chip.

    `row_pointers` are the ends of the partitions of all SparseCores and their minibatches, the
    others the lookups. The sizes are how much of them is written: what follows is padding here, and
    memory as it was in TensorFlow.
    """

    row_pointers: np.ndarray
    sorted_sample_ids: np.ndarray
    sorted_token_ids: np.ndarray
    sorted_gains: np.ndarray
    row_pointers_unpadded_size: np.int32
    ids_unpadded_size: np.int32
    num_minibatches_per_sc: np.int32


def write_csr(
    cores: Sequence[tuple[Coo, np.ndarray]],
    splits: Any,
    partitions: int,
    max_minibatches_per_sc: int,
    max_ids_per_chip: int,
    allow_id_dropping: bool,
) -> Csr:
    """Return the buffers of a chip.

    Args:
        cores: for each SparseCore its lookups sorted by partition (and bucket), and where the
            partitions end, or the 64 buckets of each partition.
        splits: a number for each chip; a boundary that one needs is made on all.
        partitions: SparseCores of all chips.
        max_ids_per_chip: the size of the buffers.
        allow_id_dropping: leave out what they don't hold.

    Raises:
        InvalidArgumentError: more lookups than the buffers hold, more minibatches than there may
            be, a size that isn't a multiple of 8, or counts that don't fit the lookups.
    """
    _check_cores(cores, partitions)
    if max_ids_per_chip % ALIGNMENT:
        raise InvalidArgumentError(
            f"The max_ids_per_chip is set to be {max_ids_per_chip} which is not divisible by the "
            f"xla_pad_size {ALIGNMENT} ."
        )
    boundaries = [0, *bucket_splits(join_splits(splits)), BUCKETS]
    minibatches = len(boundaries) - 1
    if minibatches > max_minibatches_per_sc:
        raise InvalidArgumentError(
            f"The number of minibatches per sparse core is {minibatches}. But the max minibatches "
            f"per sparse core is set to be {max_minibatches_per_sc} which is smaller."
        )

    lookups = sum(int(counts[-1] - counts[0]) for _, counts in cores)
    writer = _Writer(max_ids_per_chip, lookups)
    pointers_of_core = padded(partitions, ALIGNMENT)
    pointers: list[int] = []
    for coo, counts in cores:
        is_split = counts.size > partitions + 1
        for first, last in pairwise(boundaries):
            for partition in range(partitions):
                start, end = partition, partition + 1
                if is_split:
                    start, end = partition * BUCKETS + first, partition * BUCKETS + last
                writer.write(coo, int(counts[start]), int(counts[end]), allow_id_dropping)
                pointers.append(writer.end)
                writer.pad()
            pointers += [writer.end] * (pointers_of_core - partitions)

    row_pointers = np.full(
        max_minibatches_per_sc * len(cores) * pointers_of_core, writer.end, np.int32
    )
    row_pointers[: len(pointers)] = pointers
    return Csr(
        row_pointers,
        writer.sample_ids,
        writer.token_ids,
        writer.gains,
        np.int32(len(pointers)),
        np.int32(writer.end),
        np.int32(minibatches),
    )


def counts_of_cores(id_counts: np.ndarray, cores: int, partitions: int) -> list[np.ndarray]:
    """Return where the buckets of each SparseCore end, from one vector for all of them.

    Raises:
        InvalidArgumentError: a vector of another length.
    """
    own = partitions * BUCKETS
    if id_counts.size != cores * own + 1:
        raise InvalidArgumentError(
            f"id_counts must have {cores * own + 1} elements, got {id_counts.size}"
        )
    return [id_counts[core * own : (core + 1) * own + 1] for core in range(cores)]


def join_splits(splits: Any) -> int:
    """Return the boundaries that any of some splits has."""
    return int(np.bitwise_or.reduce(np.asarray(splits, np.int64).ravel(), initial=0))


def bucket_splits(splits: int) -> list[int]:
    """Return the buckets before which there is a boundary, in order.

    >>> bucket_splits(0b1011)
    [8, 16, 32]
    """
    found = []
    for level in range(LEVELS):
        size = BUCKETS >> level
        found += [
            section * size + size // 2
            for section in range(1 << level)
            if splits >> boundary_bit(level, section) & 1
        ]
    return sorted(found)


def binary_splits(buckets: Sequence[int]) -> int:
    """Return the inverse of `bucket_splits`.

    >>> bin(binary_splits([8, 16, 32]))
    '0b1011'
    """
    splits = 0
    for bucket in buckets:
        # A bucket of the last level is odd; each level before it has one more factor of 2.
        factors = (bucket & -bucket).bit_length() - 1
        level = LEVELS - 1 - factors
        splits |= 1 << boundary_bit(level, bucket >> (factors + 1))
    return splits


def boundary_bit(level: int, section: int) -> int:
    """Return the bit of the boundary in the middle of a section, of which a level has 2**level."""
    return (1 << level) - 1 + section


class _Writer:
    """Buffers that are filled from the front, and how far they are."""

    def __init__(self, size: int, lookups: int) -> None:
        self.sample_ids = np.full(size, PADDING, np.int32)
        self.token_ids = np.full(size, PADDING, np.int32)
        # TensorFlow puts the integer of padding into gains, too.
        self.gains = np.full(size, PADDING, np.float32)
        self.end = 0
        self.left = lookups

    def write(self, coo: Coo, start: int, end: int, allow_id_dropping: bool) -> None:
        """Append lookups `start` to `end`; those without room are left out, or refused."""
        size = self.gains.size
        room = size - self.end
        if end - start > room and not allow_id_dropping:
            raise InvalidArgumentError(
                f"The max_ids_per_chip is set to be {size} which is not going to fit all ids. The "
                f"remaining id count is {self.left} . Please consider setting the "
                "allow_id_dropping to be true. "
            )
        count = min(end - start, room)
        place = slice(self.end, self.end + count)
        self.sample_ids[place] = coo.row_ids[start : start + count]
        self.token_ids[place] = coo.col_ids[start : start + count]
        self.gains[place] = coo.gains[start : start + count]
        self.end += count
        self.left -= count

    def pad(self) -> None:
        """Go on to where a partition may begin."""
        self.end = padded(self.end, ALIGNMENT)


def _check_cores(cores: Sequence[tuple[Coo, np.ndarray]], partitions: int) -> None:
    for core, (coo, counts) in enumerate(cores):
        if counts.size not in (partitions + 1, partitions * BUCKETS + 1):
            raise InvalidArgumentError(
                f"The id counts should have either {partitions + 1} elements when there is no "
                f"minibatching or {partitions * BUCKETS + 1} elements when there are multiple "
                f"minibatches for each sparsecore. But instead got {counts.size} elements."
            )
        if counts[-1] > coo.row_ids.size:
            raise InvalidArgumentError(
                f"The last element of id counts {counts[-1]} should not exceed the size of the "
                f"corresponding sorted tensors {coo.row_ids.size} for sparsecore {core}"
            )
        if counts[0] < 0 or (np.diff(counts) < 0).any():
            raise InvalidArgumentError(f"id counts must not decrease, got {counts.tolist()}")

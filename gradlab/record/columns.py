"""Which columns a recording has, and how often the costly ones are filled.

Norms of all tensors are there in every step. What costs more, all entries by size, weights and
updates, is done in every k-th, so that it adds at most a part of what the norms cost. k follows
from the sizes of the tensors alone, so it is the same on every machine and in every run.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.named_leaves import named_leaves
from ..errors import InvalidArgumentError
from . import sketch, step_totals
from .measure import BINS

_SMALL = 4096  # entries of a tensor that costs more to call for than to copy
_GOLDEN = (5**0.5 - 1) / 2  # its multiples modulo 1 are spread evenly, and repeat on every machine

# What is done with an entry, in units of reading it for a norm, and with a tensor whatever its
# size, in the same units.
_NORM, _NORM_CALL = 1, 16_000
_COUNTED, _COUNT_CALL = 12, 50_000
_MOVED, _MOVE_CALL = 16, 80_000
_PART = 0.25  # of the cost of the norms
_LEAST, _MOST = 64, 1024


@dataclass(frozen=True)
class Layout:
    """Fixed from the first step on.

    Attributes:
        names, shapes: of the tensors.
        scalars: names of numbers, one each step.
        capacity: buckets there is room for.
        entries: how many entries to sample, 0 for none.
        histogram_every: every so many steps entries are counted by size, and so many buckets share
            their counts.
        log: what a log that was read holds, in sentences; such a recording has norms only. Empty for
            a run that was recorded.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    scalars: tuple[str, ...]
    capacity: int
    entries: int
    histogram_every: int
    log: tuple[str, ...] = ()

    @cached_property
    def items(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Name and shape of each tensor."""
        return tuple(zip(self.names, self.shapes, strict=True))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(math.prod(shape) for shape in self.shapes)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Tensors that may be looked at together at little cost."""
        return groups(self.sizes)

    @staticmethod
    def is_small(size: int) -> bool:
        """Tell whether a tensor of so many entries costs more to call for than to copy."""
        return size <= _SMALL

    @cached_property
    def places(self) -> tuple[np.ndarray, ...]:
        """Of each tensor the flat indices of its sampled entries, in order."""
        return tuple(
            _spread(size, count) for size, count in zip(self.sizes, self._shares, strict=True)
        )

    @cached_property
    def sampled(self) -> tuple[np.ndarray, np.ndarray]:
        """(entries,) tensor index and flat index of each sampled entry."""
        tensor = np.repeat(np.arange(len(self.names)), [len(p) for p in self.places])
        return tensor, np.concatenate(self.places)

    @cached_property
    def _shares(self) -> list[int]:
        """Return an equal number of entries of each tensor, at least one and at most what it has."""
        shares, left = [0] * len(self.sizes), self.entries
        by_size = sorted(range(len(self.sizes)), key=lambda k: self.sizes[k])
        for done, k in enumerate(by_size):
            shares[k] = min(self.sizes[k], max(left // (len(by_size) - done), min(1, self.entries)))
            left -= shares[k]
        return shares

    def entry_name(self, k: int) -> str:
        """Such as "w1[3, 5]"; a tensor without axes is its name alone."""
        tensor, flat = (int(column[k]) for column in self.sampled)
        index = ", ".join(str(i) for i in np.unravel_index(flat, self.shapes[tensor]))
        return f"{self.names[tensor]}[{index}]" if index else self.names[tensor]

    def align(self, tree: Any, what: str) -> list[Array]:
        """Return the leaves of a tree in the order of the tensors: by name, else by sizes; ValueError for others."""
        leaves = dict(named_leaves(tree, what.removesuffix("s")))
        if set(self.names) <= set(leaves):
            return [leaves[name] for name in self.names]
        if tuple(x.size for x in leaves.values()) == self.sizes:
            return list(leaves.values())
        raise InvalidArgumentError(
            f"{what} must be a tree like grads, with tensors {self.names} of sizes {self.sizes}; "
            f"it has {tuple(leaves)} of sizes {tuple(x.size for x in leaves.values())}"
        )

    def empty(self) -> dict[str, np.ndarray]:
        """Room for all buckets."""
        return {name: np.zeros(shape, dtype) for name, shape, dtype in self.columns()}

    @cached_property
    def nbytes(self) -> int:
        """Memory that `empty` and `sampled` take; computed without taking any."""
        indices = 2 * np.dtype(np.int64).itemsize * sum(self._shares)
        return indices + sum(
            math.prod(shape) * np.dtype(dtype).itemsize for _, shape, dtype in self.columns()
        )

    @cached_property
    def widths(self) -> dict[str, int]:
        """The number of numbers a bucket of each column has."""
        return {name: math.prod(shape[1:]) for name, shape, _ in self.columns()}

    def columns(self) -> Iterator[tuple[str, tuple[int, ...], type]]:
        """Name, shape and dtype of each column, with room for all buckets."""
        buckets, tensors, entries, scalars = (
            self.capacity,
            len(self.names),
            sum(self._shares),
            1 + len(self.scalars),
        )
        yield (
            "norm",
            (buckets, tensors + 2),
            np.float32,
        )  # of each tensor, of all together, of the one that leads
        yield "norm_low", (buckets, tensors + 2), np.float32
        yield "largest", (buckets, tensors), np.float32
        yield "nonfinite", (buckets, tensors), np.int32
        yield "square", (buckets, entries), np.float32
        yield "entry", (buckets, entries), np.float32
        yield "peak", (buckets,), np.int32
        yield "mean", (buckets, scalars), np.float32  # seconds first
        yield "count", (buckets, scalars), np.int32  # of the numbers behind each mean
        yield "taken", (buckets,), np.int32  # steps that were not skipped
        yield "histogram", (-(-buckets // self.histogram_every), tensors, BINS), np.int32
        # Norms, then largest entries.
        yield "sketch", (2 * tensors + 3, sketch.FIRST + sketch.WIDTH + 1), np.int32
        yield "each", (len(step_totals.names(self.scalars)), 0), np.float32


def groups(sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return which tensors may be looked at together at little cost: small ones of one size; every other alone."""
    found: dict[tuple[int, int], list[int]] = {}
    for k, size in enumerate(sizes):
        found.setdefault((size, -1 if Layout.is_small(size) else k), []).append(k)
    return tuple(map(tuple, found.values()))


@functools.cache
def _spread(size: int, count: int) -> np.ndarray:
    """`count` different indices below `size`, one in each of as many equal parts, not all at the
    same place in it.

    Tensors of one size share the array: a hundred thousand of them would else take seconds.
    """
    parts = np.arange(count + 1) * size // max(count, 1)
    places: np.ndarray = parts[:-1] + (np.arange(count) * _GOLDEN % 1 * np.diff(parts)).astype(int)
    return places


def sample_every_for(sizes: Sequence[int]) -> int:
    """The power of 2 that is k for tensors of these sizes.

        k >= (28 entries + 130,000 tensors) / ((entries + 16,000 tensors) / 4),   64 <= k <= 1024

    >>> sample_every_for([400, 20, 200, 10]), sample_every_for([4096 * 4096] * 100)
    (64, 128)
    """
    entries, tensors = sum(sizes), len(sizes)
    norms = _NORM * entries + _NORM_CALL * tensors
    rest = (_COUNTED + _MOVED) * entries + (_COUNT_CALL + _MOVE_CALL) * tensors
    k = _LEAST
    while k < min(_MOST, rest / (_PART * norms)):
        k *= 2
    return k

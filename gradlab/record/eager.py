"""Steps on the host, as fast as NumPy goes: large tensors are measured at once, the rest for many steps together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._base.arrays import quiet
from .layout import Layout
from .measure import careful, measure, well_inside
from .merge import Columns, from_steps

_STEPS, _ENTRIES = 64, 2**20  # that wait at most: 4 MiB

# Of a large tensor norm, largest entry and how many are not finite, and its sampled entries; a small one as it is.
Part: TypeAlias = "tuple[tuple[float, float, int], np.ndarray] | np.ndarray"


class Waiting:
    """Steps on their way to their buckets. What a step costs by itself is calls of NumPy, so they are few."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._small = [k for k, size in enumerate(layout.sizes) if layout.is_small(size)]
        self._large = [k for k, size in enumerate(layout.sizes) if not layout.is_small(size)]
        self._ends = np.cumsum([layout.sizes[k] for k in self._small])
        self._most = min(_STEPS, max(1, _ENTRIES // max(1, sum(layout.sizes[k] for k in self._small))))
        self._steps: list[tuple[list[Any], np.ndarray, Sequence[float], tuple[float, bool]]] = []

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def full(self) -> bool:
        return len(self) >= self._most

    @quiet
    def parts(self, tensors: Mapping[int, np.ndarray]) -> list[Part]:
        """Return what a step needs of some tensors, by their number; each flat, float32."""
        small, places = self._layout.is_small, self._layout.places
        return [g if small(g.size) else (measure(g), g.take(places[k])) for k, g in tensors.items()]

    def add(self, parts: Sequence[Part], scalars: Sequence[float], scale: float, skipped: bool) -> None:
        """One step more, of all tensors; `scalars` are seconds and the layout's own, NaN where there is none.

        Small tensors are copied, for their memory may hold another gradient soon.
        """
        whole: Sequence[Any] = parts  # which small ones are
        small = np.concatenate([whole[k] for k in self._small]) if self._small else np.zeros(0, np.float32)
        self._steps.append(([parts[k] for k in self._large], small, scalars, (scale, skipped)))

    def take(self, number: int) -> Columns:
        """A bucket for each step, the first of them step `number`, and none waits any more."""
        large, small, scalars, marks = zip(*self._steps, strict=True)
        self._steps = []
        blocks = np.split(np.stack(small), self._ends[:-1], axis=1) if self._small else []
        numbers = np.zeros((3, len(scalars), len(self._layout.sizes)))
        entry = [np.empty(0)] * len(self._layout.sizes)
        for k, block in zip(self._small, blocks, strict=True):
            numbers[:, :, k], entry[k] = _by_step(block), block[:, self._layout.places[k]]
        for k, parts in zip(self._large, zip(*large, strict=True), strict=True):
            measured, found = zip(*parts, strict=True)
            numbers[:, :, k], entry[k] = np.transpose(measured), np.stack(found)
        norm, largest = numbers[:2].astype(np.float32)
        step = np.arange(number, number + len(scalars), dtype=np.int32)
        given, (scale, skipped) = np.array(scalars, np.float32), zip(*marks, strict=True)
        return from_steps(
            step, norm, largest, numbers[2].astype(np.int32), np.concatenate(entry, axis=1), given,
            np.array(scale, np.float32), np.array(skipped, bool),
        )  # fmt: skip


@quiet
def _by_step(block: np.ndarray) -> np.ndarray:
    """(3, n) norm, largest entry and count of what is not finite, of each of (n, entries)."""
    squares, largest = (block * block).sum(axis=1), np.abs(block).max(axis=1, initial=0)
    found = np.stack([np.sqrt(squares), largest, np.zeros(len(block))])
    for k in np.flatnonzero(~(well_inside(squares) | (largest == 0))):
        found[:, k] = careful(block[k])
    return found

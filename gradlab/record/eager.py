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
        sizes = np.array(layout.sizes)
        self._small = [k for k, size in enumerate(layout.sizes) if layout.is_small(size)]
        self._large = [k for k, size in enumerate(layout.sizes) if not layout.is_small(size)]
        # Small tensors lie one after another: where each begins, and where their sampled entries are.
        self._starts = np.zeros(len(sizes), np.int64)
        self._starts[self._small] = np.cumsum(sizes[self._small]) - sizes[self._small]
        tensor, place = layout.sampled
        is_small = np.isin(tensor, self._small)
        self._small_entries = np.flatnonzero(is_small)
        self._small_places = self._starts[tensor[is_small]] + place[is_small]
        counts = np.array([len(places) for places in layout.places], np.int64)
        self._entry_ends = np.cumsum(counts)
        self._most = min(_STEPS, max(1, _ENTRIES // max(1, int(sizes[self._small].sum()))))
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
        together = np.stack(small)
        numbers = np.zeros((3, len(scalars), len(self._layout.sizes)))
        entry = np.zeros((len(scalars), len(self._layout.sampled[0])), np.float32)
        entry[:, self._small_entries] = together[:, self._small_places]
        for group in self._layout.groups:
            size = self._layout.sizes[group[0]]
            if self._layout.is_small(size):
                which = list(group)
                of_group = self._starts[which][:, None] + np.arange(size)
                numbers[:, :, which] = _by_step(together[:, of_group])
        for k, parts in zip(self._large, zip(*large, strict=True), strict=True):
            measured, found = zip(*parts, strict=True)
            numbers[:, :, k] = np.transpose(measured)
            entry[:, self._entry_ends[k] - len(found[0]) : self._entry_ends[k]] = np.stack(found)
        norm, largest = numbers[:2].astype(np.float32)
        step = np.arange(number, number + len(scalars), dtype=np.int32)
        given, (scale, skipped) = np.array(scalars, np.float32), zip(*marks, strict=True)
        return from_steps(
            step, norm, largest, numbers[2].astype(np.int32), entry, given,
            np.array(scale, np.float32), np.array(skipped, bool),
        )  # fmt: skip


@quiet
def _by_step(blocks: np.ndarray) -> np.ndarray:
    """(3, n, tensors) norm, largest entry and count of what is not finite, of (n, tensors, entries)."""
    squares, largest = (blocks * blocks).sum(axis=2), np.abs(blocks).max(axis=2, initial=0)
    found = np.stack([np.sqrt(squares), largest, np.zeros(squares.shape)])
    for step, tensor in np.argwhere(~(well_inside(squares) | (largest == 0))):
        found[:, step, tensor] = careful(blocks[step, tensor])
    return found

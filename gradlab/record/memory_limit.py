"""Limit on the state that traced code carries, because every checkpoint of an optimizer holds it."""

from __future__ import annotations

from dataclasses import dataclass

from . import per_step, sketch
from .layout import Layout
from .measure import BINS

NBYTES = 1_000_000
FEWEST = 16  # buckets
_NARROWEST = 256  # bins of a sketch: numbers are known to 1 % where the largest is up to 150 times the smallest
_WORD = 4  # bytes of a number


@dataclass(frozen=True)
class Room:
    """Capacity of a state: `buckets` of each column, bins of norms, `width`, and a `ring` of steps."""

    layout: Layout
    buckets: int
    width: int
    ring: int

    @property
    def bins(self) -> dict[str, int]:
        """Of norms, and of largest entries: half as many, as limits on single entries are asked for less."""
        return {"sketch": self.width, "sketch_largest": self.width // 2}

    @property
    def nbytes(self) -> int:
        """Bytes that the state takes; the sum that the docstring of `Recorder` says."""
        tensors, scalars, entries = len(self.layout.names), len(self.layout.scalars), len(self.layout.sampled[0])
        counts = BINS * tensors * -(-self.buckets // self.layout.histogram_every)
        columns = (self.buckets + 1) * (4 * tensors + 2 * entries + 2 * scalars + 8)
        steps = self.ring * (len(per_step.NAMES) + scalars)
        norms, largest = map(sketch.columns, self.bins.values())
        return _WORD * (columns + counts + norms * (tensors + 2) + largest * (tensors + 1) + steps + 4)


def within(layout: Layout, ring: int, nbytes: int) -> Room:
    """Return as many buckets as fit into a number of bytes, at least `FEWEST`; half of them is for bins of norms."""
    wide = _WORD * sketch.columns(sketch.WIDTH) * len(layout.names) <= nbytes // 2
    width = sketch.WIDTH if wide else _NARROWEST
    low, high = min(FEWEST, layout.capacity), layout.capacity
    while low < high:
        middle = (low + high + 1) // 2
        if Room(layout, middle, width, ring).nbytes <= nbytes:
            low = middle
        else:
            high = middle - 1
    return Room(layout, low, width, ring)

"""How a batch is split, held to its limits and laid out in buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..._base.errors import InvalidArgumentError
from .buffers import ALIGNMENT, Buffers, fill, sizes, static_size
from .entries import Entries
from .minibatches import buckets_of, minibatch_of
from .partitions import Grouped, Limits, check_limits, counts, grouped, within
from .stacking import Layout, Stack, padded

T = TypeVar("T")
Kept = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Host:
    """How batches are split and what happens beyond the limits."""

    layout: Layout
    limits: Mapping[str, Limits | None]
    dropping: bool
    minibatching: bool

    def split(self, found: Mapping[str, Entries]) -> tuple[dict[str, Grouped], int]:
        """The lookups of each stack, and the number of minibatches."""
        n = self.layout.shards
        groups = {name: grouped(e, n) for name, e in found.items()}
        if not self.minibatching or all(self._fits(name, g) for name, g in groups.items()):
            return groups, 1
        buckets = {name: buckets_of(e.columns) for name, e in found.items()}
        apart = {name: grouped(e, n, buckets[name]) for name, e in found.items()}
        limited = ((g, self.limits[name]) for name, g in apart.items())
        minibatch = minibatch_of([(*counts(g, n), limit) for g, limit in limited if limit is not None])
        split = {name: grouped(e, n, buckets[name], minibatch) for name, e in found.items()}
        return split, int(minibatch[-1]) + 1

    def _fits(self, name: str, g: Grouped) -> bool:
        limit = self.limits[name]
        return limit is None or bool(within(g, limit).all())

    def fill(self, s: Stack, g: Grouped, room: int | None, minibatches: int) -> tuple[Buffers, Kept]:
        """The buffers of a stack, and which of its lookups are within the limits, and then within the buffers."""
        limit = self.limits[s.name]
        inside = np.ones(g.columns.size, bool)
        if limit is not None:
            if not self.dropping:
                ids, rows = counts(g, self.layout.shards)
                check_limits(s, ids.max(-1), rows.max(-1), limit, self.layout.per_core)
            inside = within(g, limit)
        made = Grouped(*(x[inside] for x in g))
        size = self._size(s, made, room, minibatches)
        buffers, kept = fill(made, self.layout, size, minibatches, shared=self.minibatching)
        if not (self.dropping or kept.all()):
            raise InvalidArgumentError(
                f"the buffers of stack {s.name!r} hold {size} entries for a core, {kept.size - int(kept.sum())} of "
                f"{kept.size} ids find no room; raise buffer_size, or let ids go with allow_id_dropping=True"
            )
        return buffers, (inside, kept)

    def _size(self, s: Stack, g: Grouped, room: int | None, minibatches: int) -> int:
        limit, step = self.limits[s.name], ALIGNMENT * self.layout.per_core
        if room is not None:
            size = padded(room, step)
            if limit is not None and size > (most := static_size(limit, self.layout, self.minibatching)):
                raise ValueError(f"buffer_size of stack {s.name!r} can be at most {most}, got {room}")
            return size
        if limit is not None and not self.minibatching:
            return static_size(limit, self.layout)
        need = sizes(g, self.layout, minibatches).totals
        most = need.reshape(self.layout.cores, -1).sum(1).max() if self.minibatching else need.max() * step // ALIGNMENT
        return int(padded(max(most, step), step))


def by_stack(layout: Layout, given: Mapping[str, T] | T | None) -> dict[str, T | None]:
    """What was given for every stack, or by name, by name."""
    names = [s.name for s in layout.stacks]
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, given)
    if unknown := sorted(given.keys() - set(names)):
        raise ValueError(f"there is no stack {unknown[0]!r}; the layout has {', '.join(names)}")
    return {name: given.get(name) for name in names}

"""The layout of tables: those of one width and rule share a stack, dealt out over all SparseCores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..._base.arrays import as_real_numbers
from ..._base.indices import divide
from ..plan import Plan

# Widths, and the rows of a table on one SparseCore, are multiples of these.
WIDTH_MULTIPLE = ROWS_MULTIPLE = 8
ACTIVATION_LIMIT, SHARD_LIMIT, ROW_LIMIT = 2 << 20, 2 << 30, 1 << 31  # bytes, bytes, rows


class Unplaced(NamedTuple):
    """A table that wants a place: only tables of one `group` share a stack.

    `samples` are the rows that one core gets from it, `features` the number of features that read
    it.
    """

    name: str
    rows: int
    width: int
    group: str = ""
    samples: int = 0
    features: int = 1


@dataclass(frozen=True)
class Place:
    """The place of a table: its row r is on SparseCore `shard`, at `position` there.

    shard = (r + rotation) mod shards,    position = offset + r div shards
    """

    table: str
    rows: int
    width: int
    padded_rows: int
    padded_width: int
    offset: int
    rotation: int
    samples: int = 0
    features: int = 1

    def positions(self, shards: int, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the SparseCore of each row, and its position there.

        >>> place = Place("t", 9, 2, 32, 8, offset=10, rotation=1)
        >>> [x.tolist() for x in place.positions(4, [0, 3, 8])]
        [[1, 0, 1], [10, 10, 12]]
        """
        r = np.asarray(rows, np.int64)
        quotient, remainder = divide(r, shards)
        if self.rotation:
            remainder = divide(remainder + self.rotation, shards)[1]
        return remainder, quotient + self.offset

    def columns(self, shards: int, rows: np.ndarray) -> np.ndarray:
        """Return the id of each row in its stack: `position * shards + shard`."""
        if not self.rotation:
            return rows + self.offset * shards
        shard, position = self.positions(shards, rows)
        position *= shards
        position += shard
        return position

    def row_of(self, shards: int, shard: Any, position: Any) -> np.ndarray:
        """Return the inverse of `positions`."""
        row: np.ndarray = (position - self.offset) * shards + divide(shard - self.rotation, shards)[
            1
        ]
        return row


@dataclass(frozen=True)
class Stack:
    """Tables that are looked up as one, of `shards` times `rows_per_shard` rows of one width."""

    name: str
    shards: int
    places: tuple[Place, ...]

    @property
    def width(self) -> int:
        """Of every row, padding included."""
        return self.places[0].padded_width

    @property
    def rows_per_shard(self) -> int:
        """The rows of all its tables on one SparseCore."""
        return sum(p.padded_rows for p in self.places) // self.shards


@dataclass(frozen=True)
class Layout:
    """All stacks of a plan on `cores` TPU cores with `per_core` SparseCores each."""

    cores: int
    per_core: int
    stacks: tuple[Stack, ...]

    @property
    def shards(self) -> int:
        """The number of SparseCores, and so of partitions."""
        return self.cores * self.per_core

    def describe(self) -> str:
        """Return the layout in words, a line for each stack and each of its tables."""
        lines = [f"{self.cores} cores with {self.per_core} SparseCores each, {self.shards} shards"]
        for s in self.stacks:
            lines.append(
                f"stack {s.name}: {s.rows_per_shard} rows of width {s.width} on every SparseCore"
            )
            lines += [_describe_place(s.shards, p) for p in s.places]
        return "\n".join(lines)


def _describe_place(shards: int, p: Place) -> str:
    where = f"rows {p.offset} to {p.offset + p.padded_rows // shards - 1} of every SparseCore"
    return f"  {p.table} ({p.rows} x {p.width}): {where}, its row 0 on SparseCore {p.rotation}"


def stack(
    plan: Plan,
    per_core: int = 4,
    *,
    enabled: bool = True,
    rotation: int | None = None,
    activation_limit: int = ACTIVATION_LIMIT,
    shard_limit: int = SHARD_LIMIT,
) -> Layout:
    """Return the layout of a plan: tables that differ only in name and size share a stack, in the order of names.

    The arguments are those of `stacked`. Keras-RS and jax-tpu-embedding stack so, too, TensorFlow's
    TPUEmbeddingV2 lets tables of different combiners share. Source: `TPUEmbeddingV2`, TensorFlow
    2.21 (2026).

    >>> from gradlab.tpu import Plan, Table
    >>> print(stack(Plan((Table("a", 100, 6), Table("b", 50, 8)), ()), per_core=2).describe())
    1 cores with 2 SparseCores each, 2 shards
    stack a_b: 88 rows of width 8 on every SparseCore
      a (100 x 6): rows 0 to 55 of every SparseCore, its row 0 on SparseCore 0
      b (50 x 8): rows 56 to 87 of every SparseCore, its row 0 on SparseCore 0
    """
    tables = []
    for k, t in sorted(enumerate(plan.tables), key=lambda x: x[1].name):
        group = repr(dataclasses.replace(t, name="", rows=1, width=1))
        tables.append(
            Unplaced(t.name, t.rows, t.width, group, plan.samples_of(k), len(plan.features_of(k)))
        )
    limits = {"activation_limit": activation_limit, "shard_limit": shard_limit}
    return stacked(tables, plan.cores, per_core, enabled=enabled, rotation=rotation, **limits)


def stacked(
    tables: Sequence[Unplaced],
    cores: int,
    per_core: int = 4,
    *,
    enabled: bool = True,
    rotation: int | None = None,
    activation_limit: int = ACTIVATION_LIMIT,
    shard_limit: int = SHARD_LIMIT,
) -> Layout:
    """Return each table goes into the first stack of its width and group that has room, or opens a new one.

        width padded to 8, rows to 8 * shards,    rotation of the k-th table of a stack: k * rotation mod shards

    Args:
        cores, per_core: TPU cores, and SparseCores of each (4 on v5p, 2 on v6e and later).
        enabled: False gives every table a stack of its own.
        rotation: how far the shards of each next table are rotated; None is one core, `per_core`.
        activation_limit: bytes of what one SparseCore looks up from a stack, shard_limit: bytes of
            a stack on one core; a stack stays below both; 0 is no limit at all.

    Raises:
        ValueError: two tables of one name; or the number of SparseCores isn't a power of 2.

    Source: `SparseCoreLayoutStacker`, TensorFlow 2.21 (2026).

    >>> layout = stacked([Unplaced("a", 33, 8), Unplaced("b", 65, 5)], cores=2, per_core=2)
    >>> [(p.table, p.offset, p.rotation) for p in layout.stacks[0].places]
    [('a', 0, 0), ('b', 16, 2)]
    """
    check_shards(cores, per_core)
    if len({t.name for t in tables}) < len(tables):
        raise ValueError(f"tables of a layout need different names, got {[t.name for t in tables]}")
    shards = cores * per_core
    step = per_core if rotation is None else rotation
    groups: dict[tuple[int, str], list[list[Place]]] = {}
    for t in tables:
        new = Place(
            t.name,
            t.rows,
            t.width,
            padded(t.rows, ROWS_MULTIPLE * shards),
            padded(t.width, WIDTH_MULTIPLE),
            0,
            0,
            t.samples,
            t.features,
        )
        open_stacks = groups.setdefault((new.padded_width, t.group), [])
        fitting = (
            s
            for s in open_stacks
            if enabled and _fits([*s, new], cores, per_core, activation_limit, shard_limit)
        )
        chosen = next(fitting, None)
        if chosen is None:
            chosen = []
            open_stacks.append(chosen)
        offset = sum(p.padded_rows for p in chosen) // shards
        chosen.append(dataclasses.replace(new, offset=offset, rotation=len(chosen) * step % shards))
    found = [places for key in sorted(groups) for places in groups[key]]
    return Layout(
        cores, per_core, tuple(Stack("_".join(p.table for p in x), shards, tuple(x)) for x in found)
    )


def _fits(
    places: Sequence[Place], cores: int, per_core: int, activation_limit: int, shard_limit: int
) -> bool:
    activations = sum(4 * p.padded_width * (p.samples // per_core) for p in places)
    shard_bytes = sum(4 * p.padded_width * p.padded_rows // cores for p in places)
    rows = sum(p.padded_rows for p in places)
    sizes = ((activations, activation_limit), (shard_bytes, shard_limit), (rows, ROW_LIMIT))
    return all(not limit or size < limit for size, limit in sizes)


def check_shards(cores: int, per_core: int) -> None:
    """Refuse a number of SparseCores that the hardware cannot have."""
    shards = cores * per_core
    if cores < 1 or per_core < 1 or shards & (shards - 1):
        raise ValueError(
            "the number of SparseCores must be a power of 2, got "
            f"{cores} cores with {per_core} each"
        )


def padded(size: Any, multiple: int) -> Any:
    """Return the next multiple, of a number or of an array.

    >>> padded(9, 8)
    16
    """
    return -(-size // multiple) * multiple


def to_stacks(
    layout: Layout, tables: Mapping[str, Any], padding: float = float("nan")
) -> dict[str, np.ndarray]:
    """Return every stack as one array, the rows of all SparseCores one after another.

    Args:
        tables: (rows, width) arrays by name; slots go the same way.
        padding: what stands in rows and columns that no table has.

    Raises:
        ValueError: a table is missing or has another shape than in the layout.

    TensorFlow pads with zeros. Source: `stack_and_shard_tables`, jax-tpu-embedding 0.1.0 (2026).

    >>> from gradlab.tpu.sparsecore import Unplaced, stacked
    >>> layout = stacked([Unplaced("t", 3, 1)], cores=1, per_core=2)
    >>> to_stacks(layout, {"t": [[5.0], [6.0], [7.0]]})["t"][:, 0].tolist()[:3]
    [5.0, 7.0, nan]
    """
    return {s.name: _filled(s, tables, padding) for s in layout.stacks}


def _filled(stack: Stack, tables: Mapping[str, Any], padding: float) -> np.ndarray:
    out = np.full((stack.shards, stack.rows_per_shard, stack.width), padding, np.float32)
    for p in stack.places:
        if p.table not in tables:
            raise ValueError(
                f"stack {stack.name!r} needs table {p.table!r}, got {', '.join(tables) or 'none'}"
            )
        table = np.asarray(as_real_numbers(tables[p.table], f"table {p.table!r}"), np.float32)
        if table.shape != (p.rows, p.width):
            raise ValueError(
                f"table {p.table!r} must have shape {(p.rows, p.width)}, got {table.shape}"
            )
        out[(*p.positions(stack.shards, np.arange(p.rows)), slice(p.width))] = table
    return out.reshape(-1, stack.width)


def from_stacks(layout: Layout, stacks: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the tables of all stacks, by name, without padding: the inverse of `to_stacks`.

    Raises:
        ValueError: a stack is missing or has another shape than in the layout.

    Source: `unshard_and_unstack_tables`, jax-tpu-embedding 0.1.0 (2026).

    >>> from gradlab.tpu.sparsecore import Unplaced, stacked
    >>> layout = stacked([Unplaced("t", 3, 1)], cores=1, per_core=2)
    >>> from_stacks(layout, to_stacks(layout, {"t": [[5.0], [6.0], [7.0]]}))["t"].tolist()
    [[5.0], [6.0], [7.0]]
    """
    found = {}
    for s in layout.stacks:
        if s.name not in stacks:
            raise ValueError(
                f"the layout needs stack {s.name!r}, got {', '.join(stacks) or 'none'}"
            )
        array, shape = np.asarray(stacks[s.name]), (s.shards * s.rows_per_shard, s.width)
        if array.shape != shape:
            raise ValueError(f"stack {s.name!r} must have shape {shape}, got {array.shape}")
        shards = array.reshape(s.shards, s.rows_per_shard, s.width)
        for p in s.places:
            found[p.table] = shards[(*p.positions(s.shards, np.arange(p.rows)), slice(p.width))]
    return found

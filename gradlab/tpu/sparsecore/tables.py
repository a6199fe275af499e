"""Tables into their stacks and out again, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .stacking import Layout, Stack


def to_stacks(layout: Layout, tables: Mapping[str, Any], padding: float = float("nan")) -> dict[str, np.ndarray]:
    """Every stack as one array, the rows of all SparseCores one after another.

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
            raise ValueError(f"stack {stack.name!r} needs table {p.table!r}, got {', '.join(tables) or 'none'}")
        table = np.asarray(tables[p.table], np.float32)
        if table.shape != (p.rows, p.width):
            raise ValueError(f"table {p.table!r} must have shape {(p.rows, p.width)}, got {table.shape}")
        out[(*p.positions(stack.shards, np.arange(p.rows)), slice(p.width))] = table
    return out.reshape(-1, stack.width)


def from_stacks(layout: Layout, stacks: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The tables of all stacks, by name, without padding: the inverse of `to_stacks`.

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
            raise ValueError(f"the layout needs stack {s.name!r}, got {', '.join(stacks) or 'none'}")
        array, shape = np.asarray(stacks[s.name]), (s.shards * s.rows_per_shard, s.width)
        if array.shape != shape:
            raise ValueError(f"stack {s.name!r} must have shape {shape}, got {array.shape}")
        shards = array.reshape(s.shards, s.rows_per_shard, s.width)
        for p in s.places:
            found[p.table] = shards[(*p.positions(s.shards, np.arange(p.rows)), slice(p.width))]
    return found

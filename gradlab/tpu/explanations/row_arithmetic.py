"""The update of one row, computed again from its lookups: the same sums in the same order, the same rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._base.arrays import flush
from ..._base.library import jnp
from ..plan import NO_LIMITS, Table
from ..stacks import stack_tables
from ..state import State
from ..table_update import TableUpdate, clip_to_limits
from .contributions import Contribution
from .explanation import RuleRun

FAR = 2**31  # units in the last place from a number to NaN or infinity
Row = tuple[np.ndarray, tuple[np.ndarray, ...]]  # weights and slots


def row_of(state: State, table: int, row: int) -> Row:
    """Weights and slots of one row, wherever it is."""
    weights, slots = rows_at(state, table, np.array([row]))
    return weights[0], tuple(s[0] for s in slots)


def rows_at(state: State, table: int, rows: np.ndarray) -> Row:
    """Weights and slots of some rows."""
    within = stack_tables(state.plan, state.placement)
    array, first = within.locate(table)
    shards, ids = within.placement.of(array).shards(within.plan.tables[array].rows), rows + first
    places = jnp.asarray(shards.owner(ids) * shards.size + shards.place(ids))
    return np.asarray(state.tables[array][places]), tuple(np.asarray(s[places]) for s in state.slots[array])


def core_sums(update: TableUpdate, made: Sequence[Contribution]) -> dict[int, np.ndarray]:
    """The row as each core has it."""
    return {core: _sum([x for c, x in _terms(update, made) if c == core]) for core in sorted({c.core for c in made})}


def totals(update: TableUpdate, made: Sequence[Contribution]) -> list[np.ndarray]:
    """The gradient of each run of the rule on the row."""
    sums = list(core_sums(update, made).values())
    if not update.table.accumulate:
        return sums if update.policy.without_accumulation == "core" else [x for _, x in _terms(update, made)]
    if not sums:
        return [] if update.rule.lazy else [np.zeros(update.table.width, np.float32)]
    return [_sum(sums)]


def runs(update: TableUpdate, start: Row, gradients: Sequence[np.ndarray], rate: Any) -> Iterator[RuleRun]:
    """The rule on the row, once for each gradient."""
    w, slots = start
    for total in gradients:
        whole_slots = tuple(jnp.asarray(s)[None] for s in slots)
        stages = update.stages(jnp.asarray(w)[None], whole_slots, jnp.asarray(total)[None], rate)
        w = np.asarray(stages.weights)[0]
        slots = tuple(np.asarray(s)[0] for s in stages.slots)
        yield RuleRun(
            total,
            gradient=np.asarray(stages.gradient)[0],
            decay=np.asarray(stages.before_decay)[0] - np.asarray(stages.after_decay)[0],
            free=np.asarray(stages.before_clip)[0],
            weights=w,
            slots=named(update.table, slots),
        )


def named(table: Table, slots: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Slots by name."""
    return dict(zip(table.rule.slots, slots, strict=True))


def ulps(path: Sequence[Row], b: Row) -> int:
    """The distance of a row from the end of a path, in units in the last place of the largest number on it.

    A number that comes out of others is as fine as they are. NaN equals NaN.

    >>> one = np.ones(2, np.float32)
    >>> ulps([(one, ())], (np.nextafter(one, one + 1), ()))
    1
    """
    steps = zip(*([w, *slots] for w, slots in path), strict=True)
    return max(_distance(np.stack(one), y) for one, y in zip(steps, (b[0], *b[1]), strict=True))


def _distance(path: np.ndarray, y: np.ndarray) -> int:
    end, finest = path[-1], np.spacing(np.nanmax(abs(path), axis=0, initial=0))
    same = (end == y) | (np.isnan(end) & np.isnan(y))
    with np.errstate(all="ignore"):
        far = np.ceil(np.nan_to_num(abs(end.astype(float) - y) / finest, nan=np.inf, posinf=FAR))
        return int(np.where(same, 0, np.minimum(far, FAR)).max(initial=0))


def _terms(update: TableUpdate, made: Sequence[Contribution]) -> list[tuple[int, np.ndarray]]:
    """The core and the term of each lookup; clipped where the policy clips terms and not sums."""
    limits = NO_LIMITS if update.clips_sum else update.table.gradient_limits
    return [(one.core, np.asarray(clip_to_limits(one.product, limits))) for one in made]


def _sum(terms: Sequence[np.ndarray]) -> np.ndarray:
    """Added one after another, as the tables do."""
    total = np.zeros_like(terms[0])
    for x in terms:
        total = flush(total + x)
    return total

"""The lookups of a stack, each of the SparseCore that makes it, under the id that its row has in the stack."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._base.indices import divided
from ..batch import Ids, normalized
from ..plan import Feature, Plan, Table
from .stacking import Layout, Stack


class Entries(NamedTuple):
    """Vectors of one length: who looks up (`sparse_cores`), into which of its `samples`, id in the stack, gain, table.

    Lookups of one SparseCore stand in the order of features, samples and ids. `tables` counts the stack's places.
    """

    sparse_cores: np.ndarray
    samples: np.ndarray
    columns: np.ndarray
    gains: np.ndarray
    tables: np.ndarray


class Span(NamedTuple):
    """The place of a feature's samples on every SparseCore: `size` from `start` on; `place` is that of its table."""

    feature: int
    place: int
    start: int
    size: int


def spans(plan: Plan, layout: Layout, stack: Stack) -> list[Span]:
    """The places of a stack's features, in the order of the plan.

    Raises:
        ValueError: the samples of a feature cannot be dealt out evenly; it names the feature.
    """
    order = {p.table: k for k, p in enumerate(stack.places)}
    found, start = [], 0
    for k, f in enumerate(plan.features):
        if (place := order.get(plan.tables[f.table].name)) is None:
            continue
        if f.samples % layout.per_core:
            raise ValueError(
                f"feature {f.name!r} has {f.samples} samples on a core, which {layout.per_core} SparseCores cannot "
                "share evenly; change the batch size or per_core"
            )
        found.append(Span(k, place, start, f.samples // layout.per_core))
        start += found[-1].size
    return found


def entries(
    plan: Plan, layout: Layout, stack: Stack, cores: Sequence[Mapping[str, Ids]], as_found: bool = False
) -> Entries:
    """The lookups of all features of a stack, gains computed, nothing merged.

        column = (id + rotation) mod shards + (id - id mod shards) + offset * shards

    Args:
        cores: for each core the ids by feature name.
        as_found: ids outside the table pass as they do on the real host, instead of by the policy.
    """
    small = np.zeros(0, np.int32)
    parts: list[tuple[np.ndarray, ...]] = [(small, small, np.zeros(0, np.int64), np.zeros(0, np.float32), small)]
    for span in spans(plan, layout, stack):
        feature, place = plan.features[span.feature], stack.places[span.place]
        table = plan.tables[feature.table]
        for core, ids in enumerate(cores):
            if (given := ids.get(feature.name)) is None:
                continue
            samples, rows, gains = (
                _passed(feature, table, given, plan) if as_found else _asked(feature, table, given, plan)
            )
            own, within = divided(samples, span.size)
            part = (core * layout.per_core + own, span.start + within, place.columns(stack.shards, rows), gains)
            parts.append((*part, np.full(samples.size, span.place, np.int32)))
    if len(parts) == 2:  # of one feature and core
        return Entries(*parts[1])
    return Entries(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def _asked(feature: Feature, table: Table, given: Ids, plan: Plan) -> tuple[np.ndarray, ...]:
    samples, rows, gains = normalized(feature, table, given, plan.policy)
    return samples.astype(np.int32), rows.astype(np.int64), gains


def _passed(feature: Feature, table: Table, given: Ids, plan: Plan) -> tuple[np.ndarray, ...]:
    """Like `_asked`, with the given ids: their numbers replace ids that are always inside."""
    ids: Any = np.asarray(given.ids)
    numbers = given._replace(ids=np.arange(ids.size))
    samples, which, gains = _asked(feature, dataclasses.replace(table, rows=max(ids.size, 1)), numbers, plan)
    return samples, ids.astype(np.int32).astype(np.int64)[which], gains

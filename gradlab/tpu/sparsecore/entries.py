"""The lookups of a stack, each of the SparseCore that makes it, under the id that its row has in the stack."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..._base.indices import divide
from ..batch import resolve_ids
from ..ids import Ids
from ..plan import Feature, Plan, Table
from .stacking import Layout, Stack, padded

MOST_SAMPLES = 2**26 - 1  # of a stack on one core: the host's sort has 26 bits for them
# Lookups; a larger batch is worked on in pieces, so that it needs little more room than it has.
AT_ONCE = 1 << 20


class Entries(NamedTuple):
    """Vectors of one length: who looks up (`sparse_cores`), into which of its `samples`, id in the stack, gain, table.

    Lookups of one SparseCore stand in the order of features, samples and ids. `tables` counts the
    stack's places.
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
    """Return the places of a stack's features, in the order of the plan.

    Raises:
        ValueError: the samples of a feature cannot be dealt out evenly, or there are too many; it
            names the feature, or the stack.
    """
    order = {p.table: k for k, p in enumerate(stack.places)}
    found, start = [], 0
    for k, f in enumerate(plan.features):
        if (place := order.get(plan.tables[f.table].name)) is None:
            continue
        if f.samples % layout.per_core:
            raise ValueError(
                f"feature {f.name!r} has {f.samples} samples on a core, which {layout.per_core} "
                "SparseCores cannot share evenly; pass a batch of "
                f"{padded(f.samples, layout.per_core)}, filled up with samples without ids, or "
                f"per_core={f.samples & -f.samples}"
            )
        found.append(Span(k, place, start, f.samples // layout.per_core))
        start += found[-1].size
    if start * layout.per_core > MOST_SAMPLES:
        raise ValueError(
            f"stack {stack.name!r} looks up {start * layout.per_core:,} samples on a core, which "
            "exceeds the maximum limit supported by the SparseCore CooFormat sorting key, "
            f"{MOST_SAMPLES:,}; make the batch smaller or use more cores"
        )
    return found


def entries(
    plan: Plan,
    layout: Layout,
    stack: Stack,
    cores: Sequence[Mapping[str, Ids]],
    as_found: bool = False,
) -> Entries:
    """Return the lookups of all features of a stack, gains computed, nothing merged.

        column = (id + rotation) mod shards + (id - id mod shards) + offset * shards

    Args:
        cores: for each core the ids by feature name.
        as_found: ids outside the table pass as they do on the real host, instead of by the policy.
    """
    parts: list[tuple[np.ndarray, ...]] = []
    asked = _passed if as_found else _asked
    for span in spans(plan, layout, stack):
        feature, place = plan.features[span.feature], stack.places[span.place]
        table = plan.tables[feature.table]
        for core, ids in enumerate(cores):
            for piece in _pieces(ids.get(feature.name)):
                samples, rows, gains = asked(feature, table, piece, plan)
                own, within = divide(samples, span.size)
                part = (
                    core * layout.per_core + own,
                    span.start + within,
                    place.columns(stack.shards, rows),
                    gains,
                )
                parts.append((*part, np.full(samples.size, span.place, np.int32)))
    small = np.zeros(0, np.int32)
    return Entries(
        *joined(parts or [(small, small, np.zeros(0, np.int64), np.zeros(0, np.float32), small)])
    )


def joined(parts: list[tuple[np.ndarray, ...]]) -> Iterator[np.ndarray]:
    """Yield each vector of all parts, one part after another; the list is emptied, so that what is joined can go."""
    vectors = [list(x) for x in zip(*parts, strict=True)]
    parts.clear()
    while vectors:
        each = vectors.pop(0)
        yield each[0] if len(each) == 1 else np.concatenate(each)


def _pieces(given: Ids | None) -> Iterator[Ids]:
    """Yield the ids of some samples at a time; all at once if they are few, or not in the order of
    samples.
    """
    if given is None:
        return
    samples = np.asarray(given.samples)
    if samples.size <= AT_ONCE:
        yield given._replace(samples=samples)
        return
    vectors = [None if x is None else np.asarray(x) for x in given]
    shapes = {x.shape for x in vectors if x is not None}
    if len(shapes) > 1 or samples.ndim != 1 or (samples[1:] < samples[:-1]).any():
        yield given
        return
    for begin, end in pairwise(
        [0, *np.searchsorted(samples, samples[AT_ONCE::AT_ONCE]), samples.size]
    ):
        yield Ids(*(None if x is None else x[begin:end] for x in vectors))


def outside(
    plan: Plan, stack: Stack, cores: Sequence[Mapping[str, Ids]], as_found: bool = False
) -> np.ndarray:
    """Count for each table of a stack the ids that it doesn't have; `as_found` as in `entries`: ids of 32 bits."""
    order, found = (
        {p.table: k for k, p in enumerate(stack.places)},
        np.zeros(len(stack.places), np.int64),
    )
    for feature in plan.features:
        table = plan.tables[feature.table]
        for given in (core.get(feature.name) for core in cores if table.name in order):
            if given is not None:
                ids: Any = np.asarray(given.ids)
                ids = ids.astype(np.int32) if as_found else ids
                found[order[table.name]] += np.count_nonzero((ids < 0) | (ids >= table.rows))
    return found


def _asked(feature: Feature, table: Table, given: Ids, plan: Plan) -> tuple[np.ndarray, ...]:
    samples, rows, gains = resolve_ids(feature, table, given, plan.policy)
    return samples.astype(np.int32), rows.astype(np.int64), gains


def _passed(feature: Feature, table: Table, given: Ids, plan: Plan) -> tuple[np.ndarray, ...]:
    """Do what `_asked` does, but let ids outside the table pass: their positions, always inside,
    stand for them.
    """
    ids: Any = np.asarray(given.ids)
    numbers = given._replace(ids=np.arange(ids.size))
    samples, which, gains = _asked(
        feature, dataclasses.replace(table, rows=max(ids.size, 1)), numbers, plan
    )
    return samples, ids.astype(np.int32).astype(np.int64)[which], gains

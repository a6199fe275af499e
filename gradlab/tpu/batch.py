"""Ids of a batch, checked against the plan, each row wanted once: the host's part of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import reals
from .._base.indices import distinct, filled, integers, ranks, roomy
from .._base.library import register
from ..errors import InvalidArgumentError
from .lookups import OUTSIDE, Lookups, combiner_gains
from .placement import Placement
from .plan import Feature, Plan, Table
from .policy import Policy


class Ids(NamedTuple):
    """The ids of one feature on one core: sample, id and weight of each lookup.

    `samples` count the feature's samples in C order of its shape, without the sequence axis, and do not decrease.
    Weights None are all 1. In a sequence `places` are those of its ids; None: 0, 1, ... as they come.
    Source: inputs of op `EnqueueTPUEmbeddingSparseBatch`, TensorFlow 2.21 (2026).

    >>> Ids(samples=[0, 0, 1], ids=[7, 3, 7]).weights is None
    True
    """

    samples: Any
    ids: Any
    weights: Any = None
    places: Any = None


Cores = Sequence[Mapping[str, Ids]] | Mapping[str, Ids]


class Batch(NamedTuple):
    """The lookups of each table of the plan; a JAX tree of arrays, ready for `lookup`. Not in TensorFlow.

    >>> from gradlab.tpu import Plan, Table
    >>> len(make_batch(Plan((Table("t", 10, 1), Table("u", 5, 2)), ()), {}).tables)
    2
    """

    tables: tuple[Lookups, ...]


@dataclass(frozen=True)
class PlacedBatch:
    """A batch whose distinct rows stand in one part of equal length for each device, in the order of devices.

    Its tables are `Lookups` like any other's, so that one device can use them, too; `place_batch` makes it.

    Not in TensorFlow.

    >>> from gradlab.tpu import OneDevice, PlacedBatch
    >>> PlacedBatch((), OneDevice()).tables
    ()
    """

    tables: tuple[Lookups, ...]
    placement: Placement


register(PlacedBatch, ["tables"], ["placement"])


def make_batch(plan: Plan, cores: Cores) -> Batch:
    """Prepare a batch for `lookup`: gains by the combiner, ids by the policy, distinct rows of each core and table.

    Args:
        cores: for each core of the plan, the ids by feature name; a mapping alone is that of the only core. A
            feature that is left out looks nothing up.

    Raises:
        InvalidArgumentError: an id outside its table, where the policy raises; samples that the feature does not have,
            lengths that differ; weights that sum to 0, where the policy raises. It names table, feature, sample and id.
        ValueError: another number of cores, or a feature that the plan does not have. TypeError: no `Ids`.

    Not in TensorFlow, whose host does this behind op `EnqueueTPUEmbeddingSparseBatch` and shows none of it.

    >>> from gradlab.tpu import Feature, Plan, Table
    >>> plan = Plan((Table("t", 10, 1, combiner="mean"),), (Feature("f", 0, (2,)),))
    >>> t = make_batch(plan, {"f": Ids([0, 0, 1], [7, 3, 7])}).tables[0]
    >>> t.unique.tolist(), t.inverse.tolist(), t.weights.tolist()
    ([3, 7], [1, 0, 1], [0.5, 0.5, 1.0])
    """
    each = ids_of_cores(plan, cores)
    return Batch(
        tuple(side_by_side([_of_core(plan, k, c) for c in each], plan.samples_of(k)) for k in range(len(plan.tables)))
    )


def ids_of_cores(plan: Plan, cores: Cores) -> list[Mapping[str, Ids]]:
    """The ids of each core, checked against the plan as `make_batch` says."""
    each = [cores] if isinstance(cores, Mapping) else list(cores)
    if len(each) != plan.cores:
        raise ValueError(f"the plan has {plan.cores} cores, got the ids of {len(each)}")
    names = {f.name for f in plan.features}
    if unknown := sorted({name for core in each for name in core} - names):
        raise ValueError(f"there is no feature {unknown[0]!r}; the plan has {', '.join(sorted(names))}")
    for name, ids in ((name, ids) for core in each for name, ids in core.items()):
        if not isinstance(ids, Ids | None):
            raise TypeError(
                f"feature {name!r} needs Ids(samples, ids), which ids_of(feature, values) makes of lists; got "
                f"{type(ids).__name__}"
            )
    return each


def side_by_side(parts: Sequence[Lookups], end: int) -> Lookups:
    """The lookups of a table by core as one, filled up to equal shares; `end` is the number of samples of a core."""
    most_rows, most = (roomy(max(p[n].size for p in parts)) for n in (0, 1))
    return Lookups(
        np.concatenate([filled(p.unique, most_rows, OUTSIDE) for p in parts]),
        np.concatenate([filled(p.inverse, most, most_rows) for p in parts]),
        np.concatenate([filled(p.samples, most, end) for p in parts]),
        np.concatenate([filled(p.weights, most, 0) for p in parts]),
    )


def _of_core(plan: Plan, k: int, ids: Mapping[str, Ids]) -> Lookups:
    """The lookups of one core, nothing filled up."""
    table, start, parts = plan.tables[k], 0, []
    for n in plan.features_of(k):
        feature = plan.features[n]
        if (given := ids.get(feature.name)) is not None:
            samples, rows, weights = normalized(feature, table, given, plan.policy)
            parts.append((samples + np.uint32(start), rows, weights))
        start += feature.samples
    empty = (np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0, np.float32))
    samples, rows, weights = (np.concatenate(x) for x in zip(empty, *parts, strict=True))
    if table.accumulate or plan.policy.without_accumulation == "core":
        unique, inverse = distinct(rows)
    else:
        unique, inverse = rows, np.arange(rows.size, dtype=np.uint32)
    return Lookups(unique, inverse, samples, weights)


def normalized(feature: Feature, table: Table, given: Ids, policy: Policy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Output row, table row and gain of each lookup that is made (uint32, uint32, float32)."""
    length = feature.sequence_length
    count = feature.samples // length if length else feature.samples
    name = f"feature {feature.name!r}"
    samples = integers(given.samples, f"the samples of {name}").astype(np.int64)
    ids = integers(given.ids, f"the ids of {name}")
    weights = None if given.weights is None else np.asarray(reals(given.weights, f"the weights of {name}"), np.float32)
    _check(feature, samples, ids, weights, count)
    rows, keep = rows_of(feature, table, samples, ids, policy)
    if length:
        samples, inside = _in_sequence(feature, samples, given.places)
        keep, gains = keep & inside, np.ones(samples.size, np.float32)
    else:
        gains = combiner_gains(samples, weights, count, table.combiner)
        if policy.zero_normalizer == "raise" and table.combiner != "sum":
            _check_gains(feature, samples, gains, count)
    at, wanted = samples.astype(np.uint32), rows.astype(np.uint32)
    return (at, wanted, gains) if keep.all() else (at[keep], wanted[keep], gains[keep])


def _in_sequence(feature: Feature, samples: np.ndarray, places: Any) -> tuple[np.ndarray, np.ndarray]:
    """The output position of each id of a sequence, and whether it is inside."""
    if (samples[1:] < samples[:-1]).any():
        raise InvalidArgumentError(f"the samples of feature {feature.name!r}, a sequence, must not decrease")
    place = (
        ranks(samples)
        if places is None
        else integers(places, f"the places of feature {feature.name!r}").astype(np.int64)
    )
    return samples * feature.sequence_length + place, (place >= 0) & (place < feature.sequence_length)


def _check_gains(feature: Feature, samples: np.ndarray, gains: np.ndarray, count: int) -> None:
    """Refuse a sample all of whose gains are 0: its weights, or their squares, sum to 0."""
    dead = np.bincount(samples, gains != 0, count)[samples] == 0
    if dead.any():
        raise InvalidArgumentError(
            f"the weights of feature {feature.name!r}, sample {samples[np.argmax(dead)]}, sum to 0, and the combiner "
            "divides by their sum; Policy(zero_normalizer='zero') would make the sample 0"
        )


def _check(feature: Feature, samples: np.ndarray, ids: np.ndarray, weights: np.ndarray | None, count: int) -> None:
    sizes = {"samples": samples.shape, "ids": ids.shape} | ({} if weights is None else {"weights": weights.shape})
    if len(set(sizes.values())) > 1 or samples.ndim != 1:
        raise InvalidArgumentError(f"feature {feature.name!r} needs vectors of one length, got {sizes}")
    if samples.size and not 0 <= samples.min() <= samples.max() < count:
        raise InvalidArgumentError(
            f"feature {feature.name!r} has samples 0 to {count - 1}, got {samples.min()} to {samples.max()}"
        )


def rows_of(
    feature: Feature, table: Table, samples: np.ndarray, ids: np.ndarray, policy: Policy
) -> tuple[np.ndarray, np.ndarray]:
    """The table row of each id, by the policy, and whether it is looked up."""
    if not ids.size or 0 <= ids.min() <= ids.max() < table.rows:
        return ids, np.ones(ids.size, bool)
    inside = (ids >= 0) & (ids < table.rows)
    if policy.out_of_range == "raise":
        at = int(np.argmin(inside))
        raise InvalidArgumentError(
            f"id {ids[at]} of feature {feature.name!r}, sample {samples[at]}, is outside table {table.name!r}, whose "
            f"rows are 0 to {table.rows - 1}; Policy(out_of_range='drop', 'clamp' or 'wrap') would let it pass"
        )
    if policy.out_of_range == "drop":
        return np.where(inside, ids, 0), inside
    wide = ids if ids.dtype == np.uint64 else ids.astype(np.int64)
    rows = np.clip(wide, 0, table.rows - 1) if policy.out_of_range == "clamp" else wide % table.rows
    return rows, np.ones(ids.size, bool)

"""The host's part of a step: the ids of all cores become a batch.

`make_classic_batch` checks ids against the plan, applies the policy to those outside their table,
turns weights into gains by the combiner, and has each core fetch every row once. The result is one
`Lookups` for each table. `combiner_gains` and `coo_rows` are TensorFlow's arithmetic for it, which
the SparseCore engine uses, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._base.arrays import as_real_numbers, quiet
from .._base.indices import as_integers, find_distinct, pad_to, padded_size, rank_in_groups
from .._base.jax_or_numpy import register_tree
from ..errors import InvalidArgumentError
from .ids import Ids
from .plan import PADDING_ID, Combiner, Feature, Plan, Policy, Table
from .row_owners import Placement

Cores = Sequence[Mapping[str, Ids]] | Mapping[str, Ids]


class Lookups(NamedTuple):
    """The lookups of one table, those of all cores one after another; every core has as many.

    The rows `unique` are fetched once each (`PADDING_ID`: none), lookup n is row
    `unique[inverse[n]]` of its own core times `weights[n]`, and goes into sample `samples[n]` of
    its core, features counted one after another. A lookup that only fills up has `inverse` and
    `samples` past their ends and weight 0. These are the deduplication data: uint32, uint32,
    uint32, float32. Not in TensorFlow: the engine's own order of these vectors is not public.

    >>> lookups = Lookups(np.uint32([3, 7]), np.uint32([1, 0, 1]), np.uint32([0, 0, 1]), np.float32([0.5, 0.5, 1]))
    >>> lookups.unique[lookups.inverse].tolist()
    [7, 3, 7]
    """

    unique: Any
    inverse: Any
    samples: Any
    weights: Any


class Batch(NamedTuple):
    """The lookups of each table of the plan; a JAX tree of arrays, ready for `lookup`.

    Not in TensorFlow.

    >>> from gradlab.tpu import Plan, Table, make_batch
    >>> len(make_batch(Plan((Table("t", 10, 1), Table("u", 5, 2)), ()), {}).tables)
    2
    """

    tables: tuple[Lookups, ...]


@dataclass(frozen=True)
class PlacedBatch:
    """A batch whose distinct rows stand in one part of equal length for each device, in the order of devices.

    Its tables are `Lookups` like any other's, so that one device can use them, too; `place_batch`
    makes it.

    Not in TensorFlow.

    >>> from gradlab.tpu import OneDevice, PlacedBatch
    >>> PlacedBatch((), OneDevice()).tables
    ()
    """

    tables: tuple[Lookups, ...]
    placement: Placement


register_tree(PlacedBatch, ["tables"], ["placement"])


def make_classic_batch(plan: Plan, cores: Cores) -> Batch:
    """Prepare a batch for `lookup`: gains by the combiner, ids by the policy, distinct rows of each core and table.

    Args:
        cores: for each core of the plan, the ids by feature name; a mapping alone is that of the
            only core. A feature that is left out looks nothing up.

    Raises:
        InvalidArgumentError: an id outside its table, where the policy raises; samples that the
            feature does not have, lengths that differ; weights that sum to 0, where the policy
            raises. It names table, feature, sample and id.
        ValueError: another number of cores, or a feature that the plan does not have.
        TypeError: not `Ids`.

    Not in TensorFlow, whose host does this behind op `EnqueueTPUEmbeddingSparseBatch` and shows
    none of it.

    >>> from gradlab.tpu import Feature, Plan, Table
    >>> plan = Plan((Table("t", 10, 1, combiner="mean"),), (Feature("f", 0, (2,)),))
    >>> t = make_classic_batch(plan, {"f": Ids([0, 0, 1], [7, 3, 7])}).tables[0]
    >>> t.unique.tolist(), t.inverse.tolist(), t.weights.tolist()
    ([3, 7], [1, 0, 1], [0.5, 0.5, 1.0])
    """
    ids_by_core = check_cores(plan, cores)
    tables = []
    for k in range(len(plan.tables)):
        by_core = [_lookups_of_core(plan, k, ids) for ids in ids_by_core]
        tables.append(concatenate_cores(by_core, plan.samples_of(k)))
    return Batch(tuple(tables))


def check_cores(plan: Plan, cores: Cores) -> list[Mapping[str, Ids]]:
    """Return the ids of each core, checked against the plan as `make_batch` says."""
    ids_by_core = [cores] if isinstance(cores, Mapping) else list(cores)
    if len(ids_by_core) != plan.cores:
        raise ValueError(f"the plan has {plan.cores} cores, got the ids of {len(ids_by_core)}")
    names = {f.name for f in plan.features}
    if unknown := sorted({name for ids in ids_by_core for name in ids} - names):
        raise ValueError(
            f"there is no feature {unknown[0]!r}; the plan has {', '.join(sorted(names))}"
        )
    for ids_by_feature in ids_by_core:
        for name, ids in ids_by_feature.items():
            if not isinstance(ids, Ids | None):
                raise TypeError(
                    f"feature {name!r} needs Ids(samples, ids), which ids_of(feature, values) "
                    f"makes of lists; got {type(ids).__name__}"
                )
    return ids_by_core


def concatenate_cores(by_core: Sequence[Lookups], samples: int) -> Lookups:
    """Return the lookups of a table on all cores, padded so that every core has as many.

    Args:
        samples: the number of samples of a core, which stands for none.
    """
    rows = padded_size(max(part.unique.size for part in by_core))
    count = padded_size(max(part.inverse.size for part in by_core))
    return Lookups(
        np.concatenate([pad_to(part.unique, rows, PADDING_ID) for part in by_core]),
        np.concatenate([pad_to(part.inverse, count, rows) for part in by_core]),
        np.concatenate([pad_to(part.samples, count, samples) for part in by_core]),
        np.concatenate([pad_to(part.weights, count, 0) for part in by_core]),
    )


def _lookups_of_core(plan: Plan, k: int, ids: Mapping[str, Ids]) -> Lookups:
    """Return the lookups of one table on one core, without padding."""
    table = plan.tables[k]
    all_samples = [np.zeros(0, np.uint32)]
    all_rows = [np.zeros(0, np.uint32)]
    all_gains = [np.zeros(0, np.float32)]
    start = 0
    for n in plan.features_of(k):
        feature = plan.features[n]
        feature_ids = ids.get(feature.name)
        if feature_ids is not None:
            samples, rows, gains = resolve_ids(feature, table, feature_ids, plan.policy)
            all_samples.append(samples + np.uint32(start))
            all_rows.append(rows)
            all_gains.append(gains)
        start += feature.samples
    rows = np.concatenate(all_rows)
    if table.accumulate or plan.policy.without_accumulation == "core":
        unique, inverse = find_distinct(rows)
    else:
        unique = rows
        inverse = np.arange(rows.size, dtype=np.uint32)
    return Lookups(unique, inverse, np.concatenate(all_samples), np.concatenate(all_gains))


def resolve_ids(
    feature: Feature, table: Table, ids: Ids, policy: Policy
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return output row, table row and gain of each lookup that is made (uint32, uint32, float32)."""
    length = feature.sequence_length
    count = feature.samples // length if length else feature.samples
    name = f"feature {feature.name!r}"
    samples = as_integers(ids.samples, f"the samples of {name}").astype(np.int64)
    numbers = as_integers(ids.ids, f"the ids of {name}")
    weights = None
    if ids.weights is not None:
        weights = np.asarray(as_real_numbers(ids.weights, f"the weights of {name}"), np.float32)
    _check_vectors(feature, samples, numbers, weights, count)

    rows, keep = rows_of(feature, table, samples, numbers, policy)
    if length:
        samples, fits = _positions_in_sequence(feature, samples, ids.places)
        keep = keep & fits
        gains = np.ones(samples.size, np.float32)
    else:
        gains = combiner_gains(samples, weights, count, table.combiner)
        if policy.zero_normalizer == "raise" and table.combiner != "sum":
            _check_gains(feature, samples, gains, count)
    outputs = samples.astype(np.uint32)
    table_rows = rows.astype(np.uint32)
    if keep.all():
        return outputs, table_rows, gains
    return outputs[keep], table_rows[keep], gains[keep]


def _positions_in_sequence(
    feature: Feature, samples: np.ndarray, places: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the output position of each id of a sequence, and whether the sequence is long enough
    for it.
    """
    if (samples[1:] < samples[:-1]).any():
        raise InvalidArgumentError(
            f"the samples of feature {feature.name!r}, a sequence, must not decrease"
        )
    if places is None:
        place = rank_in_groups(samples)
    else:
        place = as_integers(places, f"the places of feature {feature.name!r}").astype(np.int64)
    fits = (place >= 0) & (place < feature.sequence_length)
    return samples * feature.sequence_length + place, fits


def _check_gains(feature: Feature, samples: np.ndarray, gains: np.ndarray, count: int) -> None:
    """Refuse a sample all of whose gains are 0: its weights, or their squares, sum to 0."""
    is_empty = np.bincount(samples, gains != 0, count)[samples] == 0
    if is_empty.any():
        raise InvalidArgumentError(
            f"the weights of feature {feature.name!r}, sample {samples[np.argmax(is_empty)]}, sum "
            "to 0, and the combiner divides by their sum; Policy(zero_normalizer='zero') would "
            "make the sample 0"
        )


def _check_vectors(
    feature: Feature, samples: np.ndarray, ids: np.ndarray, weights: np.ndarray | None, count: int
) -> None:
    """Refuse samples, ids and weights that aren't vectors of one length, and samples that the
    feature doesn't have.
    """
    shapes = {"samples": samples.shape, "ids": ids.shape}
    if weights is not None:
        shapes["weights"] = weights.shape
    if len(set(shapes.values())) > 1 or samples.ndim != 1:
        raise InvalidArgumentError(
            f"feature {feature.name!r} needs vectors of one length, got {shapes}"
        )
    if samples.size and not 0 <= samples.min() <= samples.max() < count:
        raise InvalidArgumentError(
            f"feature {feature.name!r} has samples 0 to {count - 1}, got {samples.min()} to "
            f"{samples.max()}"
        )


def rows_of(
    feature: Feature, table: Table, samples: np.ndarray, ids: np.ndarray, policy: Policy
) -> tuple[np.ndarray, np.ndarray]:
    """Return the table row of each id, by the policy, and whether it is looked up."""
    if not ids.size or 0 <= ids.min() <= ids.max() < table.rows:
        return ids, np.ones(ids.size, bool)
    inside = (ids >= 0) & (ids < table.rows)
    if policy.out_of_range == "raise":
        n = int(np.argmin(inside))
        raise InvalidArgumentError(
            f"id {ids[n]} of feature {feature.name!r}, sample {samples[n]}, is outside table "
            f"{table.name!r}, whose rows are 0 to {table.rows - 1}; Policy(out_of_range='drop', "
            "'clamp' or 'wrap') would let it pass"
        )
    if policy.out_of_range == "drop":
        return np.where(inside, ids, 0), inside
    # Ids of few bits cannot count the rows of a large table; unsigned ones of 64 bits have no wider
    # type.
    wide = ids if ids.dtype == np.uint64 else ids.astype(np.int64)
    rows = np.clip(wide, 0, table.rows - 1) if policy.out_of_range == "clamp" else wide % table.rows
    return rows, np.ones(ids.size, bool)


# Combiners


class CooRows(NamedTuple):
    """Sample, id and gain of each lookup, three vectors of one length (int32, int32, float32).

    Source: the SparseCore preprocessing kernel `ConvertToCooTensor`, TensorFlow 2.21 (2026).

    >>> CooRows(np.int32([0]), np.int32([7]), np.float32([1.0])).col_ids.tolist()
    [7]
    """

    row_ids: np.ndarray
    col_ids: np.ndarray
    gains: np.ndarray


@quiet
def combiner_gains(
    sample_ids: Any, weights: Any, sample_count: int, combiner: Combiner = "mean"
) -> np.ndarray:
    """Return the factor of each looked-up row before the rows of its sample are summed.

        sum: w,   mean: w / sum(w),   sqrtn: w / sqrt(sum(w * w)),   sums over the lookups of the sample

    An id that a sample names twice counts twice. Where the sum is 0, so is the gain: there is no
    division by zero.

    Args:
        sample_ids: (n,) integers in [0, sample_count).
        weights: (n,) floats, or None for ones.
        sample_count: number of samples, those without ids included.

    Raises:
        ValueError: an unknown combiner.
        InvalidArgumentError: lengths differ, or a sample id is out of range.

    Source: the SparseCore preprocessing kernel `ConvertToCooTensor`, TensorFlow 2.21 (2026).

    >>> combiner_gains([0, 0, 2], [1.0, 3.0, 5.0], 3, "mean").tolist()
    [0.25, 0.75, 1.0]
    """
    samples = _vector("sample_ids", sample_ids, np.int32)
    w = (
        np.ones(samples.size, np.float32)
        if weights is None
        else _vector("weights", weights, np.float32)
    )
    if w.shape != samples.shape:
        raise InvalidArgumentError(
            f"each lookup needs one weight: {samples.size} sample_ids, {w.size} weights"
        )
    if samples.size and not 0 <= samples.min() <= samples.max() < sample_count:
        raise InvalidArgumentError(
            f"sample_ids must be in [0, {sample_count}), got {samples.min()} to {samples.max()}"
        )
    if combiner == "sum":
        return w
    if combiner not in ("mean", "sqrtn"):
        raise ValueError(f"combiner must be 'sum', 'mean' or 'sqrtn', got {combiner!r}")
    total = np.zeros(sample_count, np.float32)
    np.add.at(total, samples, w if combiner == "mean" else w * w)
    divisor = total if combiner == "mean" else np.sqrt(total)
    gains: np.ndarray = w * np.where(divisor == 0, np.float32(0), np.float32(1) / divisor)[samples]
    return gains


def coo_rows(
    sample_ids: Any, values: Any, weights: Any, sample_count: int, combiner: Combiner = "mean"
) -> CooRows:
    """Return the lookups of a batch as coordinates; neighbors with the same id in the same sample become one.

    Gains are computed first and then added, so this changes no sum. An id that comes again after a
    different one stays as it is.

    Args:
        sample_ids, values: (n,) integers, the sample and the id of each lookup, ordered by sample.
        weights: (n,) floats, or None for ones.
        sample_count, combiner: as for `combiner_gains`, which raises what this raises.

    Source: the SparseCore preprocessing kernel `ConvertToCooTensor`, TensorFlow 2.21 (2026).

    >>> rows = coo_rows([0, 0, 1], [5, 5, 5], [1.0, 2.0, 4.0], 2, "sum")
    >>> rows.row_ids.tolist(), rows.col_ids.tolist(), rows.gains.tolist()
    ([0, 1], [5, 5], [3.0, 4.0])
    """
    gains = combiner_gains(sample_ids, weights, sample_count, combiner)
    samples = _vector("sample_ids", sample_ids, np.int32)
    ids = _vector("values", values, np.int32)
    if ids.shape != samples.shape:
        raise InvalidArgumentError(
            f"each lookup needs one id: {samples.size} sample_ids, {ids.size} values"
        )
    is_first = np.ones(samples.size, bool)
    is_first[1:] = (samples[1:] != samples[:-1]) | (ids[1:] != ids[:-1])
    sums = np.zeros(int(is_first.sum()), np.float32)
    np.add.at(sums, np.cumsum(is_first) - 1, gains)
    return CooRows(samples[is_first], ids[is_first], sums)


def _vector(name: str, x: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(x)
    if array.ndim != 1:
        raise InvalidArgumentError(f"{name} must be a vector, got shape {array.shape}")
    return array.astype(dtype)

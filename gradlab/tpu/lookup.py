"""The forward half of a step: each row is fetched once, scaled, and summed into samples.

`lookup` is what callers see. On a mesh `_activations_on_device` runs on every device;
`_look_up_table` asks the owners of the rows for them. `sum_rows` does the work of both halves of
a step: here it sums rows into samples, in `update` gradients of samples into rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._base.arrays import Array, add_rows, is_jax, namespace, take_rows
from .._base.jax_or_numpy import jax, jnp, map_over_cores, tree_map
from ..errors import InvalidArgumentError
from .batch import Batch, Lookups
from .plan import Plan, Table
from .row_owners import Copies, OnMesh, Placement, TablePlacement
from .stacks import stack_tables
from .state import State
from .storage import quantize

Dedup = tuple[tuple[Array, ...], ...]

# Whose scaled rows stay in a processor's cache between being computed and being added.
CACHED_LOOKUPS = 1024


def lookup(state: State, batch: Batch) -> tuple[tuple[Array, ...], Dedup]:
    """Return the activations of every feature, and the deduplication data that the update needs.

        activation[sample] = sum over its lookups of weight * row[unique[inverse]]

    Pure: jit-able, vmap-able. A sample without ids gets 0.

    Returns:
        (activations, dedup): for each feature of the plan, float32 of shape
        `plan.activation_shape(k)`; and a tuple with one tuple of vectors: for each table unique
        ids, inverse and samples (uint32), then weights (float32). See `Lookups`.

    Raises:
        InvalidArgumentError: a batch of another plan.

    The engine's own order of these vectors is not public. Source: ops
    `XlaRecvTPUEmbeddingActivations` and `XlaRecvTPUEmbeddingDeduplicationData`, TensorFlow 2.21
    (2026).

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch
    >>> plan = Plan((Table("t", 4, 1, combiner="sum"),), (Feature("f", 0, (2,)),))
    >>> state = create(plan, [jnp.arange(4.0)[:, None]])
    >>> activations, dedup = lookup(state, make_batch(plan, {"f": Ids([0, 0, 1], [3, 1, 3])}))
    >>> activations[0].ravel().tolist()
    [4.0, 3.0]
    """
    state.placement.check(batch)
    stacked = stack_tables(state.plan, state.placement)
    num_tables = len(stacked.plan.tables)
    if len(batch.tables) != num_tables:
        raise InvalidArgumentError(
            f"the plan has {num_tables} tables, the batch is for {len(batch.tables)}"
        )
    tables = tuple(Lookups(*(jnp.asarray(x) for x in lookups)) for lookups in batch.tables)
    run = partial(_activations_on_device, stacked.plan, stacked.placement)
    activations = stacked.placement.run(run, state.tables, tables, specs=specs_of(state)[:1])
    return activations, pack_dedup(tables)


def pack_dedup(tables: Sequence[Lookups]) -> Dedup:
    """Return the deduplication data: one tuple, with the vectors of each table in turn."""
    return (tuple(x for lookups in tables for x in lookups),)


def specs_of(state: State) -> tuple[Any, ...]:
    """Return the specs of tables and slots on a mesh: a tree for each of the two."""
    stacked = stack_tables(state.plan, state.placement)
    placement = stacked.placement
    if not isinstance(placement, OnMesh):
        return ()
    tables = []
    slots = []
    for k, table in enumerate(stacked.plan.tables):
        here = placement.of(k)
        tables.append(here.spec)
        row_slots = table.rule.row_slots
        slots.append(
            tuple(here.row_spec if name in row_slots else here.spec for name in table.rule.slots)
        )
    return tuple(tables), tuple(slots)


def _activations_on_device(
    plan: Plan, placement: Placement, tables: tuple[Array, ...], lookups: tuple[Lookups, ...]
) -> tuple[Array, ...]:
    cores = plan.cores // placement.devices
    outputs = [
        _look_up_table(table, tables[k], lookups[k], cores, plan.samples_of(k), placement.of(k))
        for k, table in enumerate(plan.tables)
    ]
    return split_features(plan, outputs)


def _look_up_table(
    table: Table, w: Array, lookups: Lookups, cores: int, samples: int, placement: TablePlacement
) -> Array:
    """Return (cores, samples, width): the combined rows of one table."""
    is_local = placement.devices == 1
    if is_local and table.levels is None:
        # Rows go straight from the table into samples.

        def sum_from_table(core: Lookups) -> Array:
            ids = take_rows(core.unique, core.inverse)
            return sum_rows(samples, w, ids, core.samples, core.weights)

        return each_core(sum_from_table, lookups, cores)

    if is_local:
        rows = take_rows(w, lookups.unique)
    else:
        ids = placement.to_owners(lookups.unique, cores)
        rows = take_rows(w, placement.places(ids, table.rows))
    if table.levels is not None:
        rows = quantize(rows, *table.levels)
    if not is_local and not isinstance(placement, Copies):
        rows = placement.to_cores(rows, cores)

    def sum_from_rows(core: tuple[Lookups, Array]) -> Array:
        lookups, rows = core
        return sum_rows(samples, rows, lookups.inverse, lookups.samples, lookups.weights)

    return each_core(sum_from_rows, (lookups, rows), cores)


def each_core(function: Any, tree: Any, cores: int) -> Array:
    """Return `function` of each core's share of the vectors in `tree`, stacked."""
    shares = tree_map(lambda x: x.reshape(cores, len(x) // cores, *x.shape[1:]), tree)
    return map_over_cores(function, shares, cores)


def split_features(plan: Plan, outputs: list[Array]) -> tuple[Array, ...]:
    """Return the activations of each feature from (cores, samples, width) of each table."""
    starts = [0] * len(plan.tables)
    activations = []
    for k, feature in enumerate(plan.features):
        start = starts[feature.table]
        end = start + feature.samples
        starts[feature.table] = end
        samples = outputs[feature.table][:, start:end]
        shape = plan.activation_shape(k)[1:]
        activations.append(samples.reshape(samples.shape[0] * feature.shape[0], *shape))
    return tuple(activations)


def join_features(plan: Plan, gradients: Sequence[Array], cores: int) -> list[Array]:
    """Return the inverse of `split_features`, for gradients."""
    by_table: list[list[Array]] = [[] for _ in plan.tables]
    for feature, gradient in zip(plan.features, gradients, strict=True):
        width = plan.tables[feature.table].width
        by_table[feature.table].append(gradient.reshape(cores, feature.samples, width))
    joined: list[Array] = []
    for table, parts in zip(plan.tables, by_table, strict=True):
        parts = parts or [np.zeros((cores, 0, table.width), np.float32)]
        joined.append(jnp.concatenate(parts, axis=1))
    return joined


def identity(terms: Array) -> Array:
    """Return the terms as they are."""
    return terms


def sum_rows(
    count: int,
    rows: Array,
    take: Array,
    put: Array,
    weights: Array,
    change: Callable[[Array], Array] = identity,
) -> Array:
    """Return (count, width): the sums of scaled rows.

        result[put[n]] += change(rows[take[n]] * weights[n])

    Terms are added one after another. Those with `put` past the end are dropped.
    """
    zeros = namespace(rows).zeros((count, rows.shape[-1]), rows.dtype)
    if not rows.shape[0]:
        return zeros

    def add(total: Array, lookups: tuple[Array, Array, Array]) -> Array:
        take, put, weights = lookups
        return add_rows(total, put, change(take_rows(rows, take) * weights[:, None]))

    def add_in_parts(total: Array, lookups: tuple[Array, Array, Array]) -> Array:
        parts = tree_map(lambda x: x.reshape(-1, CACHED_LOOKUPS), lookups)
        total, _ = jax.lax.scan(lambda total, part: (add(total, part), None), total, parts)
        return total

    lookups = (take, put, weights)
    if not is_jax(rows) or take.shape[0] <= CACHED_LOOKUPS or take.shape[0] % CACHED_LOOKUPS:
        return add(zeros, lookups)
    # On a CPU all scaled rows at once would be as many bytes again as the activations of a batch
    # in which every lookup is a sample, newly allocated at every step. Parts change no sum.
    result: Array = jax.lax.platform_dependent(zeros, lookups, cpu=add_in_parts, default=add)
    return result

"""The forward half of a step: rows are fetched once each, scaled, and summed into samples.

The sums of scaled rows are the work of both halves: here rows into samples, in `update` gradients of samples into rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._base.arrays import Array, add_rows, is_jax, namespace, take_rows
from .._base.library import jax, jnp, of_cores, tree_map
from ..errors import InvalidArgumentError
from .batch import Batch
from .lookups import Lookups
from .placement import ONE_DEVICE, Copies, OfTable, OnMesh, Placement
from .plan import Plan, Table
from .stacks import inside
from .state import State
from .storage import quantize

Dedup = tuple[tuple[Array, ...], ...]


def lookup(state: State, batch: Batch) -> tuple[tuple[Array, ...], Dedup]:
    """Activations of every feature, and the deduplication data that the update needs.

        activation[sample] = sum over its lookups of weight * row[unique[inverse]]

    Pure: jit-able, vmap-able. A sample without ids gets 0.

    Returns:
        activations: for each feature of the plan, float32 of shape `plan.activation_shape(k)`.
        dedup: a tuple with one tuple of vectors: for each table unique ids, inverse and samples (uint32), then weights
            (float32). See `Lookups`.

    Raises:
        InvalidArgumentError: a batch of another plan.

    The engine's own order of these vectors is not public. Source: ops `XlaRecvTPUEmbeddingActivations` and
    `XlaRecvTPUEmbeddingDeduplicationData`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch
    >>> plan = Plan((Table("t", 4, 1, combiner="sum"),), (Feature("f", 0, (2,)),))
    >>> state = create(plan, [jnp.arange(4.0)[:, None]])
    >>> activations, dedup = lookup(state, make_batch(plan, {"f": Ids([0, 0, 1], [3, 1, 3])}))
    >>> activations[0].ravel().tolist()
    [4.0, 3.0]
    """
    state.placement.check(batch)
    plan, place, *_ = inside(state.plan, state.placement)
    if len(batch.tables) != len(plan.tables):
        raise InvalidArgumentError(f"the plan has {len(plan.tables)} tables, the batch is for {len(batch.tables)}")
    tables = tuple(Lookups(*(jnp.asarray(x) for x in t)) for t in batch.tables)
    activations = place.run(partial(_activations, plan, place), state.tables, tables, specs=specs_of(state)[:1])
    return activations, packed(tables)


def packed(tables: Sequence[Lookups]) -> Dedup:
    """The deduplication data: one tuple, with the vectors of each table in turn."""
    return (tuple(x for t in tables for x in t),)


def specs_of(state: State) -> tuple[Any, ...]:
    """The specs of tables and slots on a mesh: a tree for each of the two."""
    plan, place, *_ = inside(state.plan, state.placement)
    if not isinstance(place, OnMesh):
        return ()
    ways = [place.of(k) for k in range(len(plan.tables))]
    slots = (
        tuple(way.row_spec if name in t.rule.row_slots else way.spec for name in t.rule.slots)
        for t, way in zip(plan.tables, ways, strict=True)
    )
    return tuple(way.spec for way in ways), tuple(slots)


def _activations(plan: Plan, place: Placement, tables: Any, lookups: Any) -> tuple[Array, ...]:
    cores = plan.cores // place.devices
    outputs = [
        activate(plan.tables[k], w, t, cores, plan.samples_of(k), place.of(k))
        for k, (w, t) in enumerate(zip(tables, lookups, strict=True))
    ]
    return split_features(plan, outputs)


def activate(table: Table, w: Array, lookups: Lookups, cores: int, samples: int, place: OfTable = ONE_DEVICE) -> Array:
    """(cores, samples, width): the combined rows of one table."""
    if place.devices == 1 and table.levels is None:  # rows go straight from the table into samples

        def from_table(t: Lookups) -> Array:
            return sum_rows(samples, w, take_rows(t.unique, t.inverse), t.samples, t.weights)

        return each_core(from_table, lookups, cores)
    is_here = place.devices == 1
    wanted = lookups.unique if is_here else place.places(place.to_owners(lookups.unique, cores), table.rows)
    rows = take_rows(w, wanted)
    if table.levels is not None:
        rows = quantize(rows, *table.levels)
    found = rows if isinstance(place, Copies) or is_here else place.to_cores(rows, cores)

    def on_core(one: tuple[Lookups, Array]) -> Array:
        t, own = one
        return sum_rows(samples, own, t.inverse, t.samples, t.weights)

    return each_core(on_core, (lookups, found), cores)


def each_core(function: Any, tree: Any, cores: int) -> Array:
    """`function` of each core's share of the vectors in `tree`, stacked."""
    shares = tree_map(lambda x: x.reshape(cores, len(x) // cores, *x.shape[1:]), tree)
    return of_cores(function, shares, cores)


def split_features(plan: Plan, outputs: list[Array]) -> tuple[Array, ...]:
    """(cores, samples, width) of each table as activations of each feature."""
    starts, found = [0] * len(plan.tables), []
    for k, f in enumerate(plan.features):
        start = starts[f.table]
        starts[f.table] += f.samples
        own = outputs[f.table][:, start : start + f.samples]
        found.append(own.reshape(own.shape[0] * f.shape[0], *plan.activation_shape(k)[1:]))
    return tuple(found)


def join_features(plan: Plan, gradients: Any, cores: int) -> list[Array]:
    """The inverse of `split_features`, for gradients."""
    joined: list[list[Array]] = [[] for _ in plan.tables]
    for f, g in zip(plan.features, gradients, strict=True):
        joined[f.table].append(g.reshape(cores, f.samples, plan.tables[f.table].width))
    empty = [np.zeros((cores, 0, t.width), np.float32) for t in plan.tables]
    return [jnp.concatenate(parts or [e], axis=1) for parts, e in zip(joined, empty, strict=True)]


PART = 1024  # lookups whose scaled rows stay in a processor's cache between being made and being added


def same(terms: Array) -> Array:
    """The terms as they are."""
    return terms


def sum_rows(
    count: int, rows: Array, take: Array, put: Array, weights: Array, each: Callable[[Array], Array] = same
) -> Array:
    """(count, width): rows `take` times their weights, added one after another at `put`; past the end they are dropped.

        result[put[n]] += each(rows[take[n]] * weights[n])

    On a processor part by part, which changes no sum: all scaled rows at once would be as many bytes again as a batch
    of activations with every lookup a sample, fresh from the system at every step.
    """
    lookups, zeros = (take, put, weights), namespace(rows).zeros((count, rows.shape[-1]), rows.dtype)
    if not rows.shape[0]:
        return zeros
    add = partial(_add, rows, each)

    def in_parts(total: Any, lookups: Any) -> Any:
        parts = tree_map(lambda x: x.reshape(-1, PART), lookups)
        return jax.lax.scan(lambda t, part: (add(t, part), None), total, parts)[0]

    total: Array
    if not is_jax(rows) or take.shape[0] <= PART or take.shape[0] % PART:
        total = add(zeros, lookups)
    else:
        total = jax.lax.platform_dependent(zeros, lookups, cpu=in_parts, default=add)
    return total


def _add(rows: Array, each: Callable[[Array], Array], total: Any, lookups: Any) -> Any:
    take, put, weights = lookups
    return add_rows(total, put, each(take_rows(rows, take) * weights[:, None]))

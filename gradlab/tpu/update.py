"""The backward half of a training step.

    gradients of activations  --row_sums-->  RowSums  --submit_step-->  new tables and slots

`row_sums` turns the gradients of activations into one gradient per row and core. `submit_step`
applies them, or, for a pipelined plan, keeps them until the next step. `update` is both;
`train_step` is lookup, loss and update.

A `Plan` names tables as the user has them. On a mesh several small tables may share one array, a
stack: `stack_tables` translates a plan into the arrays that there are, and everything below works
on those.

All of it is pure. `Placement.run` runs a function on each device with its share of the arrays; the
functions named `..._on_device` are what it runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from .._base.arrays import Array, as_real_numbers, sum_duplicates
from .._base.derivatives import differentiator
from .._base.jax_or_numpy import HAS_JAX, jax, jnp
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from ..rules import Rule, dense_and_sparse
from ..rules.rule import Shared, Slots
from .batch import Batch, Lookups
from .lookup import Dedup, each_core, identity, join_features, lookup, specs_of, sum_rows
from .plan import Plan, Table, Tag
from .row_owners import ONE_DEVICE, Placement
from .stacks import stack_tables
from .state import State
from .table_update import TableUpdate, broadcast_rate, clip_to_limits, update_rows


class RowSums(NamedTuple):
    """Gradients on their way to a table: the sum that each core has for each of its rows."""

    ids: Array  # (cores * rows,); ids past the end of the table are padding
    sums: Array  # (cores * rows, width)


class Step(NamedTuple):
    """The inputs of an update besides the state."""

    rows: tuple[RowSums, ...]  # for each table
    learning_rates: tuple[Array, ...]  # for each tag


def update(
    state: State, gradients: Sequence[Any], learning_rates: Sequence[Any], dedup: Dedup
) -> State:
    """Return the state after one step.

        G[row] = sum over cores of (sum over its lookups there of weight * gradient[sample])
        row, slots = rule(row, slots, G, lr)      with clips and decay as in `update_table`

    Pure: jit-able, vmap-able. Rows that were looked up are updated, by a sum of 0 too; others only
    if the rule isn't lazy. A pipelined plan makes the update of the step before and keeps this one
    for the next. Its first step adds that to the tree, so `jax.lax.scan` has to begin with the
    second.

    Args:
        gradients: for each feature an array of the shape of its activations.
        learning_rates: a scalar for each tag.
        dedup: what `lookup` returned.

    Raises:
        InvalidArgumentError: another number of gradients, rates or vectors, a gradient of another
            shape than its activations (it names the feature), or a rate that isn't a scalar.

    Source: op `XlaSendTPUEmbeddingGradients`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, lookup, make_batch
    >>> table = Table("t", 4, 1, combiner="sum", learning_rate=0.5)
    >>> plan = Plan((table,), (Feature("f", 0, (2,)),))
    >>> state = create(plan, [jnp.zeros((4, 1))])
    >>> batch = make_batch(plan, {"f": Ids([0, 0, 1], [3, 1, 3])})
    >>> activations, dedup = lookup(state, batch)
    >>> update(state, [jnp.array([[1.0], [2.0]])], [], dedup).tables[0].ravel().tolist()
    [0.0, -0.5, 0.0, -1.5]
    """
    plan = state.plan
    check_gradients(plan, gradients)
    rates = check_rates(plan, learning_rates)
    rows = row_sums(plan, gradients, dedup, state.placement)
    return submit_step(state, Step(rows, rates))


def submit_step(state: State, step: Step) -> State:
    """Return the state after a step was submitted.

    The step is applied at once. A pipelined plan applies the step before it, and keeps this one as
    `state.pending`.
    """
    if not state.plan.pipelined:
        return apply_step(state, step)
    if state.pending is not None:
        state = apply_step(state, state.pending)
    return dataclasses.replace(state, pending=step)


def flush_pending(state: State) -> State:
    """Return the state with the pending update of a pipelined plan applied.

    Not in TensorFlow.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, lookup, make_batch
    >>> table = Table("t", 4, 1, learning_rate=0.5)
    >>> plan = Plan((table,), (Feature("f", 0, (1,)),), pipelined=True)
    >>> state = create(plan, [jnp.zeros((4, 1))])
    >>> activations, dedup = lookup(state, make_batch(plan, {"f": Ids([0], [2])}))
    >>> state = update(state, [jnp.ones((1, 1))], [], dedup)
    >>> state.tables[0].ravel().tolist()
    [0.0, 0.0, 0.0, 0.0]
    >>> flush_pending(state).tables[0].ravel().tolist()
    [0.0, 0.0, -0.5, 0.0]
    """
    if state.pending is None:
        return state
    return dataclasses.replace(apply_step(state, state.pending), pending=None)


# From gradients of activations to one gradient per row


def row_sums(
    plan: Plan, gradients: Sequence[Any], dedup: Dedup, placement: Placement = ONE_DEVICE
) -> tuple[RowSums, ...]:
    """Return, for each table, the rows that each core looked up and their summed gradients."""
    stacked = stack_tables(plan, placement)
    cores = stacked.plan.cores // stacked.placement.devices
    floats = tuple(jnp.asarray(g, jnp.float32) for g in gradients)
    run = partial(_row_sums_on_device, stacked.plan, cores)
    lookups = unpack_dedup(stacked.plan, dedup)
    return cast("tuple[RowSums, ...]", stacked.placement.run(run, floats, lookups))


def _row_sums_on_device(
    plan: Plan, cores: int, gradients: tuple[Array, ...], lookups: Sequence[Lookups]
) -> tuple[RowSums, ...]:
    by_table = join_features(plan, gradients, cores)
    return tuple(
        RowSums(table_lookups.unique, _sum_by_row(plan, table, gradient, table_lookups, cores))
        for table, gradient, table_lookups in zip(plan.tables, by_table, lookups, strict=True)
    )


def _sum_by_row(plan: Plan, table: Table, gradient: Array, lookups: Lookups, cores: int) -> Array:
    """Return (cores * rows, width): the sum over the lookups of a row of weight * gradient."""
    width = gradient.shape[-1]
    rows = lookups.unique.shape[0] // cores
    if TableUpdate(table, table.rule, plan.policy).clips_inside_update:
        clip_contribution = identity
    else:
        clip_contribution = partial(clip_to_limits, limits=table.gradient_limits)

    def sum_on_core(core: tuple[Lookups, Array]) -> Array:
        lookups, gradient = core
        samples = gradient.reshape(-1, width)
        return sum_rows(
            rows, samples, lookups.samples, lookups.inverse, lookups.weights, clip_contribution
        )

    return each_core(sum_on_core, (lookups, gradient), cores).reshape(-1, width)


def merge_row_sums(
    plan: Plan, batches: Sequence[tuple[RowSums, ...]], placement: Placement = ONE_DEVICE
) -> tuple[RowSums, ...]:
    """Return the row sums of several batches as those of one."""
    if len(batches) == 1:
        return batches[0]
    stacked = stack_tables(plan, placement)
    run = partial(_merge_on_device, stacked.plan, stacked.placement)
    return cast("tuple[RowSums, ...]", stacked.placement.run(run, tuple(batches)))


def _merge_on_device(
    plan: Plan, placement: Placement, batches: tuple[tuple[RowSums, ...], ...]
) -> tuple[RowSums, ...]:
    cores = plan.cores // placement.devices
    merged = []
    for k, (table, *parts) in enumerate(zip(plan.tables, *batches, strict=True)):
        owners = placement.of(k).shards(table.rows).count
        ids = _concatenate_by_owner([part.ids for part in parts], cores, owners)
        sums = _concatenate_by_owner([part.sums for part in parts], cores, owners)
        if plan.cores == 1 and table.accumulate:
            # A row may now occur twice. With several cores `apply_step` adds up a row's sums
            # anyway.
            ids, sums = sum_duplicates(ids, sums)
        merged.append(RowSums(ids, sums))
    return tuple(merged)


def _concatenate_by_owner(arrays: Sequence[Array], cores: int, owners: int) -> Array:
    """Concatenate by core and owner, the order that `Placement.to_owners` expects."""
    inner = arrays[0].shape[1:]
    by_owner = [x.reshape(cores, owners, -1, *inner) for x in arrays]
    return jnp.concatenate(by_owner, axis=2).reshape(-1, *inner)


def unpack_dedup(plan: Plan, dedup: Dedup) -> list[Lookups]:
    """Return the deduplication data of each table."""
    expected = 4 * len(plan.tables)
    vectors = dedup[0] if isinstance(dedup, tuple | list) and len(dedup) == 1 else None
    if not isinstance(vectors, tuple | list) or len(vectors) != expected:
        raise InvalidArgumentError(
            f"deduplication data are a tuple with one tuple of {expected} vectors, 4 for each "
            "table, as `lookup` gives them"
        )
    arrays = [jnp.asarray(x) for x in vectors]
    return [Lookups(*arrays[k : k + 4]) for k in range(0, expected, 4)]


# From one gradient per row to new tables


def apply_step(state: State, step: Step) -> State:
    """Return the state with every table updated by the row sums of a step."""
    stacked = stack_tables(state.plan, state.placement)
    specs = specs_of(state)
    tables, slots = stacked.placement.run(
        partial(_apply_row_updates_on_device, stacked.plan, stacked.placement),
        state.tables,
        state.slots,
        state.shared,
        step.rows,
        step.learning_rates,
        # The first inputs, tables and slots, lie on the mesh as `specs` say, and so do the results.
        specs=specs,
        out=specs,
    )
    shared = tuple(
        table.rule.advance(values)
        for table, values in zip(stacked.plan.tables, state.shared, strict=True)
    )
    return dataclasses.replace(state, tables=tables, slots=slots, shared=shared)


def _apply_row_updates_on_device(
    plan: Plan,
    placement: Placement,
    tables: tuple[Array, ...],
    slots: tuple[Slots, ...],
    shared: tuple[Shared, ...],
    rows: tuple[RowSums, ...],
    learning_rates: tuple[Array, ...],
) -> tuple[tuple[Array, ...], tuple[Slots, ...]]:
    cores = plan.cores // placement.devices
    new_tables = []
    new_slots = []
    for k, table in enumerate(plan.tables):
        table_placement = placement.of(k)
        ids = table_placement.to_owners(rows[k].ids, cores)
        sums = table_placement.to_owners(rows[k].sums, cores)
        own_rows = RowSums(table_placement.places(ids, table.rows), sums)
        update = TableUpdate(table, rule_at_step(table, shared[k], learning_rates), plan.policy)
        with table_placement.together():
            w, s = _update_one_table(
                update,
                tables[k],
                slots[k],
                own_rows,
                rate_at_step(table, learning_rates),
                plan.cores,
            )
        new_tables.append(w)
        new_slots.append(s)
    return tuple(new_tables), tuple(new_slots)


def _update_one_table(
    update: TableUpdate, w: Array, slots: Slots, rows: RowSums, lr: Any, cores: int
) -> tuple[Array, Slots]:
    ids, sums = rows
    if not update.table.accumulate:
        ids = _make_padding_ids_unique(ids, w.shape[0])
        rates = broadcast_rate(lr, w, sums.shape)
        return dense_and_sparse.each(update, w, slots, IndexedSlices(sums, ids), rates)
    if cores > 1:
        ids, sums = sum_duplicates(ids, sums)
    return update_rows(update, w, slots, ids, sums, lr)


def _make_padding_ids_unique(ids: Array, rows: int) -> Array:
    """Return ids of which no two past the end are the same.

    `dense_and_sparse.each` takes as many turns as the most frequent id has occurrences, and that
    would be the padding.
    """
    return jnp.where(ids < rows, ids, rows + jnp.arange(ids.shape[0], dtype=ids.dtype))


def rate_at_step(table: Table, learning_rates: Sequence[Any]) -> Any:
    """Return the learning rate of a table, which may be one of the step's tags."""
    rate = table.learning_rate
    if isinstance(rate, Tag):
        return learning_rates[rate.number]
    return rate


def rule_at_step(table: Table, shared: Shared, learning_rates: Sequence[Any]) -> Rule:
    """Return the rule of a table with the fields that change from step to step."""
    rule = table.rule.at(shared)
    if table.step_counter is None:
        return rule
    return rule.at({"step_counter": learning_rates[table.step_counter.number]})


# Checks


def check_rates(plan: Plan, learning_rates: Sequence[Any]) -> tuple[Array, ...]:
    """Return the learning rates as float32 scalars, one for each tag.

    Raises:
        InvalidArgumentError: another number of rates, or one that isn't a scalar.
    """
    rates = tuple(
        jnp.asarray(as_real_numbers(r, f"learning rate {k}"), jnp.float32)
        for k, r in enumerate(learning_rates)
    )
    if len(rates) != plan.tag_count:
        raise InvalidArgumentError(
            f"the plan has {plan.tag_count} learning-rate tags, got {len(rates)} rates"
        )
    for k, rate in enumerate(rates):
        if rate.shape:
            raise InvalidArgumentError(
                f"learning rate {k} must be a scalar, got shape {rate.shape}"
            )
    return rates


def check_gradients(plan: Plan, gradients: Sequence[Any]) -> None:
    """Refuse gradients that don't have the shapes of the activations."""
    if len(gradients) != len(plan.features):
        raise InvalidArgumentError(
            f"the plan has {len(plan.features)} features, got {len(gradients)} gradients"
        )
    for k, (feature, gradient) in enumerate(zip(plan.features, gradients, strict=True)):
        as_real_numbers(gradient, f"the gradient of feature {feature.name!r}")
        expected = plan.activation_shape(k)
        if jnp.shape(gradient) != expected:
            raise InvalidArgumentError(
                f"the gradient of feature {feature.name!r} must have the shape of its activations, "
                f"{expected}; got {jnp.shape(gradient)}"
            )


def train_step(
    state: State,
    batch: Batch,
    learning_rates: Sequence[Any],
    loss: Callable[..., Any],
    *arguments: Any,
) -> tuple[Array, State]:
    """Return the loss and the state after lookup, loss, gradients and update.

        activations = lookup(state, batch)
        state = update(state, d loss(activations, *arguments) / d activations)

    Pure. As `jax.jit(train_step, static_argnames="loss", donate_argnums=0)` rows that are looked up
    are read once, and tables are changed in place: a step needs the memory of tables, slots and
    batch. `Training` does the same for tables and a dense tower.

    Args:
        batch: from `make_batch`.
        learning_rates: a scalar for each tag.
        loss: takes the activations, a tuple with an array for each feature, and the other
            arguments; returns a scalar.

    Raises: what `update` raises.

    Not in TensorFlow, where a step is ops between which gradients are tied to activations by name.

    >>> import jax, jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch
    >>> table = Table("t", 4, 1, combiner="sum", learning_rate=0.5)
    >>> plan = Plan((table,), (Feature("f", 0, (2,)),))
    >>> state = create(plan, [jnp.ones((4, 1))])
    >>> batch = make_batch(plan, {"f": Ids([0, 0, 1], [3, 1, 3])})
    >>> step = jax.jit(train_step, static_argnames="loss")
    >>> value, state = step(state, batch, [], lambda activations: activations[0].sum())
    >>> float(value), state.tables[0].ravel().tolist()
    (3.0, [1.0, 0.5, 1.0, 0.0])
    """
    activations, dedup = lookup(state, batch)
    derivative = differentiator().value_and_gradient(loss, compiled=False)
    value, gradients = derivative(activations, *arguments)
    gradients = after_lookup(lambda x: derivative(x, *arguments)[1], activations, gradients)
    return value, update(state, gradients, learning_rates, dedup)


# Updates in place
#
# A loss that is linear in a feature's activations has a gradient that can be computed before the
# rows are read. XLA may then write rows before it reads them, and it copies the table to be safe.
# So such a gradient is made to depend on its activations. Its numbers
# stay equal; a -0 may become 0.


def after_lookup(
    gradients_of: Callable[[tuple[Array, ...]], Any], activations: tuple[Array, ...], gradients: Any
) -> tuple[Array, ...]:
    """Return the gradients; each that doesn't depend on its own activations is made to.

    The numbers are equal; a -0 may become 0.

    Args:
        gradients_of: the function that computed the gradients from the activations; it is traced
            again, and not run.
    """
    if not HAS_JAX:
        # Only JAX may update in place what it has not read yet.
        return tuple(gradients)
    dependent = depends_on_own(gradients_of, activations)
    return tuple(
        g if is_dependent else _make_dependent(g, a)
        for is_dependent, g, a in zip(dependent, gradients, activations, strict=True)
    )


def depends_on_own(
    function: Callable[[tuple[Array, ...]], Any], inputs: tuple[Array, ...]
) -> list[bool]:
    """Return for each input whether the output of the same number depends on it.

    >>> depends_on_own(lambda x: (x[1], x[1] + x[0]), (jnp.ones(1), jnp.ones(1)))
    [False, True]
    """
    from jax.interpreters import partial_eval

    closed = jax.make_jaxpr(function)(inputs)
    count = len(inputs)

    def used(k: int) -> list[bool]:
        _, used_inputs = partial_eval.dce_jaxpr(closed.jaxpr, [n == k for n in range(count)])
        return list(used_inputs)

    return [used(k)[k] for k in range(count)]


def _make_dependent(gradient: Array, activation: Array) -> Array:
    # XLA keeps `activation * 0`, which may be NaN or -0.
    is_finite = jnp.isfinite(activation)
    dependent = gradient + (activation * 0).astype(gradient.dtype)
    return jnp.where(is_finite, dependent, gradient)

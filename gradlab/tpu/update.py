"""The backward half of a step: gradients of activations become one sum for each row, and rows move; and whole steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from .._base.arrays import Array, reals, sum_duplicates
from .._base.derivatives import differentiator
from .._base.library import jnp
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from ..rules import Rule, apply
from ..rules.rule import Shared, Slots
from .batch import Batch
from .lookup import Dedup, each_core, join_features, lookup, same, specs_of, sum_rows
from .lookups import Lookups
from .placement import ONE_DEVICE, Placement
from .plan import Plan, Table, Tag
from .row_update import Around, clipped, move_rows, spread
from .stacks import inside
from .state import State
from .waiting import after_lookup


class RowSums(NamedTuple):
    """Gradients on their way to a table: row ids and the sum that each core has for each of its rows."""

    ids: Array
    sums: Array


class Step(NamedTuple):
    """The inputs of an update besides the state."""

    rows: tuple[RowSums, ...]
    learning_rates: tuple[Array, ...]


def update(state: State, gradients: Sequence[Any], learning_rates: Sequence[Any], dedup: Dedup) -> State:
    """The state after one step.

        G[row] = sum over cores of (sum over its lookups there of weight * gradient[sample])
        row, slots = rule(row, slots, G, lr)        with clips and decay around it: see `update_table`

    Pure: jit-able, vmap-able. Rows that were looked up move, by a sum of 0 too; others only if the rule is not lazy.
    A pipelined plan makes the update of the step before, and keeps this one for the next; its first step adds that to
    the tree, so `jax.lax.scan` has to begin with the second.

    Args:
        gradients: for each feature an array like its activations.
        learning_rates: a scalar for each tag.
        dedup: what `lookup` gave.

    Raises:
        InvalidArgumentError: another number of gradients, rates or vectors, a gradient of another shape than its
            activations (it names the feature), or a rate that isn't a scalar.

    Source: op `XlaSendTPUEmbeddingGradients`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, lookup, make_batch
    >>> plan = Plan((Table("t", 4, 1, combiner="sum", learning_rate=0.5),), (Feature("f", 0, (2,)),))
    >>> state = create(plan, [jnp.zeros((4, 1))])
    >>> activations, dedup = lookup(state, make_batch(plan, {"f": Ids([0, 0, 1], [3, 1, 3])}))
    >>> update(state, [jnp.array([[1.0], [2.0]])], [], dedup).tables[0].ravel().tolist()
    [0.0, -0.5, 0.0, -1.5]
    """
    plan = state.plan
    check_gradients(plan, gradients)
    rates = check_rates(plan, learning_rates)
    return sent(state, Step(row_sums(plan, gradients, dedup, state.placement), rates))


def sent(state: State, now: Step) -> State:
    """The state after a step was sent: it is made, or in a pipelined plan the one before."""
    if not state.plan.pipelined:
        return apply_step(state, now)
    return dataclasses.replace(state if state.pending is None else apply_step(state, state.pending), pending=now)


def flush_pending(state: State) -> State:
    """The state with the update made that a pipelined plan still holds back. Not in TensorFlow.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, lookup, make_batch
    >>> plan = Plan((Table("t", 4, 1, learning_rate=0.5),), (Feature("f", 0, (1,)),), pipelined=True)
    >>> state = create(plan, [jnp.zeros((4, 1))])
    >>> state = update(state, [jnp.ones((1, 1))], [], lookup(state, make_batch(plan, {"f": Ids([0], [2])}))[1])
    >>> state.tables[0].ravel().tolist(), flush_pending(state).tables[0].ravel().tolist()
    ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, -0.5, 0.0])
    """
    return state if state.pending is None else dataclasses.replace(apply_step(state, state.pending), pending=None)


def row_sums(plan: Plan, gradients: Sequence[Any], dedup: Dedup, place: Placement = ONE_DEVICE) -> tuple[RowSums, ...]:
    """For each table the rows that each core touched and their summed gradients."""
    plan, place, *_ = inside(plan, place)
    floats = tuple(jnp.asarray(g, jnp.float32) for g in gradients)
    found: tuple[RowSums, ...] = place.run(
        partial(_row_sums, plan, plan.cores // place.devices), floats, unpacked(plan, dedup)
    )
    return found


def _row_sums(plan: Plan, cores: int, gradients: Any, tables: Any) -> tuple[RowSums, ...]:
    joined = join_features(plan, gradients, cores)
    rules = (Around(table, table.rule, plan.policy) for table in plan.tables)
    return tuple(RowSums(t.unique, _sums(r, g, t, cores)) for r, g, t in zip(rules, joined, tables, strict=True))


def joined_sums(plan: Plan, parts: Sequence[tuple[RowSums, ...]], place: Placement = ONE_DEVICE) -> tuple[RowSums, ...]:
    """The sums of several batches as those of one: each core sends what it has of all of them."""
    if len(parts) == 1:
        return parts[0]
    plan, place, *_ = inside(plan, place)
    joined: tuple[RowSums, ...] = place.run(partial(_joined_sums, plan, place), tuple(parts))
    return joined


def _joined_sums(plan: Plan, place: Placement, parts: tuple[tuple[RowSums, ...], ...]) -> tuple[RowSums, ...]:
    def side_by_side(owners: int, *x: Array) -> Array:
        by_owner = [y.reshape(plan.cores // place.devices, owners, -1, *y.shape[1:]) for y in x]
        return jnp.concatenate(by_owner, axis=2).reshape(-1, *x[0].shape[1:])

    owners = [place.of(k).shards(table.rows).count for k, table in enumerate(plan.tables)]
    joined = tuple(
        RowSums(*(side_by_side(n, *x) for x in zip(*sums, strict=True)))
        for n, *sums in zip(owners, *parts, strict=True)
    )
    if plan.cores > 1:  # then rows of several cores are summed anyway
        return joined
    return tuple(
        RowSums(*sum_duplicates(*sums)) if table.accumulate else sums
        for table, sums in zip(plan.tables, joined, strict=True)
    )


def unpacked(plan: Plan, dedup: Dedup) -> list[Lookups]:
    """The deduplication data by table."""
    given = dedup[0] if isinstance(dedup, tuple | list) and len(dedup) == 1 else None
    if not isinstance(given, tuple | list) or len(given) != 4 * len(plan.tables):
        raise InvalidArgumentError(
            f"deduplication data are a tuple with one tuple of {4 * len(plan.tables)} vectors, 4 for each table, as "
            "`lookup` gives them"
        )
    vectors = [jnp.asarray(x) for x in given]
    return [Lookups(*vectors[k : k + 4]) for k in range(0, len(vectors), 4)]


def _sums(rule: Around, g: Array, lookups: Lookups, cores: int) -> Array:
    rows = lookups.unique.shape[0] // cores
    limited = same if rule.clips_gradient else partial(clipped, limits=rule.table.gradient_limits)

    def on_core(one: tuple[Lookups, Array]) -> Array:
        t, own = one
        return sum_rows(rows, own.reshape(-1, g.shape[-1]), t.samples, t.inverse, t.weights, limited)

    return each_core(on_core, (lookups, g), cores).reshape(-1, g.shape[-1])


def apply_step(state: State, step: Step) -> State:
    """Every table moved by the sums of a step."""
    plan, place, *_ = inside(state.plan, state.placement)
    specs = specs_of(state)
    tables, slots = place.run(
        partial(_moved, plan, place),
        *(state.tables, state.slots, state.shared, step.rows, step.learning_rates),
        specs=specs,
        out=specs,
    )
    shared = tuple(table.rule.advance(common) for table, common in zip(plan.tables, state.shared, strict=True))
    return dataclasses.replace(state, tables=tables, slots=slots, shared=shared)


def _moved(plan: Plan, place: Placement, tables: Any, slots: Any, shared: Any, sums: Any, rates: Any) -> Any:
    cores, moved = plan.cores // place.devices, []
    for k, (table, w, s, common, rows) in enumerate(zip(plan.tables, tables, slots, shared, sums, strict=True)):
        way = place.of(k)
        ids, values = (way.to_owners(x, cores) for x in rows)
        own = RowSums(way.places(ids, table.rows), values)
        whole = Around(table, rule_at(table, common, rates), plan.policy)
        with way.together():
            moved.append(_move(whole, w, s, own, rate_of(table, rates), plan.cores))
    return tuple(w for w, _ in moved), tuple(s for _, s in moved)


def _move(rule: Around, w: Array, slots: Slots, rows: RowSums, lr: Any, cores: int) -> tuple[Array, Slots]:
    if not rule.table.accumulate:
        return apply.each(
            rule, w, slots, IndexedSlices(rows.sums, _told_apart(rows.ids, w.shape[0])), spread(lr, rows.sums)
        )
    ids, sums = rows if cores == 1 else sum_duplicates(rows.ids, rows.sums)
    return move_rows(rule, w, slots, ids, sums, lr)


def _told_apart(ids: Array, rows: int) -> Array:
    """Places without a row made different from one another, or as many turns would be taken as there are of them."""
    return jnp.where(ids < rows, ids, rows + jnp.arange(ids.shape[0], dtype=ids.dtype))


def rate_of(table: Table, learning_rates: Sequence[Any]) -> Any:
    """The learning rate of a table at a step."""
    rate = table.learning_rate
    return learning_rates[rate.number] if isinstance(rate, Tag) else rate


def rule_at(table: Table, common: Shared, learning_rates: Sequence[Any]) -> Rule:
    """The rule of a table with the fields that it has at a step."""
    rule = table.rule.at(common)
    if table.step_counter is None:
        return rule
    return rule.at({"step_counter": learning_rates[table.step_counter.number]})


def check_rates(plan: Plan, learning_rates: Sequence[Any]) -> tuple[Array, ...]:
    """The learning rates as float32 scalars, one for each tag."""
    rates = tuple(jnp.asarray(reals(r, f"learning rate {k}"), jnp.float32) for k, r in enumerate(learning_rates))
    if len(rates) != plan.tag_count:
        raise InvalidArgumentError(f"the plan has {plan.tag_count} learning-rate tags, got {len(rates)} rates")
    for k, r in enumerate(rates):
        if r.shape:
            raise InvalidArgumentError(f"learning rate {k} must be a scalar, got shape {r.shape}")
    return rates


def check_gradients(plan: Plan, gradients: Sequence[Any]) -> None:
    """Refuse gradients that are not shaped like the activations."""
    if len(gradients) != len(plan.features):
        raise InvalidArgumentError(f"the plan has {len(plan.features)} features, got {len(gradients)} gradients")
    for k, (f, g) in enumerate(zip(plan.features, gradients, strict=True)):
        reals(g, f"the gradient of feature {f.name!r}")
        if jnp.shape(g) != plan.activation_shape(k):
            raise InvalidArgumentError(
                f"the gradient of feature {f.name!r} must have the shape of its activations, "
                f"{plan.activation_shape(k)}; got {jnp.shape(g)}"
            )


def train_step(
    state: State, batch: Batch, learning_rates: Sequence[Any], loss: Callable[..., Any], *arguments: Any
) -> tuple[Array, State]:
    """Lookup, loss, gradients and update.

        activations = lookup(state, batch);   state = update(state, d loss(activations, *arguments) / d activations)

    Pure. As `jax.jit(train_step, static_argnames="loss", donate_argnums=0)` rows that are looked up are read once, and
    tables are changed where they are: the memory of a step is that of tables, slots and batch. `Training` does the same
    for tables and a dense tower.

    Args:
        batch: of `make_batch`.
        learning_rates: a scalar for each tag.
        loss: takes the activations, a tuple with an array for each feature, and the other arguments; gives a scalar.

    Raises: what `update` raises.

    Not in TensorFlow, where a step is ops between which gradients are tied to activations by name.

    >>> import jax, jax.numpy as jnp
    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch
    >>> plan = Plan((Table("t", 4, 1, combiner="sum", learning_rate=0.5),), (Feature("f", 0, (2,)),))
    >>> batch, step = make_batch(plan, {"f": Ids([0, 0, 1], [3, 1, 3])}), jax.jit(train_step, static_argnames="loss")
    >>> value, state = step(create(plan, [jnp.ones((4, 1))]), batch, [], lambda activations: activations[0].sum())
    >>> float(value), state.tables[0].ravel().tolist()
    (3.0, [1.0, 0.5, 1.0, 0.0])
    """
    activations, dedup = lookup(state, batch)
    derivative = differentiator().value_and_gradient(loss, compiled=False)
    value, gradients = derivative(activations, *arguments)
    gradients = after_lookup(lambda x: derivative(x, *arguments)[1], activations, gradients)
    return value, update(state, gradients, learning_rates, dedup)

"""`explain`: why a row moved in a step, computed again from what the step was given.

First the ids of the step are followed to the row (`given_ids`, `find_contributions`). Then the sums
and the rule are computed again for this row alone, in the order in which the tables compute them
(`sum_by_core`, `rule_gradients`, `run_rule`). `count_ulps` compares the result with the state after
the step.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..._base.arrays import flush_denormals
from ..._base.indices import rank_in_groups
from ..._base.jax_or_numpy import jnp
from ...errors import InvalidArgumentError
from ..batch import rows_of
from ..engine.system import current_system
from ..ids import Ids
from ..plan import NO_LIMITS, Feature, Plan, Table, Tag
from ..stacks import stack_tables
from ..state import State
from ..step_record import Sent, StepRecord
from ..table_update import TableUpdate, clip_to_limits
from ..update import rate_at_step, rule_at_step
from .explanation import Cause, Contribution, Explanation, Fate, GivenId, RuleRun

MAX_ULPS = 2**31  # stands for the distance of a number from NaN or infinity
Row = tuple[np.ndarray, tuple[np.ndarray, ...]]  # weights and slots


def explain(step: Any = None, *, row: int, table: str | int = 0) -> Explanation:
    """Explain why a row is what it is after a step: the lookups that touched it, their sum, and the rule's result.

        G = sum over cores of (sum over the lookups there of gain * gradient)
        row, slots = rule(row, slots, clip(G), lr)

    The numbers are computed again from what the step was given, and compared with the state
    after it: see `ulps`.

    Args:
        step: a `StepRecord`; or what keeps one of its last step, a system or a `TPUEmbedding`. None
            is the system that `initialize_system` made.
        row: which row.
        table: its name or its number.

    Raises:
        ValueError: no such table, or no step was kept: see `System`.
        FailedPreconditionError: there is no system.
        InvalidArgumentError: the table has no such row; it says what the policy did with an id of
            that number.

    Not in TensorFlow, where rows have no gradient that could be looked at.

    >>> from gradlab.tpu import Feature, Ids, Plan, Sent, StepRecord, Table, create
    >>> plan = Plan((Table("t", 4, 1, combiner="mean", learning_rate=0.5),), (Feature("f", 0, (1,)),))
    >>> step = StepRecord(create(plan, [[[1.0]] * 4]), Sent([[[1.0]]], ids={"f": Ids([0, 0], [2, 3])}))
    >>> print(explain(step, row=2, table="t"))
    Row 2 of table 't' moved: 1 lookup on 1 core.
      core 0, feature 'f', sample 0, position 0: id 2, weight 1, gain 0.5; [1] * gain = [0.5]
      learning rate: 0.5 (constant)
      gradient: [0.5]
      weights: [1] -> [0.75]
    """
    record = find_record(step)
    k = find_table(record.plan, table)
    _check_row(record, k, row)
    described = record.plan.tables[k]
    before = read_row(record.before, k, row)
    slots_before = name_slots(described, before[1])
    make_explanation = partial(
        Explanation,
        table=described,
        row=row,
        weights_before=before[0],
        slots_before=slots_before,
        steps_late=int(record.plan.pipelined),
    )
    sent = _applied_gradients(record)
    if sent is None:
        return make_explanation(
            cause="not yet", rule=described.rule, weights_after=before[0], slots_after=slots_before
        )
    contributions = find_contributions(record.plan, k, row, sent)
    rule = rule_at_step(described, record.before.shared[k], sent.learning_rates)
    rate = rate_at_step(described, sent.learning_rates)
    update = TableUpdate(described, rule, record.plan.policy)
    runs = tuple(run_rule(update, before, rule_gradients(update, contributions), rate))
    path = [before, *((run.weights, tuple(run.slots.values())) for run in runs)]
    left_out = _find_left_out(given_ids(record.plan, k, row, sent), contributions)
    return make_explanation(
        cause=_find_cause(bool(contributions), bool(runs), left_out),
        contributions=contributions,
        core_sums=sum_by_core(update, contributions),
        runs=runs,
        rule=rule,
        learning_rate=float(rate),
        rate_source=f"tag {described.learning_rate.number}"
        if isinstance(described.learning_rate, Tag)
        else "constant",
        weights_after=path[-1][0],
        slots_after=name_slots(described, path[-1][1]),
        left_out=left_out,
        padding=_count_padding(record.plan, k, sent),
        ulps=None if record.after is None else count_ulps(path, read_row(record.after, k, row)),
    )


def find_record(step: Any) -> StepRecord:
    """Return the record of a step, or of the last step of an object that keeps one; None is the running system."""
    if isinstance(step, StepRecord):
        return step
    system = current_system() if step is None else getattr(step, "system", step)
    last: StepRecord | None = getattr(system, "last_step", None)
    if last is None:
        raise ValueError(
            "no step was kept; set keeps_steps = True on the system (that of a TPUEmbedding is its "
            ".system) before the step, or give a StepRecord"
        )
    return last


def find_table(plan: Plan, table: str | int) -> int:
    """Return the number of a table in the plan, by name or number."""
    names = [t.name for t in plan.tables]
    if isinstance(table, str) and table in names:
        return names.index(table)
    if isinstance(table, str) or not 0 <= table < len(names):
        raise ValueError(
            f"there is no table {table!r}; the plan has {', '.join(names)}, 0 to {len(names) - 1}"
        )
    return table


def _applied_gradients(record: StepRecord) -> Sent | None:
    if record.applied is None and record.before.pending is not None:
        raise ValueError(
            "this pipelined step moves rows by what the step before sent; give StepRecord(late=...)"
        )
    return record.applied


def _check_row(record: StepRecord, table: int, row: int) -> None:
    """Refuse a row that the table doesn't have; say what the policy made of an id of that number."""
    described = record.plan.tables[table]
    if 0 <= row < described.rows:
        return
    message = f"table {described.name!r} has the rows 0 to {described.rows - 1}, not {row}"
    sent = record.applied
    same_ids = [g for g in given_ids(record.plan, table, None, sent) if g.id == row] if sent else []
    if same_ids:
        message += "; the step has an id of that number, and the policy "
        moves = record.plan.policy.out_of_range in ("clamp", "wrap")
        message += f"made row {same_ids[0].row} of it" if moves else "dropped it"
    raise InvalidArgumentError(message)


def _find_left_out(
    given: Iterable[GivenId], contributions: Sequence[Contribution]
) -> tuple[GivenId, ...]:
    """Return the ids that became no lookup: cut off, dropped by the policy, or by an engine beyond
    its limits.
    """
    outputs = {(c.core, c.feature, c.sample) for c in contributions}
    left_out = []
    for g in given:
        if g.fate != "looked up":
            left_out.append(g)
        elif (g.core, g.feature, g.sample) not in outputs:
            left_out.append(g._replace(fate="dropped"))
    return tuple(left_out)


def _find_cause(is_touched: bool, rule_ran: bool, left_out: Sequence[GivenId]) -> Cause:
    if is_touched:
        return "looked up"
    if rule_ran:
        return "not lazy"
    fates = {g.fate for g in left_out}
    if "truncated" in fates:
        return "truncated"
    return "dropped" if fates else "never looked up"


def _count_padding(plan: Plan, table: int, sent: Sent) -> int:
    """Return the number of samples without an id."""
    empty = 0
    for ids in sent.cores():
        for k in plan.features_of(table):
            feature = plan.features[k]
            samples = ids[feature.name].samples if feature.name in ids else ()
            count = feature.samples // (feature.sequence_length or 1)
            empty += count - np.unique(np.asarray(samples, np.int64)).size
    return empty


# From ids to contributions


class _Output(NamedTuple):
    """A row of activations, in the terms of the plan; samples count places of sequences too."""

    core: int
    feature: int
    sample: int


def find_contributions(plan: Plan, table: int, row: int, sent: Sent) -> tuple[Contribution, ...]:
    """Return all lookups of a row, core after core, in the order in which they are added."""
    ids_of_output: dict[_Output, list[GivenId]] = defaultdict(list)
    numbers = {f.name: k for k, f in enumerate(plan.features)}
    for g in given_ids(plan, table, row, sent):
        if g.fate == "looked up":
            k = numbers[g.feature]
            length = plan.features[k].sequence_length
            sample = g.sample * length + g.position if length else g.sample
            ids_of_output[_Output(g.core, k, sample)].append(g)

    lookups = list(_outputs_of_row(plan, table, row, sent))
    remaining = Counter(output for output, _ in lookups)
    gradients = [np.asarray(g, np.float32) for g in sent.gradients]
    contributions = []
    for output, gain in lookups:
        remaining[output] -= 1
        ids = ids_of_output[output]
        # Each lookup takes one id of its output; the last one takes all that the engine joined into
        # it.
        if ids and remaining[output]:
            ids = [ids.pop(0)]
        feature = plan.features[output.feature]
        by_core = gradients[output.feature].reshape(plan.cores, feature.samples, -1)
        gradient = by_core[output.core, output.sample]
        contributions.append(_make_contribution(feature, output, gain, gradient, ids))
    return tuple(contributions)


def _outputs_of_row(
    plan: Plan, table: int, row: int, sent: Sent
) -> Iterator[tuple[_Output, np.float32]]:
    """Yield each output that a row goes into, and its gain there."""
    features = plan.features_of(table)
    ends = np.cumsum([plan.features[k].samples for k in features])
    by_core = (np.asarray(x).reshape(plan.cores, -1) for x in sent.lookups(plan).tables[table])
    for core, (unique, inverse, samples, weights) in enumerate(zip(*by_core, strict=True)):
        is_row = np.append(unique == row, False)[np.minimum(inverse, unique.size)]
        for n in np.flatnonzero(is_row):
            k = int(np.searchsorted(ends, samples[n], side="right"))
            start = int(ends[k - 1]) if k else 0
            yield _Output(core, features[k], int(samples[n]) - start), weights[n]


def _make_contribution(
    feature: Feature,
    output: _Output,
    gain: np.float32,
    gradient: np.ndarray,
    ids: Sequence[GivenId],
) -> Contribution:
    sample = output.sample
    position = None
    if feature.sequence_length:
        sample, position = divmod(sample, feature.sequence_length)
    if ids:
        position = ids[0].position
    return Contribution(
        core=output.core,
        feature=feature.name,
        sample=sample,
        position=position,
        given_id=ids[0].id if ids else None,
        given_weight=float(sum(g.weight for g in ids)) if ids else None,
        gain=float(gain),
        gradient=gradient,
        product=flush_denormals(flush_denormals(gradient.copy()) * gain),
        joined=max(len(ids), 1),
    )


def given_ids(plan: Plan, table: int, row: int | None, sent: Sent) -> Iterator[GivenId]:
    """Yield the ids that name a row, looked up or not; of all rows where row is None.

    There are none where the step didn't keep its ids.
    """
    last_row = plan.tables[table].rows - 1
    for core, ids_by_feature in enumerate(sent.cores()):
        for k in plan.features_of(table):
            feature = plan.features[k]
            ids = ids_by_feature.get(feature.name)
            if ids is None:
                continue
            samples, numbers, weights, positions = _read_vectors(ids, feature.sequence_length)
            rows, is_kept = rows_of(feature, plan.tables[table], samples, numbers, plan.policy)
            rows = np.where(is_kept, rows, np.clip(numbers, 0, last_row))
            is_wanted = np.ones(rows.size, bool) if row is None else rows == row
            for n in np.flatnonzero(is_wanted):
                fate: Fate = "looked up"
                if not is_kept[n]:
                    fate = "dropped"
                elif feature.sequence_length and positions[n] >= feature.sequence_length:
                    fate = "truncated"
                yield GivenId(
                    core,
                    feature.name,
                    sample=int(samples[n]),
                    position=int(positions[n]),
                    id=int(numbers[n]),
                    weight=float(weights[n]),
                    row=int(rows[n]),
                    fate=fate,
                )


def _read_vectors(ids: Ids, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the sample, id, weight and position of each."""
    samples = np.asarray(ids.samples, np.int64)
    numbers = np.asarray(ids.ids)
    weights = (
        np.ones(numbers.size, np.float32)
        if ids.weights is None
        else np.asarray(ids.weights, np.float32)
    )
    positions = getattr(ids, "places", None)
    if not length or positions is None:
        positions = rank_in_groups(samples)
    return samples, numbers, weights, np.asarray(positions, np.int64)


# The arithmetic of one row


def read_row(state: State, table: int, row: int) -> Row:
    """Return the weights and slots of one row, whatever device has it."""
    weights, slots = read_rows(state, table, np.array([row]))
    return weights[0], tuple(s[0] for s in slots)


def read_rows(state: State, table: int, rows: np.ndarray) -> Row:
    """Return the weights and slots of some rows."""
    arrays = stack_tables(state.plan, state.placement)
    k, first = arrays.locate(table)
    ids = rows + first
    shards = arrays.placement.of(k).shards(arrays.plan.tables[k].rows)
    places = jnp.asarray(shards.owner(ids) * shards.size + shards.place(ids))
    return np.asarray(state.tables[k][places]), tuple(np.asarray(s[places]) for s in state.slots[k])


def sum_by_core(
    update: TableUpdate, contributions: Sequence[Contribution]
) -> dict[int, np.ndarray]:
    """Return the sum of the contributions on each core that has any."""
    sums = {}
    for core in sorted({c.core for c in contributions}):
        sums[core] = _add_in_order([x for c, x in _terms(update, contributions) if c == core])
    return sums


def rule_gradients(update: TableUpdate, contributions: Sequence[Contribution]) -> list[np.ndarray]:
    """Return the gradient of each run of the rule on the row."""
    sums = list(sum_by_core(update, contributions).values())
    if not update.table.accumulate:
        if update.policy.without_accumulation == "core":
            return sums
        return [x for _, x in _terms(update, contributions)]
    if sums:
        return [_add_in_order(sums)]
    return [] if update.rule.lazy else [np.zeros(update.table.width, np.float32)]


def run_rule(
    update: TableUpdate, start: Row, gradients: Sequence[np.ndarray], rate: Any
) -> Iterator[RuleRun]:
    """Run the rule on the row, once for each gradient."""
    w, slots = start
    for total in gradients:
        batched_slots = tuple(jnp.asarray(s)[None] for s in slots)
        stages = update.stages(jnp.asarray(w)[None], batched_slots, jnp.asarray(total)[None], rate)
        w = np.asarray(stages.weights)[0]
        slots = tuple(np.asarray(s)[0] for s in stages.slots)
        yield RuleRun(
            total,
            gradient=np.asarray(stages.gradient)[0],
            decay=np.asarray(stages.before_decay)[0] - np.asarray(stages.after_decay)[0],
            free=np.asarray(stages.before_clip)[0],
            weights=w,
            slots=name_slots(update.table, slots),
        )


def name_slots(table: Table, slots: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Return slots by name."""
    return dict(zip(table.rule.slots, slots, strict=True))


def count_ulps(path: Sequence[Row], end: Row) -> int:
    """Return the distance of a row from the end of a path, in units in the last place.

    The unit is that of the largest number on the path: a number that is computed from others is as
    exact as they are. NaN equals NaN.

    >>> one = np.ones(2, np.float32)
    >>> count_ulps([(one, ())], (np.nextafter(one, one + 1), ()))
    1
    """
    arrays = zip(*([w, *slots] for w, slots in path), strict=True)
    return max(_distance(np.stack(x), y) for x, y in zip(arrays, (end[0], *end[1]), strict=True))


def _distance(path: np.ndarray, actual: np.ndarray) -> int:
    expected = path[-1]
    unit = np.spacing(np.nanmax(abs(path), axis=0, initial=0))
    is_equal = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    with np.errstate(all="ignore"):
        distance = abs(expected.astype(float) - actual) / unit
        ulps = np.ceil(np.nan_to_num(distance, nan=np.inf, posinf=MAX_ULPS))
        return int(np.where(is_equal, 0, np.minimum(ulps, MAX_ULPS)).max(initial=0))


def _terms(
    update: TableUpdate, contributions: Sequence[Contribution]
) -> list[tuple[int, np.ndarray]]:
    """Return the core and the term of each contribution, clipped where the policy clips terms and
    not sums.
    """
    limits = NO_LIMITS if update.clips_inside_update else update.table.gradient_limits
    return [(c.core, np.asarray(clip_to_limits(c.product, limits))) for c in contributions]


def _add_in_order(terms: Sequence[np.ndarray]) -> np.ndarray:
    """Return the sum of the terms, added one after another, as the tables do."""
    total = np.zeros_like(terms[0])
    for x in terms:
        total = flush_denormals(total + x)
    return total

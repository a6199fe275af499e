"""Traps: what TPU embedding tables do and nobody mentions, shown on the rows of a real step.

`explain_missing` cuts the rows that a step touches out of their table (`make_excerpt`) and asks
every trap. A trap is a function of the excerpt: it tells whether it matters here, and runs the step
both ways (`Excerpt.after`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.html import html_table
from ..._base.indices import find_distinct
from ..._base.jax_or_numpy import jnp
from ...rules import Adagrad, Adam, Ftrl
from ..batch import Lookups, concatenate_cores, rows_of
from ..plan import PADDING_ID, Plan, Policy, Table
from ..state import State, create
from ..step_record import Sent, StepRecord
from ..storage import quantize
from ..update import rate_at_step, update
from .explain import Row, find_record, find_table, given_ids, read_rows
from .explanation import vector


@dataclass(frozen=True, eq=False)
class Excerpt:
    """One table of a step: the rows that it touches, in order, and after them one that it does not, if there is one.

    Rules know no row but their own, so these rows move as they do in the whole table.
    """

    plan: Plan
    rows: np.ndarray  # their numbers in the whole table
    untouched: bool  # whether the last of them isn't touched
    state: State
    lookups: Lookups
    gradients: tuple[np.ndarray, ...]
    sent: Sent
    whole_plan: Plan  # that the table is of
    number: int  # of the table there

    @property
    def table(self) -> Table:
        """The table, with the rate that it has at this step."""
        return self.plan.tables[0]

    def after(
        self, gradients: Sequence[Any] | None = None, lookups: Lookups | None = None, **changes: Any
    ) -> Row:
        """Return weights and slots of all rows after the step, with other gradients, lookups or fields of the table."""
        table = dataclasses.replace(self.table, **changes)
        state = dataclasses.replace(
            self.state, plan=dataclasses.replace(self.plan, tables=(table,))
        )
        if lookups is None:
            lookups = self.lookups_for(table)
        if gradients is None:
            gradients = self.gradients
        state = update(state, gradients, [], (tuple(lookups),))
        return np.asarray(state.tables[0]), tuple(np.asarray(s) for s in state.slots[0])

    @property
    def before(self) -> Row:
        """Weights and slots before the step."""
        return np.asarray(self.state.tables[0]), tuple(np.asarray(s) for s in self.state.slots[0])

    def lookups_by_core(self) -> list[Lookups]:
        """Return the lookups of each core without padding, every lookup with a row of its own."""
        by_core = []
        for core in zip(
            *(np.asarray(x).reshape(self.plan.cores, -1) for x in self.lookups), strict=True
        ):
            unique, inverse, samples, weights = core
            is_real = inverse < unique.size
            rows = unique[inverse[is_real]]
            each_its_own = np.arange(rows.size, dtype=np.uint32)
            by_core.append(Lookups(rows, each_its_own, samples[is_real], weights[is_real]))
        return by_core

    def lookups_for(self, table: Table) -> Lookups:
        """Return the lookups that this table needs: each row once, or every lookup with a row of its own."""
        by_core = self.lookups_by_core()
        if table.accumulate or self.plan.policy.without_accumulation == "core":
            by_core = [_merge_equal_rows(lookups) for lookups in by_core]
        return concatenate_cores(by_core, self.plan.samples_of(0))


def make_excerpt(record: StepRecord, table: int) -> Excerpt:
    """Return what a step does to one table; for a pipelined plan that has applied nothing yet, what it will do."""
    sent = record.applied or record.sent
    whole_plan = record.plan
    whole_table = whole_plan.tables[table]
    lookups = Lookups(*(np.asarray(x) for x in sent.lookups(whole_plan).tables[table]))
    touched = np.unique(lookups.unique[lookups.unique != PADDING_ID]).astype(np.int64)
    untouched = np.setdiff1d(np.arange(min(whole_table.rows, touched.size + 1)), touched)[:1]
    rows = np.concatenate([touched, untouched])
    weights, slots = read_rows(record.before, table, rows)
    rates = sent.learning_rates
    small_table = dataclasses.replace(
        whole_table,
        rows=len(rows),
        learning_rate=float(rate_at_step(whole_table, rates)),
        step_counter=None,
    )
    feature_numbers = whole_plan.features_of(table)
    features = tuple(dataclasses.replace(whole_plan.features[k], table=0) for k in feature_numbers)
    plan = Plan((small_table,), features, whole_plan.cores, policy=whole_plan.policy)
    shared = dict(record.before.shared[table])
    if whole_table.step_counter is not None:
        shared["step_counter"] = rates[whole_table.step_counter.number]
    state = dataclasses.replace(create(plan, [weights], [slots]), shared=(shared,))
    is_padding = lookups.unique == PADDING_ID
    places = np.where(is_padding, PADDING_ID, np.searchsorted(touched, lookups.unique)).astype(
        np.uint32
    )
    gradients = tuple(np.asarray(sent.gradients[k], np.float32) for k in feature_numbers)
    return Excerpt(
        plan,
        rows,
        untouched=bool(untouched.size),
        state=state,
        lookups=lookups._replace(unique=places),
        gradients=gradients,
        sent=sent,
        whole_plan=whole_plan,
        number=table,
    )


@dataclass(frozen=True, eq=False)
class Trap:
    """A thing that is easily missed; `str` says it in words. Made by `explain_missing`.

    Attributes:
        name: what it is.
        applies: whether it matters in this step.
        why: why it does, or does not.
        change: what to do to have it the other way.
        numbers: the step as it was and the other way, by name.
        source: who says so.

    Not in TensorFlow.

    >>> trap = Trap("Decay", False, "there is none", "set it", {}, "the proto")
    >>> print(trap)
    [ ] Decay: there is none.
    """

    name: str
    applies: bool
    why: str
    change: str
    numbers: Mapping[str, np.ndarray]
    source: str

    def __str__(self) -> str:
        if not self.applies:
            return f"[ ] {self.name}: {self.why}."
        first = f"[x] {self.name}: {self.why}."
        numbers = [f"      {name}: {vector(np.ravel(x))}" for name, x in self.numbers.items()]
        return "\n".join(
            [
                first,
                f"      To have it otherwise: {self.change}.",
                *numbers,
                f"      Source: {self.source}.",
            ]
        )


class Traps(tuple[Trap, ...]):
    """All of them; those that apply come first where they are shown. Not in TensorFlow.

    >>> [trap.name for trap in Traps([Trap("Decay", False, "there is none", "set it", {}, "the proto")]).applying]
    []
    """

    __slots__ = ()

    @property
    def applying(self) -> tuple[Trap, ...]:
        """Return the traps that matter in this step."""
        return tuple(t for t in self if t.applies)

    def named(self, name: str) -> Trap:
        """Return the trap of this name; KeyError with all names if there is none."""
        for trap in self:
            if trap.name == name:
                return trap
        raise KeyError(f"no trap {name!r}; there are {', '.join(t.name for t in self)}")

    def __str__(self) -> str:
        return "\n".join(str(t) for t in sorted(self, key=lambda t: not t.applies))

    def _repr_html_(self) -> str:
        rows = [
            (
                t.name,
                "yes" if t.applies else "no",
                t.why,
                t.change,
                "; ".join(_describe_numbers(t.numbers)),
                t.source,
            )
            for t in sorted(self, key=lambda t: not t.applies)
        ]
        head = ["trap", "applies", "why", "to have it otherwise", "numbers", "source"]
        return html_table("What is easily missed in this step", head, rows)


def _describe_numbers(numbers: Mapping[str, np.ndarray]) -> list[str]:
    return [f"{name} {vector(np.ravel(x))}" for name, x in numbers.items()]


def farthest(a: Row, b: Row) -> int:
    """Return the row whose weights, or else slots, differ most."""
    with np.errstate(all="ignore"):
        far = np.nan_to_num(abs(a[0] - b[0]), nan=np.inf).max(axis=1)
        if not far.any() and a[1]:
            far = np.max(
                [
                    np.nan_to_num(abs(x - y), nan=np.inf).max(axis=1)
                    for x, y in zip(a[1], b[1], strict=True)
                ],
                axis=0,
            )
    return int(np.argmax(far))


def differ(a: Row, b: Row) -> bool:
    """Tell whether two results differ in weights or slots."""
    return not all(
        np.array_equal(x, y, equal_nan=True)
        for x, y in zip((a[0], *a[1]), (b[0], *b[1]), strict=True)
    )


def mean_counts_duplicates(e: Excerpt) -> Trap:
    """Return an id that a sample names twice counts twice, also in the number that a mean divides by."""
    by_core = e.lookups_by_core()
    combiner = e.table.combiner
    once = [_without_duplicates(lookups, combiner) for lookups in by_core]
    doubled = sum(x.unique.size for x in by_core) - sum(x.unique.size for x in once)
    applies = doubled > 0 and combiner != "sum"
    other_lookups = None
    if applies and e.table.accumulate:
        other_lookups = concatenate_cores(
            [_merge_equal_rows(x) for x in once], e.plan.samples_of(0)
        )
    other = e.after(lookups=other_lookups)
    at = farthest(e.after(), other)
    return Trap(
        "A mean counts duplicates",
        applies,
        (
            f"lookups of a row that their sample named already: {doubled}; "
            f"each counts in the {combiner}"
        )
        if applies
        else f"no sample names a row twice, or the combiner is {combiner!r}",
        "take duplicates out of the samples, or give weights",
        {"row after": e.after()[0][at], "each counted once": other[0][at]},
        "`embedding_lookup_sparse`, TensorFlow 2.21 (2026)",
    )


def accumulation(e: Excerpt) -> Trap:
    """Gradients of a row are summed before the rule runs; without that it runs once for each."""
    rows = np.concatenate([p.unique for p in e.lookups_by_core()])
    can = bool(e.table.rule.lazy)
    applies = can and rows.size > np.unique(rows).size
    other = e.after(accumulate=not e.table.accumulate) if applies else e.after()
    at = farthest(e.after(), other)
    return Trap(
        "Gradients are summed first" if e.table.accumulate else "Gradients are not summed",
        applies,
        f"{rows.size} lookups are of {np.unique(rows).size} rows; a rule that is not linear makes "
        "something else of their sum than of one after another"
        if applies
        else "no row is looked up twice, or the rule needs the sum",
        f"set use_gradient_accumulation={not e.table.accumulate}",
        {"row after": e.after()[0][at], "the other way": other[0][at]},
        "gradient_accumulation_status, optimization_parameters.proto, TensorFlow 2.21 (2026); how "
        "it is grouped without is not public",
    )


def replicas_are_summed(e: Excerpt) -> Trap:
    """Gradients of all cores are added, never averaged."""
    cores = e.plan.cores
    mean = e.after([g / np.float32(cores) for g in e.gradients])
    at = farthest(e.after(), mean)
    return Trap(
        "Replicas are summed",
        cores > 1,
        f"the tables add what {cores} cores send" if cores > 1 else "there is one core",
        "divide the loss by the number of replicas",
        {"row after": e.after()[0][at], "with the mean of the cores": mean[0][at]},
        "tests of TensorFlow's TPU embedding, which divide their loss (2.21, 2026)",
    )


def hot_rows(e: Excerpt) -> Trap:
    """Return a row in every sample gets the sum of all their gradients in one step."""
    rows = np.concatenate([p.unique for p in e.lookups_by_core()])
    counts = np.bincount(rows, minlength=len(e.rows))
    hottest = int(np.argmax(counts))
    usual = float(np.median(counts[counts > 0])) if rows.size else 0.0
    applies = counts[hottest] >= 4 * max(usual, 1)
    moved = np.abs(e.after()[0] - e.before[0]).max(axis=1)
    return Trap(
        "A few rows get most gradients",
        bool(applies),
        (
            f"row {e.rows[hottest]} is looked up {counts[hottest]} times, half of the others at "
            f"most {usual:g} times"
        )
        if applies
        else "no row is looked up much more often than others",
        "limit gradients, take a rule that steps less far where more comes (Adagrad), or thin out "
        "frequent ids",
        {
            "lookups of it, and usually": np.array([counts[hottest], usual]),
            "its largest step, and usually": np.array(
                [moved[hottest], np.median(moved[counts > 0]) if usual else 0]
            ),
        },
        "hot_id_replication_configuration is about where such rows are kept, not their numbers "
        "(TensorFlow, 2026)",
    )


def ids_outside(e: Excerpt) -> Trap:
    """Explain ids outside the table, for which the engine's behavior isn't documented."""
    plan = e.whole_plan
    table = plan.tables[e.number]
    policy = plan.policy
    if policy.out_of_range == "raise":
        policy = dataclasses.replace(policy, out_of_range="drop")
    ids = given_ids(dataclasses.replace(plan, policy=policy), e.number, None, e.sent)
    outside = np.array(sorted({g.id for g in ids if not 0 <= g.id < table.rows}), np.int64)
    feature = plan.features[plan.features_of(e.number)[0]] if plan.features_of(e.number) else None
    numbers: dict[str, Any] = {"ids": outside}
    for choice in ("clamp", "wrap"):
        if outside.size and feature is not None:
            numbers[f"rows by {choice!r}"] = rows_of(
                feature, table, outside, outside, Policy(out_of_range=choice)
            )[0]
    return Trap(
        "Ids outside the table",
        bool(outside.size),
        (
            f"{outside.size} ids have no row in {table.name!r}; the policy is "
            f"{plan.policy.out_of_range!r}"
        )
        if outside.size
        else "every id has a row",
        "Policy(out_of_range='raise', 'drop', 'clamp' or 'wrap')",
        numbers if outside.size else {},
        "no check is documented; SparseCore's preprocessing masks or passes them, TensorFlow's "
        "CPU ops raise (2026)",
    )


def updates_come_late(e: Excerpt) -> Trap:
    """Return a pipelined engine looks up before it has updated."""
    late = e.whole_plan.pipelined
    after = e.after()
    at = farthest(after, e.before)
    return Trap(
        "Lookups run one update ahead",
        late,
        "what the model saw had not yet moved by the step before"
        if late
        else "the plan is not pipelined",
        "set pipeline_execution_with_tensor_core=False",
        {
            "row that the model sees": e.before[0][at],
            "the row when that update is made": after[0][at],
        }
        if late
        else {},
        "pipeline_execution_with_tensor_core, tpu_embedding_configuration.proto, TensorFlow "
        "2.21 (2026)",
    )


def _without_duplicates(lookups: Lookups, combiner: str) -> Lookups:
    """Return each row once in a sample, with the gains that the combiner then has; a sample keeps
    its weights.
    """
    keys = lookups.samples.astype(np.int64) << 32 | lookups.unique.astype(np.int64)
    first = np.sort(np.unique(keys, return_index=True)[1])
    kept = Lookups(*(x[first] for x in lookups))
    if combiner == "sum" or not first.size:
        return kept
    power = 1 if combiner == "mean" else 2
    sums = [
        np.bincount(x.samples, x.weights**power, minlength=int(lookups.samples.max()) + 1)
        for x in (kept, lookups)
    ]
    with np.errstate(all="ignore"):
        ratio = (sums[1] / sums[0]) ** (1 / power)
    gains = kept.weights * np.nan_to_num(ratio[kept.samples], nan=1)
    return kept._replace(
        weights=gains.astype(np.float32), inverse=np.arange(first.size, dtype=np.uint32)
    )


def _merge_equal_rows(lookups: Lookups) -> Lookups:
    """Return the lookups of a core, whose lookups have a row each, with every row once."""
    unique, inverse = find_distinct(lookups.unique)
    return lookups._replace(unique=unique, inverse=inverse)


BATCH_TRAPS = (
    mean_counts_duplicates,
    accumulation,
    replicas_are_summed,
    hot_rows,
    ids_outside,
    updates_come_late,
)


_PROTO = "optimization_parameters.proto, TensorFlow 2.21 (2026)"


def ftrl_shrinks_the_initial_weight(e: Excerpt) -> Trap:
    """FTRL's slots start without the first weights, so the first update keeps only a share of them."""
    rule = e.table.rule
    zero = e.after([np.zeros_like(g) for g in e.gradients])
    applies = isinstance(rule, Ftrl) and differ((zero[0], ()), (e.before[0], ()))
    at = farthest((zero[0], ()), (e.before[0], ()))
    return Trap(
        "FTRL shrinks the initial weight",
        applies,
        "where `linear` is 0, an update keeps the share 1 - sqrt(a0 / a1) of a weight, with "
        "accumulators a0 before and a1 after it: nothing after a gradient of 0"
        if applies
        else "the rule is not FTRL, or its slots agree with the weights",
        "start from weights of 0, or load slots that agree with the weights",
        {
            "row before": e.before[0][at],
            "after a gradient of 0": zero[0][at],
            "after this step": e.after()[0][at],
        },
        "tests of TensorFlow's TPU embedding, which leave such rows out (2.21, 2026)",
    )


def no_bias_correction(e: Excerpt) -> Trap:
    """TPU Adam leaves out what makes its first steps as long as its later ones."""
    rule = e.table.rule
    rate = float(e.table.learning_rate)  # type: ignore[arg-type]
    steps = np.arange(1, 5)
    applies = isinstance(rule, Adam) and not rule.bias_correction
    beta1, beta2 = (rule.beta1, rule.beta2) if isinstance(rule, Adam) else (0.9, 0.999)
    rates = rate * np.sqrt(1 - beta2**steps) / (1 - beta1**steps)
    other = e.after(learning_rate=float(rates[0])) if applies else e.after()
    at = farthest(e.after(), other)
    return Trap(
        "Adam does not correct its bias",
        applies,
        "its means start at 0 and nothing makes up for that"
        if applies
        else "the rule is not Adam without correction",
        "give the table a learning-rate tag and send lr * sqrt(1 - beta2**t) / (1 - beta1**t) at "
        "step t = 1, 2, ...",
        {
            "rates to send": rates,
            "row after": e.after()[0][at],
            "with the first of these rates": other[0][at],
        },
        _PROTO,
    )


def no_epsilon(e: Excerpt) -> Trap:
    """TPU Adagrad divides by the root of the accumulator, whatever it is."""
    rule = e.table.rule
    applies = isinstance(rule, Adagrad) and (rule.epsilon_place == "none" or rule.epsilon == 0)
    other = e.after(rule=Adagrad(epsilon=1e-7)) if applies else e.after()
    at = farthest(e.after(), other)
    numbers = {}
    if applies:
        empty = dataclasses.replace(e.state, slots=((jnp.zeros_like(e.state.tables[0]),),))
        zero = dataclasses.replace(e, state=empty).after([np.zeros_like(g) for g in e.gradients])
        numbers = {"a row whose accumulator is 0, after a gradient of 0": zero[0][0]}
    return Trap(
        "Adagrad has no epsilon",
        applies,
        "only the start of the accumulators keeps the first steps finite"
        if applies
        else "the rule is not that Adagrad",
        "keep the accumulators above 0, from their start and in whatever is loaded",
        {"row after": e.after()[0][at], "with Keras's epsilon": other[0][at], **numbers},
        _PROTO,
    )


def zero_is_a_touch(e: Excerpt) -> Trap:
    """Return a row that was looked up is updated, also by a gradient of 0."""
    zero = e.after([np.zeros_like(g) for g in e.gradients])
    touched = len(e.rows) - e.untouched
    applies = touched > 0 and differ(first_rows(zero, touched), first_rows(e.before, touched))
    at = farthest(first_rows(zero, touched), first_rows(e.before, touched)) if touched else 0
    name = type(e.table.rule).__name__
    return Trap(
        "A sum of 0 is a touch",
        applies,
        (
            f"{name} moves rows, or what it keeps for them, by a gradient of 0; not looking a row "
            "up is something else"
        )
        if applies
        else f"{name} leaves rows as they are where the gradient is 0",
        "do not look up what is not to move; zeros for gradients that are missing are no way to "
        "leave rows alone",
        {"row before": e.before[0][at], "looked up, gradient 0": zero[0][at]}
        | {f"slot {n} then": s[at] for n, s in zip(e.table.rule.slots, zero[1], strict=True)},
        "the hidden slot gradient_accumulators starts at the least denormal, which is not 0 "
        "(TensorFlow, 2026)",
    )


def laziness(e: Excerpt) -> Trap:
    """Lazy rules leave rows alone that nobody looks up; the papers' rules do not."""
    rule = e.table.rule
    can = "lazy" in {f.name for f in dataclasses.fields(rule)}
    change: dict[str, Any] = {"lazy": not rule.lazy}
    other = e.after(rule=dataclasses.replace(rule, **change), accumulate=True) if can else e.after()
    applies = can and e.untouched
    return Trap(
        "Rows that nobody looks up",
        applies,
        (
            "this rule is "
            f"{'lazy: they stand still' if rule.lazy else 'not lazy: they move by a gradient of 0'}"
        )
        if applies
        else "the rule has no choice, or every row was looked up",
        f"build the rule with lazy={not rule.lazy}",
        {
            "such a row before": e.before[0][-1],
            "after": e.after()[0][-1],
            "the other way": other[0][-1],
        },
        "AdamParameters.use_non_lazy_adam, LionParameters.use_non_lazy_lion, " + _PROTO,
    )


def decay_of_touched_rows(e: Excerpt) -> Trap:
    """Weight decay reaches a row only when it is looked up."""
    applies = bool(e.table.weight_decay) and e.untouched and bool(e.table.rule.lazy)
    without = e.after(weight_decay=0.0)
    at = farthest((e.after()[0], ()), (without[0], ()))
    return Trap(
        "Weights decay only where they are looked up",
        applies,
        "a rare row keeps its weights however long it is not seen"
        if applies
        else "there is no decay, or no such row",
        "scale all tables now and then yourself, or let the loss pull on the rows",
        {
            "touched row after": e.after()[0][at],
            "without decay": without[0][at],
            "untouched row before": e.before[0][-1],
            "after": e.after()[0][-1],
        },
        "weight_decay_factor, " + _PROTO,
    )


def quantized_forward(e: Excerpt) -> Trap:
    """Explain that lookups are quantized, and stored and updated values aren't."""
    levels = e.table.levels
    seen = np.asarray(quantize(e.before[0], *levels)) if levels else e.before[0]
    at = farthest((e.before[0], ()), (seen, ()))
    return Trap(
        "Quantization is for lookups only",
        levels is not None,
        "the model sees rounded rows, gradients pass as if it did not"
        if levels
        else "the table is not quantized",
        "round the rows yourself when you serve them",
        {"row as it is stored": e.before[0][at], "as the model sees it": seen[at]},
        "SimulatedQuantization, " + _PROTO,
    )


def first_rows(rows: Row, n: int) -> Row:
    """Return the first n rows of weights and slots."""
    return rows[0][:n], tuple(s[:n] for s in rows[1])


RULE_TRAPS = (
    ftrl_shrinks_the_initial_weight,
    no_bias_correction,
    no_epsilon,
    zero_is_a_touch,
    laziness,
    decay_of_touched_rows,
    quantized_forward,
)


def explain_missing(step: Any = None, *, table: str | int = 0) -> Traps:
    """Explain undocumented or surprising engine behavior that matters in this step, and what it changes.

    Every trap is tried both ways on the rows that the step touches, from the state that it found.

    Args:
        step: a `StepRecord`; or what keeps one of its last step, a system or a `TPUEmbedding`. None
            is the system that `initialize_system` made.
        table: its name or its number.

    Raises:
        ValueError: no such table, or no step was kept.

    Not in TensorFlow, whose documentation has some of it in comments of its protos.

    >>> from gradlab.rules import Ftrl
    >>> from gradlab.tpu import Feature, Ids, Plan, Sent, StepRecord, Table, create
    >>> plan = Plan((Table("t", 4, 1, Ftrl()),), (Feature("f", 0, (1,)),))
    >>> step = StepRecord(create(plan, [[[1.0]] * 4]), Sent([[[0.0]]], ids={"f": Ids([0], [2])}))
    >>> trap = explain_missing(step, table="t").named("FTRL shrinks the initial weight")
    >>> trap.applies, {name: x.item() for name, x in trap.numbers.items()}
    (True, {'row before': 1.0, 'after a gradient of 0': 0.0, 'after this step': 0.0})
    """
    record = find_record(step)
    excerpt = make_excerpt(record, find_table(record.plan, table))
    return Traps(trap(excerpt) for trap in (*RULE_TRAPS, *BATCH_TRAPS))

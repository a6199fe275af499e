"""Traps of what comes in: duplicates, cores, ids outside, rows that everybody wants, updates that come late."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..batch import rows_of, side_by_side
from ..lookups import Lookups
from ..policy import Policy
from .contributions import given
from .excerpt import Excerpt
from .traps import Trap, farthest


def mean_counts_duplicates(e: Excerpt) -> Trap:
    """An id that a sample names twice counts twice, also in the number that a mean divides by."""
    parts, combiner = e.shares(), e.table.combiner
    once = [_once(p, combiner) for p in parts]
    doubled = sum(p.unique.size - o.unique.size for p, o in zip(parts, once, strict=True))
    applies = doubled > 0 and combiner != "sum"
    merged = (
        side_by_side([_distinct(p) for p in once], e.plan.samples_of(0)) if applies and e.table.accumulate else None
    )
    other = e.after(lookups=merged if applies else None)
    at = farthest(e.after(), other)
    return Trap(
        "A mean counts duplicates",
        applies,
        f"lookups of a row that their sample named already: {doubled}; each counts in the {combiner}"
        if applies
        else f"no sample names a row twice, or the combiner is {combiner!r}",
        "take duplicates out of the samples, or give weights",
        {"row after": e.after()[0][at], "each counted once": other[0][at]},
        "`embedding_lookup_sparse`, TensorFlow 2.21 (2026)",
    )


def accumulation(e: Excerpt) -> Trap:
    """Gradients of a row are summed before the rule runs; without that it runs once for each."""
    rows = np.concatenate([p.unique for p in e.shares()])
    can = bool(e.table.rule.lazy)
    applies = can and rows.size > np.unique(rows).size
    other = e.after(accumulate=not e.table.accumulate) if applies else e.after()
    at = farthest(e.after(), other)
    return Trap(
        "Gradients are summed first" if e.table.accumulate else "Gradients are not summed",
        applies,
        f"{rows.size} lookups are of {np.unique(rows).size} rows; a rule that is not linear makes something else of "
        "their sum than of one after another"
        if applies
        else "no row is looked up twice, or the rule needs the sum",
        f"set use_gradient_accumulation={not e.table.accumulate}",
        {"row after": e.after()[0][at], "the other way": other[0][at]},
        "gradient_accumulation_status, optimization_parameters.proto, TensorFlow 2.21 (2026); how it is grouped "
        "without is not public",
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
    """A row in every sample gets the sum of all their gradients in one step."""
    rows = np.concatenate([p.unique for p in e.shares()])
    counts = np.bincount(rows, minlength=len(e.rows))
    hottest, usual = int(np.argmax(counts)), float(np.median(counts[counts > 0])) if rows.size else 0.0
    applies = counts[hottest] >= 4 * max(usual, 1)
    moved = np.abs(e.after()[0] - e.before[0]).max(axis=1)
    return Trap(
        "A few rows get most gradients",
        bool(applies),
        f"row {e.rows[hottest]} is looked up {counts[hottest]} times, half of the others at most {usual:g} times"
        if applies
        else "no row is looked up much more often than others",
        "limit gradients, take a rule that steps less far where more comes (Adagrad), or thin out frequent ids",
        {
            "lookups of it, and usually": np.array([counts[hottest], usual]),
            "its largest step, and usually": np.array([moved[hottest], np.median(moved[counts > 0]) if usual else 0]),
        },
        "hot_id_replication_configuration is about where such rows are kept, not their numbers (TensorFlow, 2026)",
    )


def ids_outside(e: Excerpt) -> Trap:
    """What becomes of an id that the table has no row for is not documented."""
    plan, table = e.whole, e.whole.tables[e.number]
    policy = (
        plan.policy if plan.policy.out_of_range != "raise" else dataclasses.replace(plan.policy, out_of_range="drop")
    )
    every = given(dataclasses.replace(plan, policy=policy), e.number, None, e.sent)
    outside = np.array(sorted({one.id for one in every if not 0 <= one.id < table.rows}), np.int64)
    feature = plan.features[plan.features_of(e.number)[0]] if plan.features_of(e.number) else None
    numbers: dict[str, Any] = {"ids": outside}
    for choice in ("clamp", "wrap"):
        if outside.size and feature is not None:
            numbers[f"rows by {choice!r}"] = rows_of(feature, table, outside, outside, Policy(out_of_range=choice))[0]
    return Trap(
        "Ids outside the table",
        bool(outside.size),
        f"{outside.size} ids have no row in {table.name!r}; the policy is {plan.policy.out_of_range!r}"
        if outside.size
        else "every id has a row",
        "Policy(out_of_range='raise', 'drop', 'clamp' or 'wrap')",
        numbers if outside.size else {},
        "no check is documented; SparseCore's preprocessing masks or passes them, TensorFlow's CPU ops raise (2026)",
    )


def updates_come_late(e: Excerpt) -> Trap:
    """A pipelined engine looks up before it has updated."""
    late = e.whole.pipelined
    after = e.after()
    at = farthest(after, e.before)
    return Trap(
        "Lookups run one update ahead",
        late,
        "what the model saw had not yet moved by the step before" if late else "the plan is not pipelined",
        "set pipeline_execution_with_tensor_core=False",
        {"row that the model sees": e.before[0][at], "the row when that update is made": after[0][at]} if late else {},
        "pipeline_execution_with_tensor_core, tpu_embedding_configuration.proto, TensorFlow 2.21 (2026)",
    )


def _once(lookups: Lookups, combiner: str) -> Lookups:
    """Each row once in a sample, with the gains that the combiner then has; weights of a sample stay as they are."""
    keys = lookups.samples.astype(np.int64) << 32 | lookups.unique.astype(np.int64)
    first = np.sort(np.unique(keys, return_index=True)[1])
    kept = Lookups(*(x[first] for x in lookups))
    if combiner == "sum" or not first.size:
        return kept
    power = 1 if combiner == "mean" else 2
    sums = [np.bincount(x.samples, x.weights**power, minlength=int(lookups.samples.max()) + 1) for x in (kept, lookups)]
    with np.errstate(all="ignore"):
        ratio = (sums[1] / sums[0]) ** (1 / power)
    gains = kept.weights * np.nan_to_num(ratio[kept.samples], nan=1)
    return kept._replace(weights=gains.astype(np.float32), inverse=np.arange(first.size, dtype=np.uint32))


def _distinct(lookups: Lookups) -> Lookups:
    unique, inverse = np.unique(lookups.unique, return_inverse=True)
    return lookups._replace(unique=unique.astype(np.uint32), inverse=inverse.reshape(-1).astype(np.uint32))


BATCH_TRAPS = (
    mean_counts_duplicates, accumulation, replicas_are_summed, hot_rows, ids_outside, updates_come_late,
)  # fmt: skip

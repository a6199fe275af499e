"""Lookup and update of every rule of the embedding engine, against a loop over lookups in double
precision.
"""

import dataclasses
import functools
from collections import defaultdict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab.rules import Adagrad, Adam, FrequencyAwareAdagrad, Momentum, StochasticGradientDescent
from gradlab.tpu import (
    Feature,
    Ids,
    Levels,
    Plan,
    Policy,
    Table,
    Tag,
    create,
    lookup,
    make_batch,
    update,
)
from gradlab.tpu.engine.messages import FORMS
from tests import ways
from tests.rules.cases import DEFAULTS

ROWS, WIDTH, LOOKUPS = 7, 2, 6
RULES = {f.message: dataclasses.replace(DEFAULTS[f.rule.__name__].rule, **f.implied) for f in FORMS}
FEATURES = (Feature("f", 0, (3,)), Feature("s", 0, (2, 2), 2))
WEIGHTS = np.random.default_rng(0).normal(size=(ROWS, WIDTH)).astype(np.float32)


lookups_of = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, ROWS - 1), st.sampled_from([0.5, 1.0, 2.0])),
    min_size=LOOKUPS,
    max_size=LOOKUPS,
).map(sorted)
sequences = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, ROWS - 1)), min_size=LOOKUPS, max_size=LOOKUPS
).map(lambda pairs: sorted(pairs, key=lambda pair: pair[0]))
# A number more is a program more.
cores_of = st.lists(st.tuples(lookups_of, sequences), min_size=2, max_size=2)
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=3)


def plan_of(
    rule: Any,
    cores: int,
    policy: Policy = Policy(),  # noqa: B008
    pipelined: bool = False,
    **table: Any,
) -> Plan:
    rate = 7.0 if type(rule).__name__ == "FrequencyEstimator" else 0.125
    made = Table("t", ROWS, WIDTH, rule, **{"learning_rate": rate, "combiner": "sum"} | table)
    return Plan((made,), FEATURES, cores, pipelined, policy)


def batch_of(plan: Plan, cores: Any) -> Any:
    def ids(pooled: Any, sequence: Any) -> dict[str, Ids]:
        s, i, w = (list(x) for x in zip(*pooled, strict=True))
        return {"f": Ids(s, i, w), "s": Ids(*(list(x) for x in zip(*sequence, strict=True)))}

    return make_batch(plan, [ids(*core) for core in cores])


def gradients_of(plan: Plan, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        np.float32(rng.integers(-4, 5, plan.activation_shape(k)) / 4) for k in range(len(FEATURES))
    ]


def contributions(cores: Any, gradients: Any) -> Any:
    """Core, row and gradient of each lookup, in the order of cores, features and lookups."""
    for c, (pooled, sequence) in enumerate(cores):
        for sample, row, weight in pooled:
            yield c, row, weight * np.float64(gradients[0][3 * c + sample])
        held = defaultdict(int)
        for sample, row in sequence:
            if held[sample] < 2:
                yield c, row, np.float64(gradients[1][2 * c + sample, held[sample]])
            held[sample] += 1


def loop(
    table: Table,
    w: Any,
    slots: Any,
    rule: Any,
    cores: Any,
    gradients: Any,
    limit: Any = lambda g: g,
) -> Any:
    """One step, row by row."""
    w, slots = np.float64(w), [np.float64(s) for s in slots]
    sums: dict[int, Any] = {}
    for _, row, g in contributions(cores, gradients):
        sums[row] = sums.get(row, 0) + limit(g)
    for row in sums if rule.lazy else range(ROWS):
        new_w, new_slots = rule(
            w[row],
            tuple(s[row] for s in slots),
            sums.get(row, np.zeros(WIDTH)),
            table.learning_rate,
        )
        w[row] = new_w
        for s, new in zip(slots, new_slots, strict=True):
            s[row] = new
    return w, slots, set(sums)


def steps(plan: Plan, cores: Any, seeds: Any, start: Any = WEIGHTS) -> Any:
    state, batch = create(plan, [start]), batch_of(plan, cores)
    for seed in seeds:
        state = jax.jit(update)(state, gradients_of(plan, seed), [], lookup(state, batch)[1])
    return state


def start_of(rule: Any) -> np.ndarray:
    return np.full_like(WEIGHTS, 100) if type(rule).__name__ == "FrequencyEstimator" else WEIGHTS


@jax.jit
def step_of_all(states: dict[str, Any], gradients: Any, batch: Any) -> dict[str, Any]:
    """Return the states after a step of every rule, in one program: plans that differ in the rule
    share batches.
    """
    return {
        name: update(state, gradients, [], lookup(state, batch)[1])
        for name, state in states.items()
    }


@pytest.mark.exhaustive
@few
@given(cores=cores_of, seed=seeds)
def test_a_step_is_a_loop_over_lookups(cores: Any, seed: int) -> None:
    plans = {name: plan_of(rule, len(cores)) for name, rule in RULES.items()}
    before = {name: create(plan, [start_of(RULES[name])]) for name, plan in plans.items()}
    one = plan_of(Adagrad(), len(cores))
    batch, gradients = batch_of(one, cores), [gradients_of(one, seed + k) for k in range(2)]
    first = step_of_all(before, gradients[0], batch)
    states = [before, first, step_of_all(first, gradients[1], batch)]
    for name in RULES:
        check_steps([state[name] for state in states], cores, gradients)


def check_steps(states: Any, cores: Any, gradients: Any) -> None:
    """Hold states, each a step after the one before, against the loop over lookups."""
    before, *_, after = states
    (table,) = before.plan.tables
    w, slots = np.float64(before.tables[0]), [np.float64(s) for s in before.slots[0]]
    for state, g in zip(states[:-1], gradients, strict=True):
        shared = {n: np.float64(x) for n, x in state.shared[0].items()}
        w, slots, touched = loop(table, w, slots, table.rule.at(shared), cores, g)
    for got, expected in zip((after.tables[0], *after.slots[0]), (w, *slots), strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5, err_msg=str(table.rule))
    if table.rule.lazy:
        still = sorted(set(range(ROWS)) - touched)
        for got, old in zip(
            (after.tables[0], *after.slots[0]), (before.tables[0], *before.slots[0]), strict=True
        ):
            assert np.asarray(got)[still].tobytes() == np.asarray(old)[still].tobytes(), table.rule


@functools.cache
def compiled_step() -> Any:
    """Return a state of every rule, a batch and gradients for two cores, and the states after a
    compiled step.
    """
    pooled = [(0, 1, 1.0), (0, 1, 0.5), (1, 3, 2.0), (2, 1, 1.0), (2, 5, 1.0), (2, 6, 0.5)]
    cores = [(pooled, [(0, 1), (0, 2), (0, 3), (1, 5), (1, 1), (1, 1)])] * 2
    states = {name: create(plan_of(rule, 2), [start_of(rule)]) for name, rule in RULES.items()}
    plan = plan_of(Adagrad(), 2)
    batch, g = batch_of(plan, cores), gradients_of(plan, 0)
    return states, batch, g, step_of_all(states, g, batch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RULES)
def test_eager_jit_and_vmap_agree(name: str) -> None:
    states, batch, g, after = compiled_step()
    state, compiled = states[name], after[name]
    dedup = lookup(state, batch)[1]
    assert ways.ulps(jax.tree.leaves(update(state, g, [], dedup)), jax.tree.leaves(compiled)) <= 4
    two = jax.tree.map(lambda x: jnp.stack([x, x]), state)
    mapped = jax.vmap(lambda s: update(s, g, [], dedup))(two)
    for k in (0, 1):
        assert (
            ways.ulps(
                jax.tree.leaves(jax.tree.map(lambda x, k=k: x[k], mapped)),
                jax.tree.leaves(compiled),
            )
            <= 4
        )


@pytest.mark.exhaustive
@few
@given(cores=st.lists(st.tuples(lookups_of, sequences), min_size=2, max_size=2), seed=seeds)
def test_the_order_of_cores_does_not_matter(cores: Any, seed: int) -> None:
    """Sums here are exact; with others only the rounding differs."""
    plan = plan_of(Adagrad(), 2)
    g = gradients_of(plan, seed)
    swapped = [np.concatenate(np.split(x, 2)[::-1]) for x in g]
    state = create(plan, [WEIGHTS])
    a = update(state, g, [], lookup(state, batch_of(plan, cores))[1])
    b = update(state, swapped, [], lookup(state, batch_of(plan, cores[::-1]))[1])
    assert a.tables[0].tolist() == b.tables[0].tolist()


@few
@given(cores=cores_of, seed=seeds)
def test_activations_are_a_loop_over_lookups(cores: Any, seed: int) -> None:
    plan = plan_of(Adagrad(), len(cores))
    (pooled, sequence), _ = lookup(create(plan, [WEIGHTS]), batch_of(plan, cores))
    expected = [np.zeros(pooled.shape), np.zeros(sequence.shape)]
    for c, (lookups, ids) in enumerate(cores):
        held = defaultdict(int)
        for sample, row, weight in lookups:
            expected[0][3 * c + sample] += weight * WEIGHTS[row]
        for sample, row in ids:
            if held[sample] < 2:
                expected[1][2 * c + sample, held[sample]] = WEIGHTS[row]
            held[sample] += 1
    np.testing.assert_allclose(pooled, expected[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(sequence, np.float32(expected[1]))


ONE = [
    ([(0, 1, 1.0), (0, 1, 2.0), (1, 3, 1.0), (1, 1, 0.5), (2, 4, 1.0), (2, 4, 1.0)], [(0, 1)] * 6)
]


@pytest.mark.parametrize("kind", ["subtract", "multiply"])
@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("times_rate", [False, True])
def test_weights_decay_where_they_are_touched(kind: Any, place: Any, times_rate: bool) -> None:
    policy = Policy(weight_decay_kind=kind, weight_decay_place=place)
    plan = plan_of(
        StochasticGradientDescent(), 1, policy, weight_decay=0.5, weight_decay_times_rate=times_rate
    )
    factor, sums = 0.5 * (0.125 if times_rate else 1), defaultdict(float)
    for _, row, g in contributions(ONE, gradients_of(plan, 3)):
        sums[row] = sums[row] + g
    expected, keep = np.float64(WEIGHTS), factor if kind == "multiply" else 1 - factor
    for row, g in sums.items():
        moved = (
            keep * expected[row] - 0.125 * g
            if place == "before"
            else keep * (expected[row] - 0.125 * g)
        )
        expected[row] = moved
    np.testing.assert_allclose(steps(plan, ONE, [3]).tables[0], expected, rtol=1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("grouping", ["lookup", "core"])
def test_without_accumulation_the_rule_runs_for_each(grouping: Any) -> None:
    cores = ONE * 2
    plan = plan_of(Momentum(0.5), 2, Policy(without_accumulation=grouping), accumulate=False)
    g = gradients_of(plan, 5)
    w, m, groups = np.float64(WEIGHTS), np.zeros((ROWS, WIDTH)), []
    for core, row, x in contributions(cores, g):
        if grouping == "core" and (found := [e for e in groups if e[:2] == [core, row]]):
            found[0][2] = found[0][2] + x
        else:
            groups.append([core, row, x])
    for _, row, x in groups:
        m[row] = 0.5 * m[row] + x
        w[row] -= 0.125 * m[row]
    state = steps(plan, cores, [5])
    np.testing.assert_allclose(state.tables[0], w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state.slots[0][0], m, rtol=1e-5, atol=1e-6)


@pytest.mark.exhaustive
def test_a_rule_that_is_not_lazy_moves_every_row() -> None:
    rule = Adam(lazy=False, bias_correction=False)
    once, twice = steps(plan_of(rule, 1), ONE, [1]), steps(plan_of(rule, 1), ONE, [1, 2])
    untouched = [
        r
        for r in range(ROWS)
        if r not in {row for _, row, _ in contributions(ONE, gradients_of(once.plan, 1))}
    ]
    assert untouched, "this batch leaves rows alone"
    assert once.tables[0][untouched[0]].tolist() == WEIGHTS[untouched[0]].tolist(), (
        "with momentum 0 by a gradient of 0"
    )
    lazy = steps(plan_of(Adam(bias_correction=False), 1), ONE, [1, 2])
    np.testing.assert_allclose(twice.tables[0][1], lazy.tables[0][1], rtol=1e-6)


@pytest.mark.exhaustive
def test_the_step_counter_comes_with_the_rates() -> None:
    rule = FrequencyAwareAdagrad()
    plan = plan_of(rule, 1, learning_rate=Tag(0), step_counter=Tag(1))
    state, g = create(plan, [WEIGHTS]), gradients_of(plan, 1)
    dedup = lookup(state, batch_of(plan, ONE))[1]
    got = update(state, g, [0.125, 9.0], dedup)
    fixed = plan_of(dataclasses.replace(rule, step_counter=9.0), 1)
    expected = update(create(fixed, [WEIGHTS]), g, [], dedup)
    np.testing.assert_allclose(got.tables[0], expected.tables[0], rtol=1e-6)
    assert got.tables[0].tolist() != update(state, g, [0.125, 1.0], dedup).tables[0].tolist()


@pytest.mark.exhaustive
def test_quantization_is_seen_by_lookups_only() -> None:
    levels = Levels(-1.0, 1.0, 3)
    coarse, fine = (plan_of(StochasticGradientDescent(), 1, levels=x) for x in (levels, None))
    a, b = steps(coarse, ONE, [1]), steps(fine, ONE, [1])
    assert a.tables[0].tolist() == b.tables[0].tolist(), "rows are stored and updated as they are"

    def activations(w: Any) -> Any:
        return lookup(
            dataclasses.replace(create(coarse, [WEIGHTS]), tables=(w,)), batch_of(coarse, ONE)
        )[0][0].sum()

    gains = jax.grad(activations)(jnp.asarray(WEIGHTS))
    assert gains[:, 0].tolist() == [0, 3.5, 0, 1, 2, 0, 0], "straight through, whatever the level"

"""Whole tables side by side in an array: which device has which, and whose lookup is whose."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.rules import Adagrad, Adam, PartialRowWiseAdam
from gradlab.tpu import (
    Feature,
    Ids,
    OnMesh,
    Plan,
    Table,
    create,
    lookup,
    make_batch,
    sizes_of,
    update,
)
from gradlab.tpu.stacks import Stack, assign_stacks, stack_lookups, stack_tables
from tests.tpu.sharding.plans import mesh

TABLES = (
    Table("users", 40, 4, Adagrad()),
    Table("days", 7, 4, PartialRowWiseAdam()),
    Table("items", 30, 4, Adagrad(), combiner="sum"),
    Table("shops", 9, 4, Adagrad()),
)
FEATURES = (
    Feature("shop", 3, (2,)),
    Feature("item", 2, (2,)),
    Feature("user", 0, (1,)),
    Feature("next", 3, (1,)),
)
PLAN = Plan(TABLES, FEATURES, cores=2)
WHOLE = OnMesh(mesh(2), "mod", ("whole", "rows", "whole", "whole"))


def test_most_rows_come_first_each_to_the_emptiest_device() -> None:
    assert assign_stacks(PLAN, WHOLE.layouts, 2) == (Stack((0, 2, 3), (0, 1, 1), (0, 40, 70), 40),)
    of_both = assign_stacks(PLAN, ("whole",) * 4, 4)
    assert [stack.tables for stack in of_both] == [(0, 2, 3), (1,)]
    assert of_both[1] == Stack((1,), (0,), (0,), 7)


def test_a_stack_is_a_table_by_rows_after_those_that_are_not_whole() -> None:
    within = stack_tables(PLAN, WHOLE)
    assert [(t.name, t.rows) for t in within.plan.tables] == [
        ("days", 7),
        ("stack of users, items, shops", 80),
    ]
    assert [within.locate(k) for k in range(4)] == [(1, 0), (0, 0), (1, 40), (1, 70)]
    assert [f.table for f in within.plan.features] == [1, 1, 1, 1]
    assert within.placement.of(1) == OnMesh(WHOLE.mesh)
    assert stack_tables(PLAN, OnMesh(WHOLE.mesh)).plan is PLAN


def test_a_lookup_finds_its_row_and_its_sample_in_the_stack() -> None:
    ids = {
        "shop": Ids([0, 1], [8, 1]),
        "item": Ids([1, 1], [29, 29]),
        "user": Ids([0], [39]),
        "next": Ids([0], [1]),
    }
    batch = make_batch(PLAN, [ids, {"user": Ids([0], [3])}])
    (days, stack) = stack_lookups(PLAN, stack_tables(PLAN, WHOLE), batch.tables, 2)
    assert days is batch.tables[1]
    unique, inverse, samples, weights = (np.asarray(x).reshape(2, -1) for x in stack)
    found = [
        [(int(u[i]), int(s), float(w)) for i, s, w in zip(v, t, g, strict=True) if w]
        for u, v, t, g in zip(unique, inverse, samples, weights, strict=True)
    ]
    assert found == [
        [(39, 4, 1.0), (69, 3, 1.0), (69, 3, 1.0), (78, 0, 1.0), (71, 1, 1.0), (71, 5, 1.0)],
        [(3, 4, 1.0)],
    ]
    assert len(sizes_of(PLAN, WHOLE, batch)) == 2


def test_a_stack_of_too_many_rows_is_refused() -> None:
    tall = dataclasses.replace(TABLES[0], rows=2**30 + 1)
    plan = dataclasses.replace(PLAN, tables=(tall, *TABLES[1:]))
    with pytest.raises(
        ValueError, match="table 'stack of users, items, shops' can have at most 2147483647 rows"
    ):
        stack_tables(plan, WHOLE)


def test_a_hyperparameter_may_be_an_array_of_jax() -> None:
    """An array has no hash, so that such a plan can't be a key of a cache."""
    steps = {}
    for beta1 in (0.9, jnp.float32(0.9)):
        plan = Plan((Table("t", 4, 1, Adam(beta1=beta1)),), (Feature("f", 0, (2,)),))
        state = create(plan, [np.float32([[1], [2], [3], [4]])])
        batch = make_batch(plan, [{"f": Ids([0, 1], [3, 2])}])
        activations, dedup = lookup(state, batch)
        after = update(state, activations, [], dedup)
        steps[type(beta1)] = [np.asarray(x).tolist() for x in (activations[0], after.tables[0])]
    plain, traced = steps.values()
    assert plain[0] == [[4.0], [3.0]]
    np.testing.assert_allclose(traced[1], plain[1], rtol=1e-6)


def test_tables_stand_in_one_stack_if_they_share_the_array() -> None:
    beta1 = jnp.float32(0.9)
    tables = (
        Table("a", 8, 4, Adam(beta1=beta1)),
        Table("b", 6, 4, Adam(beta1=beta1)),
        Table("c", 4, 4, Adam(beta1=jnp.float32(0.9))),
    )
    plan = Plan(tables, (Feature("f", 0, (1,)),), cores=2)
    assert [stack.tables for stack in assign_stacks(plan, ("whole",) * 3, 2)] == [(0, 1), (2,)]
    within = stack_tables(plan, OnMesh(mesh(2), layouts=("whole",) * 3))
    assert [table.rows for table in within.plan.tables] == [16, 8]

"""One call is the parts one after another; compiled, it changes tables where they are."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.rules import Adagrad
from gradlab.tpu import Feature, Ids, Plan, State, Table, Tag, create, lookup, make_batch, train_step, update

ROWS = 4096


def plan_of(rows: int, width: int = 8) -> Plan:
    table = Table("t", rows, width, Adagrad(), Tag(0), combiner="sum")
    return Plan((table,), (Feature("f", 0, (4,)), Feature("g", 0, (2,))))


def loss(activations: Any, scale: Any) -> Any:
    return scale * sum((a**2).sum() for a in activations)


def start(rows: int, seed: int = 0) -> State:
    return create(plan_of(rows), [np.random.default_rng(seed).normal(size=(rows, 8))])


def batch_of(rows: int, lookups: int = 12) -> Any:
    rng = np.random.default_rng(1)
    samples = np.sort(rng.integers(0, 4, lookups))
    return make_batch(plan_of(rows), {"f": Ids(samples, rng.integers(0, rows, lookups)), "g": Ids([0, 1], [3, 3])})


def compiled(rows: int, lookups: int = 12) -> Any:
    step = jax.jit(train_step, static_argnames="loss", donate_argnums=0)
    return step.lower(start(rows), batch_of(rows, lookups), [0.1], loss, jnp.float32(0.5)).compile()


def test_it_is_its_parts() -> None:
    state, batch = start(ROWS), batch_of(ROWS)
    value, moved = train_step(state, batch, [0.1], loss, 0.5)
    activations, dedup = lookup(state, batch)
    gradients = jax.grad(partial(loss, scale=0.5))(activations)
    expected = update(state, gradients, [0.1], dedup)
    assert float(value) == pytest.approx(float(loss(activations, 0.5)))
    np.testing.assert_array_equal(moved.tables[0], expected.tables[0])
    np.testing.assert_array_equal(moved.slots[0][0], expected.slots[0][0])


def test_tables_are_changed_where_they_are() -> None:
    """What a step needs besides state and batch does not grow with the rows: no table is copied."""
    needs = [compiled(rows).memory_analysis() for rows in (ROWS, 64 * ROWS)]
    assert needs[0].temp_size_in_bytes == needs[1].temp_size_in_bytes < 4 * 8 * ROWS
    for rows, need in zip((ROWS, 64 * ROWS), needs, strict=True):
        assert need.alias_size_in_bytes == 2 * 4 * 8 * rows, "table and slot are given back in their own memory"
    state = start(ROWS)
    before = [x.unsafe_buffer_pointer() for x in (state.tables[0], state.slots[0][0])]
    step = jax.jit(train_step, static_argnames="loss", donate_argnums=0)
    _, state = step(state, batch_of(ROWS), [0.1], loss, 0.5)
    assert [x.unsafe_buffer_pointer() for x in (state.tables[0], state.slots[0][0])] == before


def test_the_work_is_that_of_the_rows_touched() -> None:
    """Operations counted by the compiler: the same for 64 times as many rows, twice as many for twice the lookups."""
    small, tall = (compiled(rows, 512).cost_analysis()["flops"] for rows in (ROWS, 64 * ROWS))
    assert small == tall
    wide = compiled(64 * ROWS, 1024).cost_analysis()["flops"]
    assert 1.5 < wide / tall < 2.5

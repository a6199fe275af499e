"""Rows move by the sum of what their lookups pass back; what is sent wrongly is refused by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.rules import Adagrad
from gradlab.tpu import (
    Feature,
    Ids,
    Plan,
    Policy,
    State,
    Table,
    Tag,
    create,
    flush_pending,
    lookup,
    make_batch,
    train_step,
    update,
)
from gradlab.tpu.update import after_lookup, depends_on_own

W = np.arange(12, dtype=np.float32).reshape(6, 2)
TWO = (Feature("f", 0, (2,)), Feature("g", 0, (1,)))


def step(plan: Plan, ids: Any, gradients: Any, rates: Any = ()) -> Any:
    state = create(plan, [W] * len(plan.tables))
    return update(state, gradients, rates, lookup(state, make_batch(plan, ids))[1])


def test_duplicates_features_and_cores_are_summed() -> None:
    plan = Plan((Table("t", 6, 2, combiner="sum", learning_rate=1.0),), TWO, cores=2)
    ids = [{"f": Ids([0, 0, 1], [3, 3, 4]), "g": Ids([0], [3])}, {"f": Ids([1], [3])}]
    state = step(
        plan,
        ids,
        [np.float32([[1, 2], [10, 20], [0, 0], [100, 200]]), np.float32([[0.5, 0.5], [9, 9]])],
    )
    expected = W.copy()
    expected[3] -= [1 + 1 + 0.5 + 100, 2 + 2 + 0.5 + 200]
    expected[4] -= [10, 20]
    assert state.tables[0].tolist() == expected.tolist()


def test_a_row_touched_by_0_is_touched() -> None:
    """Its accumulator stays, and so does a row that nobody looked up."""
    plan = Plan((Table("t", 6, 2, weight_limits=(0.0, 4.0)),), TWO)
    state = step(plan, {"f": Ids([0], [5])}, [np.zeros((2, 2)), np.zeros((1, 2))])
    assert state.tables[0].tolist() == [*W[:5].tolist(), [4.0, 4.0]]


@pytest.mark.parametrize(("place", "expected"), [("sum", -1.0), ("contribution", -0.5)])
def test_a_sum_is_clipped_or_what_it_is_made_of(place: Any, expected: float) -> None:
    table = Table("t", 6, 2, combiner="sum", learning_rate=1.0, gradient_limits=(-1.0, 1.0))
    plan = Plan((table,), TWO, policy=Policy(gradient_clip_place=place))
    state = step(
        plan, {"f": Ids([0, 1], [3, 3])}, [np.float32([[9, 9], [-0.5, -0.5]]), np.zeros((1, 2))]
    )
    assert (state.tables[0] - W)[3].tolist() == [expected, expected]


def test_tags_give_tables_their_rates() -> None:
    tables = (Table("a", 6, 2, learning_rate=Tag(1)), Table("b", 6, 2, learning_rate=Tag(0)))
    features = (Feature("x", 0, (1,)), Feature("y", 1, (1,)))
    ids, ones = {"x": Ids([0], [0]), "y": Ids([0], [1])}, np.ones((1, 2))
    state = step(Plan(tables, features), ids, [ones, ones], [0.5, 0.25])
    assert (state.tables[0] - W)[0].tolist() == [-0.25, -0.25]
    assert (state.tables[1] - W)[1].tolist() == [-0.5, -0.5]


def test_a_pipelined_update_comes_one_step_late() -> None:
    late, now = (Plan((Table("t", 6, 2, Adagrad()),), TWO, pipelined=p) for p in (True, False))
    a, b = create(late, [W]), create(now, [W])
    before = [b]
    for ids in ([1, 2], [2, 3], [2, 2]):
        batch = make_batch(now, {"f": Ids([0, 1], ids)})
        g = [jnp.ones((2, 2)), jnp.zeros((1, 2))]
        a, b = update(a, g, [], lookup(a, batch)[1]), update(b, g, [], lookup(b, batch)[1])
        assert a.tables[0].tolist() == before[-1].tables[0].tolist()
        before.append(b)
    assert flush_pending(a).tables[0].tolist() == b.tables[0].tolist()
    assert flush_pending(b) is b


@pytest.mark.parametrize(
    ("gradients", "rates", "message"),
    [
        ([np.ones((2, 2))], [], "the plan has 2 features, got 1 gradients"),
        (
            [np.ones((2, 3)), np.ones((1, 2))],
            [],
            r"the gradient of feature 'f' must .* \(2, 2\); got \(2, 3\)",
        ),
        (
            [np.ones((2, 2)), np.ones((1, 2))],
            [0.1],
            "the plan has 0 learning-rate tags, got 1 rates",
        ),
    ],
)
def test_what_is_sent_wrongly_is_refused(gradients: Any, rates: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        step(Plan((Table("t", 6, 2),), TWO), {}, gradients, rates)


def test_a_rate_is_a_scalar() -> None:
    plan = Plan((Table("t", 6, 2, learning_rate=Tag(0)),), TWO)
    with pytest.raises(
        InvalidArgumentError, match=r"learning rate 0 must be a scalar, got shape \(1,\)"
    ):
        step(plan, {}, [np.ones((2, 2)), np.ones((1, 2))], [np.ones(1)])


def test_deduplication_data_of_another_plan_are_refused() -> None:
    plan = Plan((Table("t", 6, 2),), TWO)
    with pytest.raises(InvalidArgumentError, match="one tuple of 4 vectors, 4 for each table"):
        update(
            create(plan, [W]), [np.ones((2, 2)), np.ones((1, 2))], [], ((np.ones(1), np.ones(1)),)
        )


@pytest.mark.parametrize("dedup", [None, (), ((),), (((1,) * 3),), 3, (3,)])
def test_what_is_no_deduplication_data_is_refused(dedup: Any) -> None:
    state = create(Plan((Table("t", 6, 2),), (Feature("f", 0, (2,)),)), [W])
    with pytest.raises(InvalidArgumentError, match="a tuple with one tuple of 4 vectors"):
        update(state, [np.zeros((2, 2))], [], dedup)


def test_a_batch_of_no_samples_moves_nothing() -> None:
    state = step(Plan((Table("t", 6, 2),), (Feature("f", 0, (0,)),)), {}, [np.zeros((0, 2))])
    assert state.tables[0].tolist() == W.tolist()


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
    return make_batch(
        plan_of(rows), {"f": Ids(samples, rng.integers(0, rows, lookups)), "g": Ids([0, 1], [3, 3])}
    )


def compiled(rows: int, lookups: int = 12) -> Any:
    step = jax.jit(train_step, static_argnames="loss", donate_argnums=0)
    return step.lower(start(rows), batch_of(rows, lookups), [0.1], loss, jnp.float32(0.5)).compile()


@pytest.mark.exhaustive
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
        assert need.alias_size_in_bytes == 2 * 4 * 8 * rows, (
            "table and slot are given back in their own memory"
        )
    state = start(ROWS)
    before = [x.unsafe_buffer_pointer() for x in (state.tables[0], state.slots[0][0])]
    step = jax.jit(train_step, static_argnames="loss", donate_argnums=0)
    _, state = step(state, batch_of(ROWS), [0.1], loss, 0.5)
    assert [x.unsafe_buffer_pointer() for x in (state.tables[0], state.slots[0][0])] == before


@pytest.mark.exhaustive
def test_the_work_is_that_of_the_rows_touched() -> None:
    """Operations counted by the compiler: the same for 64 times as many rows, twice as many for
    twice the lookups.
    """
    small, tall = (compiled(rows, 512).cost_analysis()["flops"] for rows in (ROWS, 64 * ROWS))
    assert small == tall
    wide = compiled(64 * ROWS, 1024).cost_analysis()["flops"]
    assert 1.5 < wide / tall < 2.5


def linear(activations: Any, upstream: Any) -> Any:
    return (activations[0] * upstream).sum()


@pytest.mark.exhaustive
def test_a_table_is_not_copied_for_a_linear_loss() -> None:
    plan = Plan((Table("t", ROWS, 8, Adagrad()),), (Feature("f", 0, (4,)),))
    step = jax.jit(train_step, static_argnames="loss", donate_argnums=0)
    batch = make_batch(plan, {"f": Ids([0, 1], [3, 5])})
    need = step.lower(
        create(plan, [np.ones((ROWS, 8))]), batch, [], linear, jnp.ones((4, 8))
    ).compile()
    assert need.memory_analysis().temp_size_in_bytes < 4 * 8 * ROWS


def test_gradients_are_those_that_they_were() -> None:
    """Where an activation isn't finite, too."""
    a, g = jnp.float32([1.0, jnp.nan, jnp.inf]), jnp.float32([2.0, 3.0, jnp.inf])
    assert after_lookup(lambda x: (g,), (a,), (g,))[0].tolist() == g.tolist()
    own = after_lookup(lambda x: (2 * x[0],), (a,), (g,))[0]
    assert own is g, "what depends on its activations is left alone"


def test_what_depends_on_other_activations_only_is_found_inside_calls() -> None:
    one = jnp.ones(2)
    crossed = jax.jit(lambda x: (x[1] * 2, x[1] * x[0]))
    assert depends_on_own(crossed, (one, one)) == [False, True]

"""Activations: rows scaled and summed into samples, of one core and of several."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import Feature, Ids, Levels, Plan, Table, create, lookup, make_batch, quantize
from gradlab.tpu.lookup import CACHED_LOOKUPS, sum_rows
from tests import ways

W = np.arange(12, dtype=np.float32).reshape(6, 2)


def activations(features: tuple[Feature, ...], ids: Any, cores: int = 1, **table: Any) -> list[Any]:
    plan = Plan((Table("t", 6, 2, **table),), features, cores)
    return [np.asarray(x) for x in lookup(create(plan, [W]), make_batch(plan, ids))[0]]


@pytest.mark.parametrize(
    ("combiner", "gains"),
    [("sum", [1.0, 3.0]), ("mean", [0.25, 0.75]), ("sqrtn", [10**-0.5, 3 * 10**-0.5])],
)
def test_weights_are_gains_of_the_combiner(combiner: Any, gains: list[float]) -> None:
    (a,) = activations(
        (Feature("f", 0, (2,)),), {"f": Ids([0, 0], [5, 1], [1.0, 3.0])}, combiner=combiner
    )
    np.testing.assert_allclose(a, [gains[0] * W[5] + gains[1] * W[1], [0.0, 0.0]], rtol=1e-6)


def test_features_of_one_table_in_their_own_shapes() -> None:
    features = (Feature("f", 0, (2,)), Feature("g", 0, (1, 2)), Feature("s", 0, (2, 3), 3))
    ids = {"f": Ids([1], [2]), "g": Ids([0, 1], [3, 4]), "s": Ids([1, 1], [5, 1])}
    f, g, s = activations(features, ids)
    assert f.tolist() == [[0, 0], W[2].tolist()]
    assert g.tolist() == [[W[3].tolist(), W[4].tolist()]]
    assert s.tolist() == [[[0, 0]] * 3, [W[5].tolist(), W[1].tolist(), [0, 0]]]


def test_cores_stand_one_after_another() -> None:
    ids = [{"f": Ids([0], [3])}, {"f": Ids([0, 1, 1], [1, 1, 2])}]
    (a,) = activations((Feature("f", 0, (2,)),), ids, cores=2, combiner="sum")
    assert a.tolist() == [W[3].tolist(), [0, 0], W[1].tolist(), (W[1] + W[2]).tolist()]


def test_rows_are_quantized_before_they_are_combined() -> None:
    levels = Levels(0.0, 8.0, 3)
    ids = {"f": Ids([0, 0], [1, 4])}
    (a,) = activations((Feature("f", 0, (1,)),), ids, combiner="sum", levels=levels)
    assert a.tolist() == [(quantize(W[1], *levels) + quantize(W[4], *levels)).tolist()]


def test_deduplication_data_are_one_tuple_of_vectors() -> None:
    plan = Plan((Table("t", 6, 2), Table("u", 6, 2)), (Feature("f", 1, (2,)),))
    batch = make_batch(plan, {"f": Ids([0, 1], [2, 2])})
    dedup = lookup(create(plan, [W, W]), batch)[1]
    assert len(dedup) == 1 and len(dedup[0]) == 8
    assert [x.dtype for x in dedup[0]] == [jnp.uint32, jnp.uint32, jnp.uint32, jnp.float32] * 2
    assert dedup[0][4].tolist() == batch.tables[1].unique.tolist()


@pytest.mark.exhaustive
def test_states_and_batches_may_be_mapped_over() -> None:
    plan = Plan((Table("t", 6, 2),), (Feature("f", 0, (2,)),))
    state, batches = (
        create(plan, [W]),
        [make_batch(plan, {"f": Ids([0, 1], ids)}) for ids in ([3, 1], [5, 2])],
    )
    one = [lookup(state, b)[0][0] for b in batches]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *batches)
    assert jax.vmap(lambda b: lookup(state, b)[0][0])(stacked).tolist() == [x.tolist() for x in one]
    states = jax.tree.map(lambda x: jnp.stack([x, x + 1]), state)
    got = jax.vmap(lambda s: lookup(s, batches[0])[0][0])(states)
    assert got.tolist() == [one[0].tolist(), (one[0] + 1).tolist()]


def test_a_batch_of_another_plan_is_refused() -> None:
    plan = Plan((Table("t", 6, 2),), (Feature("f", 0, (2,)),))
    other = make_batch(Plan((Table("t", 6, 2), Table("u", 6, 2)), ()), {})
    with pytest.raises(InvalidArgumentError, match="the plan has 1 tables, the batch is for 2"):
        lookup(create(plan, [W]), other)


def lookups(n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(50, 3)).astype(np.float32)
    take, put = (rng.integers(0, end, n).astype(np.uint32) for end in (50, 22))
    return rows, take, put, rng.normal(size=n).astype(np.float32)


def in_order(count: int, rows: Any, take: Any, put: Any, weights: Any) -> np.ndarray:
    total = np.zeros((count, 3), np.float32)
    inside = put < count
    np.add.at(total, put[inside], rows[take[inside]] * weights[inside, None])
    return total


@pytest.mark.parametrize("n", [0, 5, CACHED_LOOKUPS, CACHED_LOOKUPS + 1, 3 * CACHED_LOOKUPS])
@pytest.mark.parametrize("way", [ways.eager, ways.jit], ids=["eager", "jit"])
def test_the_order_is_that_of_the_lookups(n: int, way: ways.Way) -> None:
    given = lookups(n)
    got = way(lambda *x: sum_rows(20, *x), *given)
    np.testing.assert_allclose(got, in_order(20, *given), rtol=1e-5, atol=1e-5)


def test_parts_change_no_bit() -> None:
    """Against the same sums over one lookup more, which is no multiple of a part and weighs 0."""
    rows, take, put, weights = lookups(2 * CACHED_LOOKUPS)
    one_more = [np.append(x, x.dtype.type(0)) for x in (take, put, weights)]
    f = jax.jit(lambda *x: sum_rows(20, *x))
    assert f(rows, take, put, weights).tolist() == f(rows, *one_more).tolist()


def test_terms_may_be_changed_before_they_are_added() -> None:
    rows, take, put, weights = lookups(2 * CACHED_LOOKUPS)
    got = sum_rows(
        20,
        *(jnp.asarray(x) for x in (rows, take, put, weights)),
        change=lambda x: jnp.clip(x, -0.1, 0.1),
    )
    expected = np.zeros((20, 3))
    inside = put < 20
    np.add.at(expected, put[inside], np.clip(rows[take] * weights[:, None], -0.1, 0.1)[inside])
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_batches_may_be_mapped_over() -> None:
    rows, *vectors = lookups(2 * CACHED_LOOKUPS)
    stacked = [np.stack([x, x[::-1]]) for x in vectors]
    got = jax.jit(jax.vmap(lambda *x: sum_rows(20, jnp.asarray(rows), *x)))(*stacked)
    for k in (0, 1):
        np.testing.assert_allclose(
            got[k], sum_rows(20, jnp.asarray(rows), *(x[k] for x in stacked)), rtol=1e-6
        )

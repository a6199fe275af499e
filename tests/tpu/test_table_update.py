"""The update of a table: what is summed, what is clipped, and what is left alone."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.rules import Adagrad, Ftrl, Lion, Momentum, StochasticGradientDescent, dense_and_sparse
from gradlab.tpu import Policy, Table
from gradlab.tpu import update_table as of_table
from gradlab.tpu.table_update import TableUpdate
from tests import ways

W = np.float32([[1.0, -1.0], [2.0, 3.0], [4.0, 5.0]])


def update(
    rule: Any,
    w: Any,
    slots: Any,
    g: Any,
    lr: Any,
    gradient: Any = (None, None),
    weight: Any = (None, None),
) -> Any:
    table = Table("t", *W.shape, rule, gradient_limits=gradient, weight_limits=weight)
    return of_table(table, w, slots, g, lr)


def slices(values: Any, indices: list[int]) -> gl.IndexedSlices:
    return gl.IndexedSlices(np.float32(values), np.array(indices, np.int32), (3, 2))


def test_the_sum_is_clipped_and_not_its_parts() -> None:
    rule = Adagrad(epsilon_place="none")
    g = slices([[3.0, -0.5], [2.0, 0.25]], [0, 0])
    w, (a,) = update(rule, W, rule.init(W), g, 0.1, (-1.0, 1.0), (-0.95, 0.95))
    np.testing.assert_allclose(a[0], [1.1, 0.1625], rtol=1e-6)
    np.testing.assert_allclose(
        w[0], [1 - 0.1 / np.sqrt(1.1), -1 + 0.025 / np.sqrt(0.1625)], rtol=1e-6
    )
    assert w[1:].tolist() == W[1:].tolist(), "rows that did not move are not clipped"
    assert (a[1:] == np.float32(0.1)).all()


def test_without_limits_it_is_the_rule_on_rows() -> None:
    rule, g = Momentum(0.5), slices([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 2])
    got, expected = (
        update(rule, W, rule.init(W), g, 0.1),
        dense_and_sparse.rows(rule, W, rule.init(W), g, 0.1),
    )
    assert [x.tolist() for x in (got[0], *got[1])] == [
        x.tolist() for x in (expected[0], *expected[1])
    ]


def test_one_side_may_be_open() -> None:
    w, _ = update(
        StochasticGradientDescent(), W, (), np.full_like(W, 9.0), 1.0, (None, 2.0), (0.0, None)
    )
    assert w.tolist() == [[0.0, 0.0], [0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize("way", [ways.eager, ways.jit], ids=["eager", "jit"])
def test_jax_agrees(way: ways.Way) -> None:
    rule, g = Adagrad(), slices([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], [2, 0, 2])

    def f(w: Any, slots: Any, g: Any) -> Any:
        return update(rule, w, slots, g, 0.1, (-2.0, 2.0), (-1.0, 3.95))

    got, expected = way(f, W, rule.init(W), g), f(W, rule.init(W), g)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(got[1][0], expected[1][0], rtol=1e-6)


def test_a_gradient_of_every_row_gives_the_bits_of_its_slices() -> None:
    rule = Ftrl(l1=0.1, l2=0.1)
    w = jnp.asarray(np.linspace(-1.0, 1.0, 400, dtype=np.float32).reshape(50, 8))
    g = jnp.sin(100 * w)
    slices = gl.IndexedSlices(g, jnp.arange(50), (50, 8))
    summed = Table("t", 50, 8, rule)
    one_by_one = Table("t", 50, 8, rule, accumulate=False)
    expected = np.asarray(of_table(summed, w, rule.init(w), slices, 0.3)[0])
    assert (of_table(summed, w, rule.init(w), g, 0.3)[0] == expected).all()
    assert (of_table(one_by_one, w, rule.init(w), slices, 0.3)[0] == expected).all()


def test_a_rate_keeps_the_precision_of_the_weights() -> None:
    table = Table("t", 3, 2, StochasticGradientDescent(), accumulate=False)
    w, _ = of_table(table, np.zeros((3, 2)), (), slices([[1.0, 1.0]], [0]), 0.1)
    assert w[0].tolist() == [-0.1, -0.1]


def test_an_update_is_run_as_its_rule() -> None:
    """Slots of Adagrad start at one of its fields, and a rule that isn't lazy moves every row."""
    rule = Adagrad(0.25)
    update = TableUpdate(Table("t", 3, 2, rule), rule, Policy())
    assert update.init(W)[0].tolist() == rule.init(W)[0].tolist()
    for lazy in (True, False):
        rule = Lion(lazy=lazy)
        update = TableUpdate(Table("t", 3, 2, rule), rule, Policy())
        slots = (np.ones_like(W),)
        g = slices([[1.0, 2.0]], [1])
        got = dense_and_sparse.sparse(update, W, slots, g, 0.1)[0]
        assert got.tolist() == dense_and_sparse.sparse(rule, W, slots, g, 0.1)[0].tolist()


@pytest.mark.parametrize("name", ["gradient_limits", "weight_limits"])
def test_limits_that_cross_are_refused(name: str) -> None:
    limits: Any = {name: (1.0, -1.0)}
    with pytest.raises(
        ValueError, match=rf"{name} of table 't' must be \(lower, upper\), got 1.0 above -1.0"
    ):
        Table("t", 3, 2, **limits)


@pytest.mark.parametrize("ids", [[0, 3], [0, -1]])
def test_a_row_outside_the_table_is_refused(ids: Any) -> None:
    with pytest.raises(
        ValueError, match=rf"indices of table 't' must be in \[0, 3\), got {ids[1]} at position 1"
    ):
        update(StochasticGradientDescent(), W, (), slices([[1.0, 2.0], [3.0, 4.0]], ids), 0.1)

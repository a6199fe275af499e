"""The ways to use a rule on a variable."""

import dataclasses
import functools
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.errors import InvalidArgumentError
from gradlab.rules import dense_and_sparse
from tests import ways

RULES = gl.rules.catalog()
SGD, MOMENTUM = gl.rules.StochasticGradientDescent(), gl.rules.Momentum(0.5)
W = np.random.default_rng(3).normal(size=(6, 2)).astype(np.float32)
LR = np.float32(0.1)


@st.composite
def slices(draw: st.DrawFn) -> gl.IndexedSlices:
    ids = draw(st.lists(st.integers(0, 5), min_size=1, max_size=8))
    values = np.random.default_rng(len(ids)).normal(size=(len(ids), 2)).astype(np.float32)
    return gl.IndexedSlices(values, np.array(ids, np.int32), (6, 2))


def _one_by_one(rule: Any, w: np.ndarray, slots: Any, g: gl.IndexedSlices) -> Any:
    w, slots = w.copy(), tuple(s.copy() for s in slots)
    for i, row in zip(g.indices, g.values, strict=True):
        w[i], new = rule(w[i], tuple(s[i] for s in slots), row, LR)
        for s, n in zip(slots, new, strict=True):
            s[i] = n
    return w, slots


def _only_named_rows(way: Any, rule: Any, g: gl.IndexedSlices) -> None:
    others = sorted(set(range(6)) - set(g.indices.tolist()))
    start = rule.init(W + 1)
    w, slots = way(rule, W, start, g, LR)
    np.testing.assert_array_equal(w[others], W[others])
    for s, before in zip(slots, start, strict=True):
        np.testing.assert_array_equal(s[others], before[others])


@given(slices())
def test_gradient_descent_on_rows_is_gradient_descent_on_the_dense_gradient(
    g: gl.IndexedSlices,
) -> None:
    rows, dense = (
        dense_and_sparse.rows(SGD, W, (), g, LR)[0],
        dense_and_sparse.dense(SGD, W, (), g.to_dense(), LR)[0],
    )
    np.testing.assert_array_equal(rows, dense)


@pytest.mark.parametrize("name", RULES)
@given(slices())
def test_each_is_a_loop_over_the_slices(name: str, g: gl.IndexedSlices) -> None:
    rule = RULES[name]()
    expected = _one_by_one(rule, W, rule.init(W), g)
    assert ways.ulps(dense_and_sparse.each(rule, W, rule.init(W), g, LR), expected) == 0


@pytest.mark.parametrize("name", RULES)
@given(slices())
def test_rows_is_one_step_with_the_sum(name: str, g: gl.IndexedSlices) -> None:
    rule, named = RULES[name](), sorted(set(g.indices.tolist()))
    w, slots = dense_and_sparse.rows(rule, W, rule.init(W), g, LR)
    expected = rule(W[named], tuple(s[named] for s in rule.init(W)), g.to_dense()[named], LR)
    assert ways.ulps((w[named], tuple(s[named] for s in slots)), expected) == 0


@pytest.mark.parametrize(
    "way", [dense_and_sparse.rows, dense_and_sparse.each], ids=["rows", "each"]
)
@pytest.mark.parametrize("name", RULES)
@given(slices())
def test_rows_that_are_not_named_do_not_move(name: str, way: Any, g: gl.IndexedSlices) -> None:
    _only_named_rows(way, RULES[name](), g)


# Each is one program of all rules, which takes seconds to compile: all but one are exhaustive.
EVERY_WAY = [
    pytest.param(
        way,
        how,
        id=f"{way.__name__}-{how}",
        marks=[pytest.mark.exhaustive] * ((way, how) != (dense_and_sparse.rows, "jit")),
    )
    for way in (dense_and_sparse.rows, dense_and_sparse.each)
    for how in ("eager", "jit", "sharded")
]


@functools.cache
def _steps(way: Any, how: str) -> dict[str, Any]:
    """Return a step of every rule with slices of which some share a row."""
    rng, rules = np.random.default_rng(4), {name: rule() for name, rule in RULES.items()}
    w = rng.normal(size=(16, 2)).astype(np.float32)
    g = gl.IndexedSlices(
        rng.normal(size=(8, 2)).astype(np.float32), np.int32([3, 5, 3, 3, 0, 15, 5, 8]), (16, 2)
    )
    functions = {name: functools.partial(way, rule, lr=LR) for name, rule in rules.items()}
    return ways.together(
        ways.ALL[how], functions, {name: (w, rule.init(w), g) for name, rule in rules.items()}
    )


@pytest.mark.parametrize(("way", "how"), EVERY_WAY)
@pytest.mark.parametrize("name", RULES)
def test_numpy_and_jax_agree(name: str, way: Any, how: str) -> None:
    expected, got = (_steps(way, run)[name] for run in ("numpy", how))
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_twice_the_same_row_is_two_steps_or_one_with_the_sum() -> None:
    g = gl.IndexedSlices(np.ones((2, 1)), np.array([1, 1]), (2, 1))
    w = np.zeros((2, 1))
    assert dense_and_sparse.each(MOMENTUM, w, MOMENTUM.init(w), g, 1.0)[0].ravel().tolist() == [
        0.0,
        -2.5,
    ]
    assert dense_and_sparse.rows(MOMENTUM, w, MOMENTUM.init(w), g, 1.0)[0].ravel().tolist() == [
        0.0,
        -2.0,
    ]


@pytest.mark.parametrize(
    "way", [dense_and_sparse.rows, dense_and_sparse.each], ids=["rows", "each"]
)
def test_no_slices_change_nothing(way: Any) -> None:
    empty = gl.IndexedSlices(np.ones((0, 2), np.float32), np.ones(0, np.int32), (6, 2))
    for run in (ways.numpy, ways.jit):
        w, slots = run(lambda w, s, g: way(MOMENTUM, w, s, g, LR), W, MOMENTUM.init(W), empty)
        np.testing.assert_array_equal(w, W)
        assert not slots[0].any()


@given(slices())
def test_every_row_is_the_dense_gradient(g: gl.IndexedSlices) -> None:
    start = MOMENTUM.init(W + 1)
    expected = dense_and_sparse.dense(MOMENTUM, W, start, g.to_dense(), LR)
    assert ways.ulps(dense_and_sparse.every_row(MOMENTUM, W, start, g, LR), expected) == 0


@pytest.mark.parametrize("way", [ways.eager, ways.jit], ids=["eager", "jit"])
def test_every_row_runs_under_jax(way: ways.Way) -> None:
    g = gl.IndexedSlices(np.ones((3, 2), np.float32), np.int32([4, 0, 4]), (6, 2))
    expected = dense_and_sparse.every_row(MOMENTUM, W, MOMENTUM.init(W), g, LR)
    got = way(
        lambda w, slots, g: dense_and_sparse.every_row(MOMENTUM, w, slots, g, LR),
        W,
        MOMENTUM.init(W),
        g,
    )
    assert ways.ulps(got, expected) <= 1


def test_a_rule_that_is_not_lazy_moves_every_row() -> None:
    g = gl.IndexedSlices(np.ones((1, 2), np.float32), np.int32([4]), (6, 2))
    for rule in (gl.rules.Adam(), gl.rules.Lion()):
        slots = tuple(np.ones_like(s) for s in rule.init(W))
        lazy = dense_and_sparse.sparse(rule, W, slots, g, LR)[0]
        assert (lazy != W).any(axis=1).tolist() == [False] * 4 + [True, False]
        awake = dense_and_sparse.sparse(dataclasses.replace(rule, lazy=False), W, slots, g, LR)[0]
        assert (awake != W).any(axis=1).all()
        np.testing.assert_array_equal(awake[4], lazy[4])


def test_rules_without_the_choice_are_lazy() -> None:
    assert all(getattr(rule(), "lazy", None) is True for rule in RULES.values())


@pytest.mark.parametrize(
    "way", [dense_and_sparse.rows, dense_and_sparse.each, dense_and_sparse.every_row]
)
def test_numpy_weights_take_slices_of_jax_and_stay_numpy(way: Any) -> None:
    values, ids = np.ones((3, 2), np.float32), np.array([1, 4, 1], np.int32)
    on_jax = gl.IndexedSlices(jax.numpy.asarray(values), jax.numpy.asarray(ids), (6, 2))
    w, (m,) = way(MOMENTUM, W, MOMENTUM.init(W), on_jax, LR)
    expected, (slot,) = way(
        MOMENTUM, W, MOMENTUM.init(W), gl.IndexedSlices(values, ids, (6, 2)), LR
    )
    assert isinstance(w, np.ndarray) and isinstance(m, np.ndarray)
    np.testing.assert_array_equal(w, expected)
    np.testing.assert_array_equal(m, slot)


@pytest.mark.parametrize(
    "way", [dense_and_sparse.rows, dense_and_sparse.each, dense_and_sparse.every_row]
)
def test_numpy_weights_may_be_constants_of_a_traced_step(way: Any) -> None:
    g = gl.IndexedSlices(np.ones((3, 2), np.float32), np.array([1, 4, 1], np.int32), (6, 2))
    expected = way(SGD, W, (), g, LR)[0]
    np.testing.assert_allclose(jax.jit(lambda g: way(SGD, W, (), g, LR)[0])(g), expected, rtol=1e-6)
    np.testing.assert_allclose(
        jax.jit(lambda lr: way(SGD, W, (), g, lr)[0])(LR), expected, rtol=1e-6
    )


def test_each_hands_every_slice_to_the_rule_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often one row comes, the work grows with the slices only."""
    rows, step = [], gl.rules.StochasticGradientDescent.step
    monkeypatch.setattr(
        gl.rules.StochasticGradientDescent,
        "step",
        lambda *args: (rows.append(len(args[1])), step(*args))[1],
    )
    ids = np.array([0] * 40 + [1, 2, 3, 4, 5], np.int32)
    dense_and_sparse.each(
        SGD, W, (), gl.IndexedSlices(np.ones((45, 2), np.float32), ids, (6, 2)), LR
    )
    assert (len(rows), sum(rows)) == (40, 45)


def test_each_of_a_rule_that_only_adds_is_one_operation_of_jax() -> None:
    ids = np.array([0] * 40 + [1, 2, 3, 4, 5], np.int32)
    g = gl.IndexedSlices(
        np.random.default_rng(0).normal(size=(45, 2)).astype(np.float32), ids, (6, 2)
    )
    program = jax.jit(lambda w, g: dense_and_sparse.each(SGD, w, (), g, LR)[0])
    assert "while" not in str(jax.make_jaxpr(program)(W, g))
    np.testing.assert_allclose(
        program(W, g), dense_and_sparse.each(SGD, W, (), g, LR)[0], rtol=1e-5, atol=1e-6
    )


@pytest.mark.exhaustive
def test_a_step_of_its_own_is_not_taken_for_one_that_only_adds() -> None:
    class Decayed(gl.rules.StochasticGradientDescent):
        def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
            return w - lr * (g + w), slots

    g = gl.IndexedSlices(np.ones((2, 2), np.float32), np.array([1, 1], np.int32), (6, 2))
    got = dense_and_sparse.each(Decayed(), jax.numpy.asarray(W), (), g, LR)[0]
    np.testing.assert_allclose(got, _one_by_one(Decayed(), W, (), g)[0], rtol=1e-6)


@pytest.mark.parametrize("name", ["rows", "each", "every_row", "sparse"])
def test_a_negative_index_is_refused(name: str) -> None:
    g = gl.IndexedSlices(np.ones((2, 1)), np.array([-1, 2]), (3, 1))
    with pytest.raises(InvalidArgumentError, match="indices must not be negative, got -1"):
        getattr(gl.rules, name)(SGD, np.zeros((3, 1)), (), g, 1.0)
